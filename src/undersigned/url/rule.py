"""A rule: one named change to a URL, or one named reason to refuse it; and families of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Generic, Literal, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from undersigned.url.value import URL

Meaning = Literal["always", "usually", "never"]
"""How far a rule preserves what a URL identifies."""

_SHOWN: Final = 40

Told = TypeVar("Told")


class Entry(Protocol):
    """What the catalogue lists: a `Rule`, or a `Family` that makes one."""

    @property
    def name(self) -> str:
        """The name in messages and explanations."""
        ...

    @property
    def source(self) -> str:
        """The step, section or article it comes from."""
        ...

    @property
    def preserves(self) -> Meaning:
        """How far the result means what the input meant."""
        ...

    @property
    def summary(self) -> str:
        """What it does, in one line."""
        ...


@dataclass(frozen=True, slots=True)
class Rule:
    """One step of a policy.

    Attributes:
        name: what `MalformedURL.rule` and an explanation call it.
        source: the step of the algorithm and the section of the standard it comes from.
        preserves: how far the result means what the input meant. A rule that only refuses changes nothing: `always`.
        apply: takes a URL and returns it, the same object where nothing changes; raises `MalformedURL` to refuse it.
    """

    name: str
    source: str
    preserves: Meaning
    apply: Callable[[URL], URL] = field(repr=False)

    @property
    def summary(self) -> str:
        """What the rule does, in one line."""
        return _first_line(self.apply)


@dataclass(frozen=True, slots=True)
class Family(Generic[Told]):
    """Rules that need to be told something first; calling the family with it makes the `Rule`.

    Attributes:
        name: the name of each rule it makes.
        source: as of a `Rule`.
        preserves: as of a `Rule`.
        make: takes what it is told and returns what the rule applies; raises `ConfigurationError` for what cannot be.
    """

    name: str
    source: str
    preserves: Meaning
    make: Callable[[Told], Callable[[URL], URL]] = field(repr=False)

    @property
    def summary(self) -> str:
        """What its rules do, in one line."""
        return _first_line(self.make)

    def __call__(self, told: Told) -> Rule:
        """Return the rule for `told`."""
        apply = self.make(told)
        apply.__doc__ = self.make.__doc__
        return Rule(self.name, self.source, self.preserves, apply)


def rule(name: str, *, source: str, preserves: Meaning) -> Callable[[Callable[[URL], URL]], Rule]:
    """Return a decorator that makes a `Rule` of a function from URL to URL, its docstring being the summary."""

    def make(apply: Callable[[URL], URL]) -> Rule:
        return Rule(name, source, preserves, apply)

    return make


def family(
    name: str, *, source: str, preserves: Meaning
) -> Callable[[Callable[[Told], Callable[[URL], URL]]], Family[Told]]:
    """Return a decorator that makes a `Family` of a function which returns what a rule applies."""

    def make(function: Callable[[Told], Callable[[URL], URL]]) -> Family[Told]:
        return Family(name, source, preserves, function)

    return make


def shown(text: str) -> str:
    """Return `text` fit for an error message: quoted, printable ASCII, at most 40 characters of it."""
    escaped = ascii(text[: _SHOWN + 1])[1:-1]
    return f"'{escaped}'" if len(escaped) <= _SHOWN else f"'{escaped[: _SHOWN - 3]}...'"


def _first_line(documented: object) -> str:
    return (documented.__doc__ or "").partition("\n")[0]
