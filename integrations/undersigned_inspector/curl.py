"""The curl command that would have been right."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from undersigned import profiles
from undersigned.cli.bash import bash_word
from undersigned.cli.content import Content
from undersigned.cli.curl import curl_command
from undersigned.client import SIGNATURE_FIELDS
from undersigned.errors import MalformedURL
from undersigned.explanation import REQUEST_PROFILES, right_request
from undersigned.message.request_target import received_target

if TYPE_CHECKING:
    from undersigned import Request
    from undersigned.explanation import ExplainedRequest

    from .pasted import Pasted

_FRAMING = frozenset({"content-length", "transfer-encoding", "connection"})


def right_command(pasted: Pasted, explained: ExplainedRequest) -> dict[str, str] | None:
    """Return a shell command and what it does.

    If the request that the sender signed is found and verifies, the command sends it. Otherwise no request with this
    signature is right, so the command signs the request again; None if no command signs by the profile.
    """
    request = pasted.request.request
    [profile] = [one for one in REQUEST_PROFILES if one.name == explained.profile]
    validity = explained.validity
    whole = pasted.request.is_whole
    if validity is not None:
        now, base = validity.judged_at, explained.signers_base
        right = right_request(request, profile, pasted.keys, now=now, signers_base=base, is_whole=whole)
        if right is not None:
            late = f" Now {validity.fault}: sign it again before you send it." if validity.fault else ""
            note = "This command sends the request as it was signed; its signature verifies."
            file = "" if whole else " Put the content into the file named body."
            sent = _sending(right, is_whole=whole)
            if sent is not None:
                return {"command": sent, "note": note + late + file}
    return _signing(request, explained.profile) if explained.profile in profiles.BY_NAME else None


def _sending(request: Request, *, is_whole: bool) -> str | None:
    """Return the command that sends a request, or None if curl cannot send it."""
    content = Content(request.body, None) if is_whole else Content(b"not known", "body")
    try:
        return curl_command(request.method, request.url, _fields(request), content)
    except (click.UsageError, ValueError):
        return None


def _signing(request: Request, profile: str) -> dict[str, str]:
    """Return the command that signs a request again and writes the curl command for it."""
    words = ["undersigned sign --curl --key private.jwk.json", f"--profile {profile}"]
    if request.method != "GET":
        words.append(f"-X {bash_word(request.method.encode('latin-1'))}")
    words += [
        f"-H {bash_word(f'{name}: {value}'.encode('latin-1'))}"
        for name, value in _fields(request)
        if name not in SIGNATURE_FIELDS and value
    ]
    if request.has_body or request.body:
        words.append("-d @body")
    words.append(bash_word(_url(request).encode("utf-8")))
    note = "No request with this signature is right. This command signs the request again, and writes its curl command."
    return {"command": " \\\n  ".join(words), "note": note}


def _fields(request: Request) -> list[tuple[str, str]]:
    """Return the header fields without those that curl writes by itself."""
    return [
        (name, value) for name, value in request.fields if name not in _FRAMING | {"host"} and not name.startswith(":")
    ]


def _url(request: Request) -> str:
    try:
        return received_target(request).target_uri
    except MalformedURL:
        return request.url
