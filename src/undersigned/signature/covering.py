"""Covered components: what a signer covers of a message (RFC 9421 sections 2 and 7.2.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from undersigned.errors import SigningError
from undersigned.message.component import Component
from undersigned.signature.rules.coverage import name_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from undersigned.message.request import Request
    from undersigned.message.response import Response
    from undersigned.signature.profile import Profile


class Covered(NamedTuple):
    """The components that a signer covers, computed once for requests with content and once for requests without.

    Attributes:
        names: the component names.
        components: the components.
        text: the inner list of components, which begins `@signature-params`.
    """

    names: tuple[str, ...]
    components: tuple[Component, ...]
    text: str

    @classmethod
    def of(cls, names: Iterable[str]) -> Covered:
        """Return the components with these names or identifiers, each once."""
        unique = tuple(dict.fromkeys(names))
        texts = [name if name[0] == '"' else f'"{name}"' for name in unique]
        components = tuple(
            Component(name_of(name), text, bare=name[0] != '"') for name, text in zip(unique, texts, strict=True)
        )
        return cls(unique, components, f"({' '.join(texts)})")


class Covering:
    """Chooses what a signer covers: what the profile asks for, and some fields more.

    Args:
        profile: the profile.
        components: more components than the profile asks for.

    Attributes:
        most: the most components that any message's signature covers, if that does not depend on its fields.
    """

    __slots__ = ("_components", "_profile", "_static", "most")

    def __init__(self, profile: Profile, components: Iterable[str]) -> None:
        self._profile = profile
        self._components = tuple(components)
        self._static = {
            has_body: Covered.of((*profile.required_components[has_body], *self._components))
            for has_body in (True, False)
        }
        self.most = max(len(covered.components) for covered in self._static.values())

    def of(self, message: Request | Response, label: str) -> Covered:
        """Return what a signature of this message covers.

        Raises:
            SigningError: the message lacks a field that the profile asks for.
        """
        rule = self._profile.coverage
        if not rule.is_conditional:
            return self._static[message.has_body]
        absent = rule.absent(message)
        if absent:
            raise SigningError(f"headers: profile {self._profile.name} asks for {', '.join(absent)}: add it")
        if rule.over and not rule.linked(message):
            raise SigningError(f"headers: profile {self._profile.name} signs over a signature with the tag {rule.over}")
        member = (f'"{rule.member_of}";key="{label}"',) if rule.member_of else ()
        return Covered.of((*self._profile.asked(message), *member, *self._components))
