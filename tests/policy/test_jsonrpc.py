from __future__ import annotations

import json
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from undersigned import ConfigurationError, Policy, Request, profiles
from undersigned.policy import A2AResolver, JSONRPCResolver, Operation, UnresolvedOperation

RESOLVER = JSONRPCResolver()
JSON_FIELD = [("Content-Type", "application/json")]


def post(body: object, *, method: str = "POST") -> Request:
    content = body if isinstance(body, (str, bytes)) else json.dumps(body)
    return Request(method, "https://seller.example.com/mcp", JSON_FIELD, content)


def envelope(method: object = "tools/call", **members: object) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, **members}


def call(name: object = "create_media_buy", **members: object) -> dict[str, object]:
    return envelope(params={"name": name, "arguments": {"plan_id": "plan_001"}, **members})


def rejection_of(body: object) -> str:
    """Return why content is rejected: A2A has the same envelope."""
    messages = set[str]()
    for resolver in (RESOLVER, A2AResolver()):
        with pytest.raises(UnresolvedOperation) as caught:
            resolver.resolve(post(body))
        assert caught.value.reason == "body_malformed"
        messages.add(str(caught.value))
    [message] = messages
    return message


def test_body_is_read_after_the_signature_is_verified():
    assert (RESOLVER.reads_body, RESOLVER.comes_first) == (True, False)


def test_tools_call_names_the_operation():
    operation = RESOLVER.resolve(post(call()))
    assert operation == Operation("create_media_buy", "tools/call")
    assert operation.content == call()


@pytest.mark.parametrize(
    "method", ["tasks/cancel", "CancelTask", "initialize", "SendMessage", "Tools/call", "tools/Call"]
)
def test_any_other_method_names_no_operation_and_is_kept_unchanged(method):
    body = envelope(method, params={"name": "create_media_buy"})
    assert RESOLVER.resolve(post(body)) == Operation(None, method)


def test_params_may_be_absent_and_a_notification_has_no_id():
    body = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert RESOLVER.resolve(post(body)) == Operation(None, "notifications/initialized")


@pytest.mark.parametrize("answer", [{"result": {}}, {"error": {"code": -1, "message": "no"}}, {"result": None}])
def test_answer_of_a_client_to_a_request_of_the_server_names_no_operation(answer):
    assert RESOLVER.resolve(post({"jsonrpc": "2.0", "id": 1, **answer})) == Operation()


@pytest.mark.parametrize("method", ["GET", "DELETE", "OPTIONS"])
def test_request_that_needs_no_content_names_no_operation(method):
    assert RESOLVER.resolve(post(b"", method=method)) == Operation()


@pytest.mark.parametrize("fields", [{"Upgrade": "h2c, WebSocket"}, {"Sec-WebSocket-Version": "13"}])
def test_handshake_of_a_websocket_leaves_open_what_runs(fields):
    operation = RESOLVER.resolve(Request("GET", "https://seller.example.com/mcp", fields))
    assert operation == Operation(is_unknown=True)
    decide = partial(Policy(resolver=RESOLVER).decide, operation, fallback=True, profile=profiles.ADCP_3_2)
    decide = partial(decide, request=Request("GET", "https://seller.example.com/mcp", fields))
    verdict = decide("unsigned")
    assert verdict.outcome == "reject"
    assert "WebSocket" in verdict.error.detail
    assert decide("verified").outcome == "accept"


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_content_of_a_handshake_does_not_tell_what_runs(method):
    handshake = {"Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Content-Type": "application/json"}
    body = json.dumps({"jsonrpc": "2.0", "method": "ping", "id": 1})
    request = Request(method, "https://seller.example.com/mcp", handshake, body)
    assert RESOLVER.resolve(request) == Operation(None, "ping", is_unknown=True)


def test_other_upgrade_names_no_operation():
    assert RESOLVER.resolve(Request("GET", "https://seller.example.com/mcp", {"Upgrade": "h2c"})) == Operation()


