"""The default profile: plain RFC 9421, for a signer and a verifier that are given no other."""

from __future__ import annotations

import base64
import time

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from undersigned import (
    ConfigurationError,
    KeyPair,
    KeySet,
    MemoryReplayStore,
    Request,
    SignatureError,
    Signer,
    SigningKey,
    Verifier,
    profiles,
)
from undersigned.message.content_digest import content_digest
from undersigned.signature.rules import KeyRule, Selection

URL = "https://shop.example/Orders/%7Eann?a=1"
JSON = ("Content-Type", "application/json")
NOW = int(time.time())
SECRET = Ed25519PrivateKey.generate()
X = base64.urlsafe_b64encode(SECRET.public_key().public_bytes_raw()).rstrip(b"=").decode()
PLAIN = {"kid": "partner", "kty": "OKP", "crv": "Ed25519", "x": X}
"""A key as the crypto module of Node exports it, with a kid."""

COMPONENTS = '"@method" "@target-uri" "@authority" "content-type" "content-digest"'
PARAMETERS = f';created={NOW};expires={NOW + 300};nonce="n-1";keyid="partner"'


def by_hand(components: str = COMPONENTS, parameters: str = PARAMETERS, *, label: str = "sig") -> list[tuple[str, str]]:
    """Return the header fields of a request that is signed with cryptography alone, as another language does."""
    digest = content_digest(b"{}", "sha-256")
    values = {
        "@method": "POST", "@target-uri": URL, "@authority": "shop.example", "content-type": "application/json",
        "content-digest": digest,
    }  # fmt: skip
    signed = f"({components}){parameters}"
    lines = [f"{name}: {values[name[1:-1]]}" for name in components.split()]
    base = "\n".join([*lines, f'"@signature-params": {signed}'])
    signature = base64.b64encode(SECRET.sign(base.encode())).decode()
    return [
        ("Signature-Input", f"{label}={signed}"),
        ("Signature", f"{label}=:{signature}:"),
        ("Content-Digest", digest),
    ]


def verified(fields, jwk=PLAIN):
    keys = KeySet.from_jwks({"keys": [jwk]}, owner="ann")
    verifier = Verifier(keys=keys, replay=MemoryReplayStore(), clock=lambda: NOW)
    return verifier.verify(Request("POST", URL, [JSON, *fields], b"{}"))


@pytest.mark.parametrize("more", ["", ';alg="ed25519"', ';tag="their-own"'])
def test_request_of_another_language_is_verified_with_its_plain_jwk(more):
    signature = verified(by_hand(parameters=PARAMETERS + more))
    assert (signature.signer, signature.keyid, signature.label) == ("ann", "partner", "sig")


@pytest.mark.parametrize("name", COMPONENTS.split())
def test_each_component_must_be_covered(name):
    with pytest.raises(SignatureError, match="signature_components_incomplete"):
        verified(by_hand(" ".join(one for one in COMPONENTS.split() if one != name)))


@pytest.mark.parametrize("parameter", PARAMETERS.lstrip(";").split(";"), ids=lambda text: text.partition("=")[0])
def test_each_parameter_must_be_there(parameter):
    with pytest.raises(SignatureError, match="signature_params_incomplete"):
        verified(by_hand(parameters=PARAMETERS.replace(f";{parameter}", "")))


def test_signature_lives_five_minutes_at_most():
    with pytest.raises(SignatureError, match="signature_window_invalid"):
        verified(by_hand(parameters=PARAMETERS.replace(f"expires={NOW + 300}", f"expires={NOW + 301}")))


def test_signature_of_a_proxy_beside_the_callers_does_not_matter():
    own, proxys = by_hand(), by_hand('"@method"', f';created={NOW};keyid="proxy"', label="proxy")
    both = [(name, f"{value}, {other}") for (name, value), (_, other) in zip(proxys[:2], own[:2], strict=True)]
    assert verified([*both, own[2]]).label == "sig"


@pytest.mark.parametrize("member", [{"use": "enc"}, {"key_ops": ["encrypt"]}])
def test_key_that_says_it_is_for_something_else_is_refused(member):
    with pytest.raises(ConfigurationError, match=f"the JWK's {next(iter(member))} "):
        verified(by_hand(), PLAIN | member)


@pytest.mark.parametrize("algorithm", ["ed25519", "ecdsa-p256-sha256"])
def test_signer_without_a_profile_satisfies_a_verifier_without_one_once(algorithm):
    pair = KeyPair.generate(algorithm)
    verifier = Verifier(keys=pair.key_set(), replay=MemoryReplayStore())
    request = Request("POST", URL, [JSON], b"{}")
    fields = Signer(SigningKey.from_jwk({k: v for k, v in pair.private.items() if k != "adcp_use"})).sign(request)
    received = Request(request.method, URL, [JSON, *fields], request.body)
    assert verifier.verify(received).target.target_uri == URL.replace("%7E", "~")
    with pytest.raises(SignatureError, match="signature_replayed"):
        verifier.verify(received)


def test_derived_profile_with_a_tag_writes_and_requires_it():
    pair = KeyPair.generate()
    own = Signer(pair.signing_key()).profile.derive(name="own", selection=Selection(tags=("own",)))
    verifier = Verifier(own, keys=pair.key_set(), replay=MemoryReplayStore())
    fields = Signer(pair.signing_key(), profile=own).sign(Request("GET", URL))
    assert verifier.verify(Request("GET", URL, [*fields])).tag == "own"
    with pytest.raises(SignatureError, match="signature_params_incomplete"):
        verifier.verify(Request("GET", URL, [*Signer(pair.signing_key()).sign(Request("GET", URL))]))


def test_error_for_a_plain_jwk_lists_all_that_it_lacks_and_how_to_accept_it():
    keys = KeySet.from_jwks({"keys": [PLAIN]})
    with pytest.raises(ConfigurationError) as caught:
        Verifier(profiles.ADCP_3_2, keys=keys, replay=MemoryReplayStore())
    for lacking in (
        "no registered alg: expected EdDSA",
        "use is not sig",
        "key_ops does not include verify",
        "adcp_use does not include",
    ):
        assert lacking in str(caught.value)
    assert str(caught.value).endswith("In a profile of your own, derive(key=KeyRule()) accepts plain JWKs")
    assert Verifier(profiles.ADCP_3_2.derive(key=KeyRule()), keys=keys, replay=MemoryReplayStore())
    with pytest.raises(ConfigurationError, match=r"accepts ecdsa-p256-sha256 only$"):
        Verifier(
            profiles.DEFAULT.derive(algorithms=frozenset({"ecdsa-p256-sha256"})), keys=keys, replay=MemoryReplayStore()
        )
