"""A rule changes a URL in one way or rejects it for one reason. A family is a rule with a parameter."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Generic, Literal, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from undersigned.url.value import URL

Meaning = Literal["always", "usually", "never"]
"""Whether a rule's result always, usually or never identifies the same thing as its input."""

_LONGEST_QUOTE: Final = 40

Parameter = TypeVar("Parameter")


class Entry(Protocol):
    """An entry of the catalogue: a `Rule`, or a `Family` that makes one."""

    @property
    def name(self) -> str:
        """The name that messages and explanations use."""
        ...

    @property
    def source(self) -> str:
        """The step, section or article that the rule comes from."""
        ...

    @property
    def preserves(self) -> Meaning:
        """How far the result identifies the same thing as the input."""
        ...

    @property
    def summary(self) -> str:
        """A description of the rule in one line."""
        ...


@dataclass(frozen=True, slots=True)
class Rule:
    """A step of a rule set.

    Attributes:
        name: the name in `MalformedURL.rule` and in an explanation.
        source: the step of the algorithm and the section of the standard that the rule comes from.
        preserves: how far the result identifies the same thing as the input; `always` if the rule only rejects.
        apply: a function that returns the changed URL, or the same object if nothing changes. It raises `MalformedURL`
            to reject the URL.
    """

    name: str
    source: str
    preserves: Meaning
    apply: Callable[[URL], URL] = field(repr=False)

    @property
    def summary(self) -> str:
        """A description of the rule in one line: the first line of the docstring of `apply`."""
        return _first_line(self.apply)


@dataclass(frozen=True, slots=True)
class Family(Generic[Parameter]):
    """A rule with a parameter, such as a list of file names. Call the family with a value to get the `Rule`.

    Attributes:
        name: the name of each rule of the family.
        source: as in `Rule`.
        preserves: as in `Rule`.
        make: a function that takes the value and returns the rule's `apply`. It raises `ConfigurationError` if the
            value is not valid.
    """

    name: str
    source: str
    preserves: Meaning
    make: Callable[[Parameter], Callable[[URL], URL]] = field(repr=False)

    @property
    def summary(self) -> str:
        """A description of the rules in one line."""
        return _first_line(self.make)

    def __call__(self, value: Parameter) -> Rule:
        """Return the rule with `value` as its parameter."""
        apply = self.make(value)
        apply.__doc__ = self.make.__doc__
        return Rule(self.name, self.source, self.preserves, apply)


def rule(name: str, *, source: str, preserves: Meaning) -> Callable[[Callable[[URL], URL]], Rule]:
    """Return a decorator that turns a function from URL to URL into a `Rule`. The docstring becomes the summary."""

    def make(apply: Callable[[URL], URL]) -> Rule:
        return Rule(name, source, preserves, apply)

    return make


def family(
    name: str, *, source: str, preserves: Meaning
) -> Callable[[Callable[[Parameter], Callable[[URL], URL]]], Family[Parameter]]:
    """Return a decorator that turns a function, which takes the parameter and returns `apply`, into a `Family`."""

    def make(function: Callable[[Parameter], Callable[[URL], URL]]) -> Family[Parameter]:
        return Family(name, source, preserves, function)

    return make


def quote(text: str) -> str:
    """Return `text` in quotes for an error message, as printable ASCII, at most 40 characters of it."""
    escaped = ascii(text[: _LONGEST_QUOTE + 1])[1:-1]
    return f"'{escaped}'" if len(escaped) <= _LONGEST_QUOTE else f"'{escaped[: _LONGEST_QUOTE - 3]}...'"


def _first_line(documented: object) -> str:
    return (documented.__doc__ or "").partition("\n")[0]
