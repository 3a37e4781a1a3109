"""Answers to Accept-Signature: the signer of a second try, within what the first signer is configured for."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from undersigned.errors import UndersignedError
from undersigned.message.accept_signature import WantedSignature, parse_accept_signature
from undersigned.message.request import Request
from undersigned.message.signature_input import parse_signature_input
from undersigned.message.structured_fields import MalformedField
from undersigned.signature.rules.coverage import name_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from undersigned.client.signed_request import SignedRequest
    from undersigned.message.structured_fields import Parameter
    from undersigned.signature.profile import Profile
    from undersigned.signature.signer import Signer

ASKING_STATUSES: Final = frozenset({400, 401, 403})
"""The statuses with which the profiles reject a request for want of a suitable signature."""

_DERIVED: Final = frozenset(
    {"@method", "@target-uri", "@authority", "@scheme", "@request-target", "@path", "@query", "@query-param"}
)
_FIELD_FLAGS: Final = frozenset({"sf", "bs", "key", "name"})
_GENERATED: Final = ("created", "expires")


def asked_signer(signer: Signer, signed: SignedRequest, value: str) -> Signer | None:
    """Return a signer that signs a request as its receiver asks, or None if it cannot, must not, or did so already.

    What the receiver asks for is added to what the signer covers anyway: nothing is left out. The receiver may choose
    components of the target, and header fields of the profile and of the signer's `components` and `may_cover`. It may
    choose a nonce and a label. Key, algorithm and tag are the signer's.

    Args:
        signer: the signer of the first try.
        signed: the request as it was sent.
        value: the Accept-Signature of the response.
    """
    if signer.may_cover is None:
        return None
    try:
        wanted = parse_accept_signature(value)
    except MalformedField:
        return None
    for one in wanted:
        with suppress(UndersignedError):
            again = _fulfilling_signer(signer, signed, one)
            if again is not None:
                return again
    return None


def _fulfilling_signer(signer: Signer, signed: SignedRequest, wanted: WantedSignature) -> Signer | None:
    """Return a signer that makes the wanted signature, or None if the request has it already, or must not have it.

    Raises:
        UndersignedError: no such signature can be made of this request.
    """
    profile = signer.profile
    components = [one.name if one.bare else one.text for one in wanted.components]
    if not all(_is_allowed(one, signer) for one in components) or not _is_fit(signer, wanted.parameters):
        return None
    if _has(signed, wanted) or (profile.coverage.member_of and wanted.label != profile.selection.label):
        return None
    nonce = wanted.parameters.get("nonce")
    written = profile.parameters.written | wanted.parameters.keys()
    coverage = profile.coverage
    again = signer.by(
        profile.derive(
            selection=replace(profile.selection, label=wanted.label),
            parameters=replace(profile.parameters, written=frozenset(written)),
            coverage=replace(coverage, always=tuple(dict.fromkeys((*coverage.always, *components)))),
        ),
        nonce=nonce if isinstance(nonce, str) else None,
    )
    request = Request(signed.method, signed.url, signed.fields, has_body=signed.has_body)
    again.prepare(request, digest=dict(signed.signature).get("Content-Digest"))
    return again


def _is_allowed(component: str, signer: Signer) -> bool:
    """Return whether the receiver may choose a component."""
    name, coverage = name_of(component), signer.profile.coverage
    flags = {flag.partition("=")[0] for flag in component.split(";")[1:]}
    own = {*coverage.if_sent, *coverage.sent, coverage.member_of, *signer.components, *(signer.may_cover or ())}
    own.update(map(name_of, _required_components(signer.profile)))
    if signer.profile.digest.policy != "forbidden":
        own.add("content-digest")
    return flags <= _FIELD_FLAGS and name not in coverage.never and (name in _DERIVED or name in own)


def _required_components(profile: Profile) -> Iterable[str]:
    coverage = profile.coverage
    yield from (*coverage.always, *coverage.with_content, *coverage.with_query, *profile.required_components[True])
    for group in coverage.any_of:
        yield from group


def _is_fit(signer: Signer, parameters: Mapping[str, Parameter]) -> bool:
    """Return whether the signer may write each wanted parameter with its value."""
    own: Mapping[str, Parameter | None] = {
        "keyid": signer.keyid, "alg": signer.algorithm, "tag": signer.profile.selection.tag
    }  # fmt: skip
    for name, value in parameters.items():
        if name in _GENERATED:
            if value is not True:
                return False
        elif name == "nonce":
            if not isinstance(value, str):
                return False
        elif value != own.get(name):
            return False
    return True


def _has(signed: SignedRequest, wanted: WantedSignature) -> bool:
    """Return whether the request was sent with the wanted signature."""
    *_, (label, sent) = parse_signature_input(dict(signed.signature)["Signature-Input"]).items()
    if label != wanted.label or not {one.text for one in wanted.components} <= set(sent.coverage.texts):
        return False
    return all(
        name in sent.parameters and (name in _GENERATED or sent.parameters[name] == value)
        for name, value in wanted.parameters.items()
    )
