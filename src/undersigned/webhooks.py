"""Webhooks: deliveries to URLs that a peer has chosen, signed again for every attempt (AdCP, webhook signing).

The receiver needs nothing of its own: a middleware with a verifier of `profiles.ADCP_WEBHOOK` verifies the deliveries.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from undersigned.discovery.failures import FetchError, NotConnected, Unreachable, UnusableDocument
from undersigned.discovery.fetch import FetchRequest
from undersigned.discovery.network import Network
from undersigned.discovery.transport import fetch_async, fetch_blocking
from undersigned.errors import ConfigurationError, MalformedURL
from undersigned.limits import MOST_ANSWER_BYTES
from undersigned.message.request import Request
from undersigned.signature.signer import Signer
from undersigned.url import canonicalize
from undersigned.verification.verifier import finish

if TYPE_CHECKING:
    from undersigned.discovery.fetch import FetchResponse
    from undersigned.signature.signed_fields import SignedFields

Payload: TypeAlias = Mapping[str, object] | bytes
"""What is delivered: an object that is written as JSON, or JSON that is written already."""

WAITS: Final = (1.0, 5.0, 25.0)
"""The seconds before the second and each further attempt."""

_CONTENT_TYPE: Final = ("Content-Type", "application/json")
_ERROR: Final = re.compile(r'(?:^|,)\s*Signature error="([a-z_]{1,64})"')
_SECONDS: Final = re.compile(r"[0-9]{1,4}")
_AGAIN: Final = frozenset({408, 425, 429})
_SUCCESS: Final = range(200, 300)
_UNAUTHORIZED: Final = 401
_SERVER_ERROR: Final = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """The end of a delivery.

    Attributes:
        is_delivered: whether the receiver has answered with a status of success.
        attempts: how many attempts were made.
        status: the status of the last answer, or None if there was none.
        code: the code with which the receiver rejected the signature, such as `webhook_signature_key_unknown`, or None.
        detail: why it was not delivered, for the log; without text of the receiver. Empty if it was delivered.
    """

    is_delivered: bool
    attempts: int
    status: int | None = None
    code: str | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Attempt:
    """The end of one attempt.

    Attributes:
        status: the status, or None if there was no answer.
        code: the code of a rejected signature, or None.
        is_final: whether another attempt would end in the same way, or is not needed.
        after: the seconds that the receiver asks to wait for.
        detail: what went wrong, or "".
    """

    status: int | None = None
    code: str | None = None
    is_final: bool = False
    after: float = 0.0
    detail: str = ""


class _Sender(ABC):
    """The part that both senders share."""

    def __init__(self, signer: Signer, network: Network, waits: Sequence[float]) -> None:
        if not isinstance(signer, Signer):
            raise ConfigurationError("signer: pass a Signer, such as Signer(key, profile=profiles.ADCP_WEBHOOK)")
        if not all(isinstance(wait, (int, float)) and wait >= 0 for wait in waits):
            raise ConfigurationError("waits: give the seconds before each further attempt, such as (1, 5, 25)")
        self._signer = signer
        self._network = network
        self._waits = tuple(waits)

    async def _deliver(self, url: str, payload: Payload) -> Delivery:
        content = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        made, attempts = await self._attempt(url, content), 1
        for wait in self._waits:
            if made.is_final:
                break
            await self._pause(max(wait, made.after))
            made, attempts = await self._attempt(url, content), attempts + 1
        return Delivery(
            is_delivered=made.status in _SUCCESS,
            attempts=attempts,
            status=made.status,
            code=made.code,
            detail=made.detail,
        )

    async def _attempt(self, url: str, content: bytes) -> _Attempt:
        """Sign the content and send it once."""
        try:
            target = canonicalize(url).target_uri
        except MalformedURL as malformed:
            return _Attempt(is_final=True, detail=f"the rule {malformed.rule!r} rejects the URL")
        signed = await self._sign(Request("POST", target, [_CONTENT_TYPE], content))
        request = FetchRequest(
            url=target,
            max_bytes=MOST_ANSWER_BYTES,
            method="POST",
            content=content,
            fields=(_CONTENT_TYPE, *signed),
            ends=lambda _chunk: True,
        )
        try:
            return _read(await self._fetch(request))
        except UnusableDocument:
            # It is raised for the content of a 200, which nobody needs.
            return _Attempt(status=200, is_final=True)
        except Unreachable as failure:
            is_final = failure.status is not None and not isinstance(failure, NotConnected)
            return _Attempt(status=failure.status, is_final=is_final, detail=str(failure))
        except FetchError as failure:
            return _Attempt(is_final=True, detail=str(failure))

    @abstractmethod
    async def _sign(self, request: Request) -> SignedFields: ...

    @abstractmethod
    async def _fetch(self, request: FetchRequest) -> FetchResponse: ...

    @abstractmethod
    async def _pause(self, seconds: float) -> None: ...


class WebhookSender(_Sender):
    """A sender of webhooks, for threads. Safe to share between them.

    Every attempt sends the same content with a signature of its own, so that a receiver does not take it for a replay.
    An answer of 401 is final: the receiver rejects the signature, and would reject the next one too. So is any other
    status from 300 to 499, except 408, 425 and 429. After those, after a status from 500, and after a failure of the
    connection, there is another attempt. It waits for the next of `waits`, or longer if `Retry-After` gives seconds.

    A delivery may arrive although it seems to have failed. So give each payload an `idempotency_key`.

    The URL is https, and is fetched under the guard of `Network`: a peer has chosen it. Redirects are not followed.

    Args:
        signer: makes the signatures; its profile is usually `profiles.ADCP_WEBHOOK`.
        network: which addresses may be reached, and in what time.
        waits: the seconds before the second and each further attempt.
        sleep: waits for some seconds.

    Raises:
        ConfigurationError: an argument has a wrong type or value.
    """

    def __init__(
        self,
        signer: Signer,
        *,
        network: Network = Network(),  # noqa: B008 - frozen
        waits: Sequence[float] = WAITS,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        super().__init__(signer, network, waits)
        self._sleep = sleep

    def deliver(self, url: str, payload: Payload) -> Delivery:
        """Deliver `payload` to `url`, and return how that ended. It blocks until then.

        Raises:
            SigningError: the payload cannot be signed.
        """
        return finish(self._deliver(url, payload))

    async def _sign(self, request: Request) -> SignedFields:
        return self._signer.sign(request)

    async def _fetch(self, request: FetchRequest) -> FetchResponse:
        return await fetch_blocking(request, self._network)

    async def _pause(self, seconds: float) -> None:
        self._sleep(seconds)


class AsyncWebhookSender(_Sender):
    """`WebhookSender` for the tasks of an event loop."""

    def __init__(
        self,
        signer: Signer,
        *,
        network: Network = Network(),  # noqa: B008 - frozen
        waits: Sequence[float] = WAITS,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        super().__init__(signer, network, waits)
        self._sleep = sleep

    async def deliver(self, url: str, payload: Payload) -> Delivery:
        """Deliver `payload` to `url`, as `WebhookSender.deliver`."""
        return await self._deliver(url, payload)

    async def _sign(self, request: Request) -> SignedFields:
        return await self._signer.async_sign(request)

    async def _fetch(self, request: FetchRequest) -> FetchResponse:
        return await fetch_async(request, self._network)

    async def _pause(self, seconds: float) -> None:
        await self._sleep(seconds)


def _read(response: FetchResponse) -> _Attempt:
    """Return how an attempt with this response ended."""
    status = response.status
    if status in _SUCCESS:
        return _Attempt(status=status, is_final=True)
    again = status >= _SERVER_ERROR or status in _AGAIN
    code = _ERROR.search(response.fields.get("www-authenticate", "")) if status == _UNAUTHORIZED else None
    after = response.fields.get("retry-after", "") if again else ""
    return _Attempt(
        status=status,
        code=None if code is None else code[1],
        is_final=not again,
        after=float(after) if _SECONDS.fullmatch(after) else 0.0,
        detail=f"the receiver answers {status}",
    )
