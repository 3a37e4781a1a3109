"""Webhooks: deliveries to URLs that a peer has chosen, signed again for every attempt (AdCP, webhook signing).

The receiver needs nothing of its own: a middleware with a verifier of `profiles.ADCP_WEBHOOK` verifies the deliveries.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from undersigned.client.origins import url_as_sent
from undersigned.discovery.fetch import FetchRequest, fetch, fetch_async
from undersigned.discovery.fetch_errors import FetchError, NotConnected, Unreachable, UnusableDocument
from undersigned.discovery.network import Network
from undersigned.errors import ConfigurationError, MalformedURL
from undersigned.limits import LONGEST_RETRY_AFTER, MOST_ANSWER_BYTES
from undersigned.message.request import Request
from undersigned.message.www_authenticate import read_challenge
from undersigned.signature.signer import Signer
from undersigned.verification.blocking_calls import awaited, finish

if TYPE_CHECKING:
    from undersigned.discovery.fetch import FetchResponse
    from undersigned.signature.signer import SignedFields

Payload: TypeAlias = Mapping[str, object] | bytes
"""What is delivered: an object that is written as JSON, or JSON that is written already."""

WAITS: Final = (1.0, 5.0, 25.0)
"""The seconds before the second and each further attempt."""

_CONTENT_TYPE: Final = ("Content-Type", "application/json")
_SECONDS: Final = re.compile(r"[0-9]{1,9}")
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


class WebhookSender:
    """A sender of webhooks, for threads and asyncio. Safe to share.

    Every attempt sends the same body with a signature of its own, so that a receiver does not take it for a replay.
    An answer of 401 is final: the receiver rejects the signature, and would reject the next one too. Any other
    status from 300 to 499 is final too, except 408, 425 and 429. After those, after a status from 500, and after a
    failed connection, there is another attempt. It waits for the next of `waits`, or longer if `Retry-After` gives more
    seconds, up to five minutes.

    A delivery may arrive although it seems to have failed. Give each payload an `idempotency_key`.

    The URL is https, and is fetched under the guard of `Network`: a peer has chosen it. Redirects are not followed.

    Args:
        signer: makes the signatures; its profile is usually `profiles.ADCP_WEBHOOK`.
        network: which addresses may be reached, and in what time.
        waits: the seconds before the second and each further attempt.

    Raises:
        ConfigurationError: an argument has a wrong type or value.
    """

    def __init__(
        self,
        signer: Signer,
        *,
        network: Network = Network(),  # noqa: B008 - frozen
        waits: Sequence[float] = WAITS,
    ) -> None:
        if not isinstance(signer, Signer):
            raise ConfigurationError("signer: pass a Signer, such as Signer(key, profile=profiles.ADCP_WEBHOOK)")
        if not all(isinstance(wait, (int, float)) and wait >= 0 for wait in waits):
            raise ConfigurationError("waits: give the seconds before each further attempt, such as (1, 5, 25)")
        self._signer = signer
        self._network = network
        self._waits = tuple(waits)

    def deliver(self, url: str, payload: Payload) -> Delivery:
        """Deliver `payload` to `url`, and return how that ended. It blocks until then.

        Raises:
            SigningError: the payload cannot be signed.
        """
        return finish(self._deliver(url, payload, self._signer.sign, fetch, time.sleep))

    async def async_deliver(self, url: str, payload: Payload) -> Delivery:
        """Deliver `payload` as `deliver` does, without blocking the event loop. An async key is awaited."""
        return await self._deliver(url, payload, self._signer.async_sign, fetch_async, asyncio.sleep)

    async def _deliver(
        self,
        url: str,
        payload: Payload,
        sign: Callable[[Request], SignedFields | Awaitable[SignedFields]],
        send: Callable[[FetchRequest, Network], FetchResponse | Awaitable[FetchResponse]],
        pause: Callable[[float], object],
    ) -> Delivery:
        """Sign and send the payload until the receiver has it, rejects it for good, or the last wait is over."""
        content = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        try:
            target = url_as_sent(url).target_uri
        except MalformedURL as malformed:
            return Delivery(is_delivered=False, attempts=1, detail=f"the rule {malformed.rule!r} rejects the URL")
        attempts = 0
        while True:
            attempts += 1
            signed = await awaited(sign(Request("POST", target, [_CONTENT_TYPE], content)))
            request = FetchRequest(
                url=target,
                max_bytes=MOST_ANSWER_BYTES,
                method="POST",
                content=content,
                fields=(_CONTENT_TYPE, *signed),
                ends=lambda _chunk: True,
            )
            status, code, again, after, detail = None, None, False, 0.0, ""
            try:
                response = await awaited(send(request, self._network))
            except UnusableDocument:
                status = 200  # it is raised for the content of a 200, which nobody needs
            except Unreachable as failure:
                status, detail = failure.status, str(failure)
                again = status is None or isinstance(failure, NotConnected)
            except FetchError as failure:
                detail = str(failure)
            else:
                status = response.status
                again = status >= _SERVER_ERROR or status in _AGAIN
                detail = "" if status in _SUCCESS else f"the receiver answers {status}"
                code = read_challenge(response.fields.get("www-authenticate", "")) if status == _UNAUTHORIZED else None
                after = _asked_wait(response)
            if not again or attempts > len(self._waits):
                is_delivered = status in _SUCCESS
                return Delivery(is_delivered=is_delivered, attempts=attempts, status=status, code=code, detail=detail)
            await awaited(pause(max(self._waits[attempts - 1], after)))


def _asked_wait(response: FetchResponse) -> float:
    after = response.fields.get("retry-after", "")
    return min(float(after), LONGEST_RETRY_AFTER) if _SECONDS.fullmatch(after) else 0.0
