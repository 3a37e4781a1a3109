"""Which operation a request asks for, over plain HTTP, JSON-RPC and A2A, and what the endpoint's policy makes of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.vectors.recipes.flavors import A2A, MCP
from tests.vectors.recipes.message import Flavor, Message, Recipe, Sent

if TYPE_CHECKING:
    from collections.abc import Iterator


def messages() -> Iterator[Message]:
    for flavor in (MCP, A2A):
        for recipe in _envelopes(flavor):
            yield Message(recipe, flavor)


def _envelopes(flavor: Flavor) -> Iterator[Recipe]:
    """JSON-RPC: whether the operation or the signature is looked at first. tests/policy has how operations are read."""
    buy, look = (_call(flavor, name) for name in ("create_media_buy", "get_products"))
    resolved = {"resolved_operation": "create_media_buy"}
    yield Recipe(
        "signed-call",
        "a call that has to be signed, and is",
        sent=Sent(body=buy),
        expected={**resolved, "dispatched_operation": "create_media_buy"},
    )
    yield Recipe(
        "unsigned-call",
        "the call has to be signed",
        sent=Sent(body=buy),
        signed=False,
        expected=resolved,
        code="signature_required",
    )
    yield Recipe(
        "call-of-another-operation",
        "the call need not be signed",
        sent=Sent(body=look),
        signed=False,
        expected={"status": "unsigned", "resolved_operation": "get_products", "dispatched_operation": "get_products"},
    )
    yield Recipe(
        "signed-and-unresolved",
        "a signature that holds does not name an operation",
        sent=Sent(body="[]"),
        code="body_malformed",
        step=0,
    )
    for name, state in (("unresolved", {}), ("unresolved-with-another-credential", {"fallback_auth_valid": True})):
        yield Recipe(
            name,
            "what no one can name is forgiven by nothing",
            sent=Sent(body="[]"),
            signed=False,
            state=state,
            code="body_malformed",
            step=0,
        )
    resolves_first = flavor is A2A
    yield Recipe(
        "broken-pair-and-unresolved",
        "over A2A the operation is resolved first" if resolves_first else "the signature is first",
        sent=Sent(body="[]"),
        input=None,
        proven=not resolves_first,
        code="body_malformed" if resolves_first else "signature_header_malformed",
        step=0 if resolves_first else 1,
    )
    yield Recipe(
        "call-rewritten-after-signing",
        "a call of another operation than the one that was signed",
        sent=Sent(body=look),
        changes={"body": buy},
        expected=resolved,
        code="signature_digest_mismatch",
    )


def _call(flavor: Flavor, name: str) -> str:
    """A call of an operation: of a tool over MCP, of a skill over A2A."""
    part = {"data": {"skill": name, "input": {"plan_id": "plan_own_1"}}}
    skill = {"message": {"messageId": "m-own", "role": "ROLE_USER", "parts": [part]}}
    method, params = ("SendMessage", skill) if flavor is A2A else ("tools/call", {"name": name, "arguments": {}})
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
