"""Agents: a bounded number of URLs that senders named, each with what is kept of it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from undersigned.limits import MOST_AGENTS

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable


class _Document(Protocol):
    def last(self) -> object | None: ...


Kept = TypeVar("Kept", bound=_Document)


class Agents(Generic[Kept]):
    """A store of what is kept of each agent. Senders choose the agents, so only a bounded number is kept.

    An agent that gave no keys yet never displaces one that gave keys.

    Args:
        most: how many of each kind are kept.
    """

    __slots__ = ("_known", "_lock", "_most", "_new")

    def __init__(self, most: int = MOST_AGENTS) -> None:
        self._most = most
        self._known: OrderedDict[Hashable, Kept] = OrderedDict()
        self._new: OrderedDict[Hashable, Kept] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, name: Hashable, make: Callable[[], Kept]) -> Kept:
        """Return what is kept of an agent; make it if nothing is kept.

        Args:
            name: the agent, or its name.
            make: makes what is kept of a new agent, or raises an error.
        """
        with self._lock:
            kept = self._known.get(name)
            if kept is not None:
                self._known.move_to_end(name)
                return kept
            kept = self._new.get(name)
            if kept is None:
                kept = make()
                self._add(self._new, name, kept)
            elif kept.last() is not None:
                del self._new[name]
                self._add(self._known, name, kept)
            return kept

    def all(self) -> list[Kept]:
        """Return what is kept of all agents."""
        with self._lock:
            return [*self._known.values(), *self._new.values()]

    def _add(self, agents: OrderedDict[Hashable, Kept], name: Hashable, kept: Kept) -> None:
        if len(agents) >= self._most:
            oldest, displaced = agents.popitem(last=False)
            if agents is self._new and displaced.last() is not None:
                self._add(self._known, oldest, displaced)
        agents[name] = kept
