"""What Tornado's handlers ask: the signature of their request, and the policy by route."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from tornado.httputil import HTTPServerRequest
from tornado.routing import AnyMatches, Rule, RuleRouter
from tornado.web import Application, ErrorHandler, HTTPError, RequestHandler

from undersigned.middleware import ErrorResponse, Published
from undersigned.policy import ListedRoute, MatchedRoute, Routes, answers_itself, own_names

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterator

    from tornado.httputil import HTTPHeaders, RequestStartLine

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
    """Let each handler ask the policy. Return whether every rule of the application leads to one."""
    targets = [rule.target for rule in _rules(app)]
    for target in targets:
        if isinstance(target, Application):
            _hook(target)
    return all(_leads_on(target) or _is_handler(target) for target in targets)


def _listed(app: Application) -> Iterator[ListedRoute]:
    for rule in _rules(app):
        pattern: Any = getattr(rule.matcher, "regex", None)
        path: str = pattern.pattern.removesuffix("$") if pattern else "/*"
        for method in RequestHandler.SUPPORTED_METHODS if isinstance(rule.target, type) else ["*"]:
            if not _leads_on(rule.target) and not _answers_itself(rule.target, method):
                route = MatchedRoute(rule.target, (rule.name,), is_opaque=method == "*")
                yield ListedRoute(method, path, route)


def _hook(app: Application) -> None:
    """Let an application ask the policy about a handler before it is made."""
    asking: Any = app
    # Every rule calls this.
    if getattr(asking.get_handler_delegate, "func", None) is not _ask_first:
        asking.get_handler_delegate = partial(_ask_first, app, asking.get_handler_delegate)


def _ask_first(
    app: Application, found: Any, request: HTTPServerRequest, handler: type[RequestHandler], *rest: Any, **more: Any
) -> _Asking:
    names = {rule.name for rule in _rules(app) if rule.target is handler and rule.name}
    given = cast("dict[str, bytes]", more.get("path_kwargs") or {})
    parameters = {name: (value or b"").decode("utf-8", "replace") for name, value in given.items()}
    route = None if _answers_itself(handler, request.method) else MatchedRoute(handler, (*names,), parameters)
    return _Asking(found(request, handler, *rest, **more), request, route)


def _rules(app: Application) -> Iterator[Rule]:
    """Yield a rule for an application, and each rule that it and the routers and applications of others lead to."""
    # The next rule is the last one: every request walks this list.
    rules = [Rule(AnyMatches(), app)]
    while rules:
        rule = rules.pop()
        yield rule
        target: Any = rule.target
        if _leads_on(target) and isinstance(target, Application):
            default = cast("object", target.settings.get("default_handler_class"))
            rules += [Rule(AnyMatches(), one) for one in (default, target.default_router) if one]
        elif _leads_on(target):
            rules += reversed(target.rules)


def _leads_on(target: object) -> bool:
    """Return whether a target is a router or an application whose rules say what runs, as no class of others does."""
    decides = {"find_handler", "get_handler_delegate", "get_target_delegate", "start_request"}
    return isinstance(target, (Application, RuleRouter)) and own_names(type(target), {"tornado"}).isdisjoint(decides)


def _is_handler(target: object) -> bool:
    return isinstance(target, type) and issubclass(target, RequestHandler)


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
