"""Grades: the result of a vector, with its first difference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from undersigned.conformance.difference import Difference
from undersigned.conformance.document import MalformedVector
from undersigned.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterator


class Gradable(Protocol):
    """An expectation that can be graded."""

    @property
    def name(self) -> str:
        """The name in its set, which is text from the corpus."""
        ...

    def differences(self) -> Iterator[Difference | None]:
        """Compare step by step and yield a difference or None for each step. Grading stops at the first difference.

        Raises:
            MalformedVector: the vector does not have the vectors' format.
            ConfigurationError: the vector asks for a configuration that the library rejects.
        """
        ...


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A file, or a part of one, that is not a vector. It is graded as a failure."""

    name: str
    fault: str

    def differences(self) -> Iterator[Difference | None]:
        """Yield the fault."""
        yield Difference("not a vector", "", self.fault)


@dataclass(frozen=True, slots=True)
class Grade:
    """The result of one vector.

    Attributes:
        name: the name of the vector.
        difference: the first difference, or None.
    """

    name: str
    difference: Difference | None

    @property
    def passed(self) -> bool:
        """Whether the library meets all expectations of the vector."""
        return self.difference is None


def grade(vector: Gradable) -> Grade:
    """Run a vector and compare its results with its expectations. Never raises."""
    return Grade(vector.name, _first_difference(vector))


def _first_difference(vector: Gradable) -> Difference | None:
    try:
        return next(filter(None, vector.differences()), None)
    except (MalformedVector, ConfigurationError) as wrong:
        return Difference("not a vector", "", str(wrong))
    except Exception as raised:  # noqa: BLE001 - any other exception of the library is a failure too
        return Difference("raised by the library", "", f"{type(raised).__name__}: {raised}")
