"""A pair of signers, for receivers of either of two schemes (swicg/activitypub-http-signature)."""

from __future__ import annotations

from typing import Final, TypeAlias

from undersigned.cavage.signer import CavageSigner
from undersigned.errors import ConfigurationError
from undersigned.limits import MOST_HINTS
from undersigned.signature.signer import Signer

AnySigner: TypeAlias = Signer | CavageSigner
"""A signer by RFC 9421 or by draft-cavage-12."""

_UNAUTHORIZED: Final = 401
_ERRORS: Final = 400


class DoubleKnock:
    """A pair of signers. A client tries one of them first, and the other one if the receiver answers 401.

    The scheme that an origin accepted is remembered in this object, and is the first one for that origin from then on
    (swicg/activitypub-http-signature). Safe to share between threads and clients.

    Args:
        modern: signs by RFC 9421, with the profile `ACTIVITYPUB`.
        legacy: signs by draft-cavage-12.
        first: which of them is tried first for an origin that has accepted none yet: `rfc9421` or `cavage`.

    Attributes:
        legacy: as given.

    Raises:
        ConfigurationError: an argument has the wrong type or value.
    """

    __slots__ = ("_first", "_modern", "_remembered", "legacy")

    def __init__(self, modern: Signer, legacy: CavageSigner, *, first: str = "rfc9421") -> None:
        if not isinstance(modern, Signer):
            raise ConfigurationError("modern: pass a Signer, such as Signer(key, profile=profiles.ACTIVITYPUB)")
        if not isinstance(legacy, CavageSigner):
            raise ConfigurationError("legacy: pass a CavageSigner")
        if first not in {"rfc9421", "cavage"}:
            raise ConfigurationError('first: must be "rfc9421" or "cavage"')
        self._modern = modern
        self.legacy = legacy
        self._first: AnySigner = modern if first == "rfc9421" else legacy
        self._remembered: dict[str, AnySigner] = {}

    def signer(self, origin: str) -> AnySigner:
        """Return the signer to try first for an origin, such as `https://social.example`."""
        return self._remembered.get(origin, self._first)

    def note_answer(self, origin: str, status: int, *, modern: bool) -> AnySigner | None:
        """Note how an origin answered. Return the signer of a second try, or None if the answer asks for none.

        Args:
            origin: the origin that the request was signed for.
            status: the status of the response.
            modern: whether the request was signed by RFC 9421.
        """
        if status == _UNAUTHORIZED:
            return self.legacy if modern else self._modern
        if status < _ERRORS:
            if len(self._remembered) >= MOST_HINTS:
                self._remembered.clear()
            self._remembered[origin] = self._modern if modern else self.legacy
        return None
