"""Keys that a message brings along in a JWT: of WIMSE and of AAuth, on the published examples and on flawed tokens."""

from __future__ import annotations

import asyncio
import json
from contextlib import AbstractAsyncContextManager
from dataclasses import replace

import pytest
from tests.profiles.wire import EXAMPLES, FILE
from tests.tokens.issuing import issue

from undersigned import (
    AsyncVerifier,
    ConfigurationError,
    KeyLookup,
    KeyPair,
    KeySet,
    MemoryReplayStore,
    RevocationList,
    SignatureError,
    Verifier,
)
from undersigned.errors import KeySourceError
from undersigned.limits import LONGEST_BASE
from undersigned.message.header_fields import HeaderFields
from undersigned.tokens import (
    AsyncSignatureKeyTokens,
    AsyncWorkloadTokenKeys,
    SignatureKeyTokens,
    WorkloadTokenKeys,
)
from undersigned.verification.screening import screen_all

ISSUERS = {
    example["id"]: KeySet.from_jwks({"keys": [example["issuer_jwk"]]})
    for example in json.loads(FILE.read_text())["examples"]
    if "issuer_jwk" in example
}
WIMSE, AAUTH = EXAMPLES["wimse-request"], EXAMPLES["aauth"]
TYPES = ("aa-agent+jwt",)
ISSUER, BOUND = KeyPair.generate(keyid="issuer"), KeyPair.generate(keyid="bound")
JWK = BOUND.public["keys"][0]
NOW = 1_000
CLAIMS = {"sub": "wimse://a.example/b", "exp": NOW + 60, "cnf": {"jwk": JWK}}
HEADER = {"alg": "EdDSA", "kid": "issuer", "typ": "wit+jwt"}


def token(header=HEADER, claims=CLAIMS, *, key=ISSUER) -> str:
    return issue(header, claims, key)


def lookup(field: str, value: str, *, covered: bool = True, keyid: str = "", label: str = "sig") -> KeyLookup:
    names, fields = frozenset({field} if covered else ()), HeaderFields([(field, value)])
    identifiers = (f'"{field}"',) if covered else ()
    return KeyLookup(keyid, {}, names, "GET", "https://a.example/", fields, label=label, identifiers=identifiers)


def workload(text: str, **options):
    return WorkloadTokenKeys(ISSUER.key_set(), clock=lambda: NOW).find(
        lookup("workload-identity-token", text, **options)
    )


def agent(text: str, *, issuer="https://issuer.example", **options):
    keys = SignatureKeyTokens({issuer: ISSUER.key_set()}, types=("aa-agent+jwt",), clock=lambda: NOW)
    return keys.find(lookup("signature-key", text, **options))


@pytest.mark.parametrize("example", [WIMSE, AAUTH], ids=["wimse", "aauth"])
def test_published_request_is_verified_by_the_key_of_its_token(example):
    if example is WIMSE:
        options = {"clock": lambda: example.now}
        plain = WorkloadTokenKeys(ISSUERS["wimse-request"], **options)
        awaited = AsyncWorkloadTokenKeys(Awaited(ISSUERS["wimse-request"]), **options)
    else:
        options = {"types": TYPES, "clock": lambda: example.now}
        plain = SignatureKeyTokens({"https://ap.example": ISSUERS["aauth"]}, **options)
        awaited = AsyncSignatureKeyTokens({"https://ap.example": ISSUERS["aauth"]}, **options)
    signer = {"wimse-request": "wimse://example.com/svcA", "aauth": "aauth:shopper@ap.example"}[example.name]
    verified = example.verifier(keys=plain).verify(example.request)
    assert (verified.signer, verified.signature_base, plain.blocking) == (signer, example.base, False)
    verifier = AsyncVerifier(example.profile, keys=awaited, replay=MemoryReplayStore(), clock=lambda: example.now)
    assert asyncio.run(verifier.verify(example.request)).signer == signer


class Awaited:
    """A source whose answers have to be awaited."""

    def __init__(self, keys: KeySet) -> None:
        self.keys = keys

    async def find(self, lookup):
        return self.keys.find(lookup)


