"""Likely causes of a component value that differs between the signer and the verifier.

Each function takes the verifier's value and the signer's value. It returns a sentence, or an empty text if no cause is
known.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote, unquote_plus

from undersigned.errors import MalformedURL
from undersigned.explanation.body_digest import digest_cause, digested_content, in_base64
from undersigned.message.signature_input import parse_signature_input
from undersigned.message.structured_fields import MalformedField
from undersigned.url import URL, canonicalize_authority, explain

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from undersigned.message.structured_fields import Parameter

UNKNOWN: Final = "no known cause: compare the two lines"
_SLASHES: Final = re.compile(r"/{2,}")
_ENCODED_SLASH: Final = re.compile(r"%2[Ff]")


def of_component(identifier: str, here: str, signers: str, *, body: bytes = b"") -> str:
    """Return the likely reason why the value of a covered component differs.

    Args:
        identifier: the component identifier, as in the base.
        here: the component's value in the rebuilt base.
        signers: the component's value in the signer's base.
        body: the content as received.
    """
    name = identifier.split('"')[1]
    if name == "content-digest":
        return digest_cause(body, signers) or _of_field(name, here, signers)
    if name == "digest":
        words = digested_content(body, _as_content_digest(signers))
        return f"the digest is of {words}; sign what is sent" if words else _of_field(name, here, signers)
    known = {
        "(request-target)": _of_request_target,
        "host": _of_authority,
        "@target-uri": _of_target,
        "@request-target": _of_target,
        "@path": _of_path,
        "@query": _of_query,
        "@authority": _of_authority,
        "@method": _of_method,
        "@scheme": _of_scheme,
        "@signature-params": _of_parameters,
    }
    return (known[name](here, signers) if name in known else _of_field(name, here, signers)) or UNKNOWN


def _of_target(here: str, signers: str) -> str:
    canonical = explain(signers)
    if canonical.result == here:
        rules = ", ".join(change.rule.name for change in canonical.changes)
        return f"the signer did not sign the canonical form of its URL: it differs by the rules {rules}"
    if f"{signers}?" == here or f"{here}?" == signers:
        return _of_query("?" if here.endswith("?") else "", "?" if signers.endswith("?") else "")
    ours, theirs = URL.parse(here), URL.parse(signers)
    if ours.scheme != theirs.scheme:
        return _of_scheme(ours.scheme or "", theirs.scheme or "")
    if ours.authority != theirs.authority:
        return _of_authority(ours.authority or "", theirs.authority or "")
    if ours.path != theirs.path:
        return _of_path(ours.path, theirs.path)
    return _of_query(*("" if url.query is None else f"?{url.query}" for url in (ours, theirs)))


def _of_request_target(here: str, signers: str) -> str:
    """Return the reason for draft-cavage-12, where the line has the method and the target."""
    (method, _, target), (their_method, _, their_target) = here.partition(" "), signers.partition(" ")
    return _of_method(method, their_method) if method != their_method else _of_target(target, their_target)


def _as_content_digest(value: str) -> str:
    """Return the SHA-256 of a Digest field as a Content-Digest, or an empty text."""
    name, _, text = value.partition("=")
    return f"sha-256=:{text}:" if name.lower() == "sha-256" else ""


def _of_path(here: str, signers: str) -> str:
    if here.endswith(signers) and signers:
        return f"the prefix {here.removesuffix(signers)} was added on the way"
    if signers.endswith(here) and here:
        return f"the prefix {signers.removesuffix(here)} was removed on the way (proxies do this for a mounted path)"
    if here in {f"{signers}/", signers.removesuffix("/")}:
        return "a trailing slash was added or removed (redirects do this; the signer did not follow one)"
    for original, changed, when in ((signers, here, "on the way"), (here, signers, "before signing")):
        change, hint = _decoding(original, changed)
        if change:
            return f"{change} {when}{hint}"
    return "the path was rewritten" if unquote(here) != unquote(signers) else "the path was percent-encoded differently"


def _decoding(original: str, changed: str) -> tuple[str, str]:
    """Return the change from one path to the other, or an empty text, and a hint on its origin."""
    hint = "; servers and proxies that decode the path do this"
    if _ENCODED_SLASH.sub("/", original) == changed:
        return "%2F was decoded to /", hint
    if _SLASHES.sub("/", original) == changed:
        return "repeated slashes were merged", hint
    return ("percent-encoded characters were decoded" if unquote(original) == changed else ""), ""


def _of_query(here: str, signers: str) -> str:
    if (here, signers) in {("", "?"), ("?", "")}:
        lost = "on the way: ASGI servers cannot report it" if signers else "by the signer"
        return f"a ? without a query was lost {lost}"
    if not here or not signers:
        return f"the query was {'lost' if signers else 'added'} on the way"
    if sorted(here[1:].split("&")) == sorted(signers[1:].split("&")):
        return "the parameters were sorted or reordered; their order is part of the URL"
    if unquote_plus(here) == unquote_plus(signers):
        return "the query was encoded again: a client parsed and rewrote it (+ for %20, %2C for a comma)"
    return "the query was rewritten"


def _of_authority(here: str, signers: str) -> str:
    try:
        if canonicalize_authority(signers, "https") == here:
            return "the signer did not sign the canonical form of its authority: lower case, without the default port"
    except MalformedURL:
        return "the signer signed an authority that has no canonical form"
    return (
        "Host was rewritten on the way: some proxies send the name of their backend (nginx: set proxy_set_header Host)"
    )


def _of_scheme(here: str, signers: str) -> str:
    return f"the signer signed {signers}, but the request was read as {here}: if a proxy ends TLS, set --scheme"


def _of_method(here: str, signers: str) -> str:
    if here.upper() == signers.upper():
        return "the method was signed and sent in different case; methods are case-sensitive"
    return "the method was rewritten on the way (a redirect or a method-override field can do this)"


def _of_parameters(here: str, signers: str) -> str:
    try:
        ours, theirs = (parse_signature_input(f"sig={value}")["sig"] for value in (here, signers))
    except MalformedField:
        return "the signer's parameters are not a structured field"
    if ours.components != theirs.components:
        return "the signer's base covers other components than its Signature-Input"
    if ours.parameters == theirs.parameters:
        if list(ours.parameters) == list(theirs.parameters):
            return "the parameters have other spaces or quotes: the base needs them as RFC 8941 serializes them"
        return "the parameters are in another order than in Signature-Input, and their order is signed"
    names = ", ".join(_differing(ours.parameters, theirs.parameters))
    return f"the bases belong to two different signatures: they differ in {names}"


def _differing(ours: Mapping[str, Parameter], theirs: Mapping[str, Parameter]) -> Iterator[str]:
    for name in dict.fromkeys((*ours, *theirs)):
        if ours.get(name) != theirs.get(name):
            yield name


def _of_field(name: str, here: str, signers: str) -> str:
    if in_base64(here) == in_base64(signers):
        return f"{name} has the same bytes in another Base64: one side used Base64url, or left out the padding"
    if here.split() == signers.split() or here.replace(" ", "") == signers.replace(" ", ""):
        return f"the spaces of {name} were changed: a proxy joined or rewrote its values"
    if here.lower() == signers.lower():
        return f"the case of {name} was changed"
    if here.partition(";")[0] == signers.partition(";")[0]:
        return f"the parameters of {name} were changed (some clients add a charset or a boundary)"
    if here in signers.split(", ") or signers in here.split(", "):
        return f"a value of {name} was added or dropped; all values of a field are signed together"
    return f"{name} was rewritten"
