"""Operations by the route that the framework is about to run, so that policy and router cannot disagree."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass, field
from functools import partial
from inspect import isfunction
from types import NoneType
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar, cast
from urllib.parse import unquote

from undersigned.policy.operation import Operation, is_name, is_webhook

if TYPE_CHECKING:
    from undersigned.message.request import Request

RouteOperation: TypeAlias = str | Callable[[Mapping[str, object]], str | None] | None
"""The operation of a route: its name, None if it has none, or a function of the path parameters that returns either."""

Hook = TypeVar("Hook", bound=Callable[..., object])

_MOST_WRAPPERS: Final = 64
"""The most functions or middlewares, one around the other, that are looked at to find what they wrap."""


@dataclass(frozen=True, slots=True)
class MatchedRoute:
    """A route that a framework is about to run.

    Attributes:
        endpoint: what runs: the function or the class that the application registered, or a mounted application.
        names: what the framework calls the route; None stands for no name.
        parameters: the path parameters.
        is_opaque: whether the endpoint is an application that routes by itself, so that its operation is not known.
        path: the path of the route as the framework spells it, such as `/plans/{plan}`, for decisions and telemetry.
        view: the function that the framework calls, if that is not the endpoint.
    """

    endpoint: object
    names: tuple[str | None, ...] = ()
    parameters: Mapping[str, object] = field(default_factory=dict[str, object])
    is_opaque: bool = False
    path: str | None = field(default=None, compare=False)
    view: object = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class ListedRoute:
    """A route of an application, as a policy is asked about it.

    Attributes:
        method: the method, `*` if there may be others too, or `WEBSOCKET`.
        path: the whole path as the framework spells it.
        route: what would run, without parameters.
    """

    method: str
    path: str
    route: MatchedRoute


def _nothing(*_call: object) -> None:
    """Stand in for an application of a server that calls the routes itself, and for routes that nobody can list."""


@dataclass(frozen=True, slots=True)
class Routes:
    """The routes of one application, which ask the policy before they run. By default they are unknown and ask nothing.

    Attributes:
        app: what a middleware that is around these routes calls.
        listed: returns each route for each of its methods, or None if they cannot be listed.
        ask: returns whether each route asks, and lets it if it can. If not, every request must be signed.
        is_complete: returns whether nothing but what `listed` returns can run.
        sees_handshakes: whether the policy is asked about WebSocket handshakes. If not, an unsigned one is rejected.
    """

    app: Callable[..., Any] = _nothing
    listed: Callable[[], Iterable[ListedRoute] | None] = _nothing
    ask: Callable[[], bool] = bool
    is_complete: Callable[[], bool] = lambda: True
    sees_handshakes: bool = True

    def __call__(self, *call: object) -> Any:
        """Call the application."""
        return self.app(*call)


def called_applications(
    app: object, *, packages: Collection[str], is_application: Callable[[object], bool] = callable
) -> Iterator[object]:
    """Yield a middleware, the application that it calls, the one that this calls, and so on, as `called_application`.

    If one may call several, nothing comes after it.
    """
    for _ in range(_MOST_WRAPPERS):
        if app is None:
            return
        yield app
        app = called_application(app, packages=packages, is_application=is_application)


def called_application(
    middleware: object, *, packages: Collection[str], is_application: Callable[[object], bool] = callable
) -> object | None:
    """Return the one application that a middleware calls, or None if it may call several.

    Args:
        middleware: the middleware, a function or an object.
        packages: the packages whose middlewares call nothing but their `app`.
        is_application: whether an object that the middleware holds may be an application.
    """
    if type(middleware).__module__.partition(".")[0] in {"undersigned", *packages}:
        return getattr(middleware, "app", None)
    held: list[object]
    if isfunction(middleware):
        held = [cell.cell_contents for cell in middleware.__closure__ or ()]
    else:
        # A bound method is as good as its object.
        held = [*getattr(getattr(middleware, "__self__", middleware), "__dict__", {}).values()]
    several = any(is_application(item) for one in held for item in _items(one))
    called = [one for one in held if is_application(one) and getattr(one, "__self__", None) is not middleware]
    return called[0] if len(called) == 1 and not several else None


def _items(held: object) -> Iterable[object]:
    if isinstance(held, Mapping):
        return cast("Mapping[object, object]", held).values()
    return cast("Iterable[object]", held) if isinstance(held, (list, tuple, set)) else ()


def own_names(cls: type, packages: Collection[str]) -> set[str]:
    """Return the names that a class and its bases define, except those from `packages` and from `builtins`."""
    own = [base for base in cls.__mro__ if base.__module__.partition(".")[0] not in {"builtins", *packages}]
    return {name for base in own for name in vars(base)}


def answers_itself(view: object, base: type, methods: Collection[str], packages: Collection[str]) -> bool:
    """Return whether a class of views answers a request, such as with 405, by methods of the framework only.

    Args:
        view: what is about to run.
        base: the class of the framework for such views.
        methods: the methods that the framework calls for the request.
        packages: the packages of the framework.
    """
    called = {"__init__", "__new__", "__await__", "__getattr__", "__getattribute__", *methods}
    return isinstance(view, type) and issubclass(view, base) and own_names(view, packages).isdisjoint(called)


class RouteResolver:
    """A resolver that names the operation of the route that the framework is about to run.

    The middleware cannot know the route: the framework finds it later, so a hook of the framework asks the policy when
    the route is known and nothing of it has run, by `check_route` of `undersigned.asgi` or `undersigned.wsgi`. The
    middlewares and extensions of the frameworks' packages put that hook into the application that they are around. For
    another framework, write the hook and decorate it with `hook`. Without a hook, every request must be signed.

    The operation is the entry of `operations` for the endpoint or for the name of the route. A function may also be
    listed if decorators wrap it with `functools.wraps`, and a class-based view by its class. Without an entry, the
    operation is the name of the endpoint's function. If that has no name, it is the name of the route. If only one of
    these names is in `required_for`, it is that one. If it is unknown
    what would run, the request must be signed. Examples are a mounted application and an endpoint without a name. A
    request that runs no route, such as one that is answered with 404, needs no signature.

    Args:
        operations: a mapping whose keys are endpoints, or names of routes or functions. A value is the operation, None
            if there is none, or a function of the path parameters that returns one of these.

    Raises:
        TypeError: `operations` is no mapping.
    """

    __slots__ = ("operations", "routes")

    def __init__(self, operations: object = None, mapping: object = None) -> None:
        given = mapping if callable(operations) else operations
        if callable(operations):
            text = "RouteResolver(app): pass the mapping only; the middleware finds the application that it is around"
            warnings.warn(text, DeprecationWarning, stacklevel=2)
        if not isinstance(given, (Mapping, NoneType)):
            raise TypeError("operations: pass a mapping only; the middleware finds the application that it is around")
        listed = cast("Mapping[object, RouteOperation]", given or {})
        # Litestar registers a copy of each handler, which has the same function.
        self.operations = {getattr(key, "fn", key): operation for key, operation in listed.items()}
        self.routes = Routes()

    reads_body = False
    comes_first = False

    def hook(self, function: Hook) -> Hook:
        """Declare that a function of the framework calls `check_route` before any route runs, and return it."""
        self.routes = Routes(ask=lambda: True)
        return function

    def routes_of(self, app: object) -> Routes:  # noqa: ARG002 - the packages of frameworks know some
        """Return the routes of an application that a middleware is put around.

        Raises:
            ConfigurationError: the application cannot ask a policy.
        """
        return Routes()

    def bound(self, app: object) -> RouteResolver:
        """Return this resolver for an application, or the `Routes` of it, unless it has a hook already.

        Raises:
            ConfigurationError: the application cannot ask a policy.
        """
        if self.routes != Routes():
            return self
        resolver = copy(self)
        resolver.routes = app if isinstance(app, Routes) else self.routes_of(app)
        return resolver

    def resolve(self, request: Request) -> Operation:
        """Return what is known before the route is: no name. If the routes do not ask, the operation stays unknown."""
        segments = unquote(request.url.partition("?")[0]).rstrip("/").split("/")
        return Operation(registers_webhook=is_webhook(segments), is_unknown=not self.routes.ask())

    def operation_of(self, route: MatchedRoute, *, listed: Collection[str] = ()) -> Operation:
        """Return the operation of a route that is about to run. If nothing names it, it is unknown.

        Args:
            route: the route.
            listed: the operations that a policy requires a signature for. They come first if a route has several names.
        """
        try:
            _, operation = self.entry(route, listed)
            name = operation(route.parameters) if callable(operation) else operation
        except Exception:  # noqa: BLE001 - a function of the application may raise anything: operation unknown
            return Operation(is_unknown=True)
        return Operation(name, is_unknown=name is not None and not is_name(name))

    def entry(self, route: MatchedRoute, listed: Collection[str] = ()) -> tuple[str, RouteOperation]:
        """Return what names a route, for the table, and its operation or the function that names it.

        Raises:
            LookupError: nothing names it, or the endpoint wraps functions without end.
        """
        for key in route_keys(route):
            if key in self.operations:
                return "operations=", self.operations[key]
        if names := route_names(route):
            return "its name", next((name for name in names if name in listed), names[0])
        raise LookupError("nothing names it")


def route_keys(route: MatchedRoute) -> Iterator[Hashable]:
    """Yield what an application may list a route as, in order of precedence.

    Raises:
        LookupError: the endpoint wraps functions without end.
    """
    # A name may stand for one route of a class.
    keys = (route.endpoint, *route.names, *_aliases(route.endpoint), *_aliases(route.view))
    for key in (*keys, _function_name(route.endpoint)):
        if key is not None and isinstance(key, Hashable):
            yield key


def route_names(route: MatchedRoute) -> list[str]:
    """Return the names of a route that can be an operation."""
    names = () if route.is_opaque else (_function_name(route.endpoint), *route.names)
    return [name for name in names if name is not None and name.isidentifier()]


def _aliases(endpoint: object) -> Iterator[object]:
    """Yield what an application may list an endpoint as: the functions that it wraps or binds, and the class of a view.

    Raises:
        LookupError: the endpoint wraps functions without end.
    """
    wrapper = endpoint
    for _ in range(_MOST_WRAPPERS):
        yield wrapper
        # Flask and Django call the class of a view `view_class`, and Django REST framework that of a view set `cls`.
        classes: tuple[object, ...] = (getattr(wrapper, "view_class", None), getattr(wrapper, "cls", None))
        yield from (one for one in classes if isinstance(one, type))
        wrapped: object = getattr(wrapper, "__wrapped__", None) or getattr(wrapper, "__func__", None)
        wrapper = cast("partial[object]", wrapper).func if isinstance(wrapper, partial) else wrapped
        if wrapper is None:
            return
    raise LookupError("the endpoint wraps functions without end")


def _function_name(endpoint: object) -> str | None:
    while isinstance(endpoint, partial):
        endpoint = cast("partial[object]", endpoint).func
    name = getattr(endpoint, "__name__", None)
    return name if isinstance(name, str) else None
