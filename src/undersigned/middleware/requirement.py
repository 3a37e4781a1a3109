"""The requirement of a signature, for an application that decides by route."""

from __future__ import annotations

from typing import NamedTuple

from undersigned.errors import ConfigurationError
from undersigned.middleware.decision import log_rejection
from undersigned.signature.profile import Profile
from undersigned.verification.verified_signature import VerifiedSignature

_ADVICE = "put SignatureMiddleware outside the application, with verifier= and origins="


class Verification(NamedTuple):
    """The result of verifying a request, which a middleware published for the application.

    Attributes:
        signature: the verified signature, or None if the request is unsigned.
        profile: the profile that the middleware verifies by.
    """

    signature: VerifiedSignature | None
    profile: Profile

    @classmethod
    def of(cls, signature: object, profile: object, *, advice: str = _ADVICE) -> Verification:
        """Return the published result, if a middleware of this package published one.

        Args:
            signature: the value in the place of the signature.
            profile: the value in the place of the profile.
            advice: how to add the middleware, for the error.

        Raises:
            ConfigurationError: no middleware has verified the request.
        """
        if isinstance(profile, Profile) and (signature is None or isinstance(signature, VerifiedSignature)):
            return cls(signature, profile)
        raise ConfigurationError(f"no middleware has verified this request: {advice}")

    def required(self) -> VerifiedSignature:
        """Return the signature, or log the rejection of an unsigned request and raise it.

        Raises:
            SignatureError: the request is unsigned. `ErrorResponse.of` makes the response of it.
        """
        if self.signature is not None:
            return self.signature
        error = self.profile.error(
            "signature_required", step=0, detail="the route requires a signature; the request has none"
        )
        log_rejection(error)
        raise error
