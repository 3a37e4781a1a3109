"""One body for two worlds: a coroutine whose IO blocks is run to its end without an event loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Coroutine

Result = TypeVar("Result")


def finish(coroutine: Coroutine[object, None, Result]) -> Result:
    """Run a coroutine that never suspends, and return its result."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        result: Result = end.value
        return result
    coroutine.close()
    raise RuntimeError("the coroutine suspends: it needs an event loop")
