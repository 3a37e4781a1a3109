"""Times as seconds since the epoch: the system's, and those of documents (RFC 3339)."""

from __future__ import annotations

import math
import time
from datetime import UTC, datetime
from typing import Final

_LAST_SECOND: Final = 253_402_300_799


def system_clock() -> float:
    """Return the time of the system, as a test froze it: `time.time` is looked up at each call."""
    return time.time()


def read_time(value: object) -> float:
    """Return a date and time with a zone as seconds since the epoch.

    A value that is not such a text is `math.nan`, which is neither before nor after any time.
    """
    if not isinstance(value, str):
        return math.nan
    try:
        read = datetime.fromisoformat(value)
        return math.nan if read.tzinfo is None else read.timestamp()
    except (ValueError, OverflowError):
        return math.nan


def moment(seconds: float) -> str:
    """Return a time in UTC, or its number of seconds if no calendar has it."""
    if 0 <= seconds <= _LAST_SECOND:
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S} UTC"
    return f"{seconds:.0f} seconds since the epoch"
