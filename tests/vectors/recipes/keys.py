"""The keys of our own vectors: fixed and public, so never trust them."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from functools import cached_property

from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256

WARNING = "PUBLIC TEST KEYS. Their private halves are published here: trust none of them."
PRIVATE = "_private_d_for_test_only"
_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551


def b64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


@dataclass(frozen=True)
class Key:
    """One key pair, made of its kid."""

    kid: str
    algorithm: str = "ed25519"
    purpose: str | None = "request-signing"

    @property
    def deterministic(self) -> bool:
        return self.algorithm == "ed25519"

    @property
    def jwk(self) -> dict[str, object]:
        """The public key with its private half, as a test key is published."""
        jwk: dict[str, object] = {"kid": self.kid, **self._material, "use": "sig", "key_ops": ["verify"]}
        if self.purpose is not None:
            jwk["adcp_use"] = self.purpose
        secret = self._seed if self.deterministic else self._scalar.to_bytes(32, "big")
        return {**jwk, PRIVATE: b64url(secret)}

    def sign(self, base: str) -> bytes:
        """The signature over `base`: by ECDSA another one each time, as r and s."""
        data = base.encode("ascii")
        if self.deterministic:
            return self._ed25519.sign(data)
        r, s = decode_dss_signature(self._p256.sign(data, ec.ECDSA(SHA256())))
        return r.to_bytes(32, "big") + s.to_bytes(32, "big")

    @property
    def _material(self) -> dict[str, object]:
        if self.deterministic:
            public = self._ed25519.public_key().public_bytes_raw()
            return {"kty": "OKP", "crv": "Ed25519", "alg": "EdDSA", "x": b64url(public)}
        point = self._p256.public_key().public_numbers()
        x, y = (b64url(number.to_bytes(32, "big")) for number in (point.x, point.y))
        return {"kty": "EC", "crv": "P-256", "alg": "ES256", "x": x, "y": y}

    @property
    def _seed(self) -> bytes:
        return hashlib.sha256(f"a key of undersigned's own vectors: {self.kid}".encode()).digest()

    @property
    def _scalar(self) -> int:
        return int.from_bytes(self._seed, "big") % (_ORDER - 1) + 1

    @cached_property
    def _ed25519(self) -> ed25519.Ed25519PrivateKey:
        return ed25519.Ed25519PrivateKey.from_private_bytes(self._seed)

    @cached_property
    def _p256(self) -> ec.EllipticCurvePrivateKey:
        return ec.derive_private_key(self._scalar, ec.SECP256R1())


BUYER = Key("own-buyer")
BUYER_P256 = Key("own-buyer-p256", "ecdsa-p256-sha256")
REVOKED = Key("own-revoked")
GOVERNANCE = Key("own-governance", purpose="governance-signing")
STRANGER = Key("own-stranger")

SELLER = Key("own-seller", purpose="webhook-signing")
SELLER_P256 = Key("own-seller-p256", "ecdsa-p256-sha256", purpose="webhook-signing")
SELLER_REVOKED = Key("own-seller-revoked", purpose="webhook-signing")
SELLER_REQUESTS = Key("own-seller-requests")
RESPONSES = Key("own-seller-responses", purpose="response-signing")

REQUEST_KEYS = (BUYER, BUYER_P256, REVOKED, GOVERNANCE)
WEBHOOK_KEYS = (SELLER, SELLER_P256, SELLER_REVOKED, SELLER_REQUESTS, RESPONSES)
