"""Covered components: what a signer covers of a message (RFC 9421 sections 2 and 7.2.1)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from undersigned.errors import ConfigurationError, SigningError
from undersigned.message import token
from undersigned.message.component import Component
from undersigned.signature.rules.coverage import name_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from undersigned.message.request import Request
    from undersigned.message.response import Response
    from undersigned.signature.profile import Profile

_FIELD_NAME: Final = re.compile(rf"{token.LOWER}+")
_LISTS_KEPT: Final = 32


@dataclass(frozen=True, slots=True)
class Covered:
    """The components that a signer covers, computed once for each list of them.

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
    """A rule that chooses what a signer covers: what the profile requires, and some fields more.

    Args:
        profile: the profile.
        components: more components to cover than the profile requires.
    """

    __slots__ = ("_components", "_listed", "_profile", "_static")

    def __init__(self, profile: Profile, components: Iterable[str]) -> None:
        self._profile = profile
        self._components = tuple(components)
        # If the profile has conditions, the list depends on the message, but few different lists occur.
        self._listed: Callable[[tuple[str, ...]], Covered] = lru_cache(_LISTS_KEPT)(Covered.of)
        self._static = {
            has_body: Covered.of((*profile.required_components[has_body], *self._components))
            for has_body in (True, False)
        }

    def of(self, message: Request | Response, label: str) -> Covered:
        """Return what a signature of this message covers.

        Raises:
            SigningError: the message lacks a field that the profile requires.
        """
        rule = self._profile.coverage
        if not rule.is_conditional:
            return self._static[message.has_body]
        if rule.sent and (absent := rule.absent(message)):
            raise SigningError(f"headers: profile {self._profile.name} asks for {', '.join(absent)}: add it")
        member = (f'"{rule.member_of}";key="{label}"',) if rule.member_of else ()
        return self._listed((*self._profile.components_of(message), *member, *self._components))


def check_names(option: str, names: Sequence[str]) -> None:
    """Check that an option lists names of header fields in lower case.

    Args:
        option: the name of the option, for the error.
        names: its value.

    Raises:
        ConfigurationError: the value is not such a list.
    """
    if isinstance(names, str) or not all(isinstance(name, str) and _FIELD_NAME.fullmatch(name) for name in names):
        raise ConfigurationError(f"{option}: list field names in lower case, such as ['idempotency-key']")
