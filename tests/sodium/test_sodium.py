"""Both libraries give the same answer: to Wycheproof, to the cases of "Taming the many EdDSAs", and to random changes.

Every combination of a key and an R, moved by points of small order, is made with scalars in and beyond their range.
The cases of the paper (Chalkias, Garillot and Nikolaenko, 2020) are among them, and so are the non-canonical encodings.
"""

from __future__ import annotations

import itertools
from random import Random

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from tests.signature.edwards import PRIME, SMALL, encode, sign
from tests.signature.test_ed25519 import CASES, MESSAGE, SECRET, is_accepted, verifies

from undersigned.signature import ed25519
from undersigned.signature.ed25519 import Ed25519, library

_SEED = 8032


@pytest.fixture
def both(monkeypatch):
    """Return the one answer of both libraries, and fail if there are two."""

    def answer(public: bytes, signature: bytes, message: bytes) -> bool:
        with monkeypatch.context() as patch:
            patch.setattr(ed25519, "has_sodium", lambda: False)
            openssl = verifies(public, signature, message)
            patch.setattr(ed25519, "has_sodium", lambda: True)
            sodium = verifies(public, signature, message)
        assert openssl is sodium, (public.hex(), signature.hex(), message.hex())
        return sodium

    return answer


def test_libsodium_is_used_when_pynacl_is_installed():
    assert library() == "libsodium"


@pytest.mark.parametrize(("public", "test"), CASES)
def test_answer_is_the_one_that_wycheproof_expects(both, public, test):
    answer = both(public, bytes.fromhex(test["sig"]), bytes.fromhex(test["msg"]))
    assert answer is is_accepted(test)


@pytest.mark.parametrize("key", range(8))
def test_answer_is_alike_for_every_key_and_r_moved_by_small_order(both, key):
    for r, nonce, more, number in itertools.product(range(8), (0, 5), (0, 1), range(2)):
        message = b"%s %d" % (MESSAGE, number)
        made = sign(SECRET, nonce, message, key=SMALL[key], r=SMALL[r], more=more)
        valid = both(*made, message)
        # Whoever has a key with a part of small order can sign by it. Nobody else can make such a key.
        if key == 0:
            assert valid is (nonce > 0 and (r, more) == (0, 0))
        assert not (valid and more)


@pytest.mark.parametrize("secret", [0, 1])
def test_answer_is_alike_for_small_keys_and_encodings_that_are_not_canonical(both, secret):
    small = [encode(point) for point in SMALL]
    beyond = [(y | sign << 255).to_bytes(32, "little") for y in range(PRIME, 2**255) for sign in (0, 1)]
    publics, rs = [*small, *beyond, sign(SECRET, 1, MESSAGE)[0]], [*small, *beyond]
    for public, r in itertools.product(publics, rs):
        assert not both(public, r + secret.to_bytes(32, "little"), MESSAGE)


def test_answer_is_alike_when_bits_are_changed(both):
    chance = Random(_SEED)  # noqa: S311 - a search, no secret
    key = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
    public, valid = key.public_key().public_bytes_raw(), key.sign(MESSAGE)
    assert both(public, valid, MESSAGE)
    for _ in range(1_000):
        octets = bytearray(public + valid + MESSAGE)
        for _ in range(chance.choice((1, 1, 2, 8))):
            octets[chance.randrange(len(octets))] ^= 1 << chance.randrange(8)
        if bytes(octets) != public + valid + MESSAGE:
            assert not both(bytes(octets[:32]), bytes(octets[32:96]), bytes(octets[96:]))
    for length in (0, 1, 32, 63, 65, 128):
        assert not both(public, (valid * 2)[:length], MESSAGE)


@pytest.mark.parametrize("length", [0, 1, 111, 112, 127, 128, 4096])
def test_both_libraries_make_the_same_signature(monkeypatch, length):
    key = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
    message = bytes(number % 251 for number in range(length))
    signature = Ed25519(private_key=key).sign(message)
    monkeypatch.setattr(ed25519, "has_sodium", lambda: False)
    assert Ed25519(private_key=key).sign(message) == signature == key.sign(message)
