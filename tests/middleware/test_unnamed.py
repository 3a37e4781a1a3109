"""A policy touches only what it names: every other unsigned request passes as if there were no policy."""

from __future__ import annotations

import json
from urllib.parse import quote

import pytest
from tests.keys import ORIGIN

from undersigned import A2AResolver, JSONRPCResolver, Policy, profiles
from undersigned.policy import RouteResolver

NAMED = Policy(required_for=["create_media_buy"])
PREFLIGHT = [("Origin", "https://shop.example"), ("Access-Control-Request-Method", "POST")]
MIB = 1_048_576
CSV = b'"id","name"\n' * 200_000
CALL = b'[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"%s"}}]'


@pytest.fixture
def make(side):
    return lambda **options: side(**{"policy": NAMED, **options})


@pytest.mark.parametrize("host", ["10.0.3.7:8000", "localhost", "testserver", "not a host", ""])
def test_unsigned_request_with_another_host_passes_unless_its_operation_is_listed(make, host):
    assert make().status("GET", "/healthz", host=host) == 200
    assert make().status("POST", "/create_media_buy", host=host) == 401


def test_test_client_that_shows_no_raw_target_works_for_what_is_not_listed(make):
    assert make().status("GET", "/healthz", raw=False) == 200
    assert make().status("POST", "/create_media_buy", raw=False) == 401


@pytest.mark.parametrize(
    "body",
    [
        b"\x89PNG" + b"x" * 5_000_000,
        b"a=1&webhook=2&authentication=3",
        b"webhook:\n  authentication: x",
        b"x" * MIB * 2,
        b"\0" * MIB * 2,
        b"\xff" * MIB * 2,
    ],
    ids=["upload", "form", "yaml", "text", "image of a disk", "image of a memory"],
)
def test_content_that_does_not_begin_as_json_passes_as_a_stream(make, body):
    sent = make()
    assert sent.status("POST", "/upload", body=body) == 200
    assert sent.body == body


def test_dense_json_passes_up_to_a_mebibyte_and_longer_json_is_answered_413(make):
    dense = b"[" + b"0," * 300_000 + b"0]"
    sent = make()
    assert sent.status("POST", "/bids", [("Content-Type", "application/json")], dense) == 200
    assert sent.body == dense
    long = make()
    assert long.status("POST", "/bids", [("Content-Type", "application/json")], b"[" + b"0," * MIB + b"0]") == 413
    assert long.calls == []


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "utf-32", "utf-32-be"])
@pytest.mark.parametrize("blanks", [0, 600, 2000, 2 * MIB])
def test_registration_after_any_amount_of_white_space_does_not_pass(make, encoding, blanks):
    sent = make()
    body = (" " * blanks + '{"webhook": {"authentication": {}}}').encode(encoding)
    assert sent.status("POST", "/hooks", body=body) == (413 if blanks > MIB else 401)
    assert sent.calls == []


def test_white_space_that_is_longer_than_the_bound_does_not_pass(make):
    sent = make(max_unsigned_body=100)
    sent.chunk = 101
    assert sent.status("POST", "/hooks", body=b" " * 101 + b'{"webhook": {"authentication": {}}}') == 413
    assert sent.calls == []


def test_other_profiles_read_no_content(make):
    body = b'{"webhook": {"authentication": {}}}'
    sent = make(profile=profiles.UCP)
    assert sent.status("POST", "/hooks", body=body) == 200
    assert sent.body == body
    assert make().status("POST", "/hooks", body=body) == 401


@pytest.mark.parametrize("body", [b'{"a":1,"a":2}', b'{"a":', b"\xff\xfe", b'  "text"'])
def test_content_that_readers_read_differently_passes_if_it_registers_no_webhook(make, body):
    sent = make()
    assert sent.status("POST", "/x", [("Content-Type", "application/json")], body) == 200
    assert sent.body == body


