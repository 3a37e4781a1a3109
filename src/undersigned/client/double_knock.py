"""Double-knocking: a pair of signers, for receivers of either of two schemes (swicg/activitypub-http-signature)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from undersigned.cavage.signer import CavageSigner
from undersigned.limits import MOST_HINTS
from undersigned.message.signature_input import parse_accept_signature
from undersigned.message.structured_fields import MalformedField
from undersigned.signature.rules.option_checks import check
from undersigned.signature.signer import Signer

if TYPE_CHECKING:
    from undersigned.signature.profile import Profile

AnySigner: TypeAlias = Signer | CavageSigner
"""A signer by RFC 9421 or by draft-cavage-12."""

_CLIENT_ERRORS: Final = range(400, 500)
_NOT_OF_THE_SCHEME: Final = frozenset({404, 410, 429})
"""Client errors that another scheme does not change: nobody is there, or there are too many requests."""

_DELIVERED: Final = range(200, 300)


class DoubleKnock:
    """A pair of signers. A client tries one of them first, and the other one if the receiver answers with 4xx.

    Receivers that know one scheme answer the other with 401, 400 and more. After 404, 410 and 429, there is no second
    try. The scheme by which an origin took a request, with 2xx, is remembered in this object, and is the first one for
    that origin from then on (swicg/activitypub-http-signature). A receiver that knows RFC 9421 may ask for a nonce with
    `Accept-Signature`: then the second try is by RFC 9421, too, and has that nonce. Nothing else that a receiver asks
    for changes what is signed. Safe to share between threads and clients.

    Args:
        modern: signs by RFC 9421, with the profile `ACTIVITYPUB`.
        legacy: signs by draft-cavage-12.
        first: which of them is tried first for an origin that has accepted none yet: `rfc9421` or `cavage`.

    Attributes:
        modern: as given.
        legacy: as given.

    Raises:
        ConfigurationError: an argument has the wrong type or value.
    """

    __slots__ = ("_first", "_remembered", "legacy", "modern")

    def __init__(self, modern: Signer, legacy: CavageSigner, *, first: str = "rfc9421") -> None:
        is_signer = isinstance(modern, Signer)
        check("modern", is_signer, "pass a Signer, such as Signer(key, profile=profiles.ACTIVITYPUB)")
        check("legacy", isinstance(legacy, CavageSigner), "pass a CavageSigner")
        check("first", first in {"rfc9421", "cavage"}, 'must be "rfc9421" or "cavage"')
        self.modern = modern
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
        if status in _CLIENT_ERRORS and status not in _NOT_OF_THE_SCHEME:
            return self.legacy if modern else self.modern
        if status in _DELIVERED:
            if len(self._remembered) >= MOST_HINTS:
                self._remembered.clear()
            self._remembered[origin] = self.modern if modern else self.legacy
        return None


def asked_nonce(accept_signature: str, profile: Profile) -> str:
    """Return the nonce that a value of Accept-Signature asks for and a profile allows, or "" (RFC 9421 section 5.1)."""
    try:
        wanted = parse_accept_signature(accept_signature)
    except MalformedField:
        return ""
    nonces = [one.parameters.get("nonce") for one in wanted]
    nonce = next((nonce for nonce in nonces if type(nonce) is str), "")
    pattern = profile.nonce_pattern
    return nonce if pattern is None or pattern.fullmatch(nonce) else ""
