"""Keys that a message brings along in a JWT: of WIMSE, on the published example and on flawed tokens."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json

import pytest
from tests.keys import Awaited, signing_key
from tests.profiles.examples import EXAMPLES, FILE
from tests.tokens.issuing import issue

from undersigned import (
    AsyncVerifier,
    ConfigurationError,
    KeyLookup,
    KeyPair,
    KeySet,
    KeySourceError,
    MemoryReplayStore,
    Request,
    RevocationList,
    SignatureError,
    Signer,
    Verifier,
    profiles,
)
from undersigned.discovery.ucp import UCPKeys
from undersigned.discovery.web_bot_auth import WebBotAuthKeys
from undersigned.message import HeaderFields
from undersigned.tokens import WorkloadTokenKeys

ISSUERS = {
    example["id"]: KeySet.from_jwks({"keys": [example["issuer_jwk"]]}).for_tests()
    for example in json.loads(FILE.read_text())["examples"]
    if "issuer_jwk" in example
}


class WorkloadTokens(WorkloadTokenKeys):
    """Keys of tokens that accept the published test key to which the token of the wire example is bound."""

    __slots__ = ()

    def find(self, lookup):
        return tuple(key.for_tests() for key in super().find(lookup))

    async def async_find(self, lookup):
        return tuple([key.for_tests() for key in await super().async_find(lookup)])


WORKLOADS = {"example.com": ISSUERS["wimse-request"]}
WIMSE = EXAMPLES["wimse-request"]
ISSUER, OTHER_ISSUER, BOUND = (KeyPair.generate(keyid=keyid) for keyid in ("issuer", "issuer", "bound"))
JWK = BOUND.public["keys"][0]
NOW = 1_000
CLAIMS = {"sub": "wimse://a.example/b", "exp": NOW + 60, "cnf": {"jwk": JWK}}
HEADER = {"alg": "EdDSA", "kid": "issuer", "typ": "wit+jwt"}


def token(header=HEADER, claims=CLAIMS, *, key=ISSUER) -> str:
    return issue(header, claims, key)


def lookup(field: str, value: str, *, covered: bool = True) -> KeyLookup:
    names, fields = frozenset({field} if covered else ()), HeaderFields([(field, value)])
    identifiers = (f'"{field}"',) if covered else ()
    return KeyLookup("", {}, names, "GET", "https://a.example/", fields, label="sig", identifiers=identifiers)


def reason(find, *arguments, **options) -> str:
    """Why no key is found, or a request is rejected."""
    with pytest.raises((KeySourceError, SignatureError)) as caught:
        find(*arguments, **options)
    return caught.value.reason


def workload(text: str, **options):
    return tokens_of({"a.example": ISSUER.key_set()}).find(lookup("workload-identity-token", text, **options))


def tokens_of(issuers, **options):
    return WorkloadTokenKeys(issuers, clock=lambda: NOW, **options)


def test_published_request_is_verified_by_the_key_of_its_token():
    options = {"clock": lambda: WIMSE.now}
    plain = WorkloadTokens(WORKLOADS, **options)
    awaited = WorkloadTokens({"example.com": Awaited(ISSUERS["wimse-request"])}, **options)
    signer = "wimse://example.com/svcA"
    verified = Verifier(WIMSE.profile, keys=plain, replay=MemoryReplayStore(), **options).verify(WIMSE.request)
    assert (verified.signer, verified.signature_base, plain.blocking) == (signer, WIMSE.base, False)
    verifier = AsyncVerifier(WIMSE.profile, keys=awaited, replay=MemoryReplayStore(), **options)
    assert asyncio.run(verifier.verify(WIMSE.request)).signer == signer


class Rotated:
    """The keys of an issuer who has published another key under the same kid."""

    blocking = False

    def __init__(self, *, asks_again: bool) -> None:
        self.asks_again, self.asked = asks_again, []

    def find(self, asked):
        self.asked.append(asked.is_second_try)
        return (ISSUER if asked.is_second_try else OTHER_ISSUER).key_set().find(asked)


@pytest.mark.parametrize("is_async", [False, True], ids=["threads", "tasks"])
def test_issuer_is_asked_again_if_its_key_does_not_verify_the_token(is_async):
    for asks_again, signed_by in ((True, ISSUER), (True, BOUND), (False, ISSUER)):
        issuer = Rotated(asks_again=asks_again)
        keys, asked = tokens_of({"a.example": issuer}), lookup("workload-identity-token", token(key=signed_by))
        is_found = asks_again and signed_by is ISSUER
        with contextlib.nullcontext() if is_found else pytest.raises(KeySourceError, match="not signed by a key"):
            [key] = asyncio.run(keys.async_find(asked)) if is_async else keys.find(asked)
            assert key.owner == CLAIMS["sub"]
        assert issuer.asked == [False, True][: 1 + asks_again]


@pytest.mark.parametrize("name", ["keyid", "thumbprint"])
def test_published_request_is_rejected_when_its_key_is_revoked_although_it_does_not_name_it(name):
    example, options = WIMSE, {"clock": lambda: WIMSE.now}
    keys = WorkloadTokens(WORKLOADS, **options)
    screening = Verifier(example.profile, keys=keys, replay=MemoryReplayStore(), **options)
    [candidate] = screening.screen(example.request)
    [key] = keys.find(candidate.lookup())
    revoked = RevocationList(
        revoked=frozenset({getattr(key, name)}), updated=example.now - 60, next_update=example.now + 60
    )
    verifier = Verifier(example.profile, keys=keys, replay=MemoryReplayStore(), revocations=revoked, **options)
    assert (candidate.keyid, reason(verifier.verify, example.request)) == ("", "signature_key_revoked")


def test_key_of_a_token_is_named_and_owned_by_its_subject():
    [key] = workload(token())
    assert (key.keyid, key.owner, key.algorithm) == ("bound", CLAIMS["sub"], "ed25519")
    [unnamed] = workload(token(claims=CLAIMS | {"cnf": {"jwk": {**JWK, "kid": 1}}}))
    assert unnamed.keyid == unnamed.thumbprint == key.thumbprint


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "identity_malformed"),
        ("a.b", "identity_malformed"),
        (f"{token()}.x", "identity_malformed"),
        (f"{token()}=", "identity_malformed"),
        ("a.b.c" + "c" * 65_536, "identity_malformed"),
        ("a.e30.e30", "identity_malformed"),
        (token(header=[HEADER]), "identity_malformed"),
        (token(header=b"\xff"), "identity_malformed"),
        (token(header=b'{"typ":"wit+jwt","typ":"wit+jwt"}'), "identity_malformed"),
        (token(header=HEADER | {"typ": "jwt"}), "identity_malformed"),
        (token(header=HEADER | {"typ": 1}), "identity_malformed"),
        (token(header=HEADER | {"crit": ["b64"]}), "identity_malformed"),
        (token(header=HEADER | {"kid": "other"}), "jwks_untrusted"),
        (token(header=HEADER | {"kid": 1}), "jwks_untrusted"),
        (token(header=HEADER | {"alg": "none"}), "jwks_untrusted"),
        (token(header=HEADER | {"alg": "ES256"}), "jwks_untrusted"),
        (token(header=HEADER | {"alg": "HS256"}), "jwks_untrusted"),
        (token(key=BOUND), "jwks_untrusted"),
        (token(claims=[]), "identity_malformed"),
        (token(claims=CLAIMS | {"exp": NOW}), "identity_malformed"),
        (token(claims=CLAIMS | {"exp": True}), "identity_malformed"),
        (token(claims=CLAIMS | {"exp": str(NOW + 60)}), "identity_malformed"),
        (token(claims=CLAIMS | {"nbf": NOW + 1}), "identity_malformed"),
        (token(claims=CLAIMS | {"nbf": None}), "identity_malformed"),
        (token(claims=CLAIMS | {"sub": ""}), "identity_malformed"),
        (token(claims=CLAIMS | {"sub": "a\nb"}), "identity_malformed"),
        (token(claims=CLAIMS | {"cnf": JWK}), "identity_malformed"),
        (token(claims=CLAIMS | {"cnf": {"jwk": {k: v for k, v in JWK.items() if k != "alg"}}}), "identity_malformed"),
    ],
    ids=itertools.count(),
)
def test_flawed_token_gives_no_key(text, expected):
    assert reason(workload, text) == f"signature_{expected}"


def test_token_that_the_signature_does_not_cover_gives_no_key():
    assert reason(workload, token(), covered=False) == "signature_identity_missing"


def test_issuer_speaks_for_its_own_trust_domain_only():
    other = KeyPair.generate(keyid="issuer")
    both = tokens_of({"a.example": ISSUER.key_set(), "b.example": other.key_set()})
    for domain, pair, rival in (("a.example", ISSUER, other), ("b.example", other, ISSUER)):
        claims = CLAIMS | {"sub": f"wimse://{domain}/payments"}
        [key] = both.find(lookup("workload-identity-token", token(claims=claims, key=pair)))
        assert key.owner == claims["sub"]
        with pytest.raises(KeySourceError, match="not signed by a key of a trusted issuer"):
            both.find(lookup("workload-identity-token", token(claims=claims, key=rival)))


@pytest.mark.parametrize(
    ("subject", "expected"),
    [
        ("wimse://c.example/b", "signature_jwks_untrusted"),
        ("wimse://a.example@c.example/b", "signature_identity_malformed"),
        ("wimse://c.example:a.example/b", "signature_identity_malformed"),
        ("wimse://c.example?a.example/b", "signature_identity_malformed"),
        ("wimse:a.example", "signature_identity_malformed"),
        ("payments", "signature_identity_malformed"),
    ],
)
def test_token_of_no_known_trust_domain_gives_no_key(subject, expected):
    assert reason(workload, token(claims=CLAIMS | {"sub": subject})) == expected


@pytest.mark.parametrize(
    ("named", "is_ours"),
    [
        ("https://orders.example", True),
        (["https://else.example", "https://orders.example"], True),
        ("https://else.example", False),
        ([["https://orders.example"]], False),
        ([], False),
        (None, False),
    ],
)
def test_token_for_another_audience_gives_no_key(named, is_ours):
    asked = lookup("workload-identity-token", token(claims=CLAIMS | {"aud": named}))
    issuers = {"a.example": ISSUER.key_set()}
    ours = tokens_of(issuers, audience=("https://orders.example",))
    for source in (tokens_of(issuers), *(() if is_ours else (ours,))):
        assert reason(source.find, asked) == "signature_jwks_untrusted"
    if is_ours:
        assert ours.find(asked)


def test_token_without_an_audience_is_rejected_if_the_operator_asks_for_one():
    issuers, asked = {"a.example": ISSUER.key_set()}, lookup("workload-identity-token", token())
    assert tokens_of(issuers).find(asked)
    with pytest.raises(KeySourceError, match=r"^audience: "):
        tokens_of(issuers, audience=("https://orders.example",)).find(asked)


def test_key_that_cannot_be_used_is_kept_with_its_fault():
    [key] = workload(token(claims=CLAIMS | {"cnf": {"jwk": {**JWK, "x": "AA"}}}))
    assert key.fault


@pytest.mark.parametrize(
    ("make", "option"),
    [
        (lambda: WorkloadTokenKeys(ISSUER.key_set()), "issuers"),
        (lambda: WorkloadTokenKeys({}), "issuers"),
        (lambda: WorkloadTokenKeys({"a.example": "keys"}), "issuers"),
        (lambda: WorkloadTokenKeys({"A.example": ISSUER.key_set()}), "issuers"),
        (lambda: WorkloadTokenKeys({"wimse://a.example": ISSUER.key_set()}), "issuers"),
        (lambda: WorkloadTokenKeys({"a.example": ISSUER.key_set()}, audience="orders"), "audience"),
    ],
)
def test_wrong_argument_is_rejected_at_construction(make, option):
    with pytest.raises(ConfigurationError, match=f"^{option}: "):
        make()


@pytest.mark.parametrize(
    ("profile", "keys", "field"),
    [
        (profiles.WIMSE, WorkloadTokenKeys(WORKLOADS), ("Workload-Identity-Token", "a" * 65_537)),
        (profiles.WEB_BOT_AUTH_STRING, WebBotAuthKeys(form="string"), ("Signature-Agent", f'"{"a" * 4_096}"')),
        (profiles.UCP, UCPKeys(), ("UCP-Agent", f'profile="{"a" * 4_096}"')),
    ],
    ids=lambda part: part[0] if isinstance(part, tuple) else "",
)
def test_field_that_names_the_key_and_is_larger_than_is_read_is_too_large(profile, keys, field, monkeypatch):
    monkeypatch.setattr("undersigned.signature.signer.LONGEST_BASE", 1_000_000)
    request = Request("GET", "https://a.example/", [field])
    request = Request("GET", request.url, [field, *Signer(signing_key(), profile=profile).sign(request)])
    with pytest.raises(SignatureError) as rejected:
        Verifier(profile, keys=keys, replay=MemoryReplayStore()).verify(request)
    assert rejected.value.too_large == "request_header_fields_too_large"
    assert "at most" in rejected.value.detail
