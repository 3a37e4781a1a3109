"""A rule changes a URL in one way or rejects it for one reason."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from undersigned.url.parts import URL

_LONGEST_QUOTE: Final = 40


class Rule(NamedTuple):
    """A step of a rule set.

    Attributes:
        name: the name in `MalformedURL.rule` and in an explanation.
        source: the step of the algorithm and the section of the standard that the rule comes from.
        preserves: whether the result always, usually or never identifies the same thing as the input; `always` if the
            rule only rejects.
        apply: a function that returns the changed URL, or the same object if nothing changes. It raises `MalformedURL`
            to reject the URL.
    """

    name: str
    source: str
    preserves: Literal["always", "usually", "never"]
    apply: Callable[[URL], URL]

    @property
    def summary(self) -> str:
        """A description of the rule in one line: the first line of the docstring of `apply`."""
        return (self.apply.__doc__ or "").partition("\n")[0]


def rule(
    name: str, *, source: str, preserves: Literal["always", "usually", "never"]
) -> Callable[[Callable[[URL], URL]], Rule]:
    """Return a decorator that turns a function from URL to URL into a `Rule`. The docstring becomes the summary."""
    return lambda apply: Rule(name, source, preserves, apply)


def quote(text: str) -> str:
    """Return `text` in quotes for an error message, as printable ASCII, at most 40 characters of it."""
    escaped = ascii(text[: _LONGEST_QUOTE + 1])[1:-1]
    return f"'{escaped}'" if len(escaped) <= _LONGEST_QUOTE else f"'{escaped[: _LONGEST_QUOTE - 3]}...'"
