"""What Tornado's handlers ask: the signature of their request, and the policy by route."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from tornado.httputil import HTTPServerRequest
from tornado.web import Application, ErrorHandler, HTTPError, RequestHandler

from undersigned.middleware import ErrorResponse, Published
from undersigned.policy import ListedRoute, MatchedRoute, Routes, answers_itself

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterator

    from tornado.httputil import HTTPHeaders, RequestStartLine
    from tornado.routing import Rule, RuleRouter

    from undersigned import SignatureError


class SignatureRequired(HTTPError):
    """The 401 for an unsigned request, with the code as its `reason`; `error` is the reason, for the log.

    `write_error` of the handler gets it as the exception of `exc_info`.
    """

    def __init__(self, error: SignatureError) -> None:
        answer = ErrorResponse.of(error)
        super().__init__(answer.status, reason=answer.code)
        self.error = error


# Tornado makes the request of the headers that the middleware passes on, and nothing else of it gets there.
PUBLISHED = Published[HTTPServerRequest](
    lambda request: vars(request.headers),
    is_request=lambda argument: isinstance(argument, HTTPServerRequest),
    error=lambda _request, error: SignatureRequired(error),
    advice="serve HTTPServer(Undersigned(app, ...)) instead of app.listen(...)",
)
find_signature = PUBLISHED.find_signature
verified_signature = PUBLISHED.verified_signature


def routes_of(app: object) -> Routes:
    """Return the routes of an application. Those of anything else, such as a router, ask nothing."""
    return Routes(listed=partial(_listed, app), ask=partial(_ask, app)) if isinstance(app, Application) else Routes()


def _ask(app: Application) -> bool:
    """Let each handler ask the policy. Return whether every rule of the application has one."""
    _hook(app)
    targets = [rule.target for rule in _rules(app.default_router)]
    return all(isinstance(target, type) and issubclass(target, RequestHandler) for target in targets)


def _listed(app: Application) -> Iterator[ListedRoute]:
    for rule in _rules(app.default_router):
        pattern: Any = getattr(rule.matcher, "regex", None)
        path: str = pattern.pattern.removesuffix("$") if pattern else "/*"
        for method in RequestHandler.SUPPORTED_METHODS if isinstance(rule.target, type) else ["*"]:
            if not _answers_itself(rule.target, method):
                route = MatchedRoute(rule.target, (rule.name,), is_opaque=method == "*")
                yield ListedRoute(method, path, route)


def _hook(app: Application) -> None:
    """Let an application, and those that it mounts by now, ask the policy about a handler before it is made."""
    asking: Any = app
    # Every rule calls this.
    if getattr(asking.get_handler_delegate, "func", None) is not _ask_first:
        asking.get_handler_delegate = partial(_ask_first, app, asking.get_handler_delegate)
    for rule in _rules(app.default_router, inside=False):
        if isinstance(rule.target, Application):
            _hook(rule.target)


def _ask_first(
    app: Application, found: Any, request: HTTPServerRequest, handler: type[RequestHandler], *rest: Any, **more: Any
) -> _Asking:
    names = {rule.name for rule in _rules(app.default_router) if rule.target is handler and rule.name}
    given = cast("dict[str, bytes]", more.get("path_kwargs") or {})
    parameters = {name: (value or b"").decode("utf-8", "replace") for name, value in given.items()}
    route = None if _answers_itself(handler, request.method) else MatchedRoute(handler, (*names,), parameters)
    return _Asking(found(request, handler, *rest, **more), request, route)


def _rules(router: RuleRouter, *, inside: bool = True) -> Iterator[Rule]:
    """Yield the rules of a router, and those of the routers and applications that are the targets of some."""
    for rule in router.rules:
        inner = rule.target.default_router if inside and isinstance(rule.target, Application) else rule.target
        if hasattr(inner, "rules"):
            yield from _rules(inner, inside=inside)
        else:
            yield rule


@dataclass(eq=False)
class _Asking:
    """What reads a request for a handler. It asks the policy first: a handler whose request is rejected only raises."""

    handled: Any
    request: HTTPServerRequest
    route: MatchedRoute | None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.handled, name)

    async def headers_received(self, start_line: RequestStartLine, headers: HTTPHeaders) -> None:
        """Ask the policy, then let the handler begin."""
        try:
            await PUBLISHED.check_route(self.request, self.route)
        except SignatureRequired as error:
            self.handled.handler_class = _rejecting(self.handled.handler_class, error)
        await wait(self.handled.headers_received(start_line, headers))


async def wait(waiting: Awaitable[None] | None) -> None:
    """Wait for what Tornado's delegates return, if they do."""
    if waiting is not None:
        await waiting


def _rejecting(handler: type[RequestHandler], error: SignatureRequired) -> type[RequestHandler]:
    """Return a handler that answers with an error as another one does, and does nothing else."""

    def prepare(_handler: RequestHandler) -> None:
        raise error

    return type(handler.__name__, (handler,), {"prepare": prepare})


def _answers_itself(handler: type[RequestHandler], method: str | None) -> bool:
    """Return whether Tornado's own methods answer 404 or 405."""
    names = ("prepare", (method or "").lower())
    inherits = all(getattr(handler, name, None) is getattr(RequestHandler, name, None) for name in names)
    answers_405 = inherits and answers_itself(handler, RequestHandler, {"_execute", "initialize"}, {"tornado"})
    return handler is ErrorHandler or answers_405
