"""A conversation with an agent: JSON-RPC requests over guarded fetches, answered by JSON or an event stream."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, TypeAlias, cast

from undersigned.discovery.adcp.event_stream import EventStream, is_response
from undersigned.discovery.failures import Unreachable, UnusableDocument
from undersigned.discovery.fetch import FetchRequest
from undersigned.discovery.jwk_set import read_json_object
from undersigned.limits import LONGEST_ANSWER_VALUE, MOST_ANSWER_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from undersigned.discovery.document import Fetcher
    from undersigned.discovery.fetch import FetchResponse

Fields: TypeAlias = tuple[tuple[str, str], ...]

_REQUEST = 1


class Conversation:
    """The requests to one agent.

    Args:
        agent: the agent's URL.
        fetch: fetches under the guard.
        seconds: returns for how long the next request may take.
    """

    def __init__(self, agent: str, fetch: Fetcher, seconds: Callable[[], float]) -> None:
        self.agent = agent
        self._fetch = fetch
        self._seconds = seconds

    async def call(
        self, url: str, method: str, params: object, fields: Fields = ()
    ) -> tuple[Mapping[str, object], FetchResponse]:
        """Return the result of a JSON-RPC method, and the response it came in.

        Raises:
            FetchError: there is no answer, it is an error, or its result is not an object.
        """
        stream = EventStream(_REQUEST)
        message = {"jsonrpc": "2.0", "id": _REQUEST, "method": method, "params": params}
        response = await self._post(url, message, fields, stream)
        if response.fields.get("content-type", "").partition(";")[0].strip().lower() == "text/event-stream":
            answer = stream.response or {}
        else:
            answer = read_json_object(response.body)
        result = answer.get("result") if is_response(answer, _REQUEST) else None
        if not isinstance(result, dict):
            raise UnusableDocument("the agent does not answer with a result")
        return cast("Mapping[str, object]", result), response

    async def notify(self, url: str, method: str, fields: Fields) -> None:
        """Send a JSON-RPC notification.

        Raises:
            FetchError: the agent does not take it.
        """
        await self._post(url, {"jsonrpc": "2.0", "method": method}, fields)

    async def read(self, url: str) -> Mapping[str, object]:
        """Return the JSON object at `url`.

        Raises:
            FetchError: there is none.
        """
        response = await self._send(FetchRequest(url=url, max_bytes=MOST_ANSWER_BYTES, seconds=self._seconds()))
        return read_json_object(response.body)

    async def delete(self, url: str, fields: Fields) -> None:
        """Send a DELETE.

        Raises:
            FetchError: the agent does not take it.
        """
        request = FetchRequest(
            url=url, max_bytes=MOST_ANSWER_BYTES, method="DELETE", fields=fields, seconds=self._seconds()
        )
        await self._send(request)

    async def _post(
        self, url: str, message: object, fields: Fields, stream: EventStream | None = None
    ) -> FetchResponse:
        request = FetchRequest(
            url=url,
            max_bytes=MOST_ANSWER_BYTES,
            method="POST",
            accept="application/json, text/event-stream",
            content=json.dumps(message).encode("ascii"),
            fields=(("Content-Type", "application/json"), *fields),
            seconds=self._seconds(),
            ends=None if stream is None else stream.feed,
        )
        return await self._send(request)

    async def _send(self, request: FetchRequest) -> FetchResponse:
        response = await self._fetch(request)
        if not 200 <= response.status < 300:  # noqa: PLR2004 - the successful ones
            raise Unreachable(f"the agent answers {response.status}", status=response.status)
        return response


def field_value(value: object) -> str:
    """Return text of an agent that is sent back in a header field.

    Raises:
        UnusableDocument: it is not 1 to 256 printable ASCII characters.
    """
    if isinstance(value, str) and 0 < len(value) <= LONGEST_ANSWER_VALUE and value.isascii() and value.isprintable():
        return value
    raise UnusableDocument("the agent names a protocol version or session that cannot be sent back")


def objects(value: object) -> Sequence[Mapping[str, object]]:
    """Return the objects in an array, without its other items. Return nothing if `value` is not an array."""
    items = cast("list[object]", value) if isinstance(value, list) else []
    return [cast("Mapping[str, object]", item) for item in items if isinstance(item, dict)]
