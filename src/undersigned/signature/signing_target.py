"""Signing targets: the target of a message, as a signer signs it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from undersigned.message.request_target import typed_target
from undersigned.url import canonicalize

if TYPE_CHECKING:
    from undersigned.signature.profile import TargetForm
    from undersigned.url import CanonicalURL


@dataclass(frozen=True, slots=True)
class SigningTarget:
    """The target of a message. A signer makes it once for each URL.

    Attributes:
        canonical: its canonical form.
        signed: its form that the profile signs.
    """

    canonical: CanonicalURL
    signed: CanonicalURL

    @classmethod
    def of(cls, url: str, *, form: TargetForm) -> SigningTarget:
        """Return the target of the URL of a message.

        Args:
            url: the URL.
            form: the form that the profile signs.

        Raises:
            MalformedURL: the URL has no canonical form.
        """
        canonical = canonicalize(url)
        signed = canonical if form == "canonical" else typed_target(url, canonical)
        return cls(canonical, signed)
