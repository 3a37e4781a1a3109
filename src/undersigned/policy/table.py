"""The policy of an application as a table, asked from the objects that decide."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from difflib import unified_diff
from typing import TYPE_CHECKING, Final, Literal

from undersigned.errors import ConfigurationError
from undersigned.policy.policy import Policy
from undersigned.policy.route import RouteResolver, called_application

if TYPE_CHECKING:
    from collections.abc import Iterator

    from undersigned.policy.route import ListedRoute

Shown = Literal["required", "warn", "supported", "open", "unknown: must be signed", "by the path parameters"]
"""What is demanded of a request for a route, as a table shows it."""

_UNKNOWN: Final = "unknown: must be signed"
_HOLDERS: Final = ("middleware_stack", "_middleware_chain", "wsgi_app", "asgi_app", "asgi_handler", "app")
"""Where frameworks keep what they call, with the middlewares around it."""
_COLUMNS: Final = ("method", "path", "operation", "demand", "source")


@dataclass(frozen=True, slots=True)
class TableLine:
    """What a policy demands of the requests for one route.

    Attributes:
        method: the method, `*` for any, or `WEBSOCKET`.
        path: the path as the framework spells it.
        operation: the operation, or None if there is none, or only the path tells it.
        demand: what is demanded.
        source: where that comes from: the list, and what names the operation.
    """

    method: str
    path: str
    operation: str | None
    demand: Shown
    source: str


def policy_table(app: object) -> list[TableLine]:
    """Return what the policy of an application demands for each of its routes, in the order of the routes.

    It is what the policy answers to the routes: nothing is decided here. What the policy does not see is not in it,
    such as a requirement of a route itself (`signature_required`), a fallback, and the answers of middlewares.

    Args:
        app: the application, with its middleware inside or around it.

    Raises:
        ConfigurationError: no middleware with a policy is found, the policy has another resolver than a
            `RouteResolver`, or the routes cannot be listed.
    """
    policy = _policy(app)
    resolver = policy.resolver
    if not isinstance(resolver, RouteResolver):
        raise ConfigurationError(
            f"policy: {type(resolver).__name__} does not see the routes, only requests: pass resolver=RouteResolver()"
        )
    if not resolver.routes.ask():
        return [TableLine("*", "/*", None, _UNKNOWN, "no hook asks the policy")]
    listed = resolver.routes.listed()
    if listed is None:
        raise ConfigurationError("policy: the routes of this application cannot be listed: send requests to see them")
    return [_line(policy, resolver, one) for one in listed]


def _line(policy: Policy, resolver: RouteResolver, one: ListedRoute) -> TableLine:
    name: str | None = None
    demand: Shown = _UNKNOWN
    try:
        source, found = resolver.entry(one.route)
    except LookupError as error:
        source = str(error)
    else:
        operation = resolver.operation_of(one.route, listed=policy.required_for)
        if callable(found):
            demand, source = "by the path parameters", "a function in operations="
        elif not operation.is_unknown:
            name, listed = operation.name, policy.demand(operation)
            demand = "open" if listed == "none" else listed
            source = f"{'no list' if listed == 'none' else f'{listed}_for'}; {source}"
    return TableLine(one.method, one.path, name, demand, source)


def _policy(app: object) -> Policy:
    for layer in _layers(app):
        policy = getattr(getattr(getattr(layer, "_guard", layer), "service", None), "policy", None)
        if isinstance(policy, Policy):
            return policy
    raise ConfigurationError(
        "app: no undersigned middleware with a policy is inside it or around it; add one with policy="
    )


def _layers(app: object) -> Iterator[object]:
    """Yield an application and the middlewares in and around it."""
    layer: object | None = app
    seen = set[int]()
    while layer is not None and id(layer) not in seen:
        seen.add(id(layer))
        yield layer
        # aiohttp keeps its middlewares in a list, and does not tell them of the application.
        for middleware in getattr(layer, "middlewares", None) or ():
            if callable(learn := getattr(middleware, "learn", None)):
                learn(layer)
            yield middleware
        make = getattr(layer, "build_middleware_stack", None)
        held = make() if callable(make) else None
        for name in _HOLDERS:
            held = held or getattr(layer, name, None)
        held = held or getattr(getattr(layer, "ctx", None), "undersigned", None)
        layer = held or called_application(layer, packages=())


def table_report(app: object, *, as_json: bool = False, kept: str | None = None) -> tuple[str, int]:
    """Return what a command prints of the table of an application, and its exit status.

    It is the table, with aligned columns or as a JSON list of objects. If a table is given that was kept in this form,
    it is how the two differ, and the status is 1 if they do.

    Raises:
        ConfigurationError: as for `policy_table`.
    """
    rows = [asdict(line) for line in policy_table(app)]
    if as_json:
        text = json.dumps(rows, indent=2) + "\n"
    else:
        shown = [[name.upper() for name in _COLUMNS], *([row[name] or "-" for name in _COLUMNS] for row in rows)]
        widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
        text = "".join("  ".join(map(str.ljust, row, widths)).rstrip() + "\n" for row in shown)
    if kept is None:
        return text, 0
    before, after = kept.splitlines(keepends=True), text.splitlines(keepends=True)
    return "".join(unified_diff(before, after, "kept", "found", n=0)), int(before != after)
