"""Rotation: how a public JWK set changes when its owner changes keys. Each old key is published for an overlap."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from undersigned.errors import ConfigurationError
from undersigned.signature.public_jwks import public_jwks_text
from undersigned.signature.rules import KeyRule
from undersigned.signature.verification_key import VerificationKey

if TYPE_CHECKING:
    from collections.abc import Sequence

_JWK: TypeAlias = Mapping[str, object]

_PURPOSE: Final = frozenset({"request-signing"})

SPREAD: Final = 900
"""Seconds until every receiver has fetched a new set: a quarter of an hour at most, as `RemoteJWKS` does."""

LAST_SIGNATURE: Final = 360
"""Seconds that a signature may be accepted after it was made: its validity and the clock skew (AdCP)."""

LEAST_OVERLAP: Final = SPREAD + LAST_SIGNATURE
"""Seconds that an old key is published at least after the new one: it signs until all receivers know the new one."""


@dataclass(frozen=True, slots=True)
class Rotation:
    """A public JWK set after a step of a rotation.

    Attributes:
        jwks: the set to publish.
        text: its JSON text.
        retiring: the old keys that are still published, by `kid`, with the time at which they are to be dropped.
        dropped: the `kid` of each key that is dropped.
    """

    jwks: Mapping[str, object]
    text: bytes
    retiring: Mapping[str, int]
    dropped: tuple[str, ...]


def begin_rotation(jwks: _JWK, new: _JWK, *, now: int, overlap: int) -> Rotation:
    """Add a key to a set, and let the keys for request signing that it replaces retire.

    An old key gets the member `exp`, the time at which it is to be dropped, in seconds since the epoch. A key whose
    `exp` is over is dropped. Keys for other uses stay as they are.

    Args:
        jwks: the public JWK set.
        new: the public JWK of the new key.
        now: seconds since the epoch.
        overlap: the seconds that the old keys are still published, `LEAST_OVERLAP` at least.

    Raises:
        ConfigurationError: one of the sets is not one that may be published, or `overlap` is too short.
    """
    if overlap < LEAST_OVERLAP:
        raise ConfigurationError(f"overlap: give at least {LEAST_OVERLAP} seconds: receivers cache the set")
    kept, dropped = _drop_ended(jwks, now)
    retiring = [{**jwk, "exp": now + overlap} if _signs(jwk) and _end(jwk) is None else jwk for jwk in kept]
    return _rotation(jwks, [*retiring, new], dropped)


def finish_rotation(jwks: _JWK, *, now: int) -> Rotation:
    """Drop the keys whose overlap is over.

    Args:
        jwks: the public JWK set.
        now: seconds since the epoch.

    Raises:
        ConfigurationError: the set is not one that may be published, or no key for request signing would be left.
    """
    kept, dropped = _drop_ended(jwks, now)
    if not any(_signs(jwk) for jwk in kept):
        raise ConfigurationError("keys: no key for request signing would be left; add one first, without --finish")
    return _rotation(jwks, kept, dropped)


def _drop_ended(jwks: _JWK, now: int) -> tuple[list[_JWK], tuple[str, ...]]:
    public_jwks_text(jwks)
    keys = cast("list[_JWK]", jwks["keys"])
    ended = [jwk for jwk in keys if _signs(jwk) and (end := _end(jwk)) is not None and end <= now]
    return [jwk for jwk in keys if jwk not in ended], tuple(cast("str", jwk["kid"]) for jwk in ended)


def _rotation(jwks: _JWK, keys: Sequence[_JWK], dropped: tuple[str, ...]) -> Rotation:
    made = {**jwks, "keys": list(keys)}
    ends = {cast("str", jwk["kid"]): end for jwk in keys if _signs(jwk) and (end := _end(jwk)) is not None}
    return Rotation(made, public_jwks_text(made), ends, dropped)


def _signs(jwk: _JWK) -> bool:
    """Return whether a key is for request signing."""
    key = VerificationKey.from_jwk(jwk)
    return not key.misuse(key.algorithm, KeyRule(purposes=_PURPOSE, is_declared=True))


def _end(jwk: _JWK) -> int | None:
    """Return when a key is to be dropped, or None if it is not an old one."""
    end = jwk.get("exp")
    if end is not None and type(end) is not int:
        raise ConfigurationError("keys: exp must be whole seconds since the epoch, or absent")
    return end
