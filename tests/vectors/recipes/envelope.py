"""Envelopes: contents of JSON-RPC and A2A, and recipes of requests that carry them unsigned."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.vectors.recipes.message import Recipe, Sent

if TYPE_CHECKING:
    from collections.abc import Mapping


def rpc(method: object = None, params: object = None, **members: object) -> str:
    """A JSON-RPC envelope; a member that is None is left out."""
    given = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params, **members}
    return json.dumps({name: value for name, value in given.items() if value is not None})


def tool(called: object, **arguments: object) -> dict[str, object]:
    """The params of a tools/call."""
    return {"name": called, "arguments": arguments}


def data(skill: object, **members: object) -> dict[str, object]:
    """A DataPart that calls a skill."""
    return {"data": {"skill": skill, "input": {"plan_id": "plan_own_1"}}, **members}


def message(*parts: object, **members: object) -> dict[str, object]:
    """The params of a method, or the content of an HTTP+JSON request, that carries a message."""
    return {"message": {"messageId": "m-own", "role": "ROLE_USER", "parts": list(parts), **members}}


def accepted(name: str, rule: str, body: str, operation: str | None, *, sent: Sent | None = None, **options) -> Recipe:
    """An unsigned request whose operation need not be signed."""
    return Recipe(
        name=name,
        rule=f"step 0: {rule}",
        sent=sent or Sent(body=body),
        signed=False,
        expected={"status": "unsigned", "resolved_operation": operation, "dispatched_operation": operation},
        **options,
    )


def required(name: str, rule: str, body: str, operation: str | None, *, sent: Sent | None = None, **options) -> Recipe:
    """An unsigned request whose operation, or whose method, has to be signed."""
    return Recipe(
        name=name,
        rule=f"step 0: {rule}",
        sent=sent or Sent(body=body),
        signed=False,
        code="signature_required",
        expected={"resolved_operation": operation},
        **options,
    )


def unresolved(name: str, rule: str, body: str, *, headers: Mapping[str, str] | None = None, **options) -> Recipe:
    """An unsigned request that does not name one operation as every reader would read it."""
    sent = options.pop("sent", None) or Sent(body=body, headers=tuple((headers or {}).items()))
    return Recipe(name=name, rule=f"step 0: {rule}", sent=sent, signed=False, code="body_malformed", step=0, **options)
