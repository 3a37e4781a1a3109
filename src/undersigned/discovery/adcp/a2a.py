"""An agent's task over A2A, versions 0.3 and 1.0: its card, and a message whose data part names the task."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, cast
from urllib.parse import urljoin

from undersigned.discovery.adcp.conversation import field_value, objects
from undersigned.discovery.failures import UnusableDocument
from undersigned.discovery.fetch import Target

if TYPE_CHECKING:
    from collections.abc import Mapping

    from undersigned.discovery.adcp.conversation import Conversation

_CARD = "/.well-known/agent-card.json"


async def run_task(conversation: Conversation, name: str) -> Mapping[str, object]:
    """Run the task `name` of an A2A agent without input, and return its result.

    Raises:
        FetchError: the agent cannot be reached, or its answer is not a result.
    """
    card = await conversation.read(urljoin(conversation.agent, _CARD))
    url, version = _endpoint(conversation.agent, card)
    task: dict[str, object] = {"skill": name, "input": {}}
    message: dict[str, object] = {"messageId": str(uuid.uuid4())}
    if version.startswith("0."):
        method = "message/send"
        message |= {"kind": "message", "role": "user", "parts": [{"kind": "data", "data": task}]}
    else:
        method = "SendMessage"
        message |= {"role": "ROLE_USER", "parts": [{"data": task}]}
    result, _ = await conversation.call(url, method, {"message": message}, (("A2A-Version", version),))
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
        if (
            isinstance(url, str)
            and interface.get("protocolBinding") == "JSONRPC"
            and Target.of(url).authority == origin
        ):
            return url, field_value(interface.get("protocolVersion"))
    raise UnusableDocument("the agent's card names no JSON-RPC interface at the agent's origin")


def _data(result: Mapping[str, object]) -> Mapping[str, object]:
    """Return the last data part of a task's artifacts, or of a message."""
    wrapped = result.get("task", result.get("message"))
    answer = cast("Mapping[str, object]", wrapped) if isinstance(wrapped, dict) else result
    for holder in reversed((answer, *objects(answer.get("artifacts")))):
        for part in reversed(objects(holder.get("parts"))):
            data = part.get("data")
            if isinstance(data, dict):
                return cast("Mapping[str, object]", data)
    raise UnusableDocument("the agent's answer has no data part")