@pytest.mark.parametrize(
    "path", ["/\u0645\u06cc\u200c\u0634\u0648\u062f", "/\U0001f468\u200d\U0001f4bb", "/a/../b", "/" + "x" * 6000]
)
def test_path_that_routers_may_read_differently_passes_if_it_names_nothing_listed(make, path):
    sent = make()
    assert sent.status("GET", quote(path), raw=False) == 200


@pytest.mark.parametrize(
    "path", ["/create_media_buy\n", "/create_\u200dmedia_buy", "/x/../create_media_buy", "/create_media_buy/."]
)
def test_path_that_may_name_a_listed_operation_must_be_signed(make, path):
    sent = make()
    assert sent.status("POST", quote(path), raw=False) == 401
    assert sent.calls == []


def test_preflight_needs_no_signature_and_brings_no_content(make):
    sent = make()
    assert sent.status("OPTIONS", "/create_media_buy", PREFLIGHT) == 200
    assert sent.status("OPTIONS", "/create_media_buy", PREFLIGHT, b"{}") == 401
    assert sent.status("OPTIONS", "/create_media_buy", PREFLIGHT[:1]) == 401
    assert sent.status("OPTIONS", "/create_media_buy", PREFLIGHT[1:]) == 401
    assert sent.status("POST", "/create_media_buy", PREFLIGHT) == 401
    for name in ("X-HTTP-Method-Override", "X-Http-Method", "X-Method-Override"):
        assert sent.status("OPTIONS", "/create_media_buy", [*PREFLIGHT, (name, "POST")]) == 401
    assert sent.body == b""


@pytest.mark.parametrize(
    ("query", "fields", "status"),
    [
        ("", [], 200),
        ("?plan=gold&next=/blog/post&note=post-its", [], 200),
        ("?_method=options", [("X-Method", "OPTIONS")], 200),
        ("", [("Referer", "https://shop.example/post?a=b"), ("Access-Control-Request-Headers", "post-id")], 200),
        ("?plan=gold&_method=post", [], 401),
        ("?plan=gold;m=PaTCH", [], 401),
        ("?%5Fmethod=P%4FST", [], 401),
        ("?m=P%254FST", [], 401),
        ("?m=+DELETE%00x", [], 401),
        ("?m=po%C5%BFt", [], 401),
        ("?PUT", [], 401),
        ("?_method=get", [], 401),
        ("", [("X-Method", "HEAD")], 401),
        ("", [("X-Anything", "Query")], 401),
        ("", [("_method", "GET, post")], 401),
        ("", [("X-Method", '"%50OST"')], 401),
    ],
)
def test_preflight_that_may_become_another_method_must_be_signed(make, query, fields, status):
    sent = make()
    assert sent.status("OPTIONS", f"/create_media_buy{query}", [*PREFLIGHT, *fields]) == status
    assert len(sent.calls) == (status == 200)


TEXT = b'{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"parts":[{"text":"gold"}]}}}'
TWO = TEXT.replace(b'{"text":"gold"}', b'{"data":{"skill":"list"}},{"data":{"skill":"create_media_buy"}}')


def test_a2a_agent_that_is_not_of_adcp_gets_messages_of_any_kind(make):
    fields = [("Content-Type", "application/json")]
    policy = Policy(required_for=["create_media_buy"], resolver=A2AResolver(adcp=False))
    for profile in (profiles.ADCP_3_2, profiles.UCP):
        sent = make(policy=policy, profile=profile)
        assert sent.status("POST", "/a2a", fields, TEXT) == 200
        assert sent.status("POST", "/a2a", fields, TWO) == 401
    strict = make(policy=Policy(required_for=["create_media_buy"], resolver=A2AResolver()))
    assert strict.status("POST", "/a2a", fields, TEXT) == 401


