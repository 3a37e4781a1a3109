from __future__ import annotations

import pytest

from undersigned import (
    ConfigurationError,
    KeyPair,
    KeySet,
    MemoryReplayStore,
    Request,
    Signer,
    SigningKey,
    Verifier,
    profiles,
)
from undersigned.signature.thumbprint import thumbprint

ALGORITHMS = pytest.mark.parametrize("algorithm", ["ed25519", "ecdsa-p256-sha256"])


@ALGORITHMS
def test_pair_signs_and_verifies(algorithm):
    pair = KeyPair.generate(algorithm)
    [public] = KeySet.from_jwks(pair.public).keys.values()
    private = SigningKey.from_jwk(pair.private)
    assert public.misuse(algorithm, frozenset({"request-signing"})) == ""
    assert (private.algorithm, private.keyid) == (algorithm, public.keyid)
    assert public.verifies(private.sign(b"base"), b"base")


@ALGORITHMS
def test_public_key_set_has_no_private_member_and_names_each_operation(algorithm):
    pair = KeyPair.generate(algorithm)
    [public] = pair.public["keys"]
    assert pair.private == {**public, "key_ops": ["sign"], "d": pair.private["d"]}
    assert (public["key_ops"], public["use"], public["adcp_use"]) == (["verify"], "sig", "request-signing")


@ALGORITHMS
def test_kid_defaults_to_the_thumbprint_of_the_public_key(algorithm):
    [public] = KeyPair.generate(algorithm).public["keys"]
    assert public["kid"] == thumbprint(public)
    assert KeyPair.generate(algorithm, keyid="mine").private["kid"] == "mine"


@pytest.mark.parametrize("keyid", ["", "\u00fc", "a\nb", "\ud800"])
def test_kid_is_rejected_when_no_signature_can_contain_it(keyid):
    with pytest.raises(ConfigurationError, match="kid"):
        KeyPair.generate("ed25519", keyid=keyid)


def test_repr_shows_no_private_key():
    pair = KeyPair.generate("ed25519")
    assert pair.private["d"] not in repr(pair)


@ALGORITHMS
def test_generated_pair_signs_what_its_key_set_verifies(algorithm):
    pair = KeyPair.generate(algorithm, keyid="test-2026")
    signer = Signer(pair.signing_key(), profile=profiles.ADCP_3_2)
    verifier = Verifier(profiles.ADCP_3_2, keys=pair.key_set(), replay=MemoryReplayStore())
    request = Request("GET", "https://seller.example.com/p")
    signed = Request("GET", request.url, signer.sign(request).fields)
    assert verifier.verify(signed).keyid == "test-2026"


@pytest.mark.parametrize("algorithm", ["rsa-v1_5-sha256", "", "EdDSA"])
def test_unknown_algorithm_is_rejected(algorithm):
    with pytest.raises(ConfigurationError, match=r"^algorithm: give one of ed25519, ecdsa-p256-sha256$"):
        KeyPair.generate(algorithm)
