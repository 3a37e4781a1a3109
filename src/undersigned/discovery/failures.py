"""Errors of fetches, by what they mean for the source."""

from __future__ import annotations

from undersigned.errors import UndersignedError


class FetchError(UndersignedError):
    """The base of the errors of a fetch. The message is made of our words only, and contains no address."""


class UntrustedURL(FetchError):
    """Raised when a URL must not be fetched: it is not an https URL, or its host has a special address."""


class Unreachable(FetchError):
    """Raised when a server did not answer with a document: name, connection, TLS, time, or another status than 200.

    Attributes:
        status: the status of the response, or None if there was none.
        retry_after: the seconds that the server asks us to wait, or None if it does not.
    """

    def __init__(self, message: str, *, status: int | None = None, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after = retry_after


class NotConnected(Unreachable):
    """Raised when no connection could be made, so that nothing was sent."""


class UnusableDocument(FetchError):
    """Raised when a server's document cannot be used: too large, wrongly encoded, or not what was asked for."""
