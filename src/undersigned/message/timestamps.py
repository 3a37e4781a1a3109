"""Times as seconds since the epoch: the system's, and those of documents (RFC 3339)."""

from __future__ import annotations

import math
import time
from datetime import datetime


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
        moment = datetime.fromisoformat(value)
        return math.nan if moment.tzinfo is None else moment.timestamp()
    except (ValueError, OverflowError):
        return math.nan
