"""Keys that sign somewhere else: which objects are keys, and which answers are signatures."""

from __future__ import annotations

import asyncio
import base64
from dataclasses import dataclass
from types import SimpleNamespace

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from tests.keys import NOW, URL, verifier

from undersigned import (
    ConfigurationError,
    KeyReference,
    KeySet,
    Request,
    Signer,
    SigningError,
    VerificationKey,
    profiles,
)

EDWARDS = ed25519.Ed25519PrivateKey.from_private_bytes(bytes([1]) * 32)
ELLIPTIC = ec.derive_private_key(7, ec.SECP256R1())
ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
ORDER_384 = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFC7634D81F4372DDF581A0DB248B0A77AECEC196ACCC52973
REQUEST = Request("GET", URL)
KEYS = KeySet.of(
    VerificationKey.from_public_key(EDWARDS.public_key(), keyid="edwards"),
    VerificationKey.from_public_key(ELLIPTIC.public_key(), keyid="elliptic"),
)


@dataclass
class Edwards:
    keyid: object = "edwards"
    algorithm: object = "ed25519"

    def sign(self, base: bytes) -> bytes:
        return EDWARDS.sign(base)


@dataclass
class Elliptic:
    """A key that signs in DER, as most KMS do."""

    keyid: str = "elliptic"
    algorithm: str = "ecdsa-p256-sha256"

    def sign(self, base: bytes) -> bytes:
        return ELLIPTIC.sign(base, ec.ECDSA(SHA256()))


class AsyncElliptic(Elliptic):
    async def sign(self, base: bytes) -> bytes:
        await asyncio.sleep(0)
        return super().sign(base)


def signer(key) -> Signer:
    return Signer(key, profile=profiles.ADCP_3_2, clock=lambda: NOW)


def verify_keyid(fields) -> str:
    return verifier(keys=KEYS).verify(Request("GET", URL, [*fields])).keyid


@pytest.mark.parametrize("key", [Edwards(), Elliptic()], ids=["ed25519", "DER"])
def test_remote_key_signs(key):
    assert verify_keyid(signer(key).sign(REQUEST)) == key.keyid


@pytest.mark.parametrize("key", [AsyncElliptic(), Edwards()], ids=["async", "sync"])
def test_any_key_signs_when_it_is_awaited(key):
    assert verify_keyid(asyncio.run(signer(key).async_sign(REQUEST))) == key.keyid


def test_key_whose_sign_returns_a_future_is_rejected_where_nothing_awaits_it():
    async def sign() -> None:
        future = asyncio.get_running_loop().create_future()
        key = Edwards()
        key.sign = lambda _: future
        with pytest.raises(ConfigurationError, match="its sign method is async"):
            signer(key).sign(REQUEST)
        future.set_result(EDWARDS.sign(b"x"))
        await signer(key).async_sign(REQUEST)

    asyncio.run(sign())


def test_key_reference_only_names_a_key():
    with pytest.raises(ConfigurationError, match=r"a KeyReference cannot sign; use Signer\.prepare"):
        signer(KeyReference("edwards", "ed25519")).sign(REQUEST)


@pytest.mark.parametrize(
    ("key", "fault"),
    [
        (None, "pass a SigningKey"),
        (object(), "pass a SigningKey"),
        (Edwards(keyid=""), "its keyid must be printable ASCII"),
        (Edwards(keyid=b"k"), "its keyid must be printable ASCII"),
        (Edwards(keyid="s3cret\n"), "its keyid must be printable ASCII"),
        (Edwards(algorithm=None), "does not accept None"),
        (Edwards(algorithm="rsa"), "does not accept rsa"),
    ],
)
def test_object_that_is_not_a_key_is_rejected_without_its_values(key, fault):
    with pytest.raises(ConfigurationError, match=f"^key: .*{fault}") as caught:
        signer(key)
    assert "s3cret" not in str(caught.value)


def raw_signature(made: object, algorithm: str) -> bytes:
    """Return the signature that is sent if a key of this algorithm returns `made`."""
    key = SimpleNamespace(keyid="k", algorithm=algorithm, sign=lambda _base: made)
    sent = dict(Signer(key, profile=profiles.GNAP).sign(REQUEST))["Signature"]
    return base64.b64decode(sent.removeprefix("sig1=:").removesuffix(":"), validate=True)


@pytest.mark.parametrize("length", [0, 1, 63, 65, 88])
def test_ed25519_signature_has_64_bytes(length):
    with pytest.raises(SigningError, match=f"it returned {length} bytes, which is not a signature of ed25519"):
        raw_signature(bytes(length), "ed25519")


@pytest.mark.parametrize("made", [None, "text", bytearray(64)])
def test_signature_is_bytes(made):
    with pytest.raises(SigningError, match="must return bytes"):
        raw_signature(made, "ed25519")


def test_signature_by_an_algorithm_of_any_length_has_a_byte():
    assert raw_signature(b"x", "rsa-v1_5-sha256") == b"x"
    with pytest.raises(SigningError, match="returned 0 bytes"):
        raw_signature(b"", "rsa-v1_5-sha256")


@pytest.mark.parametrize(
    ("algorithm", "length", "order"), [("ecdsa-p256-sha256", 32, ORDER), ("ecdsa-p384-sha384", 48, ORDER_384)]
)
@pytest.mark.parametrize(("r", "s"), [(1, 1), (1, -1), (-1, 255), (2**200, 2**8)])
def test_ecdsa_signature_in_der_becomes_r_and_s(algorithm, length, order, r, s):
    r, s = r % order, s % order
    raw = r.to_bytes(length, "big") + s.to_bytes(length, "big")
    assert raw_signature(encode_dss_signature(r, s), algorithm) == raw
    assert raw_signature(raw, algorithm) == raw


@pytest.mark.parametrize("made", [b"", b"\x30\x00", b"x" * 63, encode_dss_signature(1, 1) + b"\x00"])
def test_bytes_that_are_neither_r_and_s_nor_der_are_rejected(made):
    with pytest.raises(SigningError, match="neither r and s of 32 bytes each nor DER"):
        raw_signature(made, "ecdsa-p256-sha256")


@pytest.mark.parametrize(("r", "s"), [(0, 1), (1, 0), (ORDER, 1), (1, ORDER)])
@pytest.mark.parametrize("der", [True, False])
def test_ecdsa_numbers_out_of_range_are_rejected(r, s, der):
    made = encode_dss_signature(r, s) if der else r.to_bytes(32, "big") + s.to_bytes(32, "big")
    with pytest.raises(SigningError, match="r or s is out of range"):
        raw_signature(made, "ecdsa-p256-sha256")


def test_negative_ecdsa_number_in_der_is_rejected():
    with pytest.raises(SigningError):
        raw_signature(bytes.fromhex("3006020181020101"), "ecdsa-p256-sha256")
