"""Published keys: the test keys of vectors, as JWK or PEM, many with their private key."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from undersigned.conformance.document import Document, MalformedVector
from undersigned.signature.signing_key import SigningKey
from undersigned.signature.thumbprint import thumbprint
from undersigned.signature.verification_key import VerificationKey

if TYPE_CHECKING:
    from undersigned.message.strict_json import JSONValue

_PRIVATE = frozenset({"d", "p", "q", "dp", "dq", "qi", "oth"})
_SHARED = "oct"
_KEYID = "k"


@dataclass(frozen=True, slots=True)
class PublishedKey:
    """A test key. It has no purpose and no name, so it verifies every signature that names it.

    Attributes:
        jwk: the JWK, or an empty object.
        pem: the public key in PEM, or "".
    """

    jwk: Document
    pem: str = ""

    @classmethod
    def read(cls, published: JSONValue) -> PublishedKey:
        """Read a JWK, an object that contains one as `jwk`, or a PEM text.

        Raises:
            MalformedVector: it is none of them.
        """
        if isinstance(published, str):
            return cls(Document({}), published)
        if not isinstance(published, dict):
            raise MalformedVector("a key is neither a JWK nor a PEM text")
        document = Document(published)
        return cls(document.document("jwk") if "jwk" in document else document)

    @property
    def is_private(self) -> bool:
        """Whether it can sign."""
        return "d" in self.jwk or "k" in self.jwk

    def verification(self, algorithm: str) -> VerificationKey:
        """Return the key that verifies, with the algorithm that the vector names, or "" for the key's own."""
        if self.pem:
            return VerificationKey.from_pem(self.pem, keyid=_KEYID, algorithm=algorithm or None)
        jwk = self._jwk(algorithm)
        if jwk.get("kty") == _SHARED:
            return VerificationKey.from_secret(jwk, keyid=_KEYID)
        return VerificationKey.from_jwk({name: value for name, value in jwk.items() if name not in _PRIVATE})

    def signing(self, algorithm: str) -> SigningKey:
        """Return the private key; the rest is as for `verification`."""
        return SigningKey.from_jwk(self._jwk(algorithm))

    def by_kid(self, algorithm: str = "") -> VerificationKey:
        """Return the key that verifies, named by its `kid`, or by its thumbprint if it has none (RFC 7638)."""
        members: dict[str, object] = {name: self.jwk.members[name] for name in self.jwk.members if name not in _PRIVATE}
        members.setdefault("kid", thumbprint(members) or _KEYID)
        return VerificationKey.from_jwk({**members, **({"alg": algorithm} if algorithm else {})})

    def under_keyid(self, keyid: str, algorithm: str) -> VerificationKey:
        """Return the key that verifies, named as the message names it."""
        if self.pem:
            return VerificationKey.from_pem(self.pem, keyid=keyid, algorithm=algorithm or None)
        return PublishedKey(Document({**self.jwk.members, "kid": keyid})).by_kid(algorithm)

    def by_thumbprint(self) -> VerificationKey:
        """Return the key that verifies, named by its thumbprint (RFC 7638), whatever its `kid` is."""
        return PublishedKey(Document({n: v for n, v in self.jwk.members.items() if n != "kid"})).by_kid()

    def _jwk(self, algorithm: str) -> dict[str, object]:
        return {**self.jwk.members, "kid": _KEYID, **({"alg": algorithm} if algorithm else {})}