@pytest.mark.parametrize("name", ["keyid", "thumbprint"])
@pytest.mark.parametrize("example", [WIMSE, AAUTH], ids=["wimse", "aauth"])
def test_published_request_is_rejected_when_its_key_is_revoked_although_it_does_not_name_it(example, name):
    options = {"clock": lambda: example.now}
    if example is WIMSE:
        keys = WorkloadTokenKeys(ISSUERS["wimse-request"], **options)
    else:
        keys = SignatureKeyTokens({"https://ap.example": ISSUERS["aauth"]}, types=TYPES, **options)
    [candidate] = screen_all(example.request, example.profile, now=example.now)
    [key] = keys.find(candidate.lookup())
    revoked = RevocationList(
        revoked=frozenset({getattr(key, name)}), updated=example.now - 60, next_update=example.now + 60
    )
    verifier = Verifier(example.profile, keys=keys, replay=MemoryReplayStore(), revocations=revoked, **options)
    with pytest.raises(SignatureError) as caught:
        verifier.verify(example.request)
    assert (candidate.keyid, caught.value.reason) == ("", "signature_key_revoked")


def test_published_request_is_rejected_when_its_issuer_is_another_one():
    stranger = KeyPair.generate(keyid="issuer-1").key_set()
    keys = WorkloadTokenKeys(stranger, clock=lambda: WIMSE.now)
    with pytest.raises(SignatureError) as caught:
        WIMSE.verifier(keys=keys).verify(WIMSE.request)
    assert (caught.value.reason, caught.value.form.status) == ("signature_jwks_untrusted", 400)


def test_key_of_a_token_is_named_and_owned_by_its_subject():
    [key] = workload(token())
    assert (key.keyid, key.owner, key.algorithm) == ("bound", CLAIMS["sub"], "ed25519")
    [unnamed] = workload(token(claims=CLAIMS | {"cnf": {"jwk": {**JWK, "kid": 1}}}))
    assert unnamed.keyid == unnamed.thumbprint == key.thumbprint


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "signature_identity_malformed"),
        ("a.b", "signature_identity_malformed"),
        (f"{token()}.x", "signature_identity_malformed"),
        (f"{token()}=", "signature_identity_malformed"),
        ("a.b.c" + "c" * LONGEST_BASE, "signature_identity_malformed"),
        ("a.e30.e30", "signature_identity_malformed"),
        (token(header=[HEADER]), "signature_identity_malformed"),
        (token(header=b"\xff"), "signature_identity_malformed"),
        (token(header=b'{"typ":"wit+jwt","typ":"wit+jwt"}'), "signature_identity_malformed"),
        (token(header=HEADER | {"typ": "jwt"}), "signature_identity_malformed"),
        (token(header=HEADER | {"typ": 1}), "signature_identity_malformed"),
        (token(header=HEADER | {"crit": ["b64"]}), "signature_identity_malformed"),
        (token(header=HEADER | {"kid": "other"}), "signature_jwks_untrusted"),
        (token(header=HEADER | {"kid": 1}), "signature_jwks_untrusted"),
        (token(header=HEADER | {"alg": "none"}), "signature_jwks_untrusted"),
        (token(header=HEADER | {"alg": "ES256"}), "signature_jwks_untrusted"),
        (token(header=HEADER | {"alg": "HS256"}), "signature_jwks_untrusted"),
        (token(key=BOUND), "signature_jwks_untrusted"),
        (token(claims=[]), "signature_identity_malformed"),
        (token(claims=CLAIMS | {"exp": NOW}), "signature_identity_malformed"),
        (token(claims=CLAIMS | {"exp": True}), "signature_identity_malformed"),
        (token(claims=CLAIMS | {"exp": str(NOW + 60)}), "signature_identity_malformed"),
        (token(claims=CLAIMS | {"nbf": NOW + 1}), "signature_identity_malformed"),
        (token(claims=CLAIMS | {"nbf": None}), "signature_identity_malformed"),
        (token(claims=CLAIMS | {"sub": ""}), "signature_identity_malformed"),
        (token(claims=CLAIMS | {"sub": "a\nb"}), "signature_identity_malformed"),
        (token(claims=CLAIMS | {"cnf": JWK}), "signature_identity_malformed"),
        (token(claims=CLAIMS | {"cnf": {"jwk": {k: v for k, v in JWK.items() if k != "alg"}}}), None),
    ],
)
def test_flawed_token_gives_no_key(text, reason):
    with pytest.raises(KeySourceError) as caught:
        workload(text)
    assert caught.value.reason == (reason or "signature_identity_malformed")


def test_token_that_the_signature_does_not_cover_gives_no_key():
    for find, field in ((workload, "workload-identity-token"), (agent, "signature-key")):
        with pytest.raises(KeySourceError, match=f"covers no {field}") as caught:
            find(token(), covered=False)
        assert caught.value.reason == "signature_identity_missing"


def test_key_that_cannot_be_used_is_kept_with_its_fault():
    [key] = workload(token(claims=CLAIMS | {"cnf": {"jwk": {**JWK, "x": "AA"}}}))
    assert key.fault


