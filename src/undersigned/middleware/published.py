"""What routes ask of a request that a middleware has let pass, in plain ASGI and WSGI and in every framework."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from functools import wraps
from inspect import iscoroutinefunction
from itertools import chain
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from undersigned.errors import ConfigurationError, SignatureError
from undersigned.middleware.admission import ADMISSION, Admission
from undersigned.verification.blocking_calls import finish

if TYPE_CHECKING:
    from collections.abc import Callable, MutableMapping

    from undersigned.policy.route import MatchedRoute
    from undersigned.verification.verified_signature import VerifiedSignature

Asked = TypeVar("Asked")
Guarded = TypeVar("Guarded")

_BRIDGED = ("asgi.scope", "wsgi_environ")
"""Where bridges between ASGI and WSGI keep the scope or environ outside of them."""


@dataclass(frozen=True)
class Published(Generic[Asked]):
    """The requests of a framework, as its package asks them for what the middleware has published.

    One rule holds for whatever is asked: a request that no middleware has verified is refused.

    Attributes:
        place: returns what keeps it for a request: a scope, an environ, or attributes.
        is_request: returns whether an argument of a guarded function is its request; by default the first one is.
        error: makes the framework's exception for an unsigned request of a `SignatureError`.
        route: returns the path of the route as the framework spells it, for the `Decision`.
        advice: how to add the middleware, for the error.
    """

    place: Callable[[Asked], MutableMapping[str, Any]]
    _: KW_ONLY
    is_request: Callable[[object], bool] = lambda _argument: True
    error: Callable[[Asked, SignatureError], Exception] = lambda _request, error: error
    route: Callable[[Asked], str | None] = lambda _request: None
    advice: str

    def admission(self, request: Asked) -> Admission:
        """Return what the middleware published, also outside of a bridge between ASGI and WSGI.

        Raises:
            ConfigurationError: no middleware has verified the request.
        """
        place: Any = self.place(request)
        for found in chain((place,), map(place.get, _BRIDGED)):
            published: object = found.get(ADMISSION) if found else None
            if isinstance(published, Admission):
                return published
        raise ConfigurationError(
            f"no middleware has verified this request: {self.advice}. In a test without the middleware, use "
            "put_signature of undersigned.testing"
        )

    def publish(self, request: Asked, admission: Admission) -> None:
        """Let routes ask for an admission."""
        self.place(request)[ADMISSION] = admission

    def find_signature(self, request: Asked) -> VerifiedSignature | None:
        """Return the verified signature of a request or handshake, or None if it is unsigned.

        Raises:
            ConfigurationError: no middleware has verified it.
        """
        return self.admission(request).signature

    def verified_signature(self, request: Asked, *, route: str | None = None) -> VerifiedSignature:
        """Return the verified signature of a request or handshake, or reject an unsigned one.

        Args:
            request: the request.
            route: the path of the route for the `Decision`, such as `/plans/{plan}`, if no framework says it.

        Raises:
            SignatureRequired: it is unsigned. Without a framework that is a `SignatureError`, and `ErrorResponse.of`
                returns the answer.
            ConfigurationError: no middleware has verified it.
        """
        admission = self.admission(request)
        if admission.signature is not None:
            return admission.signature
        error = admission.unsigned_error("the route requires a signature; the request has none")
        admission.reject(error, route=route or self.route(request))
        raise self.error(request, error)

    async def check_route(self, request: Asked, route: MatchedRoute | None) -> VerifiedSignature | None:
        """Apply the policy of a `RouteResolver` to the route that is about to run. Call this before any of it runs.

        Nothing is exempt here. The request then has the operation of the route, also in its signature.

        Args:
            request: the request, as the middleware passed it to the application.
            route: the route as the framework found it, or None if the framework answers by itself, such as 405.

        Returns:
            The signature, or None if the request is unsigned and needs none.

        Raises:
            SignatureRequired: the policy requires a signature and the request has none. As in `verified_signature`.
            ConfigurationError: no middleware has verified the request.
        """
        admission = self.admission(request)
        if route is None:
            return admission.signature
        try:
            checked = await admission.check_route(route)
        except SignatureError as error:
            raise self.error(request, error) from None
        self.publish(request, checked)
        return checked.signature

    def check_route_now(self, request: Asked, route: MatchedRoute | None) -> VerifiedSignature | None:
        """Apply the policy as `check_route` does, where nothing can be awaited."""
        return finish(self.check_route(request, route))

    def guarded(self, function: Guarded, *, decorate: str, request_of: Callable[..., Asked] | None = None) -> Guarded:
        """Return a function that requires a signature before it runs, sync or async as it was.

        Args:
            function: the function.
            decorate: what may be given as `function`, for the error.
            request_of: returns the request of a call from its arguments. By default it is the first that is one, or
                that has one as its attribute `request`, as views of a class do.

        Raises:
            ConfigurationError: `function` is not a function; or, during a request, it is called without its request.
        """
        if isinstance(function, type) or not callable(function):
            raise ConfigurationError(f"signature_required: decorate {decorate}")
        called: Callable[..., Any] = function
        request_of = request_of or self._request_of

        async def guard_async(*args: object, **kwargs: object) -> object:
            self.verified_signature(request_of(*args, **kwargs))
            return await called(*args, **kwargs)

        def guard(*args: object, **kwargs: object) -> object:
            self.verified_signature(request_of(*args, **kwargs))
            return called(*args, **kwargs)

        return cast("Guarded", wraps(called)(guard_async if iscoroutinefunction(called) else guard))

    def _request_of(self, *args: object, **kwargs: object) -> Asked:
        given = (*args, *kwargs.values())
        for found in (*given, *(getattr(one, "request", None) for one in given)):
            if self.is_request(found):
                return cast("Asked", found)
        raise ConfigurationError(
            "signature_required: the function is called without its request; give it a request: Request parameter, or "
            "in FastAPI use the dependency Depends(signature_required) instead of the decorator"
        )


PUBLISHED = Published["MutableMapping[str, Any]"](
    lambda scope: scope, advice="put SignatureMiddleware outside the application, with verifier= and origins="
)
"""What the middleware published in a scope or environ."""

find_signature = PUBLISHED.find_signature
verified_signature = PUBLISHED.verified_signature
check_route = PUBLISHED.check_route
check_route_now = PUBLISHED.check_route_now


def signature_required(app: Guarded) -> Guarded:
    """Let an application, or a part of one, run only for a signed request. `SignatureMiddleware` outside answers 401.

    Args:
        app: the application: an async function of (scope, receive, send), or a function of (environ, start_response).

    Raises:
        ConfigurationError: `app` is not a function; or, during a request, no middleware has verified it.
    """
    return PUBLISHED.guarded(app, decorate="a function: of (scope, receive, send), or of (environ, start_response)")
