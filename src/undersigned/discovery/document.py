"""A document over https: fetched with the last copy's validators, read, and given a lifetime (RFC 9110 section 13)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeVar

from undersigned.discovery.cache import Copy
from undersigned.discovery.failures import Unreachable, UntrustedURL, UnusableDocument
from undersigned.discovery.fetch import FetchRequest, FetchResponse
from undersigned.discovery.freshness import retry_after
from undersigned.discovery.transport import fetch_async, fetch_blocking
from undersigned.errors import KeySourceError
from undersigned.limits import LONGEST_VALIDATOR

if TYPE_CHECKING:
    from collections.abc import Mapping

    from undersigned.discovery.failures import FetchError
    from undersigned.discovery.freshness import Freshness
    from undersigned.discovery.network import Network
    from undersigned.errors import Reason

Value = TypeVar("Value")
Read_co = TypeVar("Read_co", covariant=True)

Fetcher: TypeAlias = Callable[[FetchRequest], Awaitable[FetchResponse]]
"""A function that fetches under the guard, blocking or awaiting."""

_OK = 200
_NOT_MODIFIED = 304
_MOST_AT_ONCE = 262144
"""Upper bound on the bytes that are read on the event loop: some 5 ms."""
_VALIDATORS = (("etag", "If-None-Match"), ("last-modified", "If-Modified-Since"))


class _Read(Protocol[Read_co]):
    def __call__(self, body: bytes, /) -> Read_co: ...


class _Reader(Protocol):
    async def __call__(self, read: _Read[Value], body: bytes, /) -> Value: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Loader:
    """A loader that fetches documents, reads them, and gives each a lifetime.

    Attributes:
        fetch: fetches under the guard.
        read: reads a body, off the event loop if it is large.
        freshness: how long what is fetched is used.
        clock: the clock of the cache.
    """

    fetch: Fetcher
    read: _Reader
    freshness: Freshness
    clock: Callable[[], float]

    @classmethod
    def blocking(cls, network: Network, freshness: Freshness, clock: Callable[[], float]) -> Loader:
        """Return a loader whose coroutines never suspend."""
        return cls(fetch=partial(fetch_blocking, network=network), read=_read, freshness=freshness, clock=clock)

    @classmethod
    def awaiting(cls, network: Network, freshness: Freshness, clock: Callable[[], float]) -> Loader:
        """Return a loader for an event loop."""
        return cls(fetch=partial(fetch_async, network=network), read=_read_aside, freshness=freshness, clock=clock)

    async def load(
        self, request: FetchRequest, last: Copy[Value] | None, read: _Read[Value], *, media_type: str = ""
    ) -> Copy[Value]:
        """Fetch a document and return a copy of it, with the value that `read` returns for the body.

        Args:
            request: the request for the document.
            last: the last copy, for a conditional request.
            read: reads a body.
            media_type: the only media type that the document may have; "" for any.

        Raises:
            FetchError: the document cannot be fetched, or `read` raised this error.
        """
        began = self.clock()
        validators = () if last is None else last.validators
        response = await self.fetch(replace(request, fields=(*request.fields, *validators)))
        if response.status == _NOT_MODIFIED and last is not None and validators:
            return Copy(last.value, began, began + self.freshness.lifetime(response.fields), validators)
        if response.status != _OK:
            asked = retry_after(response.fields)
            wait = None if asked is None else max(asked, self.freshness.interval)
            raise Unreachable(f"the server answers {response.status}", status=response.status, retry_after=wait)
        if media_type and response.fields.get("content-type", "").partition(";")[0].strip().lower() != media_type:
            raise UnusableDocument(f"the document is not of the type {media_type}")
        value = await self.read(read, response.body)
        return Copy(value, began, began + self.freshness.lifetime(response.fields), _validators(response.fields))


def source_error(what: str, error: FetchError, unreachable: Reason, unusable: Reason | None = None) -> KeySourceError:
    """Return the error of a source for a failed fetch.

    Args:
        what: the document, for the message.
        error: why the fetch failed. An untrusted URL is always `signature_jwks_untrusted`.
        unreachable: the reason to report for a server that did not answer with a document.
        unusable: the reason to report for a document that cannot be used; `unreachable` if it is not given.
    """
    reason, wait = unusable or unreachable, None
    if isinstance(error, UntrustedURL):
        reason = "signature_jwks_untrusted"
    elif isinstance(error, Unreachable):
        reason, wait = unreachable, error.retry_after
    return KeySourceError(reason, f"{what}: {error}", retry_after=wait)


async def _read(read: _Read[Value], body: bytes) -> Value:
    return read(body)


async def _read_aside(read: _Read[Value], body: bytes) -> Value:
    return read(body) if len(body) <= _MOST_AT_ONCE else await asyncio.to_thread(read, body)


def _validators(fields: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Return the fields of a conditional request; a server's text is sent back only if it is short and printable."""
    return tuple(
        (condition, value)
        for name, condition in _VALIDATORS
        if (value := fields.get(name, ""))
        and len(value) <= LONGEST_VALIDATOR
        and value.isascii()
        and value.isprintable()
    )
