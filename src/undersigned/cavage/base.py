"""The signing string of the draft: one line for each signed name (draft-cavage-http-signatures-12 section 2.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from undersigned.cavage.header import CREATED, EXPIRES, REQUEST_TARGET
from undersigned.message.covered import Component
from undersigned.signature.components import FIELD_VALUE, NO_FIELD, UnresolvableComponent, check_method

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from undersigned.message.request import Request
    from undersigned.url import CanonicalURL


def components_of(names: Iterable[str]) -> list[Component]:
    """Return signed names as components, which have their names as identifiers."""
    return [Component(name, name, bare=True) for name in names]


def signing_string(
    request: Request, target: CanonicalURL, names: Sequence[str], *, created: str = "", expires: str = ""
) -> str:
    """Return the signing string as ASCII text, lines separated by LF.

    Args:
        request: the message.
        target: its target, with path and query as they are on the wire.
        names: the signed names in their order.
        created: the `created` parameter as it is spelled.
        expires: the `expires` parameter as it is spelled.

    Raises:
        UnresolvableComponent: the message has no such field, or its value is not printable ASCII.
    """
    pseudo = {REQUEST_TARGET: _request_target(request.method, target), CREATED: created, EXPIRES: expires}
    return "\n".join([f"{name}: {pseudo[name] if name in pseudo else _value(request, name)}" for name in names])


def _request_target(method: str, target: CanonicalURL) -> str:
    check_method(method, any_case=True)
    path_and_query = target.target_uri.removeprefix(f"{target.scheme}://{target.authority}")
    return f"{method.lower()} {path_and_query}"


def _value(request: Request, name: str) -> str:
    value = request.fields.combined.get(name)
    if value is None:
        raise UnresolvableComponent(NO_FIELD)
    if FIELD_VALUE.fullmatch(value) is None:
        raise UnresolvableComponent("a signed field has a character that is not printable ASCII")
    return value
