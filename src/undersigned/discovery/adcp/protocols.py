"""An agent's task over MCP (2026-07-28 and 2025-06-18) and over A2A (0.3 and 1.0): JSON-RPC over guarded fetches."""

from __future__ import annotations

import contextlib
import json
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, cast
from urllib.parse import urljoin

from undersigned.discovery.fetch import FetchRequest, Target, fetch
from undersigned.discovery.fetch_errors import Unreachable, UntrustedURL, UnusableDocument
from undersigned.discovery.jwk_set import read_json_object
from undersigned.limits import LONGEST_ANSWER_VALUE, MOST_ANSWER_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from undersigned.discovery.fetch import FetchResponse
    from undersigned.discovery.network import Network

Fields: TypeAlias = tuple[tuple[str, str], ...]

_REQUEST = 1
_VERSION = "2026-07-28"
"""The first version of MCP without sessions, which is tried first."""
_CLIENT = {"name": "undersigned", "version": "1"}
_META = {
    "io.modelcontextprotocol/protocolVersion": _VERSION,
    "io.modelcontextprotocol/clientInfo": _CLIENT,
    "io.modelcontextprotocol/clientCapabilities": {},
}
_INITIALIZE = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": _CLIENT}
_UNSUPPORTED_VERSION = -32022
_CODES_OF_MCP = range(-32099, -32019)
"""The error codes that MCP reserves since 2026-07-28: no older server answers with one."""
_CARD = "/.well-known/agent-card.json"


class AgentError(Unreachable):
    """Raised when an agent answers with a JSON-RPC error.

    Attributes:
        error: its error object.
    """

    def __init__(self, status: int, error: Mapping[str, object]) -> None:
        super().__init__(f"the agent answers {status} with an error", status=status)
        self.error = error


@dataclass(frozen=True, slots=True)
class Conversation:
    """The requests to one agent.

    Attributes:
        agent: the agent's URL.
        network: which addresses may be reached.
        seconds: returns for how long the next request may take.
    """

    agent: str
    network: Network
    seconds: Callable[[], float]

    def call(
        self, url: str, method: str, params: object, fields: Fields = ()
    ) -> tuple[Mapping[str, object], FetchResponse]:
        """Return the result of a JSON-RPC method, and the response it came in.

        Raises:
            FetchError: there is no answer, it is an error, or its result is not an object.
        """
        stream = EventStream()
        message = {"jsonrpc": "2.0", "id": _REQUEST, "method": method, "params": params}
        response = self.post(url, message, fields, stream)
        if response.fields.get("content-type", "").partition(";")[0].strip().lower() == "text/event-stream":
            answer = stream.response or {}
        else:
            answer = read_json_object(response.body)
        _raise_error(answer, response.status)
        result = answer.get("result") if is_response(answer) else None
        if not isinstance(result, dict) or answer.get("error") is not None:
            raise UnusableDocument("the agent does not answer with a result")
        return cast("Mapping[str, object]", result), response

    def read(self, url: str) -> Mapping[str, object]:
        """Return the JSON object at `url`.

        Raises:
            FetchError: there is none.
        """
        response = self._send(FetchRequest(url=url, max_bytes=MOST_ANSWER_BYTES, seconds=self.seconds()))
        return read_json_object(response.body)

    def post(self, url: str, message: object, fields: Fields, stream: EventStream | None = None) -> FetchResponse:
        """Send a JSON-RPC message, and return the response. Raise a `FetchError` if the agent does not take it."""
        request = FetchRequest(
            url=url,
            max_bytes=MOST_ANSWER_BYTES,
            method="POST",
            accept="application/json, text/event-stream",
            content=json.dumps(message).encode("ascii"),
            fields=(("Content-Type", "application/json"), *fields),
            seconds=self.seconds(),
            ends=None if stream is None else stream.feed,
        )
        return self._send(request)

    def _send(self, request: FetchRequest) -> FetchResponse:
        response = fetch(request, self.network)
        if not 200 <= response.status < 300:  # noqa: PLR2004 - the successful ones
            with contextlib.suppress(UnusableDocument):
                _raise_error(read_json_object(response.body), response.status)
            raise Unreachable(f"the agent answers {response.status}", status=response.status)
        return response


