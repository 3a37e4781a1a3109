"""Server-sent events, as far as MCP needs them: the JSON-RPC response among the messages of a stream."""

from __future__ import annotations

from typing import TYPE_CHECKING

from undersigned.discovery.jwk_set import read_json_object

if TYPE_CHECKING:
    from collections.abc import Mapping


class EventStream:
    """A reader of an event stream that ends with the response to the request `identifier`.

    The server may keep the stream open after the response, so what follows is not waited for. Each octet is looked at
    once.
    """

    __slots__ = ("_data", "_identifier", "_line", "response")

    def __init__(self, identifier: int) -> None:
        self._identifier = identifier
        self._line = b""
        self._data: list[bytes] = []
        self.response: Mapping[str, object] | None = None
        """The response, once it has been read."""

    def feed(self, chunk: bytes) -> bool:
        """Take the next octets of the stream; return whether the response has been read.

        Raises:
            UnusableDocument: a message is not a JSON object.
        """
        *lines, self._line = (self._line + chunk).split(b"\n")
        for line in lines:
            self._take(line.removesuffix(b"\r"))
        return self.response is not None

    def _take(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        if name == b"data":
            self._data.append(value.removeprefix(b" "))
        elif not line and self._data:
            message = read_json_object(b"\n".join(self._data))
            self._data = []
            if is_response(message, self._identifier):
                self.response = message


def is_response(message: Mapping[str, object], identifier: int) -> bool:
    """Return whether a JSON-RPC message is the response to the request `identifier`."""
    return message.get("id") == identifier and ("result" in message or "error" in message)
