"""Grades: what became of a vector, the first difference at most."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from undersigned.conformance.difference import Difference
from undersigned.conformance.document import MalformedVector
from undersigned.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterator


class Gradable(Protocol):
    """One thing a set expects of the library."""

    @property
    def name(self) -> str:
        """Where it stands in its set; text from the vectors directory."""
        ...

    def differences(self) -> Iterator[Difference | None]:
        """Compare one thing after the other, each with a difference or None; the first difference ends it.

        Raises:
            MalformedVector: it is not in the vectors' format.
            ConfigurationError: it wants the library configured as nobody can configure it.
        """
        ...


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A file, or a part of one, that is no vector and is graded as a failure."""

    name: str
    fault: str

    def differences(self) -> Iterator[Difference | None]:
        """Yield what is wrong with it."""
        yield Difference("not a vector", "", self.fault)


@dataclass(frozen=True, slots=True)
class Grade:
    """What became of one vector.

    Attributes:
        name: the vector's.
        difference: the first difference, or None where there is none.
    """

    name: str
    difference: Difference | None

    @property
    def passed(self) -> bool:
        """Whether everything is as the vector expects."""
        return self.difference is None


def grade(vector: Gradable) -> Grade:
    """Run one vector and compare what it gives with what it expects. Nothing is raised."""
    return Grade(vector.name, _first_difference(vector))


def _first_difference(vector: Gradable) -> Difference | None:
    try:
        return next(filter(None, vector.differences()), None)
    except (MalformedVector, ConfigurationError) as wrong:
        return Difference("not a vector", "", str(wrong))
    except Exception as raised:  # noqa: BLE001 - that no message makes the library raise anything else is graded too
        return Difference("raised by the library", "", f"{type(raised).__name__}: {raised}")
