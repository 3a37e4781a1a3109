"""Operations by the route that the framework is about to run, so that policy and router cannot disagree."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass, field
from functools import partial
from inspect import isfunction
from types import NoneType
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias, TypeVar, cast
from urllib.parse import unquote

from undersigned.policy.operation import Operation, is_name, is_webhook

if TYPE_CHECKING:
    from undersigned.message.request import Request

RouteOperation: TypeAlias = str | Callable[[Mapping[str, object]], str | None] | None
"""The operation of a route: its name, None if it has none, or a function of the path parameters that returns either."""

Hook = TypeVar("Hook", bound=Callable[..., object])

_MOST_WRAPPERS: Final = 64
"""The most functions, one around the other, that are looked at to find what an endpoint wraps."""


@dataclass(frozen=True, slots=True)
class MatchedRoute:
    """A route that a framework is about to run.

    Attributes:
        endpoint: what runs: the function or the class that the application registered, or a mounted application.
        names: what the framework calls the route.
        parameters: the path parameters.
        is_opaque: whether the endpoint is an application that routes by itself, so that its operation is not known.
        path: the path of the route as the framework spells it, such as `/plans/{plan}`, for decisions and telemetry.
        view: the function that the framework calls, if that is not the endpoint.
    """

    endpoint: object
    names: tuple[str, ...] = ()
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


class Nameable(NamedTuple):
    """What routes can name.

    Attributes:
        names: the operations.
        keys: the keys of the resolver's mapping that are of a route.
        where: the method and path for each name of a route and each operation.
        is_open: whether a function of the mapping may name anything, or an application routes by itself.
    """

    names: set[str]
    keys: set[object]
    where: dict[str, str]
    is_open: bool


class Routes:
    """The routes of one application, which ask the policy before they run. This one knows nothing, and asks nothing.

    The package of a framework has a subclass.
    """

    __slots__ = ()

    sees_handshakes = True
    """Whether the policy is asked about WebSocket handshakes. If not, an unsigned one is rejected."""

    def ask(self) -> bool:
        """Return whether each route asks, and let it if it can. If not, every request must be signed."""
        return False

    @property
    def is_complete(self) -> bool:
        """Whether nothing but what `listed` returns can run."""
        return True

    def listed(self) -> Iterable[ListedRoute] | None:
        """Return each route for each of its methods, or None if they cannot be listed."""
        return None


def _nothing(*_call: object) -> None:
    """Stand in for an application of a server that calls the routes itself."""


class HookedRoutes(Routes):
    """The routes of an application in which a hook asks the policy, whichever of them runs.

    Args:
        app: what a middleware that is around these routes calls.
        listed: as `listed`.
    """

    __slots__ = ("_app", "_listed")

    def __init__(
        self, app: Callable[..., Any] = _nothing, listed: Callable[[], Iterable[ListedRoute] | None] = _nothing
    ) -> None:
        self._app = app
        self._listed = listed

    def __call__(self, *call: object) -> Any:
        """Call the application."""
        return self._app(*call)

    def ask(self) -> bool:
        """Return that each route asks."""
        return True

    def listed(self) -> Iterable[ListedRoute] | None:
        """Return each route for each of its methods, or None if they cannot be listed."""
        return self._listed()


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
        mapping: the same mapping after an application, which is deprecated: the middleware finds the application.

    Raises:
        TypeError: `operations` is no mapping.
    """

    __slots__ = ("_operations", "_routes")

    def __init__(
        self,
        operations: object = None,
        mapping: Mapping[object, RouteOperation] | None = None,
    ) -> None:
        if mapping is not None or callable(operations):
            warnings.warn(
                "RouteResolver(app): pass the mapping only; the middleware finds the application that it is around",
                DeprecationWarning,
                stacklevel=2,
            )
            operations = mapping
        if not isinstance(operations, (Mapping, NoneType)):
            raise TypeError("operations: pass a mapping only; the middleware finds the application that it is around")
        self._operations = dict(cast("Mapping[object, RouteOperation]", operations or {}))
        self._routes: Routes | None = None

    reads_body = False
    comes_first = False

    def hook(self, function: Hook) -> Hook:
        """Declare that a function of the framework calls `check_route` before any route runs, and return it."""
        self._routes = HookedRoutes()
        return function

    def routes_of(self, app: object) -> Routes:  # noqa: ARG002 - the packages of frameworks know some
        """Return the routes of an application that a middleware is put around.

        Raises:
            ConfigurationError: the application cannot ask a policy.
        """
        return Routes()

    def bound(self, routes: Routes) -> RouteResolver:
        """Return this resolver for the routes of one application, unless it has some."""
        if self._routes is not None:
            return self
        resolver = copy(self)
        resolver._routes = routes  # noqa: SLF001 - a copy of this one
        return resolver

    @property
    def routes(self) -> Routes:
        """The routes that ask the policy."""
        return self._routes or Routes()

    @property
    def operations(self) -> Mapping[object, RouteOperation]:
        """The mapping."""
        return self._operations

    def named_by(self, route: MatchedRoute) -> Literal["operations", "function", "name"]:
        """Return what names the operation of a route: an entry of the mapping, a function in it, or its own name.

        Raises:
            LookupError: the operation is unknown.
        """
        key = self._key_of(route)
        if key is None:
            return "name"
        return "function" if callable(self._operations[key]) else "operations"

    def nameable(self, listed: Iterable[ListedRoute]) -> Nameable:
        """Return what routes can name."""
        known = Nameable(set(), set(), {}, is_open=False)
        for one in listed:
            try:
                keys, used = list(_keys(one.route)), self._key_of(one.route)
            except LookupError:
                known = known._replace(is_open=True)
                continue
            known.keys.update(keys)
            names: list[object] = [*_names(one.route)] if used is None else [self._operations[used]]
            is_open = one.route.is_opaque if used is None else callable(names[0])
            known = known._replace(is_open=known.is_open or is_open)
            known.names.update(name for name in names if isinstance(name, str))
            for name in (*names, *keys):
                if isinstance(name, str):
                    known.where.setdefault(name, f"{one.method} {one.path}")
        return known

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
            operation = self._entry(route, listed)
            name = operation(route.parameters) if callable(operation) else operation
        except Exception:  # noqa: BLE001 - a function of the application may raise anything: operation unknown
            return Operation(is_unknown=True)
        return Operation(name) if name is None or _is_operation(name) else Operation(is_unknown=True)

    def _entry(self, route: MatchedRoute, listed: Collection[str]) -> RouteOperation:
        """Return the operation of a route, or the function that names it.

        Raises:
            LookupError: the operation is unknown.
        """
        key = self._key_of(route)
        if key is not None:
            return self._operations[key]
        if names := _names(route):
            return next((name for name in names if name in listed), names[0])
        raise LookupError("the route names no operation")

    def _key_of(self, route: MatchedRoute) -> Hashable | None:
        """Return what the mapping lists a route as, or None if it does not.

        Raises:
            LookupError: the endpoint wraps functions without end.
        """
        return next((key for key in _keys(route) if key in self._operations), None)


def _keys(route: MatchedRoute) -> Iterator[Hashable]:
    """Yield what an application may list a route as, in order of precedence.

    Raises:
        LookupError: the endpoint wraps functions without end.
    """
    # A name may stand for one route of a class.
    keys = (route.endpoint, *route.names, *_aliases(route.endpoint), *_aliases(route.view))
    for key in (*keys, _function_name(route.endpoint)):
        if key is not None and isinstance(key, Hashable):
            yield key


def _names(route: MatchedRoute) -> list[str]:
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


def _is_operation(value: object) -> bool:
    return isinstance(value, str) and is_name(value)
