"""The Date of a message as seconds since the epoch (RFC 9110 section 5.6.7)."""

from __future__ import annotations

from email.utils import formatdate, parsedate_to_datetime


def read_http_date(value: str) -> int | None:
    """Return an HTTP date, such as `Sun, 22 Nov 2026 00:00:00 GMT`, as seconds since the epoch.

    None means that it is not a date in this form, which senders must write (RFC 9110 section 5.6.7).
    """
    try:
        seconds = int(parsedate_to_datetime(value).timestamp())
    except (ValueError, OverflowError):
        return None
    return seconds if http_date(seconds) == value else None


def http_date(seconds: float) -> str:
    """Return seconds since the epoch as an HTTP date (RFC 9110 section 5.6.7)."""
    return formatdate(int(seconds), usegmt=True)
