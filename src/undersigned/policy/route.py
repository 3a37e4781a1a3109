"""Operations by the route that the application's own router finds, so that policy and router cannot disagree."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from io import RawIOBase
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from undersigned.errors import ConfigurationError
from undersigned.policy.operation import Operation, PathResolver, is_name

if TYPE_CHECKING:
    from undersigned.message.request import Request

RouteOperation: TypeAlias = str | Callable[[Mapping[str, object]], str | None] | None
"""The operation of a route: its name, None if it has none, or a function of the path parameters that returns either."""

_PATH = PathResolver()
_MOST_WRAPPERS: Final = 64
"""The most functions, one around the other, that are looked at to find what an endpoint wraps."""


@dataclass(frozen=True, slots=True)
class MatchedRoute:
    """A route that a router has found.

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


_NO_ROUTE = MatchedRoute(None)


class RouteResolver(ABC):
    """A resolver that asks the router of the application which route it will run.

    The operation is the entry of `operations` for the endpoint or for the name of the route. A function may also be
    listed if decorators wrap it with `functools.wraps`, and a class-based view by its class. Without an entry, the
    operation is the name of the endpoint's function. If that has no name, it is the name of the route. If the router
    runs no route, the request has no operation: the router answers with 404, 405 or a redirect. If it is unknown what
    would run, the request must be signed. Examples are a mounted application and an endpoint without a name.

    The rules of `PathResolver` for paths and for webhooks also apply. A framework's own package has the subclass that
    asks its router.

    Args:
        operations: a mapping whose keys are endpoints, or names of routes or functions. A value is the operation, None
            if there is none, or a function of the path parameters that returns one of these.

    Raises:
        ConfigurationError: `operations` is not such a mapping.
    """

    __slots__ = ("_operations",)

    def __init__(self, operations: Mapping[object, RouteOperation] | None = None) -> None:
        given: object = {} if operations is None else operations
        if not isinstance(given, Mapping):
            raise ConfigurationError("operations: give a mapping of endpoints, such as {create: 'create_media_buy'}")
        self._operations = dict(cast("Mapping[object, object]", given))
        for endpoint, operation in self._operations.items():
            if operation is not None and not callable(operation) and not _is_operation(operation):
                raise ConfigurationError(
                    f"operations: the operation of {endpoint!r} is not a name such as 'create_media_buy', None or a "
                    "function of the path parameters"
                )

    @property
    def reads_body(self) -> bool:
        """Always False: the operation is in the path."""
        return False

    @property
    def comes_first(self) -> bool:
        """Always False: the signature is verified first."""
        return False

    @abstractmethod
    def find(self, dispatched: Mapping[str, object]) -> MatchedRoute | None:
        """Return the route that the application runs for a request, or None if it runs none.

        Args:
            dispatched: the ASGI scope or the WSGI environ that the application will get.

        Raises:
            Exception: the route cannot be found out. The request must then be signed.
        """

    def routes(self) -> Iterable[MatchedRoute] | None:
        """Return every route that the application has now, or None if that is not known."""
        return None

    def missing(self, operations: Iterable[str]) -> frozenset[str]:
        """Return the operations of the given ones that no route has. They were probably misspelt.

        The set is empty if the operation of a route is unknown, or is named by a function.
        """
        try:
            routes = self.routes()
            named = [] if routes is None else [self._entry(route) for route in routes]
        except Exception:  # noqa: BLE001 - the application's router may raise anything: routes unknown
            return frozenset()
        is_known = routes is not None and not any(map(callable, named))
        return frozenset(operations).difference(named) if is_known else frozenset()

    def resolve(self, request: Request) -> Operation:
        """Return an operation that must be signed, because only a middleware can ask the router."""
        return replace(_PATH.resolve(request), name=None, is_unknown=True)

    def resolve_dispatched(self, request: Request, dispatched: Callable[[], Mapping[str, object]]) -> Operation:
        """Return the operation of the route that the application runs.

        Args:
            request: the request.
            dispatched: returns the ASGI scope or the WSGI environ that the application will get.

        Raises:
            UnresolvedOperation: the path or the content can be read differently.
        """
        read, given = _PATH.resolve(request), dispatched()
        try:
            route = self.find(given)
            name = None if route is None else self._name(route)
        except Exception:  # noqa: BLE001 - the application's router or function may raise anything: route unknown
            return replace(read, name=None, is_unknown=True)
        found = _NO_ROUTE if route is None else route
        return replace(read, name=name, route=found.path, is_of=partial(self._is_named, name, found.parameters))

    def _is_named(self, name: str | None, found: Mapping[str, object], route: MatchedRoute) -> bool:
        """Return whether a route that is about to run has an operation of this name.

        Args:
            name: the operation that the policy decided about.
            found: the path parameters that the router found then. The application may have removed some of them.
            route: the route.
        """
        try:
            return self._name(replace(route, parameters={**found, **route.parameters})) == name
        except Exception:  # noqa: BLE001 - as above
            return False

    def _name(self, route: MatchedRoute) -> str | None:
        """Return the operation of a route.

        Raises:
            LookupError: the operation is unknown.
        """
        operation = self._entry(route)
        name = operation(route.parameters) if callable(operation) else operation
        if name is None or _is_operation(name):
            return name
        raise LookupError("the function of the path parameters returned no name")

    def _entry(self, route: MatchedRoute) -> RouteOperation:
        """Return the operation of a route, or the function that names it.

        Raises:
            LookupError: the operation is unknown.
        """
        function = _function_name(route.endpoint)
        # A name may stand for one route of a class.
        for key in (route.endpoint, *route.names, *_aliases(route.endpoint), *_aliases(route.view), function):
            if key is not None and isinstance(key, Hashable) and key in self._operations:
                return cast("RouteOperation", self._operations[key])
        if not route.is_opaque:
            for name in (function, *route.names):
                if name is not None and name.isidentifier():
                    return name
        raise LookupError("the route names no operation")


class UnreadContent(RawIOBase):
    """The content of a request for a framework that finds its route: it cannot be read before it is verified."""

    def readable(self) -> bool:
        """Always True: the content has a reader, which raises."""
        return True

    def readinto(self, _buffer: object) -> int:
        """Read nothing.

        Raises:
            LookupError: the route depends on the content, so it is unknown.
        """
        raise LookupError("the router reads the content, which has not been verified")


def _aliases(endpoint: object) -> Iterator[object]:
    """Yield what an application may list an endpoint as: the functions that it wraps, and the class of a view.

    Raises:
        LookupError: the endpoint wraps functions without end.
    """
    wrapper = endpoint
    for _ in range(_MOST_WRAPPERS):
        yield wrapper
        # Flask and Django call the class of a view `view_class`, and Django REST framework that of a view set `cls`.
        classes: tuple[object, ...] = (getattr(wrapper, "view_class", None), getattr(wrapper, "cls", None))
        yield from (one for one in classes if isinstance(one, type))
        wrapped: object = getattr(wrapper, "__wrapped__", None)
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