def test_content_is_read_for_any_http_method():
    assert RESOLVER.resolve(post(call(), method="GET")).name == "create_media_buy"


def test_content_is_rejected_when_it_was_announced_but_not_read():
    with pytest.raises(UnresolvedOperation):
        RESOLVER.resolve(Request("GET", "https://seller.example.com/mcp", has_body=True))


NOT_JSON = "the body is not JSON in UTF-8"
TWICE = "a JSON object has duplicate keys"
VERSION = "the envelope is not of JSON-RPC 2.0"
METHOD = "the envelope has no method"
NAME = "the tools/call has no name"


@pytest.mark.parametrize(
    ("body", "why"),
    [
        *((body, NOT_JSON) for body in (b"", "{", "{}x", b"\xff")),
        *((json.dumps(call()).encode(encoding), NOT_JSON) for encoding in ("utf-8-sig", "utf-16", "utf-16-be")),
        *(
            (body, "the JSON-RPC envelope is not an object")
            for body in ([call()], [call("get_products"), call()], [], "null", '"tools/call"', "7")
        ),
        ('{"jsonrpc":"2.0","method":"tasks/get","method":"tools/call","params":{"name":"a"}}', TWICE),
        ('{"jsonrpc":"2.0","method":"tools/call","params":{"name":"a","n\\u0061me":"b"}}', TWICE),
        *(({**call(), "jsonrpc": version}, VERSION) for version in ("1.0", 2.0, None, "2.0 ")),
        *((envelope(method), METHOD) for method in (None, 7, "", ["tools/call"], {"tools/call": 1}, "tools/call\x00")),
        *(
            ({"jsonrpc": "2.0", "id": 1, **neither}, METHOD)
            for neither in ({}, {"params": {"name": "a"}}, {"result": {}, "params": {}}, {"result": {}, "error": {}})
        ),
        *(({**call(), both: None}, "the envelope is a request and a response") for both in ("result", "error")),
        *((call(name), NAME) for name in (None, 7, "", ["a"], "create_media_buy\x00", "create\u200b_media_buy")),
        *(
            (envelope(**params), "the tools/call is not an object")
            for params in ({}, {"params": None}, {"params": []}, {"params": ["a"]}, {"params": "a"})
        ),
        *(
            (call("a", **{key: "b"}), "a member of the tools/call has a name that readers read differently")
            for key in ("Name", "NAME", "Arguments")
        ),
    ],
)
def test_content_in_which_readers_may_find_different_operations_is_rejected(body, why):
    assert rejection_of(body) == why


@pytest.mark.parametrize("body", [envelope("tasks/get"), call()], ids=["tasks/get", "tools/call"])
@pytest.mark.parametrize(
    "key",
    [
        *("JSONRPC", "ID", "Method", "METHOD", "method\x00", "Params", "PARAMS", "param\u017f"),
        *("Result", "RESULT", "eRROR", "ERROR"),
    ],
)
def test_envelope_member_in_another_spelling_is_rejected(body, key):
    for value in ("tools/call", 1):
        assert rejection_of({**body, key: value}).startswith("a member of the JSON-RPC envelope")


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.sampled_from(["tools/call", "2.0", "create_media_buy"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["jsonrpc", "method", "params", "name", "id", "result", "error", "Name"]) | st.text(), inner
        )
    ),
    max_leaves=12,
)
envelopes = st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0")},
    optional={"method": st.just("tools/call") | values, "params": values, "result": values, "Method": values},
)


@given(st.one_of(st.binary(), values.map(json.dumps), envelopes.map(json.dumps)), st.sampled_from(["POST", "GET"]))
def test_resolver_raises_only_unresolved_operation_for_any_content(body, method):
    try:
        operation = RESOLVER.resolve(post(body, method=method))
    except UnresolvedOperation as unresolved:
        message = str(unresolved)
    else:
        message = ""
        assert (operation.name is not None) == (operation.method == "tools/call")
    assert message.isprintable()


