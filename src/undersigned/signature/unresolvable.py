"""The error for a component that has no value."""

from __future__ import annotations

from undersigned.errors import UndersignedError

NO_VALUE = "a covered component has no value in this message"


class UnresolvableComponent(UndersignedError, ValueError):
    """Raised when the message has no value for a covered component. The error has no text of the message."""


class OutOfBounds(UnresolvableComponent):
    """Raised when a covered component is not read, because more is covered than one of our bounds allows."""