@pytest.mark.parametrize("body", [TEXT, TWO, b'{"jsonrpc":"2.0","method":"message/send"}', b"[]", b'"hello"'])
def test_a2a_agent_that_is_not_of_adcp_gets_signed_messages_of_any_kind(make, party, body):
    fields = party.fields("POST", f"{ORIGIN}/a2a", body)
    for adcp in (True, False):
        sent = make(policy=Policy(required_for=["create_media_buy"], resolver=A2AResolver(adcp=adcp)))
        assert (sent.status("POST", "/a2a", fields, body), sent.body) == ((401, b"") if adcp else (200, body))
    forged = [(name, "0" + value if name == "Content-Digest" else value) for name, value in fields]
    assert make(policy=Policy(resolver=A2AResolver(adcp=False))).status("POST", "/a2a", forged, body) == 401


def test_upload_beside_json_rpc_passes_if_the_profile_is_not_of_adcp(make):
    policy = Policy(required_for=["buy"], resolver=JSONRPCResolver())
    sent = make(policy=policy, profile=profiles.UCP)
    assert sent.status("POST", "/upload", body=b"\x89PNG" * 9) == 200
    assert sent.body == b"\x89PNG" * 9
    assert sent.status("POST", "/mcp", body=CALL % b"buy") == 401
    assert sent.status("POST", "/mcp", body=CALL % b"list") == 200


def test_calls_that_readers_may_read_differently_must_be_signed_if_they_may_name_a_listed_operation(make):
    policy = Policy(required_for=["buy"], resolver=JSONRPCResolver())
    sent = make(policy=policy, profile=profiles.UCP)
    assert sent.status("POST", "/mcp", body=(CALL % b"list").replace(b":1,", b":null,")) == 200
    encoded = [("Content-Type", "application/json"), ("Content-Encoding", "gzip")]
    assert sent.status("POST", "/mcp", encoded, b"\x1f\x8b\x08") == 401
    assert sent.status("POST", "/mcp", [("Content-Type", "application/json; charset=idna")], CALL % b"list") == 401
    assert len(sent.calls) == 1


REGISTERS = b'{"push_notification_config":{"authentication":{"schemes":["Bearer"]}}}'


@pytest.mark.parametrize(
    ("path", "fields", "body"),
    [("/list", [], json.dumps(REGISTERS.decode()).encode()), ("/li\x07st", [], REGISTERS)],
    ids=["in a string", "path that readers read differently"],
)
def test_registration_of_a_webhook_must_be_signed_however_it_is_written(make, path, fields, body):
    sent = make(policy=Policy())
    assert sent.status("POST", path, fields, body) == 401
    assert sent.status("POST", path, fields, body.replace(b"a", b"b")) == 200


def test_every_request_must_be_signed_if_no_hook_asks_the_policy(make):
    sent = make(policy=Policy(required_for=["create_media_buy"], resolver=RouteResolver()))
    assert sent.status("GET", "/list") == 401


@pytest.mark.parametrize("target", ["/create_media_buy%FF", "/create_media_buy%0A", "/x/%2E%2E/create_media_buy"])
def test_path_of_any_spelling_reaches_the_framework_if_a_hook_asks_the_policy(make, target):
    resolver = RouteResolver()
    resolver.hook(make)
    sent = make(policy=Policy(required_for=["create_media_buy"], resolver=resolver))
    assert sent.status("GET", target) == 200


LONG = "/" + "a" * 9_000


@pytest.mark.parametrize(
    ("options", "target", "status"),
    [
        ({"policy": None}, LONG, 414),
        ({"policy": None}, f"/x?{LONG}", 414),
        ({"policy": None}, "/x", 401),
        ({}, f"{LONG}/create_media_buy", 414),
        ({}, f"/create_media_buy?{LONG}", 414),
        ({}, "/create_media_buy", 401),
        ({}, LONG, 200),
        ({"policy": None, "mode": "optional"}, LONG, 200),
    ],
)
def test_target_that_no_signature_could_cover_is_answered_414_if_it_must_be_signed(make, options, target, status):
    assert make(**options).status("GET", target) == status
