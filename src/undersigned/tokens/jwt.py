"""JWTs in compact serialization: how they are read, and who signed them (RFC 7519, RFC 7515 section 7.1)."""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from undersigned.errors import KeySourceError
from undersigned.limits import LONGEST_BASE, MOST_CANDIDATES
from undersigned.message.strict_json import loads
from undersigned.signature.jwk import ALGORITHM_NAMES

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from undersigned.signature.verification_key import VerificationKey

_SEGMENT: Final = "[A-Za-z0-9_-]+"
_COMPACT: Final = re.compile(rf"(({_SEGMENT})\.({_SEGMENT}))\.({_SEGMENT})")


class Token(NamedTuple):
    """A JWT that was read and not yet verified.

    Attributes:
        header: its header.
        claims: its claims.
        signed: what its issuer signed.
        signature: the signature.
    """

    header: Mapping[str, object]
    claims: Mapping[str, object]
    signed: bytes
    signature: bytes

    @property
    def keyid(self) -> str:
        """The name of the issuer's key, or ""."""
        return text_of(self.header, "kid")

    def check_issuer(self, keys: Sequence[VerificationKey]) -> None:
        """Check that one of the issuer's keys signed the token.

        Raises:
            KeySourceError: none did.
        """
        if not self.is_signed_by(keys):
            raise KeySourceError("signature_jwks_untrusted", "the token is not signed by a key of a trusted issuer")

    def is_signed_by(self, keys: Sequence[VerificationKey]) -> bool:
        """Return whether one of the keys signed the token. The first four count."""
        algorithm = ALGORITHM_NAMES.get(text_of(self.header, "alg"), "")
        usable = (key for key in keys[:MOST_CANDIDATES] if not key.fault)
        return any(key.verifies(self.signature, self.signed, algorithm=algorithm) for key in usable)


def read_token(text: str, *, types: Collection[str], most: int = LONGEST_BASE) -> Token:
    """Read a JWT in compact serialization.

    Args:
        text: the JWT.
        types: the accepted values of `typ`, in lower case.
        most: upper bound on the characters of the JWT.

    Raises:
        KeySourceError: it is not a JWT of such a type.
    """
    if len(text) > most:
        what = f"the token has {len(text):,} characters, and at most {most:,} are read"
        raise KeySourceError("signature_identity_malformed", what, oversized=True)
    match = _COMPACT.fullmatch(text)
    if match is None:
        raise token_error("it is not three segments of Base64url")
    header = _object(match[2])
    if text_of(header, "typ").lower() not in types or "crit" in header:
        raise token_error("its typ is another one, or it has crit")
    return Token(header, _object(match[3]), match[1].encode("ascii"), _octets(match[4]))


def token_error(fault: str) -> KeySourceError:
    """Return the error for a token that cannot be used."""
    return KeySourceError("signature_identity_malformed", f"the token: {fault}")


def _object(segment: str) -> Mapping[str, object]:
    try:
        value = loads(_octets(segment))
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise token_error("a segment is not a JSON object")
    return cast("Mapping[str, object]", value)


def _octets(segment: str) -> bytes:
    try:
        return base64.urlsafe_b64decode(segment + "=" * (-len(segment) % 4))
    except ValueError:
        raise token_error("a segment is not Base64url") from None


def text_of(members: Mapping[str, object], name: str) -> str:
    """Return the text that a member is, or ""."""
    value = members.get(name)
    return value if isinstance(value, str) else ""
