"""Errors of a guarded fetch, and the reason that a source reports for each.

The sources that read files raise them too, and need no HTTP client.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from undersigned.errors import KeySourceError, UndersignedError

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from undersigned.errors import Reason

GONE: Final = frozenset({404, 410})
"""The statuses with which a server says that it has no such document."""


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


@contextmanager
def source_errors(
    what: str,
    unreachable: Reason = "signature_jwks_unavailable",
    unusable: Reason | None = None,
    *,
    is_named: bool = False,
) -> Generator[None]:
    """Raise the error of a source in place of that of a fetch.

    Args:
        what: the document, for the message.
        unreachable: the reason to report for a server that did not answer with a document.
        unusable: the reason to report for a document that cannot be used; `unreachable` if it is not given.
        is_named: whether the sender names the document. If its server says that there is none, the keys are unknown.

    Raises:
        KeySourceError: the fetch failed. An untrusted URL is always `signature_jwks_untrusted`.
    """
    try:
        yield
    except FetchError as error:
        reason = unreachable if isinstance(error, Unreachable) else unusable or unreachable
        if is_named and isinstance(error, Unreachable) and error.status in GONE:
            reason = "signature_key_unknown"
        if isinstance(error, UntrustedURL):
            reason = "signature_jwks_untrusted"
        raise KeySourceError(reason, f"{what}: {error}") from error
