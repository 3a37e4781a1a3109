"""Operations in the message of an A2A request, over both of its bindings."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.vectors.recipes.envelope import accepted, data, message, required, rpc, tool, unresolved
from tests.vectors.recipes.flavors import ORIGIN
from tests.vectors.recipes.message import Recipe, Sent

if TYPE_CHECKING:
    from collections.abc import Iterator

METHODS = ("SendMessage", "SendStreamingMessage", "message/send", "message/stream")
BUY, LOOK, TEXT = data("create_media_buy"), data("get_products"), {"text": "create_media_buy"}
SEND = METHODS[0]


def recipes() -> Iterator[Recipe]:
    for number, method in enumerate(METHODS):
        stem = ("send", "stream", "send-0.3", "stream-0.3")[number]
        body = rpc(method, message(BUY))
        outcome = {"status": "verified", "resolved_operation": "create_media_buy"}
        yield Recipe(
            name=f"signed-{stem}",
            rule=f"{method} of a skill that has to be signed",
            sent=Sent(body=body),
            expected=outcome,
        )
        yield required(f"unsigned-{stem}", f"{method} of a skill that has to be signed", body, "create_media_buy")
        yield accepted(
            f"look-{stem}", f"{method} of a skill that need not be", rpc(method, message(LOOK)), "get_products"
        )
    yield from _http_json()
    yield from _names()
    yield from _envelopes()
    yield from _parts()
    yield from _order()


def _http_json() -> Iterator[Recipe]:
    for path in ("/a2a/message:send", "/a2a/message:stream", "/a2a/tenant/message:send/"):
        stem = path.strip("/").replace("/", "-").replace(":", "-")
        sent = Sent(url=f"{ORIGIN}{path}", body=json.dumps(message(BUY)))
        yield required(f"http-{stem}", "HTTP+JSON at the path of a message", "", "create_media_buy", sent=sent)
    for name, path, method, body in (
        ("cancel", "/a2a/tasks/7:cancel", "POST", ""),
        ("subscribe", "/a2a/tasks/7:subscribe", "POST", "{}"),
        ("config", "/a2a/tasks/7/pushNotificationConfigs", "POST", '{"url":"https://buyer.own.test/hook"}'),
        ("task", "/a2a/tasks/7", "GET", ""),
    ):
        sent = Sent(url=f"{ORIGIN}{path}", method=method, body=body)
        yield accepted(f"http-{name}", "HTTP+JSON about a task names no operation", "", None, sent=sent)
    for name, rule, path, content in (
        (
            "http-with-json-rpc",
            "HTTP+JSON with members of JSON-RPC",
            "/a2a/message:send",
            {**message(LOOK), "jsonrpc": "2.0", "method": SEND},
        ),
        (
            "http-task-with-a-message",
            "a request about a task that carries a message",
            "/a2a/tasks/7:cancel",
            message(BUY),
        ),
        ("http-elsewhere", "HTTP+JSON at a path that is not a message's", "/a2a/messages", message(LOOK)),
    ):
        yield unresolved(name, rule, "", sent=Sent(url=f"{ORIGIN}{path}", body=json.dumps(content)))
    yield Recipe(
        name="http-encoded-dot-segment",
        rule="step 0: a path that servers read differently",
        sent=Sent(url=f"{ORIGIN}/a2a/x%2f..%2fmessage:send", body=json.dumps(message(LOOK))),
        signed=False,
        code="target_uri_malformed",
    )


def _names() -> Iterator[Recipe]:
    decoy = message(TEXT, {**LOOK, "metadata": {"skill": "create_media_buy"}}, metadata={"skill": "create_media_buy"})
    yield accepted("decoys", "neither text nor metadata names a skill", rpc(SEND, decoy), "get_products")
    yield accepted(
        "input-names-nothing",
        "what is inside the input names no skill",
        rpc(SEND, message({"data": {"skill": "get_products", "input": {"skill": "create_media_buy"}}})),
        "get_products",
    )
    yield accepted(
        "kind-of-its-content",
        "a kind that matches the content",
        rpc(SEND, message({**LOOK, "kind": "data"}, {**TEXT, "kind": "text"})),
        "get_products",
    )
    yield accepted(
        "skill-in-another-case",
        "names are matched exactly",
        rpc(SEND, message(data("Create_Media_Buy"))),
        "Create_Media_Buy",
    )
    yield accepted("stream-of-nothing", "a GET names nothing", "", None, sent=Sent(method="GET", body=""))
    yield accepted("other-method", "a method without a message names no operation", rpc("GetTask", {"id": "7"}), None)
    yield accepted(
        "method-in-another-case", "a method in another case carries no message", rpc("sendMessage", message(BUY)), None
    )
    yield required(
        "tool", "a tools/call names its tool", rpc("tools/call", tool("create_media_buy")), "create_media_buy"
    )
    methods = {"required_for": [], "protocol_methods_required_for": ["SendMessage"]}
    yield required(
        "method-listed",
        "a method that has to be signed, whatever its skill",
        rpc(SEND, message(LOOK)),
        "get_products",
        capability=methods,
    )
    yield accepted(
        "method-listed-of-another-release",
        "a method of one release is not the same method in another",
        rpc("message/send", message(LOOK)),
        "get_products",
        capability=methods,
    )


def _envelopes() -> Iterator[Recipe]:
    look = message(LOOK)
    inner = look["message"]
    for name, rule, body in (
        ("batch", "a batch is not one request", f"[{rpc(SEND, look)}]"),
        ("method-absent", "an envelope without a method", rpc(None, look)),
        (
            "method-repeated",
            "a repeated method",
            rpc(SEND, look).replace('"method"', '"method": "GetTask", "method"'),
        ),
        ("version-absent", "an envelope without jsonrpc", rpc(SEND, look, jsonrpc=None)),
        ("message-in-the-envelope", "a message next to the params", rpc(SEND, look, **message(BUY))),
        ("params-absent", "a message's method without params", rpc(SEND)),
        ("message-absent", "params without a message", rpc(SEND, {})),
        (
            "message-in-another-case",
            "a message in another case",
            rpc(SEND, {**look, "Message": message(BUY)["message"]}),
        ),
        (
            "message-by-its-older-name",
            "a message under the name protobuf gave it",
            rpc(SEND, {**look, "request": inner}),
        ),
        ("parts-absent", "a message without parts", rpc(SEND, {"message": {"messageId": "m"}})),
        ("parts-no-list", "parts that are not a list", rpc(SEND, {"message": {"parts": LOOK}})),
        (
            "parts-by-their-older-name",
            "parts under the name protobuf gave them",
            rpc(SEND, message(LOOK, content=[BUY])),
        ),
    ):
        yield unresolved(f"unresolved-{name}", rule, body)


def _parts() -> Iterator[Recipe]:
    repeated = rpc(SEND, message(LOOK)).replace('"skill"', '"skill": "create_media_buy", "skill"')
    yield unresolved("unresolved-skill-repeated", "a repeated skill", repeated)
    escaped = repeated.replace('"skill"', '"sk\\u0069ll"', 1)
    yield unresolved("unresolved-skill-repeated-escaped", "a repeated skill, once escaped", escaped)
    for name, rule, parts in (
        ("no-part", "no part at all", ()),
        ("text-alone", "no DataPart", (TEXT,)),
        ("two-data", "two DataParts", (LOOK, BUY)),
        ("two-data-one-skill", "two DataParts, though one calls nothing", (LOOK, {"data": {"x": 1}})),
        ("data-not-an-object", "data that is not an object", ({"data": "create_media_buy"},)),
        (
            "data-in-data",
            "data that is wrapped once more",
            ({"data": {"data": {"skill": "create_media_buy"}, "skill": "get_products"}},),
        ),
        ("skill-absent", "data without a skill", ({"data": {"input": {}}},)),
        ("skill-empty", "an empty skill", (data(""),)),
        ("skill-not-a-string", "a skill that is not a string", (data(7),)),
        ("skill-with-zero-width", "a skill with a character of no width", (data("get_\u200bproducts"),)),
        (
            "skill-in-another-case",
            "a member in another case",
            ({"data": {"skill": "get_products", "Skill": "create_media_buy"}},),
        ),
        ("part-not-an-object", "a part that is not an object", (LOOK, "create_media_buy")),
        ("part-without-content", "a part without content", (LOOK, {"metadata": {}})),
        ("text-and-data", "a part with two contents", ({**LOOK, "text": "x"},)),
        ("content-in-another-case", "a content in another case", ({**LOOK, "Data": {"skill": "create_media_buy"}},)),
        ("kind-of-another-content", "a kind that does not match the content", ({**LOOK, "kind": "text"},)),
        ("file", "a file", (LOOK, {"file": {"uri": "https://own.test/f"}})),
        ("raw", "raw bytes", (LOOK, {"raw": "e30="})),
        ("url", "a URL", (LOOK, {"url": "https://own.test/f"})),
    ):
        yield unresolved(f"unresolved-{name}", rule, rpc(SEND, message(*parts)))


def _order() -> Iterator[Recipe]:
    body = rpc(SEND, message(LOOK, BUY))
    yield Recipe(
        name="broken-pair-and-unresolved",
        rule="step 0: over A2A the operation is resolved before the signature fields are looked at",
        sent=Sent(body=body),
        input=None,
        proven=False,
        code="body_malformed",
    )
    yield Recipe(
        name="signed-and-unresolved",
        rule="step 0: a signature that holds does not name an operation",
        sent=Sent(body=body),
        code="body_malformed",
    )
    yield Recipe(
        name="signature-broken-and-resolved",
        rule="step 1: once the operation is known, a broken pair is rejected whatever the lists say",
        sent=Sent(body=rpc(SEND, message(LOOK))),
        input=None,
        expected={"resolved_operation": "get_products"},
        code="signature_header_malformed",
        step=1,
    )
