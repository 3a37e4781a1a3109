"""Causes: what likely made the value of a component differ between the signer and here.

Each function takes the value here and the signer's, and returns a sentence, or an empty text where it knows of none.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote, unquote_plus

from undersigned.cli.explain.body_digest import digest_cause, in_base64
from undersigned.errors import MalformedURL
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
    """Return what likely made the value of a covered component differ.

    Args:
        identifier: the component identifier as it stands in the base.
        here: its value in the base rebuilt here.
        signers: its value in the signer's base.
        body: the content as received.
    """
    name = identifier.split('"')[1]
    if name == "content-digest":
        return digest_cause(body, signers) or _of_field(name, here, signers)
    known = {
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
        return f"the signer did not sign the canonical form of its URL; it takes the rules {rules}"
    if f"{signers}?" == here or f"{here}?" == signers:
        return _of_query("" if here[-1] != "?" else "?", "" if signers[-1] != "?" else "?")
    ours, theirs = URL.parse(here), URL.parse(signers)
    if ours.scheme != theirs.scheme:
        return _of_scheme(ours.scheme or "", theirs.scheme or "")
    if ours.authority != theirs.authority:
        return _of_authority(ours.authority or "", theirs.authority or "")
    if ours.path != theirs.path:
        return _of_path(ours.path, theirs.path)
    return _of_query(*("" if url.query is None else f"?{url.query}" for url in (ours, theirs)))


def _of_path(here: str, signers: str) -> str:
    if here.endswith(signers) and signers:
        return f"the prefix {here.removesuffix(signers)} was added on the way"
    if signers.endswith(here) and here:
        return f"the prefix {signers.removesuffix(here)} was removed on the way, as a proxy does for a mounted path"
    if here in {f"{signers}/", signers.removesuffix("/")}:
        return "a trailing slash was added or removed, as by a redirect that the signer did not follow"
    on_the_way, before = _decoded(signers, here), _decoded(here, signers)
    if on_the_way or before:
        return f"{on_the_way} on the way" if on_the_way else f"{before} before it was signed"
    return "the path was rewritten" if unquote(here) != unquote(signers) else "the path was percent-encoded anew"


def _decoded(original: str, changed: str) -> str:
    if _ENCODED_SLASH.sub("/", original) == changed:
        return "%2F was decoded to /, as by a server or proxy that decodes the path,"
    if _SLASHES.sub("/", original) == changed:
        return "slashes in a row were merged, as by a server or proxy that decodes the path,"
    return "percent-encoded characters were decoded" if unquote(original) == changed else ""


def _of_query(here: str, signers: str) -> str:
    if (here, signers) in {("", "?"), ("?", "")}:
        lost = "on the way: ASGI cannot tell it from none" if signers else "by the signer"
        return f"a lone ? was lost {lost}"
    if not here or not signers:
        return f"the query was {'lost' if signers else 'added'} on the way"
    if sorted(here[1:].split("&")) == sorted(signers[1:].split("&")):
        return "the parameters were sorted or reordered; their order is part of the URL"
    if unquote_plus(here) == unquote_plus(signers):
        return "the query was encoded anew, as by a client that parses and writes it (+ for %20, %2C for a comma)"
    return "the query was rewritten"


def _of_authority(here: str, signers: str) -> str:
    try:
        if canonicalize_authority(signers, "https") == here:
            return "the signer did not sign the canonical form of its authority: lower case, without the default port"
    except MalformedURL:
        return "the signer signed an authority that has no canonical form"
    return (
        "Host was rewritten on the way, as by a proxy that sends the name of its backend (nginx: proxy_set_header Host)"
    )


def _of_scheme(here: str, signers: str) -> str:
    return f"the signer signed {signers}, and the request is read as {here}: TLS ends before, so say so with --scheme"


def _of_method(here: str, signers: str) -> str:
    if here.upper() == signers.upper():
        return "the method was signed in another case than it was sent; methods are case-sensitive"
    return "the method was rewritten on the way, as by a redirect or a method-override field"


def _of_parameters(here: str, signers: str) -> str:
    try:
        ours, theirs = (parse_signature_input(f"sig={value}")["sig"] for value in (here, signers))
    except MalformedField:
        return "the signer's parameters are no structured field"
    if ours.components != theirs.components:
        return "the signer's base covers other components than its Signature-Input"
    if ours.parameters == theirs.parameters:
        if list(ours.parameters) == list(theirs.parameters):
            return (
                "the parameters were written anew, with other spaces or quotes; they are signed as RFC 8941 writes them"
            )
        return "the parameters stand in another order than in Signature-Input; their order is signed"
    names = ", ".join(_differing(ours.parameters, theirs.parameters))
    return f"the bases are those of two signatures: they differ in {names}"


def _differing(ours: Mapping[str, Parameter], theirs: Mapping[str, Parameter]) -> Iterator[str]:
    for name in dict.fromkeys((*ours, *theirs)):
        if ours.get(name) != theirs.get(name):
            yield name


def _of_field(name: str, here: str, signers: str) -> str:
    if in_base64(here) == in_base64(signers):
        return f"{name} has the same bytes in another Base64: one side wrote Base64url, or left out the padding"
    if here.split() == signers.split() or here.replace(" ", "") == signers.replace(" ", ""):
        return f"the spaces of {name} were changed, as by a hop that joins or writes its values anew"
    if here.lower() == signers.lower():
        return f"the case of {name} was changed"
    if here.partition(";")[0] == signers.partition(";")[0]:
        return f"the parameters of {name} were changed, as by a client that adds a charset or a boundary"
    if here in signers.split(", ") or signers in here.split(", "):
        return f"a value of {name} was added or dropped; all values of a field are signed together"
    return f"{name} was rewritten"
