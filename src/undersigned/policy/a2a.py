"""Operations over A2A: the `skill` of a message's only DataPart (AdCP, operation resolution over A2A)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING

from undersigned.limits import MOST_PARTS
from undersigned.policy.jsonrpc import TOOL_CALL, AtPaths, is_bare, read_envelope, tool_name, unless_handshake
from undersigned.policy.operation import (
    Operation,
    PathResolver,
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
_TASK = r"(?:.*/)?tasks/[^/]+"
_CONFIGS = rf"{_TASK}/pushNotificationConfigs"
_BINDING = {
    re.compile(pattern, re.DOTALL): frozenset(methods.split())
    for pattern, methods in {
        r"\S+ (?:.*/)?message:send": "SendMessage message/send",
        r"\S+ (?:.*/)?message:stream": "SendStreamingMessage message/stream",
        rf"\S+ {_TASK}:cancel": "CancelTask tasks/cancel",
        rf"\S+ {_TASK}:subscribe": "SubscribeToTask tasks/resubscribe",
        rf"(?!GET )\S+ {_CONFIGS}": "CreateTaskPushNotificationConfig SetTaskPushNotificationConfig "
        "tasks/pushNotificationConfig/set",
        rf"GET {_CONFIGS}": "ListTaskPushNotificationConfigs ListTaskPushNotificationConfig "
        "tasks/pushNotificationConfig/list",
        rf"GET {_CONFIGS}/[^/]+": "GetTaskPushNotificationConfig tasks/pushNotificationConfig/get",
        rf"DELETE {_CONFIGS}/[^/]+": "DeleteTaskPushNotificationConfig tasks/pushNotificationConfig/delete",
        rf"GET {_TASK}": "GetTask tasks/get",
        r"GET (?:.*/)?tasks": "ListTasks tasks/list",
        r"GET (?:.*/)?(?:extendedAgentCard|v1/card)": "GetExtendedAgentCard agent/getAuthenticatedExtendedCard",
    }.items()
}
"""The paths of the HTTP+JSON binding, each after its method, and the JSON-RPC methods of both versions for it."""
_TASK_REQUEST = "HTTP+JSON request about a task"

_JSON_RPC = frozenset({"jsonrpc", "method", "params"})
_CARRIER = spellings("message")
_MESSAGE = spellings(
    *("kind", "role", "parts", "metadata", "extensions"),
    *("messageId", "contextId", "taskId", "referenceTaskIds", "message_id", "context_id", "task_id"),
    "reference_task_ids",
)
_CONTENTS = frozenset({"text", "data", "raw", "url", "file"})
_FILES = frozenset({"raw", "url", "file"})
_PART = spellings(*_CONTENTS, "kind", "metadata", "filename", "mediaType", "media_type")
_INVOCATION = spellings("skill")
_ARGUMENTS = frozenset({"input", "parameters"})


@dataclass(frozen=True, slots=True)
class A2AResolver(AtPaths):
    """A resolver for both bindings of A2A 0.3 and 1.0: the operation is the `skill` of the message's only DataPart.

    Over JSON-RPC, a message comes with a method SendMessage, SendStreamingMessage, message/send or message/stream. Over
    HTTP+JSON, it comes at a path whose last segment is `message:send` or `message:stream`. `tools/call` is read as by
    `JSONRPCResolver`. A request with another JSON-RPC method has this method and no operation. The HTTP+JSON paths have
    the JSON-RPC methods of both versions that mean the same: `POST /tasks/7:cancel` has `tasks/cancel` and
    `CancelTask`.

    Two readers could find different operations in a message in the cases of `JSONRPCResolver`, and if:

    - the message or a part has a member that A2A does not define;
    - a part has several contents, a file, or a `kind` that does not match its content;
    - it does not have exactly one DataPart, or the skill is not a name;
    - its data has another `skill` anywhere but in `input` and `parameters`: the official SDK may unwrap a member;
    - it has content of both bindings, or members with the protobuf names of A2A 0.3.

    AdCP rejects such a message, signed or not. A service that is not AdCP's passes `adcp=False`. Then a signed message
    of any kind passes, such as text, whatever the profile of the signature. An unsigned one passes unless a string in
    it may be the name of a listed operation.

    Args:
        path: the path of the JSON-RPC endpoint, or several, as for `JSONRPCResolver`. The paths of the HTTP+JSON
            binding are recognised wherever they are.
        adcp: whether the rules of AdCP apply.
    """

    adcp: bool = field(default=True, kw_only=True)
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
        segments = path_segments(request)
        methods = _methods_at(request.method, segments)
        if not methods and self.are_elsewhere(segments):
            return PathResolver().resolve(request)
        try:
            operation = _resolved(request, segments, methods)
        except UnresolvedOperation as unresolved:
            unresolved.methods = methods
            raise
        return unless_handshake(replace(operation, methods=methods), request)


def _methods_at(method: str, segments: list[str]) -> frozenset[str]:
    """Return the JSON-RPC methods that mean the same as a path of the HTTP+JSON binding, or nothing for other paths."""
    line = f"{'GET' if method == 'HEAD' else method} {'/'.join(segments)}"
    return frozenset[str]().union(*(methods for pattern, methods in _BINDING.items() if pattern.fullmatch(line)))


def _resolved(request: Request, segments: list[str], methods: frozenset[str]) -> Operation:
    if is_bare(request) or (methods - _MESSAGE_METHODS and not request.body and not request.has_body):
        return Operation()
    content = content_of(request)
    if methods & _MESSAGE_METHODS:
        _reject_members(content, _JSON_RPC, of="HTTP+JSON message")
        return Operation(_skill(content), None, content)
    if methods and not _has_members(content, _JSON_RPC):
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
    message = members(
        members(carrier, _CARRIER, of="message request").get("message"), _MESSAGE, of="message", is_closed=True
    )
    _reject_members(message, {"content"}, of="message")
    parts = message.get("parts")
    if not isinstance(parts, list) or len(parts) > MOST_PARTS:
        raise UnresolvedOperation(f"the message has no list of at most {MOST_PARTS} parts")
    found = [part["data"] for part in map(_checked_part, parts) if "data" in part]
    if len(found) != 1:
        raise UnresolvedOperation(f"the message has {len(found)} DataParts: expected one")
    invocation = members(found[0], _INVOCATION, of="DataPart's data")
    # A2A 0.3 over HTTP+JSON wraps the data once more.
    _reject_members(invocation, {"data"}, of="DataPart's data")
    skill = invocation.get("skill")
    if not is_name(skill):
        raise UnresolvedOperation("the skill is not a name")
    # With `data_part_compat` in the metadata, the official SDK takes the value of a member for the data.
    if _names_skill([value for name, value in invocation.items() if name not in _ARGUMENTS]):
        raise UnresolvedOperation("a member of the DataPart's data has a skill of its own")
    return skill


def _names_skill(value: JSONValue) -> bool:
    """Return whether other readers may find a skill somewhere in a value."""
    level = [value]
    while level:
        objects = [one for one in level if isinstance(one, dict)]
        # A name ends at its first NUL for some readers.
        if any(name[:5].casefold() == "skill" and name[5:6] in {"", "\0"} for name in chain.from_iterable(objects)):
            return True
        level = [
            *chain.from_iterable(one for one in level if isinstance(one, list)),
            *chain.from_iterable(one.values() for one in objects),
        ]
    return False


def _checked_part(part: JSONValue) -> dict[str, JSONValue]:
    """Check that every reader finds either text or data in a part, and return it."""
    checked = members(part, _PART, of="part", is_closed=True)
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
