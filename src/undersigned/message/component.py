"""Components: what a signature covers, by identifier (RFC 9421 sections 1.1 and 2)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, cast

import http_sf
from http_sf.compat import Item

if TYPE_CHECKING:
    from collections.abc import Iterable

    from undersigned.message.structured_fields import Parameter


@dataclass(frozen=True, slots=True)
class Component:
    """One covered component identifier (RFC 9421 section 1.1).

    Attributes:
        name: the component name, lower case, without quotes.
        text: the identifier as it appears in the base: quoted name and parameters.
        bare: whether it has no parameters.
        field_name: the name if its value is the combined value of a header field (RFC 9421 section 2.1), else "".
    """

    name: str
    text: str
    bare: bool
    field_name: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        name = self.name if self.bare and self.name[:1] != "@" and self.name != "set-cookie" else ""
        object.__setattr__(self, "field_name", name)

    def without(self, flag: str) -> Component | None:
        """Return the identifier without a flag, such as `req`, or None if it has no such parameter.

        Raises:
            ValueError: the parameter is not the Boolean true (RFC 9421 section 2.1).
        """
        if self.text == f'"{self.name}";{flag}':
            return Component(self.name, f'"{self.name}"', bare=True)
        if f";{flag}" not in self.text:
            return None
        value, parameters = cast("tuple[str, dict[str, Parameter]]", http_sf.parse(self.text.encode(), tltype="item"))
        if flag not in parameters:
            return None
        if parameters.pop(flag) is not True:
            raise ValueError(flag)
        return Component(self.name, http_sf.ser((value, parameters)), bare=not parameters)

    def item(self) -> Item:
        """Return the identifier as the structured field item that http-message-signatures resolves."""
        item = Item()
        item.parse(self.text.encode("ascii"))
        return item


def whole_field(name: str) -> frozenset[str]:
    """Return the identifiers of components that cover all of a header field of the message itself.

    A component with `req`, `tr` or `key` covers a field of the request or of the trailers, or one member.
    """
    return frozenset({f'"{name}"', f'"{name}";sf', f'"{name}";bs'})


class Coverage(NamedTuple):
    """The components that a signature covers. A named tuple, as a frozen dataclass takes twice as long to make.

    Attributes:
        components: the covered components in their order.
        names: the names of all covered components.
        bare: the names of the components without parameters.
        texts: the identifiers of the components in their order.
    """

    components: tuple[Component, ...]
    names: frozenset[str]
    bare: frozenset[str]
    texts: tuple[str, ...]

    @classmethod
    def of(cls, components: Iterable[Component]) -> Coverage:
        """Return the coverage of `components`."""
        covered = tuple(components)
        return cls(
            covered,
            frozenset([component.name for component in covered]),
            frozenset([component.name for component in covered if component.bare]),
            tuple([component.text for component in covered]),
        )
