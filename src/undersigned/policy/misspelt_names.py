"""The names that a policy lists, compared with what the routes of its application can name."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Final

from undersigned.errors import ConfigurationError
from undersigned.policy.route import RouteResolver, route_keys, route_names

if TYPE_CHECKING:
    from undersigned.policy.policy import Policy

_LIKE: Final = 0.8
"""How similar a name has to be to that of a route to be a misspelling of it, if others may name it: 1 is equal."""


def check_names(policy: Policy) -> str | None:
    """Check that the routes of an application can name what a policy lists, and what its resolver's mapping lists.

    Return a warning about what is probably misspelt, or None. It is only a warning if a function of the mapping may
    name anything, or if not all routes are known. Nothing is checked if no routes are.

    Raises:
        ConfigurationError: nothing can ever name it.
    """
    resolver = policy.resolver
    listed = resolver.routes.listed() if isinstance(resolver, RouteResolver) else None
    if listed is None or not isinstance(resolver, RouteResolver):
        return None
    where, keys, is_open = dict[str, str](), set[object](), not resolver.routes.is_complete()
    operations = set[object]()
    for one in listed:
        try:
            of_route = [*route_keys(one.route)]
        except LookupError:
            is_open = True
            continue
        keys.update(of_route)
        used = [resolver.operations[key] for key in of_route if key in resolver.operations][:1]
        # What a function returns is not known. It may well be the name of its route.
        names = used if used and not callable(used[0]) else route_names(one.route)
        is_open |= any(map(callable, used)) or (one.route.is_opaque and not used)
        operations.update(names)
        for name in (*names, *of_route):
            if isinstance(name, str):
                where.setdefault(name, f"{one.method} {one.path}")
    wrong = {name: option for option, names in policy.lists() for name in sorted(names) if name not in operations}
    wrong |= {_shown(key): "operations" for key in resolver.operations if key not in keys}
    told: list[str] = []
    for name, option in wrong.items():
        if name in where:
            other = "runs another function" if option == "operations" else "operations= gives it another operation"
            told.append(f"{option}: {where[name]} is named {name!r}, but {other}")
            continue
        close = get_close_matches(name, where, 1, cutoff=_LIKE if is_open else 0.0)
        if close or not is_open:
            closest = f"the closest name is {close[0]!r}, of {where[close[0]]}" if close else "there are no routes"
            told.append(f"{option}: no route is named {name!r}; {closest}")
    if told and not is_open:
        raise ConfigurationError("; ".join(told))
    return "; ".join(told) or None


def _shown(key: object) -> str:
    return key if isinstance(key, str) else str(getattr(key, "__name__", type(key).__name__))