def _raise_error(answer: Mapping[str, object], status: int) -> None:
    error = answer.get("error")
    if isinstance(error, dict):
        raise AgentError(status, cast("Mapping[str, object]", error))


def _field_value(value: object) -> str:
    """Return text of an agent that is sent back in a header."""
    if isinstance(value, str) and 0 < len(value) <= LONGEST_ANSWER_VALUE and value.isascii() and value.isprintable():
        return value
    raise UnusableDocument("the agent names a protocol version or session that cannot be sent back")


def objects(value: object) -> Sequence[Mapping[str, object]]:
    """Return the objects in an array, without its other items. Return nothing if `value` is not an array."""
    items = cast("list[object]", value) if isinstance(value, list) else []
    return [cast("Mapping[str, object]", item) for item in items if isinstance(item, dict)]


class EventStream:
    """A reader of an event stream that ends with the response to the request.

    The server may keep the stream open after the response, so what follows is not waited for. Each byte is looked at
    once.
    """

    __slots__ = ("_data", "_parts", "response")

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._data: list[bytes] = []
        self.response: Mapping[str, object] | None = None
        """The response, once it has been read."""

    def feed(self, chunk: bytes) -> bool:
        """Take the next bytes of the stream; return whether the response has been read.

        Raises:
            UnusableDocument: a message is not a JSON object.
        """
        first, *others = chunk.split(b"\n")
        self._parts.append(first)
        for part in others:
            self._take(b"".join(self._parts).removesuffix(b"\r"))
            self._parts = [part]
        return self.response is not None

    def _take(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        if name == b"data":
            self._data.append(value.removeprefix(b" "))
        elif not line and self._data:
            message = read_json_object(b"\n".join(self._data))
            self._data = []
            if is_response(message):
                self.response = message


def is_response(message: Mapping[str, object]) -> bool:
    """Return whether a JSON-RPC message is the response to the request."""
    return message.get("id") == _REQUEST and ("result" in message or "error" in message)


def call_tool(conversation: Conversation, name: str) -> Mapping[str, object]:
    """Call the tool `name` of an MCP server without arguments, and return its result.

    A server of 2026-07-28 is sent one request. Any other refuses that one, and is sent those of a session
    (MCP 2026-07-28, Streamable HTTP, Backward Compatibility).

    Raises:
        FetchError: the server cannot be reached, or its answer is not a result.
    """
    call: dict[str, object] = {"name": name, "arguments": {}}
    fields = (("MCP-Protocol-Version", _VERSION), ("Mcp-Method", "tools/call"), ("Mcp-Name", name))
    try:
        result, _ = conversation.call(conversation.agent, "tools/call", {**call, "_meta": _META}, fields)
    except (Unreachable, UnusableDocument) as error:
        if not _may_know_sessions(error):
            raise
        result = _call_in_session(conversation, call)
    if result.get("resultType", "complete") != "complete":
        raise UnusableDocument("the tool asks for input")
    return _content(result)


def _may_know_sessions(error: Unreachable | UnusableDocument) -> bool:
    """Return whether a server that does not take a request of 2026-07-28 may take one of an older version."""
    if isinstance(error, AgentError) and error.error.get("code") in _CODES_OF_MCP:
        data = error.error.get("data")
        supported = cast("Mapping[str, object]", data).get("supported") if isinstance(data, dict) else None
        versions = cast("list[object]", supported) if isinstance(supported, list) else []
        is_older = any(isinstance(version, str) and version < _VERSION for version in versions)
        return error.error["code"] == _UNSUPPORTED_VERSION and is_older
    return not isinstance(error, Unreachable) or error.status is not None


def _call_in_session(conversation: Conversation, call: Mapping[str, object]) -> Mapping[str, object]:
    url = conversation.agent
    begun, response = conversation.call(url, "initialize", _INITIALIZE)
    fields: Fields = (("MCP-Protocol-Version", _field_value(begun.get("protocolVersion"))),)
    if "mcp-session-id" in response.fields:
        fields = (*fields, ("Mcp-Session-Id", _field_value(response.fields["mcp-session-id"])))
    conversation.post(url, {"jsonrpc": "2.0", "method": "notifications/initialized"}, fields)
    result, _ = conversation.call(url, "tools/call", call, fields)
    return result


def _content(result: Mapping[str, object]) -> Mapping[str, object]:
    """Return the structured content of a tool's result, or else its first text."""
    if result.get("isError"):
        raise UnusableDocument("the tool answers with an error")
    structured = result.get("structuredContent")
    if isinstance(structured, dict):
        return _completed(result, cast("Mapping[str, object]", structured))
    for part in objects(result.get("content")):
        text = part.get("text")
        if isinstance(text, str):
            return _completed(result, read_json_object(text.encode("utf-8", "surrogatepass")))
    raise UnusableDocument("the tool's result has no content")


def run_task(conversation: Conversation, name: str) -> Mapping[str, object]:
    """Run the task `name` of an A2A agent without input, and return its result.

    Raises:
        FetchError: the agent cannot be reached, or its answer is not a result.
    """
    card = conversation.read(urljoin(conversation.agent, _CARD))
    url, version = _endpoint(conversation.agent, card)
    task: dict[str, object] = {"skill": name, "input": {}}
    message: dict[str, object] = {"messageId": str(uuid.uuid4())}
    if version.startswith("0."):
        method = "message/send"
        message |= {"kind": "message", "role": "user", "parts": [{"kind": "data", "data": task}]}
    else:
        method = "SendMessage"
        message |= {"role": "ROLE_USER", "parts": [{"data": task}]}
    result, _ = conversation.call(url, method, {"message": message}, (("A2A-Version", version),))
    return _data(result)


def _endpoint(agent: str, card: Mapping[str, object]) -> tuple[str, str]:
    """Return the URL and version of a card's JSON-RPC interface at the agent's origin: no card leads elsewhere."""
    origin = Target.of(agent).authority
    single = {
        "url": card.get("url"),
        "protocolBinding": card.get("preferredTransport", "JSONRPC"),
        "protocolVersion": card.get("protocolVersion"),
    }
    for interface in (*objects(card.get("supportedInterfaces")), single):
        url = interface.get("url")
        if isinstance(url, str) and interface.get("protocolBinding") == "JSONRPC" and authority(url) == origin:
            return url, _field_value(interface.get("protocolVersion"))
    raise UnusableDocument("the agent's card names no JSON-RPC interface at the agent's origin")


def authority(url: str) -> str | None:
    """Return host and port of an https URL, or None if it must not be fetched."""
    try:
        return Target.of(url).authority
    except UntrustedURL:
        return None


def _data(result: Mapping[str, object]) -> Mapping[str, object]:
    """Return the last data part of a task's artifacts, or of a message."""
    wrapped = result.get("task", result.get("message"))
    answer = cast("Mapping[str, object]", wrapped) if isinstance(wrapped, dict) else result
    status: object = answer.get("status")
    state = cast("Mapping[str, object]", status).get("state") if isinstance(status, dict) else status
    if not _is_done(state) or isinstance(status, str):
        raise UnusableDocument("the agent's task is not completed")
    for holder in reversed((answer, *objects(answer.get("artifacts")))):
        for part in reversed(objects(holder.get("parts"))):
            data = part.get("data")
            if isinstance(data, dict):
                return _completed(result, _completed(answer, cast("Mapping[str, object]", data)))
    raise UnusableDocument("the agent's answer has no data part")


def _completed(result: Mapping[str, object], content: Mapping[str, object]) -> Mapping[str, object]:
    """Return the content of a result, if neither has an error of AdCP, which says nothing of what the agent is."""
    has_failed = any(
        one.get("adcp_error") is not None or one.get("errors") or one.get("error") for one in (result, content)
    )
    if has_failed or not _is_done(content.get("status")):
        raise UnusableDocument("the agent answers with an error, or its task is not completed")
    return content


def _is_done(state: object) -> bool:
    """Return whether the state of a task is that of a completed one, or is not told."""
    return state is None or state in ("completed", "TASK_STATE_COMPLETED")
