"""How much work a call does, in lines of Python and in octets: counts that no busy machine changes."""

from __future__ import annotations

import sys
import tracemalloc
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def lines_run(call: Callable[[], object]) -> int:
    """Return how many lines of Python the call runs."""
    count = 0

    def trace(_frame, event, _argument):
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
    return count


def most_memory(call: Callable[[], object]) -> int:
    """Return how many octets of memory the call has at most: what it copies at once shows here, and not in lines."""
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        call()
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return most - before
