"""Errors of a guarded fetch. The sources that read files raise them too, and need no HTTP client."""

from __future__ import annotations

from typing import TYPE_CHECKING

from undersigned.errors import UndersignedError

if TYPE_CHECKING:
    from collections.abc import Mapping


class FetchError(UndersignedError):
    """The base of the errors of a fetch. The message is made of our words only, and contains no address."""


class UntrustedURL(FetchError):
    """Raised when a URL must not be fetched: it is not an https URL, or its host has a special address."""


class Unreachable(FetchError):
    """Raised when a server did not answer with a document: name, connection, TLS, time, or another status than 200.

    Attributes:
        status: the status of the response, or None if there was none.
    """

    def __init__(self, message: str, *, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class NotConnected(Unreachable):
    """Raised when no connection could be made, so that nothing was sent."""


class Redirected(Unreachable):
    """Raised when a server redirects. No redirect is followed here.

    Attributes:
        fields: the headers by lower-case name: with `location`, the URL that the server names.
    """

    def __init__(self, status: int, fields: Mapping[str, str]) -> None:
        super().__init__("the server answers with a redirect, which is not followed", status=status)
        self.fields = fields


class UnusableDocument(FetchError):
    """Raised when a server's document cannot be used: too large, wrongly encoded, or not what was asked for."""
