"""Signing targets: the target of a message, as a signer signs it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from undersigned.message.request_target import typed_target
from undersigned.signature.receiver import check_target
from undersigned.url import canonicalize

if TYPE_CHECKING:
    from undersigned.signature.profile import TargetForm
    from undersigned.url import CanonicalURL

_USUAL_LENGTH: Final = 256
"""The most characters of a usual URL. Reading them costs a receiver at most 50 units of effort."""


@dataclass(frozen=True, slots=True)
class SigningTarget:
    """The target of a message. A signer makes it once for each URL.

    Attributes:
        canonical: its canonical form.
        signed: its form that the profile signs.
        is_usual: whether a receiver reads the URL with little effort: it is short, and spells the authority as its
            canonical form does.
    """

    canonical: CanonicalURL
    signed: CanonicalURL
    is_usual: bool

    @classmethod
    def of(cls, url: str, *, form: TargetForm, check_limits: bool) -> SigningTarget:
        """Return the target of the URL of a message.

        Args:
            url: the URL.
            form: the form that the profile signs.
            check_limits: whether to reject a target that undersigned's own verifier and middlewares reject.

        Raises:
            MalformedURL: the URL has no canonical form.
            SigningError: it is beyond the limits.
        """
        canonical = canonicalize(url)
        if check_limits:
            check_target(canonical)
        signed = canonical if form == "canonical" else typed_target(url, canonical)
        is_usual = len(url) <= _USUAL_LENGTH and f"://{canonical.authority}/" in url
        return cls(canonical, signed, is_usual)
