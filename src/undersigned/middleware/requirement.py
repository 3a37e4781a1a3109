"""The requirement of a signature, for an application that decides by route."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from undersigned.errors import ConfigurationError
from undersigned.message.request import Request
from undersigned.middleware.decision import Recorder
from undersigned.middleware.rejection_log import log_rejection
from undersigned.policy.operation import Operation
from undersigned.signature.profile import Profile
from undersigned.verification.verified_signature import VerifiedSignature

if TYPE_CHECKING:
    from undersigned.errors import SignatureError
    from undersigned.policy.route import MatchedRoute

_WITH_CONTENT = frozenset({"POST", "PUT", "PATCH"})
"""The methods whose requests usually have content, so that the answer also asks for its digest."""

_ANOTHER_ROUTE = (
    "the application runs another route than the one that the policy decided about, so the request must be signed: a "
    "middleware or a function has changed the path or the route"
)
_ADVICE = "put SignatureMiddleware outside the application, with verifier= and origins="


class Verification(NamedTuple):
    """The result of verifying a request, which a middleware published for the application.

    Attributes:
        signature: the verified signature, or None if the request is unsigned.
        profile: the profile that the middleware verifies by.
        recorder: the middleware's recorder of decisions, or None.
    """

    signature: VerifiedSignature | None
    profile: Profile
    recorder: Recorder | None = None

    @classmethod
    def of(cls, signature: object, profile: object, recorder: object = None, *, advice: str = _ADVICE) -> Verification:
        """Return the published result, if a middleware of this package published one.

        Args:
            signature: the value in the place of the signature.
            profile: the value in the place of the profile.
            recorder: the value in the place of the recorder.
            advice: how to add the middleware, for the error.

        Raises:
            ConfigurationError: no middleware has verified the request.
        """
        if isinstance(profile, Profile) and (signature is None or isinstance(signature, VerifiedSignature)):
            return cls(signature, profile, recorder if isinstance(recorder, Recorder) else None)
        raise ConfigurationError(f"no middleware has verified this request: {advice}")

    def require(self, *, method: str | None = None, route: str | None = None) -> VerifiedSignature:
        """Require a signature: return it, or record the rejection of an unsigned request and raise it.

        Args:
            method: the method of the request, for the `Decision`. It also tells whether the answer asks for the digest
                of the content.
            route: the path of the route as the framework spells it, for the `Decision`.

        Raises:
            SignatureError: the request is unsigned. `ErrorResponse.of` makes the response of it.
        """
        if self.signature is not None:
            return self.signature
        error = self.unsigned_error("the route requires a signature; the request has none", method=method)
        self.reject(error, method=method, route=route)
        raise error

    def check_route(self, operation: object, route: MatchedRoute | None, *, method: str | None = None) -> None:
        """Check that the policy has decided about the route that is about to run, if the request is unsigned.

        Something may have changed the path or the route after a `RouteResolver` asked the router.

        Args:
            operation: the operation that the middleware published, or None.
            route: the route that is about to run, or None if none is.
            method: the method of the request, as for `require`.

        Raises:
            SignatureError: the policy has decided about another operation. It is recorded as a rejection by the route.
        """
        if self.signature is not None or route is None or not isinstance(operation, Operation):
            return
        if operation.is_of is not None and not operation.is_of(route):
            error = self.unsigned_error(_ANOTHER_ROUTE, method=method)
            self.reject(error, method=method, route=route.path)
            raise error

    def unsigned_error(self, detail: str, *, method: str | None = None) -> SignatureError:
        """Return the error for a request that has no signature and needs one.

        Args:
            detail: one sentence for the operator's log.
            method: the method of the request, as for `require`.
        """
        message = Request(method or "", "", has_body=method in _WITH_CONTENT)
        return self.profile.error("signature_required", step=0, detail=detail, message=message)

    def reject(self, error: SignatureError, *, method: str | None = None, route: str | None = None) -> None:
        """Record that a route rejects a request for `error`: in the log, and as a `Decision` if anybody listens."""
        if self.recorder is None:
            log_rejection(error)
        else:
            self.recorder.record_rejection_by_route(error, method=method, route=route)
