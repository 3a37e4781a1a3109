"""Right requests: the request as its sender signed it, after the cause of a rejection was found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from undersigned.explanation.body_digest import other_contents
from undersigned.explanation.profile_guess import rejection
from undersigned.message.request import Request
from undersigned.url import URL

if TYPE_CHECKING:
    from collections.abc import Iterator

    from undersigned.signature.key_source import KeySource
    from undersigned.signature.profile import Profile

_CONTENT: Final = 11


def right_request(
    request: Request,
    profile: Profile,
    keys: KeySource,
    *,
    now: float,
    signers_base: str | None,
    is_whole: bool = True,
) -> Request | None:
    """Return the request that the sender signed, or None if none is found. What is returned is verified.

    Args:
        request: the request as it was received, with its content.
        profile: the profile to verify it by.
        keys: the keys to verify it with.
        now: the verifier's clock, seconds since the epoch.
        signers_base: the base that the sender signed, or None if it is not known.
        is_whole: whether the content is known. If not, everything but the content is verified.
    """
    for candidate in _candidates(request, signers_base):
        error = rejection(candidate, profile, keys, now=now)
        if error is None or (not is_whole and error.step == _CONTENT):
            return candidate
    return None


def _candidates(request: Request, signers_base: str | None) -> Iterator[Request]:
    signed = request if signers_base is None else _apply_base(request, signers_base)
    yield signed
    if "content-digest" in request.fields.combined:
        for _, content in other_contents(signed.body):
            yield Request(signed.method, signed.url, _without_length(signed), content)


def _apply_base(request: Request, base: str) -> Request:
    """Return the request with every value that a base has; values of components with parameters stay as they are."""
    lines = [line.partition(": ") for line in base.split("\n")]
    values = {name.strip('"'): value for name, _, value in lines if name.count('"') == len('""') and name.endswith('"')}
    url = URL.parse(values.get("@target-uri", request.url))
    scheme, authority = values.get("@scheme", url.scheme), values.get("@authority", url.authority)
    path, query = values.get("@path", url.path), url.query
    if "@query" in values and values["@query"] != "?":
        query = values["@query"].removeprefix("?")
    fields = {name: value for name, value in values.items() if not name.startswith("@")}
    if authority is not None and authority != URL.parse(request.url).authority:
        fields |= {name: authority for name in ("host", ":authority") if name in request.fields.combined}
    kept = [(name, value) for name, value in request.fields if name not in fields]
    method = values.get("@method", request.method)
    target = f"{scheme}://{authority}{path}{'' if query is None else f'?{query}'}"
    return Request(method, target, [*kept, *fields.items()], request.body, has_body=request.has_body)


def _without_length(request: Request) -> list[tuple[str, str]]:
    """Return the header fields without those that frame the content, which is another one."""
    return [line for line in request.fields if line[0] not in {"content-length", "transfer-encoding"}]
