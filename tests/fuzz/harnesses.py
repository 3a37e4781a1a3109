"""Harnesses: one for each kind of input that a stranger writes. Each takes any octets and fails on a defect only.

A harness expects the errors that the function under test documents. Any other exception is a defect, and so is a result
that breaks a rule which holds for every input.
"""

from __future__ import annotations

import base64
import contextlib
import itertools
import json
from pathlib import Path
from typing import TYPE_CHECKING, Final, get_args
from urllib.parse import unquote_to_bytes

from click import unstyle
from tests.hostile import EXTREMES
from tests.keys import KEYS, NOW, URL, key_pair, verifier
from tests.work import lines_run

from undersigned import (
    ConfigurationError,
    KeySourceError,
    Policy,
    Request,
    RevocationList,
    SignatureError,
    canonicalize,
    profiles,
)
from undersigned.activitypub import ActivityPubVerifier
from undersigned.cli.explain import explained_json, explained_lines
from undersigned.client.double_knock import asked_nonce
from undersigned.discovery.activitypub import check_owner, owner_of, published_key, verification_key
from undersigned.discovery.adcp.brand import authorized_until, brand_url, check_key_origins, jwks_url
from undersigned.discovery.adcp.protocols import EventStream
from undersigned.discovery.fetch_errors import UnusableDocument
from undersigned.discovery.freshness import Freshness
from undersigned.discovery.jwk_set import parse_jwk_set, read_json_object
from undersigned.discovery.remote_revocation_list import read_signed_list
from undersigned.discovery.ucp import UCPKeys
from undersigned.discovery.web_bot_auth import read_card
from undersigned.errors import MalformedURL
from undersigned.explanation import MalformedRequest, explain_request, parse_pasted_request
from undersigned.message import HeaderFields
from undersigned.message.request_target import RequestTarget
from undersigned.message.signature_agent import SignatureAgentForm, read_signature_agent
from undersigned.message.signature_input import parse_signature_input
from undersigned.message.strict_json import loads
from undersigned.message.structured_fields import MalformedField
from undersigned.message.www_authenticate import read_challenge
from undersigned.policy import A2AResolver, JSONRPCResolver, PathResolver, UnresolvedOperation
from undersigned.signature.key_source import KeyLookup
from undersigned.signature.rules import KeyRule
from undersigned.tokens.jwt import read_token
from undersigned.tokens.workload import bound_key
from undersigned.url import ADCP_RECEIVED, Origins
from undersigned.url import explain as explain_url

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

_VERIFIER = verifier()
_DRAFT = ActivityPubVerifier(keys=key_pair("rsa-v1_5-sha256", "nobody").key_set(), clock=lambda: NOW)
_PLATFORMS = UCPKeys()
_ACTOR = "https://a.example/u"
_ORIGIN = Origins(["https://seller.example.com"]).match("seller.example.com")
_ABSENT = ["", "sig1=:AAAA:", "sha-256=:AAAA:"]
_POLICIES = [
    Policy(required_for=["create_media_buy"], resolver=resolver)
    for resolver in (PathResolver(), JSONRPCResolver(), A2AResolver())
]
_JSON = [("Content-Type", "application/json")]
_A2A_URL = "https://seller.example.com/a2a/v1/message:send"
# Checking a name of 253 characters in A-labels takes most of the constant. A stranger's Host is not checked so far.
_LINES, _LINES_PER_OCTET = 200_000, 300
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
            without = Policy().decide(operation, "unsigned", request, fallback=False, profile=profiles.ADCP_3_2)
            assert verdict.outcome == "reject" or without.outcome == "accept", "a webhook gets in unsigned"


def raw_request(data: bytes) -> None:
    """Explain a recorded request."""
    with contextlib.suppress(MalformedRequest):
        explained = explain_request(parse_pasted_request(data).request, profiles.ADCP_3_2, KEYS, now=NOW)
        json.dumps(explained_json(explained)).encode("ascii")
        assert all("\x1b" not in unstyle(line) for line in explained_lines(explained)), "a terminal would be controlled"


def draft_fields(data: bytes) -> None:
    """Verify a request by the draft, whose Signature, Date and Digest are the lines of `data`."""
    signature, date, digest = [*data.decode("latin-1").split("\n", 2), "", ""][:3]
    fields = [("Host", "seller.example.com"), ("Date", date), ("Digest", digest), ("Signature", signature)]
    for method, body in (("POST", b"{}"), ("GET", b"")):
        with contextlib.suppress(SignatureError):
            _DRAFT.verify(Request(method, URL, fields, body))
            raise AssertionError("a signature that nobody made is accepted")


