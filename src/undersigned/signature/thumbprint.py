"""JWK thumbprints: a name for a public key that depends on nothing but the key (RFC 7638, RFC 8037 appendix A.3)."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Final

from undersigned.message.structured_fields import base64url

if TYPE_CHECKING:
    from collections.abc import Mapping

_MEMBERS: Final[Mapping[object, tuple[str, ...]]] = {
    "EC": ("crv", "kty", "x", "y"),
    "OKP": ("crv", "kty", "x"),
    "RSA": ("e", "kty", "n"),
}


def thumbprint(jwk: Mapping[str, object]) -> str | None:
    """Return the SHA-256 thumbprint of a JWK in unpadded Base64url, or None if a member is absent or not a string."""
    kty = jwk.get("kty")
    names = _MEMBERS.get(kty) if isinstance(kty, str) else None
    if names is None:
        return None
    members = {name: jwk.get(name) for name in names}
    if not all(isinstance(value, str) for value in members.values()):
        return None
    text = json.dumps(members, separators=(",", ":"), ensure_ascii=False)
    return base64url(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest())
