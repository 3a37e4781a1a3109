"""An agent's task over MCP: a session of its streamable HTTP transport, in the version of 2025-06-18."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, cast

from undersigned.discovery.adcp.conversation import Fields, field_value, objects
from undersigned.discovery.failures import FetchError, UnusableDocument
from undersigned.discovery.jwk_set import read_json_object

if TYPE_CHECKING:
    from collections.abc import Mapping

    from undersigned.discovery.adcp.conversation import Conversation

_VERSION = "2025-06-18"
_CLIENT = {"protocolVersion": _VERSION, "capabilities": {}, "clientInfo": {"name": "undersigned", "version": "1"}}


async def call_tool(conversation: Conversation, name: str) -> Mapping[str, object]:
    """Call the tool `name` of an MCP server without arguments, and return its result.

    Raises:
        FetchError: the server cannot be reached, or its answer is not a result.
    """
    url = conversation.agent
    begun, response = await conversation.call(url, "initialize", _CLIENT)
    fields: Fields = (("MCP-Protocol-Version", field_value(begun.get("protocolVersion"))),)
    if "mcp-session-id" in response.fields:
        fields = (*fields, ("Mcp-Session-Id", field_value(response.fields["mcp-session-id"])))
    await conversation.notify(url, "notifications/initialized", fields)
    result, _ = await conversation.call(url, "tools/call", {"name": name, "arguments": {}}, fields)
    with suppress(FetchError):
        await conversation.delete(url, fields)
    return _content(result)


def _content(result: Mapping[str, object]) -> Mapping[str, object]:
    """Return the structured content of a tool's result, or else its first text."""
    structured = result.get("structuredContent")
    if isinstance(structured, dict):
        return cast("Mapping[str, object]", structured)
    for part in objects(result.get("content")):
        text = part.get("text")
        if isinstance(text, str):
            return read_json_object(text.encode("utf-8", "surrogatepass"))
    raise UnusableDocument("the tool's result has no content")