def agent_fields(data: bytes) -> None:
    """Read the field in which a sender names itself, and how long the answer about it is fresh."""
    value, _, control = data.decode("latin-1").partition("\n")
    for form in get_args(SignatureAgentForm):
        with contextlib.suppress(MalformedField):
            read_signature_agent(value, form=form, member="sig1")
    fields = HeaderFields([("UCP-Agent", value)])
    asked = KeyLookup("k", {}, frozenset(), "GET", URL, fields, identifiers=('"ucp-agent"',))
    with contextlib.suppress(KeySourceError):
        _PLATFORMS.agent(asked)
    assert read_challenge(value) is None or value.isascii()
    nonce = asked_nonce(value, profiles.ADCP_3_2)
    assert not nonce or nonce in value, "a nonce that nobody asked for"
    lifetime = Freshness().lifetime({"cache-control": control, "age": value})
    assert 60 <= lifetime <= 900, "a document is fresh for another time"


def document(data: bytes) -> None:
    """Read a document that a peer serves, as each kind of document, and as a token."""
    for read in (
        lambda: read_card(data, url=_ACTOR),
        lambda: RevocationList.from_json(data.decode("latin-1"), issuer=None),
        lambda: read_signed_list(data, keys=KEYS, issuer="a", last=None, now=NOW),
        lambda: _read_actor(read_json_object(data)),
        lambda: _read_brand(read_json_object(data)),
        lambda: EventStream().feed(data),
        lambda: _bound_key(data),
    ):
        with contextlib.suppress(UnusableDocument, ConfigurationError, KeySourceError):
            read()


def _read_actor(actor: Mapping[str, object]) -> None:
    key = published_key(actor, _ACTOR)
    if key is not None:
        check_owner(actor, owner=owner_of(key), keyid=_ACTOR)
        verification_key(key, keyid=_ACTOR, owner=_ACTOR)


def _read_brand(brand: Mapping[str, object]) -> None:
    for read in (
        lambda: brand_url(brand),
        lambda: authorized_until("https://a.example/u", "https://b.example/", brand, now=NOW),
        lambda: jwks_url("https://a.example/u", brand),
        lambda: check_key_origins(brand, "https://a.example/u", purpose="request_signing"),
    ):
        with contextlib.suppress(KeySourceError):
            read()


def _bound_key(claims: bytes) -> None:
    head, body = (base64.urlsafe_b64encode(part).rstrip(b"=").decode() for part in (b'{"typ":"wit+jwt"}', claims))
    bound_key(read_token(f"{head}.{body}.AAAA", types={"wit+jwt"}).claims, now=NOW)


HARNESSES: Final[Mapping[str, Callable[[bytes], None]]] = {
    harness.__name__: harness
    for harness in (
        signature_fields, target, jwk_set, json_body, raw_request, draft_fields, agent_fields, document
    )
}  # fmt: skip

TEMPLATES: Final[Mapping[str, Sequence[str]]] = json.loads(
    (Path(__file__).parent / "templates.json").read_text("utf-8")
)
"""Inputs of each harness with places, each marked by `~`, for the extremes of `tests.hostile`."""


def seeds(name: str) -> Iterator[bytes]:
    """Yield each template of a harness with each extreme, in each place alone and in all places at once."""
    for template in TEMPLATES[name]:
        usual = template.split("~")
        for extreme in itertools.chain.from_iterable(EXTREMES.values()):
            places = ["1"] * (len(usual) - 1)
            for at in range(len(places)):
                filled = [*places[:at], extreme, *places[at + 1 :]]
                yield _joined(usual, filled)
            yield _joined(usual, [extreme] * len(places))


def _joined(texts: Sequence[str], values: Sequence[str]) -> bytes:
    joined = texts[0] + "".join(value + text for value, text in zip(values, texts[1:], strict=True))
    return joined.encode("utf-8", "surrogatepass")


def check_work(harness: Callable[[bytes], None], data: bytes) -> None:
    """Run a harness, and check that the lines of Python that it runs grow no faster than its input."""
    most = _LINES + _LINES_PER_OCTET * len(data)
    # The first call in a process also loads modules and compiles patterns.
    lines = next((lines for _ in range(2) if (lines := lines_run(lambda: harness(data))) <= most), None)
    assert lines is not None, f"more than {most} lines of Python for {len(data)} octets"