def verdict(resolver: JSONRPCResolver, path: str, body: object = b"", profile=profiles.ADCP_3_2, **options) -> str:
    policy = Policy(required_for=["create_media_buy"], resolver=resolver, **options)
    request = Request("POST", f"https://seller.example.com{path}", JSON_FIELD, post(body).content)
    try:
        operation = resolver.resolve(request)
    except UnresolvedOperation as unresolved:
        operation = unresolved
    return policy.decide(operation, "unsigned", request, fallback=False, profile=profile, path=path).outcome


@pytest.mark.parametrize(
    "resolver", [JSONRPCResolver("/mcp"), JSONRPCResolver(path=["/x", "/api/mcp"]), A2AResolver("/mcp/")]
)
@pytest.mark.parametrize("profile", [profiles.ADCP_3_2, profiles.GNAP])
def test_policy_with_a_path_touches_only_what_it_names(resolver, profile):
    for path in ("/token", "/mcpx", "/"):
        for body in (b"", b"grant_type=x", b'{"client_name": "create_media_buy"}', [call()]):
            assert verdict(resolver, path, body, profile) == "accept"
    # Paths and JSON-RPC methods are in one policy.
    assert verdict(resolver, "/adcp/create_media_buy", profile=profile) == "reject"
    assert verdict(resolver, "/adcp/create_media_buy%0A", profile=profile) == "reject"
    for path in ("/mcp", "/mcp/", "//mcp", "/MCP", "/api/mcp/messages", "/mcp%2Fx"):
        assert verdict(resolver, path, call(), profile) == "reject"
        assert verdict(resolver, path, [call()], profile) == "reject"
        assert verdict(resolver, path, envelope("ping"), profile) == "accept"
        listed = {"protocol_methods_required_for": ["tasks/cancel"]}
        assert verdict(resolver, path, envelope("tasks/cancel"), profile, **listed) == "reject"


def test_registration_of_a_webhook_must_be_signed_at_every_path():
    hook = {"webhook": {"authentication": {}}}
    assert verdict(JSONRPCResolver("/mcp"), "/register", hook) == "reject"
    assert verdict(JSONRPCResolver("/mcp"), "/register", hook, profiles.GNAP) == "accept"


@pytest.mark.parametrize("path", ["", "/", "mcp", [], ["/mcp", "/"], 7, b"/mcp", [7]])
def test_path_without_a_segment_is_a_wrong_configuration(path):
    with pytest.raises(ConfigurationError, match="path: give a path such as '/mcp'"):
        JSONRPCResolver(path)


@pytest.mark.parametrize(
    ("body", "outcome"),
    [
        (b'{"jsonrpc":"2.0","id":01,"method":"ping"}', "accept"),
        (b'{"jsonrpc":"2.0","id":01,"method":"tools/call","params":{"name":"Create_Media_Buy"}}', "reject"),
        (b"{'jsonrpc':'2.0', params: {name: create_media_buy,},}", "reject"),
        (rb'{"id":01,"method":"tools/call","params":{"name":"cre\u0061te_media_buy"}}', "reject"),
        (rb'[{"params":{"name":"create_media_buy\u0000"}}]', "reject"),
        (rb'[{"params":{"name":"\n\ncreate_media_buy\t"}}]', "reject"),
        (rb'[{"params":{"name":"create\/media_buy"}}]', "reject"),
        (rb'[{"params":"{\"name\":\"create_media_buy\"}"}]', "reject"),
        (rb'[{"text":"caf\u00e9: \u0022create_media_buy\u0022 may be called"}]', "reject"),
        (rb'[{"text":"caf\u00e9: create_media_buy may be called"}]', "accept"),
        ('[{"name":"create_media_buy"}]'.encode("utf-16"), "reject"),
        (b"name=create_media_buy", "accept"),
    ],
)
def test_content_that_is_not_resolved_passes_unless_it_may_have_a_listed_name(body, outcome):
    assert verdict(RESOLVER, "/mcp", body, profiles.GNAP) == outcome
