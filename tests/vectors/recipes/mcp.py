"""Operations in the `tools/call` of a JSON-RPC envelope."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from tests.vectors.recipes.envelope import accepted, required, rpc, tool, unresolved
from tests.vectors.recipes.flavors import MCP
from tests.vectors.recipes.message import TYPE, Recipe, Sent

if TYPE_CHECKING:
    from collections.abc import Iterator

BUY = tool("create_media_buy", plan_id="plan_own_1")
LOOK = tool("get_products")
CALL = "tools/call"


def recipes() -> Iterator[Recipe]:
    signed = Sent(body=rpc(CALL, BUY))
    yield Recipe(
        name="signed-call",
        rule="a tools/call that has to be signed, and is",
        sent=signed,
        expected={"resolved_operation": "create_media_buy", "dispatched_operation": "create_media_buy"},
    )
    yield from _names()
    yield from _methods()
    yield from _unresolved()
    yield Recipe(
        name="broken-pair-and-unresolved",
        rule="step 1: over JSON-RPC the signature is verified before the operation is resolved",
        sent=Sent(body="[]"),
        input=None,
        code="signature_header_malformed",
        step=1,
    )
    yield Recipe(
        name="signed-and-unresolved",
        rule="step 0: a signature that holds does not name an operation",
        sent=Sent(body="[]"),
        code="body_malformed",
    )
    yield Recipe(
        name="call-rewritten-after-signing",
        rule="step 11: a call of another tool than the one that was signed",
        sent=Sent(body=rpc(CALL, LOOK)),
        changes={"body": rpc(CALL, BUY)},
        expected={"resolved_operation": "create_media_buy"},
        code="signature_digest_mismatch",
        step=11,
    )


def _names() -> Iterator[Recipe]:
    yield required("unsigned-call", "the tool has to be signed", rpc(CALL, BUY), "create_media_buy")
    yield accepted("call-of-another-tool", "the tool need not be signed", rpc(CALL, LOOK), "get_products")
    yield accepted(
        "tool-in-another-case", "names are matched exactly", rpc(CALL, tool("Create_media_buy")), "Create_media_buy"
    )
    yield accepted(
        "path-names-no-tool",
        "the path names nothing here",
        rpc(CALL, LOOK),
        "get_products",
        sent=Sent(url=f"{MCP.url}/create_media_buy", body=rpc(CALL, LOOK)),
    )
    yield accepted(
        "argument-names-no-tool",
        "an argument names nothing",
        rpc(CALL, tool("get_products", name="create_media_buy")),
        "get_products",
    )
    yield accepted("response", "an answer to the server's own request names nothing", rpc(result={}), None)
    yield accepted("error-response", "so does an error", rpc(error={"code": 1, "message": "own"}), None)
    yield accepted("stream", "a GET that opens a stream names nothing", "", None, sent=Sent(method="GET", body=""))
    yield accepted(
        "type-with-utf-8",
        "the charset that JSON has may be said",
        rpc(CALL, LOOK),
        "get_products",
        sent=Sent(body=rpc(CALL, LOOK), headers=(("Content-Type", f"{TYPE}; charset=utf-8"),)),
    )
    yield accepted(
        "type-of-no-json",
        "content is read as JSON whatever its type",
        rpc(CALL, LOOK),
        "get_products",
        sent=Sent(body=rpc(CALL, LOOK), headers=(("Content-Type", "text/plain"),)),
    )
    yield required(
        "unsigned-call-of-no-json-type",
        "content is read as JSON whatever its type",
        "",
        "create_media_buy",
        sent=Sent(body=rpc(CALL, BUY), headers=(("Content-Type", "text/plain"),)),
    )


def _methods() -> Iterator[Recipe]:
    cancel = rpc("tasks/cancel", {"taskId": "own"})
    methods = {"required_for": [], "protocol_methods_required_for": ["tasks/cancel"]}
    yield required("unsigned-method", "the method has to be signed", cancel, None, capability=methods)
    yield accepted("method-not-listed", "a method in no list need not be signed", cancel, None)
    yield accepted(
        "method-in-another-case", "methods are matched exactly", rpc("tasks/Cancel"), None, capability=methods
    )
    yield accepted(
        "method-of-another-release",
        "a method of one release is not the same method in another",
        rpc("CancelTask"),
        None,
        capability=methods,
    )
    yield accepted(
        "tool-of-a-methods-name",
        "a list of methods matches no tool",
        rpc(CALL, tool("tasks/cancel")),
        "tasks/cancel",
        capability=methods,
    )
    yield accepted("method-of-a-tools-name", "a list of operations matches no method", rpc("create_media_buy"), None)
    both = {
        "required_for": ["create_media_buy"],
        "supported_for": ["create_media_buy"],
        "warn_for": ["create_media_buy"],
    }
    yield required("in-several-lists", "the strictest list counts", rpc(CALL, BUY), "create_media_buy", capability=both)
    yield Recipe(
        name="signed-method",
        rule="a method that has to be signed, and is",
        sent=Sent(body=cancel),
        capability=methods,
        expected={"resolved_operation": None},
    )


def _unresolved() -> Iterator[Recipe]:
    for name, rule, body in (
        ("batch", "a batch is not one request", f"[{rpc(CALL, LOOK)}]"),
        ("not-json", "content that is not JSON", "{"),
        ("no-content", "a POST without content", ""),
        ("version-absent", "an envelope without jsonrpc", rpc(CALL, LOOK, jsonrpc=None)),
        ("version-1", "an envelope of JSON-RPC 1.0", rpc(CALL, LOOK, jsonrpc="1.0")),
        ("method-absent", "an envelope without a method", rpc(None, LOOK)),
        ("method-empty", "an empty method", rpc("", LOOK)),
        ("method-not-a-string", "a method that is not a string", rpc(7, LOOK)),
        ("method-with-a-control", "a method with a control character", rpc("tools/call\u0000", LOOK)),
        ("method-and-result", "a request that is a response too", rpc(CALL, LOOK, result={})),
        ("result-and-error", "a response that is both", rpc(result={}, error={})),
        ("member-in-another-case", "a member of the envelope in another case", rpc(CALL, LOOK, Method="tasks/cancel")),
        (
            "member-with-a-long-s",
            "a member that some readers fold to params",
            rpc(CALL, LOOK).replace('"params"', '"param\\u017f": {}, "params"'),
        ),
        ("member-with-a-nul", "a member that some readers cut off", rpc(CALL, LOOK, **{"method\u0000": CALL})),
        ("params-absent", "a tools/call without params", rpc(CALL)),
        ("tool-absent", "a tools/call without a name", rpc(CALL, {"arguments": {}})),
        ("tool-empty", "an empty name", rpc(CALL, tool(""))),
        ("tool-not-a-string", "a name that is not a string", rpc(CALL, tool(["create_media_buy"]))),
        ("tool-with-zero-width", "a name with a character of no width", rpc(CALL, tool("create_media_buy\u200b"))),
        (
            "tool-in-another-case",
            "a member of the call in another case",
            rpc(CALL, {**LOOK, "Name": "create_media_buy"}),
        ),
        (
            "tool-repeated",
            "a repeated name",
            rpc(CALL, LOOK).replace('"name"', '"name": "create_media_buy", "name"'),
        ),
        (
            "tool-repeated-escaped",
            "a repeated name, once escaped",
            rpc(CALL, LOOK).replace('"name"', '"n\\u0061me": "create_media_buy", "name"'),
        ),
        ("byte-order-mark", "content after a byte order mark", f"\ufeff{rpc(CALL, LOOK)}"),
        ("utf-16", "content in UTF-16", "".join(f"\0{character}" for character in rpc(CALL, LOOK))),
        ("not-an-object", "content that is not an object", json.dumps("tools/call")),
    ):
        yield unresolved(f"unresolved-{name}", rule, body)
    yield unresolved(
        "unresolved-charset",
        "a charset that JSON has not",
        rpc(CALL, LOOK),
        headers={"Content-Type": f"{TYPE};charset=utf-7"},
    )
    other = unresolved("unresolved-with-another-credential", "what no one can name is forgiven by nothing", "[]")
    yield replace(other, state={"fallback_auth_valid": True})
