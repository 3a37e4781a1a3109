"""Operations over A2A: the `skill` of a message's only DataPart (AdCP, operation resolution over A2A)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from undersigned.policy.jsonrpc import TOOL_CALL, is_bare, read_envelope, tool_name, unless_handshake
from undersigned.policy.operation import (
    Operation,
    UnresolvedOperation,
    content_of,
    is_name,
    is_webhook,
    members,
    path_segments,
    spellings,
)

if TYPE_CHECKING:
    from collections.abc import Container

    from undersigned.message.request import Request
    from undersigned.message.strict_json import JSONValue

_MESSAGE_METHODS = frozenset({"SendMessage", "SendStreamingMessage", "message/send", "message/stream"})
_MESSAGE_PATHS = frozenset({"message:send", "message:stream"})
_TASK_PATH = re.compile(r"(?:.*/)?tasks/[^/]+(?::cancel|:subscribe|/pushNotificationConfigs)", re.DOTALL)
_TASK_REQUEST = "HTTP+JSON request about a task"

_JSON_RPC = frozenset({"jsonrpc", "method", "params"})
_CARRIER = spellings("message")
_MESSAGE = spellings("parts", "taskId")
_CONTENTS = frozenset({"text", "data", "raw", "url", "file"})
_FILES = frozenset({"raw", "url", "file"})
_PART = spellings(*_CONTENTS, "kind")
_INVOCATION = spellings("skill")


@dataclass(frozen=True, slots=True)
class A2AResolver:
    """A resolver for both bindings of A2A 0.3 and 1.0: the operation is the `skill` of the message's only DataPart.

    Over JSON-RPC, a message comes with a method SendMessage, SendStreamingMessage, message/send or message/stream. Over
    HTTP+JSON, it comes at a path whose last segment is `message:send` or `message:stream`. `tools/call` is read as by
    `JSONRPCResolver`. A request with another JSON-RPC method has this method and no operation. The HTTP+JSON paths of
    tasks have no operation either.

    Two readers could find different operations in a message in the cases of `JSONRPCResolver`, and if:

    - a part has several contents, a file, or a `kind` that does not match its content;
    - it does not have exactly one DataPart, or the skill is not a name;
    - it has content of both bindings, or members with the protobuf names of A2A 0.3.

    AdCP rejects such a message, signed or not. A service that is not AdCP's passes `adcp=False`. Then a signed message
    of any kind passes, such as text, whatever the profile of the signature. An unsigned one passes unless a string in
    it is the name of a listed operation.

    Args:
        adcp: whether the rules of AdCP apply.
    """

    adcp: bool = True
    reads_body = True

    @property
    def comes_first(self) -> bool:
        """Whether the rules of AdCP apply: AdCP resolves before it looks at the signature fields."""
        return self.adcp

    def resolve(self, request: Request) -> Operation:
        """Return the operation that the message names.

        Raises:
            UnresolvedOperation: two readers could find different operations.
        """
        return unless_handshake(self._resolve(request, path_segments(request)), request)

    def _resolve(self, request: Request, segments: list[str]) -> Operation:
        task = _TASK_PATH.fullmatch("/".join(segments))
        if is_bare(request) or (task is not None and not request.body and not request.has_body):
            return Operation()
        content = content_of(request)
        if segments and segments[-1] in _MESSAGE_PATHS:
            _reject_members(content, _JSON_RPC, of="HTTP+JSON message")
            return Operation(_skill(content), None, content)
        if task is not None and not _has_members(content, _JSON_RPC):
            _reject_members(members(content, _CARRIER, of=_TASK_REQUEST), _CARRIER, of=_TASK_REQUEST)
            return Operation(None, None, content, registers_webhook=is_webhook(segments))
        return _over_json_rpc(content)


def _over_json_rpc(content: JSONValue) -> Operation:
    method, params = read_envelope(content)
    _reject_members(content, _CARRIER, of="JSON-RPC envelope")
    if method in _MESSAGE_METHODS:
        return Operation(_skill(params), method, content)
    return Operation(tool_name(params) if method == TOOL_CALL else None, method, content)


def _skill(carrier: JSONValue) -> str:
    """Return the skill of the message in `carrier`: the params, or the content over HTTP+JSON."""
    # A2A 0.3 calls the message `request`, and its parts `content`, in protobuf, whose JSON readers take both names.
    _reject_members(carrier, {"request"}, of="message request")
    message = members(members(carrier, _CARRIER, of="message request").get("message"), _MESSAGE, of="message")
    _reject_members(message, {"content"}, of="message")
    parts = message.get("parts")
    if not isinstance(parts, list):
        raise UnresolvedOperation("the message has no list of parts")
    found = [part["data"] for part in map(_checked_part, parts) if "data" in part]
    if len(found) != 1:
        raise UnresolvedOperation(f"the message has {len(found)} DataParts: expected one")
    invocation = members(found[0], _INVOCATION, of="DataPart's data")
    # A2A 0.3 over HTTP+JSON wraps the data once more.
    _reject_members(invocation, {"data"}, of="DataPart's data")
    skill = invocation.get("skill")
    if not is_name(skill):
        raise UnresolvedOperation("the skill is not a name")
    return skill


def _checked_part(part: JSONValue) -> dict[str, JSONValue]:
    """Check that every reader finds either text or data in a part, and return it."""
    checked = members(part, _PART, of="part")
    contents = _CONTENTS & checked.keys()
    if len(contents) != 1:
        raise UnresolvedOperation("a part has several contents, or none")
    if contents & _FILES:
        raise UnresolvedOperation("a part is a file")
    if "kind" in checked and [checked["kind"]] != [*contents]:
        raise UnresolvedOperation("the kind of a part does not match its content")
    return checked


def _has_members(value: JSONValue, names: Container[str]) -> bool:
    return isinstance(value, dict) and any(key.casefold() in names for key in value)


def _reject_members(value: JSONValue, names: Container[str], *, of: str) -> None:
    """Reject an object that has a member of `names` (lower case), in any case."""
    if _has_members(value, names):
        raise UnresolvedOperation(f"the {of} has a member that belongs to another form of it")
