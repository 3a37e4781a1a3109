"""Components: what a signature covers, by identifier (RFC 9421 sections 1.1 and 2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable


class Component(NamedTuple):
    """One covered component identifier (RFC 9421 section 1.1).

    Attributes:
        name: the component name, lower case, without quotes.
        text: the identifier as it appears in the base: quoted name and parameters.
        bare: whether it has no parameters.
    """

    name: str
    text: str
    bare: bool


def whole_field(name: str) -> frozenset[str]:
    """Return the identifiers of components that cover all of a header of the message itself.

    A component with `req`, `tr` or `key` covers a field of the request or of the trailers, or one member.
    """
    return frozenset({f'"{name}"', f'"{name}";sf', f'"{name}";bs'})


class Coverage(NamedTuple):
    """The components that a signature covers.

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

    def covers(self, component: str) -> bool:
        """Return whether `component`, a name or an identifier, is covered."""
        # A signature may cover a name that is written like an identifier, so each is looked for in its own place.
        return component in (self.texts if component[0] == '"' else self.bare)
