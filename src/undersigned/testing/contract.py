"""The common part of the contract checks: coroutines that run with or without an event loop."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Coroutine, Generator

Answer = TypeVar("Answer")


class ExceptionRaised(AssertionError):
    """Raised when a store or a source raises an exception where it must answer."""


@contextmanager
def naming_exceptions(method: str, expected: str) -> Generator[None]:
    """Say what was expected of a method if it raises an exception."""
    try:
        yield
    except Exception as error:
        raise ExceptionRaised(f"{method}: raised {type(error).__name__}: {error}; expected {expected}") from error


def finish(check: Coroutine[object, object, Answer], *, otherwise: str) -> Answer:
    """Run a check of a store or source whose answers need no awaiting, and return its result.

    Raises:
        AssertionError: an answer has to be awaited; `otherwise` says which check to use.
    """
    try:
        check.send(None)
    except StopIteration as done:
        return cast("Answer", done.value)
    check.close()
    raise AssertionError(otherwise)


def require(kept: object, broken: str) -> None:
    """Check that a rule is kept. An `assert` would do that, but an option of Python turns it off.

    Raises:
        AssertionError: it is not; `broken` is the message.
    """
    if not kept:
        raise AssertionError(broken)
