"""Harnesses: one for each kind of input that a stranger writes. Each takes any octets and fails on a defect only.

A harness expects the errors that the function under test documents. Any other exception is a defect, and so is a result
that breaks a rule which holds for every input.
"""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote_to_bytes

from click import unstyle
from tests.keys import KEYS, NOW, URL, verifier
from tests.work import lines_run

from undersigned import Policy, Request, SignatureError, canonicalize, profiles
from undersigned.cli.explain import explained_json, explained_lines
from undersigned.discovery.fetch_errors import UnusableDocument
from undersigned.discovery.jwk_set import parse_jwk_set
from undersigned.errors import MalformedURL
from undersigned.explanation import MalformedRequest, explain_request, parse_pasted_request
from undersigned.message.request_target import RequestTarget
from undersigned.message.signature_input import parse_signature_input
from undersigned.message.strict_json import loads
from undersigned.message.structured_fields import MalformedField
from undersigned.policy import A2AResolver, JSONRPCResolver, PathResolver, UnresolvedOperation
from undersigned.signature.rules import KeyRule
from undersigned.url import ADCP_RECEIVED, Origins
from undersigned.url import explain as explain_url

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_VERIFIER = verifier()
_ORIGIN = Origins(["https://seller.example.com"]).match("seller.example.com")
_ABSENT = ["", "sig1=:AAAA:", "sha-256=:AAAA:"]
_POLICIES = [
    Policy(required_for=["create_media_buy"], resolver=resolver)
    for resolver in (PathResolver(), JSONRPCResolver(), A2AResolver())
]
_JSON = [("Content-Type", "application/json")]
_A2A_URL = "https://seller.example.com/a2a/v1/message:send"
# Checking a name of 253 characters in A-labels takes most of the constant. A stranger's Host is not checked so far.
_LINES, _LINES_PER_OCTET = 150_000, 300
_RULE = KeyRule(purposes=frozenset({"request-signing"}), is_declared=True)


def signature_fields(data: bytes) -> None:
    """Verify a request whose Signature-Input, Signature and Content-Digest are the lines of `data`."""
    given = data.decode("latin-1").split("\n", 2)
    signature_input, signature, digest = [*given, *_ABSENT[len(given) :]]
    fields = [("Signature-Input", signature_input), ("Signature", signature), ("Content-Digest", digest)]
    with contextlib.suppress(SignatureError):
        _VERIFIER.verify(Request("POST", URL, [*_JSON, *fields], b"{}"))
        raise AssertionError("a signature that nobody made is accepted")
    try:
        members = parse_signature_input(signature_input)
    except MalformedField:
        return
    for label, read in members.items():
        again = parse_signature_input(f"{label}={read.text}")[label]
        assert (again.text, again.coverage.texts) == (read.text, read.coverage.texts), "the base has another reading"


def target(data: bytes) -> None:
    """Canonicalize a URL, and read a request target."""
    text = data.decode("utf-8", "surrogateescape")
    explained = explain_url(text, ADCP_RECEIVED)
    try:
        canonical = canonicalize(text, received=True)
    except MalformedURL:
        assert explained.result is None, "only the fast path rejects the URL"
    else:
        assert explained.result == str(canonical), "the fast path and the rules disagree"
        assert canonicalize(str(canonical), received=True) == canonical, "the canonical form is not canonical"
    with contextlib.suppress(MalformedURL, UnresolvedOperation):
        received = RequestTarget.parse(data)
        assert received.is_path(unquote_to_bytes(received.path)), "a decoded path is not its own"
        PathResolver().resolve(Request("GET", received.url(_ORIGIN)))


def jwk_set(data: bytes) -> None:
    """Read a JWK set that a peer serves."""
    with contextlib.suppress(UnusableDocument):
        keys = parse_jwk_set(data)
        for keyid in keys:
            for key in keys.get(keyid):
                assert key.algorithm or key.misuse("ed25519", _RULE), "a key without an algorithm can be used"
                assert not key.algorithm or not _verifies(key), "a signature that nobody made is accepted"


def _verifies(key) -> bool:
    return key.verifies(bytes(64), b"base") or key.verifies(b"", b"base")


def json_body(data: bytes) -> None:
    """Read content as strict JSON, and ask each kind of policy about it."""
    with contextlib.suppress(ValueError):
        assert loads(data) == json.loads(data), "the strict reading is another one"
    for policy in _POLICIES:
        for url in (URL, _A2A_URL):
            try:
                request = Request("POST", url, _JSON, data)
                operation = policy.resolver.resolve(request)
            except UnresolvedOperation as unresolved:
                operation = unresolved
            verdict = policy.decide(operation, "unsigned", request, fallback=False, profile=profiles.ADCP_3_2)
            registers = policy.registers_webhook(operation, request, profiles.ADCP_3_2)
            assert verdict.outcome == "reject" or not registers, "a webhook gets in unsigned"


def raw_request(data: bytes) -> None:
    """Explain a recorded request."""
    with contextlib.suppress(MalformedRequest):
        explained = explain_request(parse_pasted_request(data).request, profiles.ADCP_3_2, KEYS, now=NOW)
        json.dumps(explained_json(explained)).encode("ascii")
        assert all("\x1b" not in unstyle(line) for line in explained_lines(explained)), "a terminal would be controlled"


HARNESSES: Final[Mapping[str, Callable[[bytes], None]]] = {
    harness.__name__: harness for harness in (signature_fields, target, jwk_set, json_body, raw_request)
}


def check_work(harness: Callable[[bytes], None], data: bytes) -> None:
    """Run a harness, and check that the lines of Python that it runs grow no faster than its input."""
    lines = lines_run(lambda: harness(data))
    assert lines <= _LINES + _LINES_PER_OCTET * len(data), f"{lines} lines of Python for {len(data)} octets"
