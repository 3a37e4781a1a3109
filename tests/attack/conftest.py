"""A search: messages from a seed, for as long as its share of the time lasts, and what they got through."""

from __future__ import annotations

import time
from random import Random
from typing import TYPE_CHECKING, TypeVar

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

T = TypeVar("T")

_SHOWN = 12


class Search:
    """A seeded search that collects what it finds.

    Args:
        seed: the same seed tries the same messages in the same order; how many of them depends on the time.
        seconds: how long to go on; what is tried first is tried whatever the time.
    """

    def __init__(self, seed: str, seconds: float) -> None:
        self.random = Random(seed)  # noqa: S311 - it has to be repeatable
        self.tried = 0
        self.reached = 0
        self._seconds = seconds
        self._found: dict[str, str] = {}

    def of(self, first: Iterable[T], then: Callable[[Random], T], *, least: int = 0) -> Iterator[T]:
        """Yield all of `first`, then what `then` makes, until the time is over or enough is found.

        A busy machine tries fewer messages, but never fewer than `least`.
        """
        end = time.monotonic() + self._seconds
        for message in first:
            if len(self._found) >= _SHOWN:
                return
            self.tried += 1
            yield message
        while (time.monotonic() < end or self.tried < least) and len(self._found) < _SHOWN:
            self.tried += 1
            yield then(self.random)

    def reach(self, reached: bool = True) -> None:  # noqa: FBT001, FBT002 - it is the one argument
        """Count a message that got as far as it has to for the search to mean anything."""
        self.reached += reached

    def find(self, kind: str, message: object) -> None:
        """Keep the shortest message of each kind."""
        shown = message if isinstance(message, str) else repr(message)
        if kind not in self._found or len(shown) < len(self._found[kind]):
            self._found[kind] = shown

    def finish(self, *, reached: int) -> None:
        """Fail if anything was found, or if fewer messages than `reached` got far enough to have found anything."""
        found = "\n".join(f"  {kind}: {message}" for kind, message in self._found.items())
        assert not self._found, f"found in {self.tried} messages:\n{found}"
        assert self.reached >= reached, f"only {self.reached} of {self.tried} messages got far enough to find anything"


@pytest.fixture
def search(request) -> Search:
    """The search of this test: all selected searches share the minutes equally."""
    searches = sum("search" in getattr(item, "fixturenames", ()) for item in request.session.items)
    config = request.config
    seconds = 60 * config.getoption("--attack-minutes") / max(1, searches)
    return Search(f"{config.getoption('--attack-seed')} {request.node.nodeid}", seconds)