AGENT = {**CLAIMS, "iss": "https://issuer.example", "cnf": {"jwk": {**JWK, "alg": "Ed25519"}}}
TYPED = {**HEADER, "typ": "aa-agent+jwt"}


def write_signature_key(text: str, label: str = "sig") -> str:
    return f'{label}=jwt;jwt="{text}"'


def test_key_of_signature_key_is_the_one_that_keyid_names_if_there_is_one():
    text = write_signature_key(token(TYPED, AGENT))
    [key] = agent(text)
    assert [agent(text, keyid=keyid)[0].owner for keyid in (key.keyid, key.thumbprint)] == [CLAIMS["sub"]] * 2
    with pytest.raises(KeySourceError, match="another key"):
        agent(text, keyid="other")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (write_signature_key(token(TYPED, AGENT), label="other"), "signature_identity_malformed"),
        (write_signature_key(token(TYPED, AGENT)).replace("=jwt;", '="jwt";'), "signature_identity_malformed"),
        (write_signature_key(token(TYPED, AGENT)).replace("=jwt;", "=hwk;"), "signature_identity_malformed"),
        (write_signature_key(token(TYPED, AGENT)).replace('"', ""), "signature_identity_malformed"),
        ("sig=jwt", "signature_identity_malformed"),
        ("sig=(", "signature_identity_malformed"),
        (write_signature_key(token(HEADER, AGENT)), "signature_identity_malformed"),
        (write_signature_key(token(TYPED, AGENT | {"iss": "https://other.example"})), "signature_jwks_untrusted"),
        (write_signature_key(token(TYPED, AGENT | {"iss": 1})), "signature_jwks_untrusted"),
        (write_signature_key(token(TYPED, AGENT | {"cnf": {"jwk": JWK}})), "signature_identity_malformed"),
    ],
)
def test_flawed_signature_key_gives_no_key(text, reason):
    with pytest.raises(KeySourceError) as caught:
        agent(text)
    assert caught.value.reason == reason


@pytest.mark.parametrize(
    ("make", "option"),
    [
        (lambda: WorkloadTokenKeys("keys"), "issuers"),
        (lambda: AsyncWorkloadTokenKeys(None), "issuers"),
        (lambda: WorkloadTokenKeys(b"keys"), "issuers"),
        (lambda: AsyncWorkloadTokenKeys(KeySet), "issuers"),
        (lambda: AsyncSignatureKeyTokens({}, types=TYPES), "issuers"),
        (lambda: AsyncSignatureKeyTokens({"a": 1}, types=TYPES), "issuers"),
        (lambda: SignatureKeyTokens(["https://issuer.example"], types=TYPES), "issuers"),
        (lambda: SignatureKeyTokens({"a": ISSUER.key_set()}, types="x"), "types"),
        (lambda: SignatureKeyTokens({"a": ISSUER.key_set()}, types=()), "types"),
    ],
)
def test_wrong_argument_is_rejected_at_construction(make, option):
    with pytest.raises(ConfigurationError, match=f"^{option}: "):
        make()


class ForTasks(AbstractAsyncContextManager):
    def find(self, lookup):
        raise AssertionError(lookup)

    async def __aexit__(self, *failure):
        raise AssertionError(failure)


@pytest.mark.parametrize("source", [Awaited(ISSUER.key_set()), ForTasks()], ids=["async", "for tasks"])
def test_source_for_threads_rejects_an_issuer_whose_answers_have_to_be_awaited(source):
    for make in (lambda: WorkloadTokenKeys(source), lambda: SignatureKeyTokens({"a": source}, types=TYPES)):
        with pytest.raises(ConfigurationError, match=r"^issuers: its answers have to be awaited; use Async"):
            make()
    assert AsyncWorkloadTokenKeys(source)
    assert AsyncSignatureKeyTokens({"a": source}, types=TYPES)


def test_source_may_block_if_a_key_source_of_its_issuers_does_not_say():
    class Silent:
        def find(self, lookup):
            raise AssertionError(lookup)

    assert WorkloadTokenKeys(Silent()).blocking
    assert SignatureKeyTokens({"https://issuer.example": Silent()}, types=TYPES).blocking


def test_replayed_nonce_of_the_same_workload_is_rejected():
    keys = WorkloadTokenKeys(ISSUERS["wimse-request"], clock=lambda: WIMSE.now)
    verifier = WIMSE.verifier(keys=keys)
    verifier.verify(WIMSE.request)
    with pytest.raises(SignatureError) as caught:
        verifier.verify(replace(WIMSE.request))
    assert (caught.value.reason, caught.value.form.status) == ("signature_replayed", 400)
