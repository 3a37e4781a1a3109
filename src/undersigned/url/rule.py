"""A rule: one named change to a URL, or one named reason to refuse it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

    from undersigned.url.value import URL

Meaning = Literal["always", "usually", "never"]
"""How far a rule preserves what a URL identifies."""

_SHOWN: Final = 40


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
        return (self.apply.__doc__ or "").partition("\n")[0]


def rule(name: str, *, source: str, preserves: Meaning) -> Callable[[Callable[[URL], URL]], Rule]:
    """Return a decorator that makes a `Rule` of a function from URL to URL, its docstring being the summary."""

    def make(apply: Callable[[URL], URL]) -> Rule:
        return Rule(name, source, preserves, apply)

    return make


def shown(text: str) -> str:
    """Return `text` fit for an error message: quoted, printable ASCII, at most 40 characters of it."""
    escaped = ascii(text[: _SHOWN + 1])[1:-1]
    return f"'{escaped}'" if len(escaped) <= _SHOWN else f"'{escaped[: _SHOWN - 3]}...'"
