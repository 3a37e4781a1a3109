from __future__ import annotations

import json
import tracemalloc

import pytest
from tests.discovery.key_server import redirect, response
from tests.keys import EC_PUBLIC, PUBLIC, lookup
from tests.workers import wait_until

from undersigned import ConfigurationError, KeySourceError
from undersigned.discovery.adcp import AdCPAgent, AdCPDirectory

ISSUED = 1_776_520_800


def reason(world, source, keyid: str = "buyer-ed25519") -> str:
    """Why the source cannot tell, or how it does."""
    try:
        return "found" if world.find(source, keyid) else "unknown"
    except KeySourceError as error:
        return error.reason.removeprefix("signature_")


def test_keys_are_found_from_the_agents_url(world, operator, source):
    assert world.find(source, "buyer-ed25519").algorithm == "ed25519"
    assert world.find(source, "buyer-es256").algorithm == "ecdsa-p256-sha256"
    paths = [request.split(b" ", 2)[1].decode() for request in operator.server.requests]
    assert paths == ["/mcp", "/mcp", "/mcp", "/mcp", "/brand.json", "/jwks.json"]


def test_mcp_session_is_kept(world, operator, source):
    operator.session = "abc"
    world.find(source, "buyer-ed25519")
    first, *others = operator.server.requests[1:4]
    assert b"mcp-session-id" not in first.lower()
    for request in others:
        assert b"Mcp-Session-Id: abc\r\n" in request
        assert b"MCP-Protocol-Version: 2025-06-18\r\n" in request


def test_mcp_without_sessions_needs_one_request(world, operator, source):
    operator.modern = True
    assert reason(world, source) == "found"
    [request] = [request for request in operator.server.requests if request.startswith(b"POST /mcp ")]
    head, _, content = request.partition(b"\r\n\r\n")
    assert {b"MCP-Protocol-Version: 2026-07-28", b"Mcp-Method: tools/call", b"Mcp-Name: get_adcp_capabilities"} <= set(
        head.split(b"\r\n")
    )
    meta = json.loads(content)["params"]["_meta"]
    assert meta["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"
    assert meta["io.modelcontextprotocol/clientCapabilities"] == {}


def refusal(code: object, **data: object) -> dict:
    return {"jsonrpc": "2.0", "id": 1, "error": {"code": code, "message": "no", "data": data}}


@pytest.mark.parametrize(
    ("answer", "asked"),
    [
        (b"", 4),
        (b"<html>", 4),
        (refusal(-32000), 4),
        (refusal("-32020"), 4),
        (refusal(-32022, supported=["2027-01-01", "2025-11-25"]), 4),
        (refusal(-32022, supported=["2027-01-01", 1]), 1),
        (refusal(-32022), 1),
        (refusal(-32022, supported="2025-11-25"), 1),
        ({**refusal(-32022), "error": {"code": -32022, "data": "2025-11-25"}}, 1),
        (refusal(-32020), 1),
        (refusal(-32021, supported=["2025-11-25"]), 1),
    ],
)
def test_session_is_begun_unless_the_server_says_that_it_has_none(world, operator, source, answer, asked):
    operator.refusal = answer
    assert reason(world, source) == ("found" if asked == 4 else "capabilities_unreachable")
    assert operator.server.asked("/mcp") == asked


@pytest.mark.parametrize("kind", ["input_required", "task", None, 1])
def test_result_that_is_not_complete_is_no_answer(world, operator, source, clock, kind):
    operator.modern = True
    operator.result = {"resultType": "complete"}
    assert reason(world, source) == "found"
    operator.result = {"resultType": kind}
    clock.now += 300
    assert reason(world, source) == "found"  # stale: what is kept is not changed
    clock.now += 900
    assert reason(world, source) == "capabilities_unreachable"


def test_capabilities_may_come_as_an_event_stream(world, operator, source):
    operator.events = True
    operator.session = "abc"
    assert reason(world, source) == "found"


def test_jwk_set_defaults_to_the_well_known_one_of_the_agent(world, operator, source):
    del operator.brand["agents"][0]["jwks_uri"]
    operator.capabilities["identity"]["key_origins"] = {"request_signing": "agent.example.com"}
    operator.publish()
    operator.server.answers["/.well-known/jwks.json"] = response(operator.jwks)
    assert reason(world, source) == "found"
    assert b"Host: agent.example.com" in operator.server.requests[-1]


def test_way_to_the_jwk_set_is_kept_as_long_as_the_brand_json(world, operator, source, clock):
    operator.server.answers["/brand.json"] = response(operator.brand, "Cache-Control: max-age=600")
    reason(world, source)
    clock.now += 300
    assert reason(world, source) == "found"
    assert (operator.server.asked("/mcp"), operator.server.asked("/jwks.json")) == (4, 2)
    clock.now += 300
    assert reason(world, source) == "found"
    assert (operator.server.asked("/mcp"), operator.server.asked("/jwks.json")) == (8, 3)


def test_jwk_set_that_moved_is_found_again(world, operator, source, clock):
    reason(world, source)
    operator.server.answers["/jwks.json"] = response(b"", status="410 Gone")
    clock.now += 300
    assert reason(world, source) == "found"  # stale
    operator.brand["agents"][0]["jwks_uri"] = operator.server.url("/new.json")
    operator.server.answers |= {"/brand.json": response(operator.brand), "/new.json": response({"keys": [EC_PUBLIC]})}
    clock.now += 30
    wait_until(lambda: reason(world, source) == "unknown")
    assert reason(world, source, "buyer-es256") == "found"


def test_keys_are_stale_for_a_quarter_of_an_hour_at_most(world, operator, source, clock):
    reason(world, source)
    operator.server.answers.clear()
    clock.now += 300 + 899
    assert reason(world, source) == "found"
    clock.now += 1
    assert reason(world, source) == "capabilities_unreachable"


# Each step, and the code of what can go wrong there


def identity(operator) -> dict:
    return operator.capabilities["identity"]


def drop_brand_url(operator):
    del identity(operator)["brand_json_url"]


def set_brand_url(value):
    def change(operator):
        identity(operator)["brand_json_url"] = value

    return change


def answer(path, text):
    def change(operator):
        operator.server.answers[path] = text

    return change


def elsewhere(operator):
    """Let the brand.json be another domain's."""
    identity(operator)["brand_json_url"] = operator.server.url("/brand.json", "evil.example.net")


def authorizing(*operators):
    def change(operator):
        elsewhere(operator)
        operator.brand["authorized_operators"] = list(operators)
        operator.publish()

    return change


def agents(*urls, **entry):
    def change(operator):
        operator.brand["agents"] = [{"url": url or operator.url, **entry} for url in urls]
        operator.publish()

    return change


def portfolio(house, *brands):
    def change(operator):
        def entries(uris):
            return [{"url": operator.url, "jwks_uri": operator.server.url(uri)} for uri in uris]

        operator.brand = {"house": {"agents": entries(house)}, "brands": [{"agents": entries(uris)} for uris in brands]}
        operator.publish()

    return change


def entry(**members):
    def change(operator):
        operator.brand["agents"][0] |= members
        operator.publish()

    return change


def origins(**declared):
    def change(operator):
        identity(operator)["key_origins"] = declared

    return change


DELEGATED = {"domain": "example.com", "brands": ["*"]}
STEPS = {
    "as it should be": (lambda _operator: None, "found"),
    "no brand_json_url": (drop_brand_url, "brand_json_url_missing"),
    "no identity": (lambda operator: operator.capabilities.clear(), "capabilities_unreachable"),
    "http brand_json_url": (set_brand_url("http://brand.example.com/"), "brand_json_url_missing"),
    "brand_json_url of another type": (set_brand_url(5), "brand_json_url_missing"),
    "malformed brand_json_url": (set_brand_url("https://"), "jwks_untrusted"),
    "brand_json_url to metadata": (set_brand_url("https://169.254.169.254/"), "jwks_untrusted"),
    "agent down": (answer("/mcp", response(b"", status="503 Down")), "capabilities_unreachable"),
    "agent redirects": (answer("/mcp", redirect("/other")), "capabilities_unreachable"),
    "agent speaks HTML": (answer("/mcp", response(b"<html>")), "capabilities_unreachable"),
    "brand.json down": (answer("/brand.json", response(b"", status="502 Oops")), "brand_json_unreachable"),
    "brand.json not JSON": (answer("/brand.json", response(b"<html>")), "brand_json_malformed"),
    "brand.json too large": (answer("/brand.json", response(b" " * 262145)), "brand_json_malformed"),
    "brand.json of another domain": (elsewhere, "brand_origin_mismatch"),
    "another domain that delegates": (authorizing(DELEGATED), "found"),
    "another domain, upper case": (authorizing({"domain": "Example.COM"}), "found"),
    "delegation to another": (authorizing({"domain": "example.org"}, None, {"domain": 5}), "brand_origin_mismatch"),
    "delegation of a subdomain": (authorizing({"domain": "agent.example.com"}), "brand_origin_mismatch"),
    "delegation that is over": (
        authorizing(DELEGATED | {"valid_until": "2026-01-01T00:00:00Z"}),
        "brand_origin_mismatch",
    ),
    "delegation to come": (authorizing(DELEGATED | {"valid_from": "2999-01-01T00:00:00Z"}), "brand_origin_mismatch"),
    "delegation in time": (
        authorizing(DELEGATED | {"valid_from": "2026-01-01T00:00:00Z", "valid_until": "2999-01-01T00:00:00Z"}),
        "found",
    ),
    "delegation until no time": (authorizing(DELEGATED | {"valid_until": "later"}), "brand_origin_mismatch"),
    "no agents": (agents(), "agent_not_in_brand_json"),
    "agents of another type": (answer("/brand.json", response({"agents": 5})), "brand_json_malformed"),
    "another agent": (agents("https://agent.example.com/mcp"), "agent_not_in_brand_json"),
    "this agent twice": (agents("", ""), "brand_json_ambiguous"),
    "this agent of a house": (portfolio(["/jwks.json"]), "found"),
    "this agent of a house and a brand": (portfolio(["/jwks.json"], ["/jwks.json"], []), "found"),
    "this agent with two sets": (portfolio(["/jwks.json"], ["/other.json"]), "brand_json_ambiguous"),
    "this agent twice in a brand": (portfolio([], ["/jwks.json", "/jwks.json"]), "brand_json_ambiguous"),
    "jwks_uri of another type": (entry(jwks_uri=[]), "brand_json_malformed"),
    "http jwks_uri": (entry(jwks_uri="http://keys.example.com/"), "jwks_untrusted"),
    "jwks_uri to metadata": (entry(jwks_uri="https://169.254.169.254/jwks.json"), "key_origin_mismatch"),
    "no key_origins": (origins(), "key_origin_missing"),
    "key_origins of another purpose": (origins(webhook_signing="https://keys.example.com"), "key_origin_missing"),
    "key_origins of another host": (origins(request_signing="https://other.example.com"), "key_origin_mismatch"),
    "key_origins, one of another host": (
        origins(request_signing="keys.example.com", governance_signing="gov.example.com"),
        "key_origin_mismatch",
    ),
    "key_origins as a host": (origins(request_signing="KEYS.example.com"), "found"),
    "key_origins of no host": (origins(request_signing="https://"), "key_origin_mismatch"),
    "key_origins of another type": (origins(request_signing=5), "key_origin_mismatch"),
    "JWK set down": (answer("/jwks.json", response(b"", status="500 Oops")), "jwks_unavailable"),
    "JWK set not JSON": (answer("/jwks.json", response(b"[]")), "jwks_unavailable"),
}  # fmt: skip


@pytest.mark.parametrize(("change", "expected"), STEPS.values(), ids=STEPS)
def test_each_step_has_its_code(world, operator, change, expected):
    change(operator)
    source = AdCPAgent(operator.url, network=operator.server.network(), now=lambda: ISSUED)
    assert reason(world, source) == expected


def mcp(**results):
    """Let the agent answer some methods otherwise."""

    def change(operator):
        speak = operator.speak

        def answer(connection, request):
            content = request.partition(b"\r\n\r\n")[2]
            method = json.loads(content)["method"] if content else ""
            name = method.rpartition("/")[2]
            if name in results:
                connection.sendall(results[name] if isinstance(results[name], bytes) else response(results[name]))
            else:
                speak(connection, request)

        operator.server.answers["/mcp"] = answer

    return change


def result(value) -> dict:
    return {"jsonrpc": "2.0", "id": 1, "result": value}


EVENT = "Content-Type: text/event-stream"
NO_SERVERS = {
    "an error": {"call": {"jsonrpc": "2.0", "id": 1, "error": {"code": -32601}}},
    "a result of another type": {"call": result([])},
    "another id": {"call": {**result({"structuredContent": {}}), "id": 2}},
    "no content": {"call": result({})},
    "content of other types": {"call": result({"content": [None, {"text": 5}]})},
    "text that is not JSON": {"call": result({"content": [{"text": "hello"}]})},
    "no version": {"initialize": result({})},
    "a version of several lines": {"initialize": result({"protocolVersion": "1\r\nX: y"})},
    "a rejected notification": {"initialized": response(b"", status="400 No")},
    "an event that is not JSON": {"call": response(b"data: {\n\n", EVENT)},
    "events without the response": {"call": response(b"data: {}\n\ndata: {}\n\n", EVENT)},
    "a response without its end": {"call": response(b"data: " + json.dumps(result({})).encode(), EVENT)},
    "a session that cannot be sent": {
        "initialize": response(result({"protocolVersion": "1"}), "Mcp-Session-Id: " + "x" * 257)
    },
}


@pytest.mark.parametrize("results", NO_SERVERS.values(), ids=NO_SERVERS)
def test_what_an_mcp_server_should_not_answer_is_rejected(world, operator, source, results):
    mcp(**results)(operator)
    assert reason(world, source) == "capabilities_unreachable"


RATE_LIMITED = {"code": "RATE_LIMITED", "recovery": "transient"}


def structured(content, **members):
    return lambda _known: {"content": [], "structuredContent": content, **members}


def text(content):
    return lambda _known: {"content": [{"type": "text", "text": json.dumps(content)}]}


def task(state, data=None, **members):
    parts = lambda known: [{"parts": [{"data": data or known}]}]  # noqa: E731 - for each version
    return lambda known: {"task": {"status": {"state": state}, "artifacts": parts(known), **members}}


STATES = ("failed", "rejected", "canceled", "working", "submitted", "input-required", "auth-required", "unknown", 5)
NO_ANSWERS = {
    "an error": structured({}, isError=True),
    "an error in text": lambda _known: {**text({"detail": "no"})(None), "isError": True},
    "adcp_error": structured({"adcp_error": RATE_LIMITED}),
    "adcp_error in text": text({"adcp_error": RATE_LIMITED}),
    "adcp_error beside the content": lambda known: {"structuredContent": known, "adcp_error": RATE_LIMITED},
    "errors": structured({"errors": [RATE_LIMITED]}),
    "an error beside the content": lambda known: {"structuredContent": known, "error": RATE_LIMITED},
    "something else": structured({"detail": "no"}),
    "another version": structured({"adcp": {"major_versions": [9]}}),
    "no version": structured({"adcp": 3}),
    **{f"status {state}": structured({"status": state}) for state in STATES},
}
NO_TASKS = {
    **{f"{state}": task(state) for state in STATES},
    **{f"TASK_STATE_{state}": task(f"TASK_STATE_{state}") for state in ("FAILED", "WORKING", "UNSPECIFIED")},
    "another status": lambda known: {"status": "failed", "parts": [{"data": known}]},
    "adcp_error": task("completed", {"adcp_error": RATE_LIMITED}),
    "adcp_error beside the task": lambda known: {**task("completed")(known), "adcp_error": RATE_LIMITED},
    "errors of a message": lambda _known: {"message": {"parts": [{"data": {"errors": [RATE_LIMITED]}}]}},
}
ANSWERS = {
    "no errors": lambda known: {"structuredContent": {**known, "errors": [], "adcp_error": None}, "isError": False},
    "completed": lambda known: text({**known, "status": "completed"})(None),
}
TASKS = {
    "a task without a state": lambda known: {"task": {"artifacts": [{"parts": [{"data": known}]}]}},
    "a completed one of 0.3": task("completed"),
    "a completed one of 1.0": task("TASK_STATE_COMPLETED"),
}
SAID = {f"mcp, {name}": ("mcp", said, name in ANSWERS) for name, said in (NO_ANSWERS | ANSWERS).items()}
SAID |= {f"a2a, {name}": ("a2a", said, name in TASKS) for name, said in (NO_TASKS | TASKS).items()}


@pytest.mark.parametrize(("protocol", "said", "is_answer"), SAID.values(), ids=SAID)
def test_error_of_an_agent_is_no_answer(world, operator, clock, protocol, said, is_answer):
    url = operator.server.url(f"/{protocol}", "agent.example.com")
    operator.brand["agents"][0]["url"] = url
    operator.publish()
    operator.card({"supportedInterfaces": [{"url": url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}]})
    options = {"protocol": protocol, "network": operator.server.network(), "clock": clock}
    source = AdCPAgent(url, **options)
    assert reason(world, source) == "found"
    wrong = result(said(operator.capabilities))
    mcp(call=wrong, SendMessage=wrong)(operator)
    operator.server.answers["/a2a"] = operator.server.answers["/mcp"]
    for _ in range(3):
        # It is fetched again, and what was known counts.
        before = operator.server.asked(f"/{protocol}")
        clock.now += 300
        assert reason(world, source) == "found"
        assert operator.server.asked(f"/{protocol}") > before
    # Nothing is known.
    new = AdCPAgent(url, **options)
    assert reason(world, new) == ("found" if is_answer else "capabilities_unreachable")
    operator.server.answers[f"/{protocol}"] = operator.speak
    clock.now += 30
    assert reason(world, new) == "found"


def test_agent_that_takes_its_time_with_every_answer_is_given_up(world, operator):
    operator.server.answers["/mcp"] = operator.server.slowly(response(result({})), seconds=0.05)
    source = AdCPAgent(operator.url, network=operator.server.network(total_timeout=0.3))
    assert reason(world, source) == "capabilities_unreachable"


@pytest.mark.parametrize("fails", [False, True])
def test_delegation_of_a_brand_ends_on_time_whether_or_not_the_agent_answers(world, operator, clock, fails):
    began = clock.now
    elsewhere(operator)
    ends = ["2026-04-18T14:00:05Z", "2026-04-18T14:00:30Z", "2026-04-18T14:00:20Z", None]
    operator.brand["authorized_operators"] = [
        *({"domain": "example.com", "valid_until": end} for end in ends[:3]),
        {"domain": "example.com", "valid_from": "2026-05-01T00:00:00Z"},
    ]
    operator.publish()
    network = operator.server.network()
    source = AdCPAgent(operator.url, network=network, clock=clock, now=lambda: ISSUED + clock.now - began)
    assert reason(world, source) == "found"
    clock.now += 23
    assert reason(world, source) == "found"
    if fails:
        operator.server.answers["/mcp"] = response(b"", status="503 Down")
    clock.now += 7
    assert reason(world, source) == ("unknown" if fails else "brand_origin_mismatch")


class TestA2A:
    @pytest.fixture
    def source(self, operator):
        url = operator.server.url("/a2a", "agent.example.com")
        operator.brand["agents"][0]["url"] = url
        operator.publish()
        return AdCPAgent(url, protocol="a2a", network=operator.server.network())

    def test_keys_are_found_over_version_1_0(self, world, operator, source):
        url = operator.server.url("/a2a", "agent.example.com")
        local = ("http://agent.example.com/a2a", "https://127.1.1.1.1/a2a")
        interfaces = [
            *({"url": other, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"} for other in local),
            {"url": url, "protocolBinding": "GRPC", "protocolVersion": "1.0"},
            {"url": url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"},
        ]
        operator.card({"name": "agent", "supportedInterfaces": interfaces})
        assert reason(world, source) == "found"
        asked = operator.server.requests[1]
        assert b"A2A-Version: 1.0\r\n" in asked
        message = json.loads(asked.partition(b"\r\n\r\n")[2])["params"]["message"]
        assert message["parts"] == [{"data": {"skill": "get_adcp_capabilities", "input": {}}}]

    def test_keys_are_found_over_version_0_3(self, world, operator, source):
        url = operator.server.url("/a2a", "agent.example.com")
        operator.card({"name": "agent", "url": url, "protocolVersion": "0.3.0"})
        assert reason(world, source) == "found"
        message = json.loads(operator.server.requests[1].partition(b"\r\n\r\n")[2])["params"]["message"]
        assert message["parts"][0]["kind"] == "data"

    @pytest.mark.parametrize(
        ("card", "expected"),
        [
            ({}, "capabilities_unreachable"),
            ({"url": 5, "supportedInterfaces": 5}, "capabilities_unreachable"),
            ({"url": "https://evil.example.net/a2a", "protocolVersion": "0.3.0"}, "capabilities_unreachable"),
            ({"url": "http://agent.example.com/a2a", "protocolVersion": "0.3.0"}, "capabilities_unreachable"),
        ],
    )
    def test_card_cannot_lead_elsewhere(self, world, operator, source, card, expected):
        operator.card(card)
        assert reason(world, source) == expected
        assert len(operator.server.requests) == 1

    def test_answer_without_data_is_rejected(self, world, operator, source):
        operator.card({"url": operator.server.url("/a2a", "agent.example.com"), "protocolVersion": "0.3.0"})
        operator.server.answers["/a2a"] = response(result({"parts": [{"text": "hello"}, {"data": 5}]}))
        assert reason(world, source) == "capabilities_unreachable"


REVOKED = PUBLIC | {"revoked_at": "2025-01-01T00:00:00Z"}
WITHDRAWN = {
    "the agent is removed": {"authorized_agents": []},
    "the agent is listed twice": {"authorized_agents": [{}, {}]},
    "the key is replaced": {"authorized_agents": [{"signing_keys": [EC_PUBLIC]}]},
    "the key is revoked": {"authorized_agents": [{"signing_keys": [REVOKED]}]},
    "no key is pinned": {"authorized_agents": [{"signing_keys": []}]},
    "it is at another place, which fails": {"authoritative_location": "https://elsewhere.example.com/pins"},
    "it is gone": "404 Not Found",
    "it is gone for good": "410 Gone",
}


def listed(*entries, **members):
    """Entries of an adagents.json: the first one is the agent's, unless it has a URL of its own."""
    return lambda url: {"authorized_agents": [{"url": url, **entry} for entry in entries], **members}


def pinned(keys):
    return listed({"signing_keys": keys})


def spelled(change):
    return lambda url: listed({})(change(url))


def told(text):
    return lambda url: (text % url).encode()


BOTH = ("found", "found")
PINS = {
    "a key": (pinned([{name: PUBLIC[name] for name in ("kty", "crv", "x")}]), "found", "unknown"),
    "another key by this name": (pinned([{**EC_PUBLIC, "kid": "buyer-ed25519"}]), "unknown", "found"),
    "no pin": (listed({}), "found", "found"),
    "another scheme": (spelled(lambda url: url.replace("https", "HTTPS")), "found", "found"),
    "upper case": (spelled(lambda url: url.replace("agent", "AGENT")), "found", "found"),
    **{f"keys {keys}": (pinned(keys), "unknown", "unknown") for keys in ([], None, {}, [5], [{"kty": "OKP"}])},
    "a name in escapes": (told('{"authorized_agents": [{"\\u0075r\\u006C" : "%s"}]}'), *BOTH),
    "slashes in escapes": (lambda url: told('{"authorized_agents": [{"url": "%s"}]}')(url.replace("/", "\\/")), *BOTH),
    "letters in escapes": (
        lambda url: told('{"authorized_agents": [{"url": "%s"}]}')(url.replace("g", "\\u0067")),
        *BOTH,
    ),
    "the URL deeper": (told('{"authorized_agents": [{"a": {"url": "%s"}}]}'), "key_unknown", "key_unknown"),
    "no agent": (listed(), "key_unknown", "key_unknown"),
    "nothing": (lambda _url: {}, "jwks_unavailable", "jwks_unavailable"),
    "an error": (lambda _url: {"error": "busy"}, "jwks_unavailable", "jwks_unavailable"),
    "other URLs": (listed({"url": "https://[x"}, {"url": 5}), "key_unknown", "key_unknown"),
    "twice": (listed({}, {}), "key_unknown", "key_unknown"),
    "an array": (lambda _url: [], "jwks_unavailable", "jwks_unavailable"),
    "a member twice": (
        told('{"authorized_agents": [], "authorized_agents": [{"url": "%s"}]}'),
        *("jwks_unavailable", "jwks_unavailable"),
    ),
    "a member of a key twice": (
        told('{"authorized_agents": [{"url": "%s", "signing_keys": [{"kty": "OKP", "kty": "OKP"}]}]}'),
        *("jwks_unavailable", "jwks_unavailable"),
    ),
    "long keys": (pinned(["x" * 65_536]), "jwks_unavailable", "jwks_unavailable"),
}


class TestPublisher:
    """The keys that a publisher pins for an agent."""

    @pytest.fixture
    def source(self, operator, clock):
        publisher = f"cdn.example.com:{operator.server.port}"
        network = operator.server.network()
        return AdCPAgent(operator.url, publisher=publisher, network=network, clock=clock, now=lambda: ISSUED)

    def pin(self, operator, *keys, fields=(), **members) -> None:
        entry = {"url": operator.url, "authorized_for": "all", "signing_keys": list(keys)} | members
        document = {"authorized_agents": [{"url": "https://other.example.com"}, None, entry]}
        operator.server.answers["/.well-known/adagents.json"] = response(document, *fields)

    @pytest.mark.parametrize(("said", "first", "second"), PINS.values(), ids=PINS)
    def test_keys_count_as_the_publisher_pins_them(self, world, operator, source, said, first, second):
        operator.server.answers["/.well-known/adagents.json"] = response(said(operator.url))
        assert [reason(world, source, keyid) for keyid in ("buyer-ed25519", "buyer-es256")] == [first, second]

    @pytest.mark.parametrize("way", ["pointer", "redirect"])
    def test_shortest_freshness_of_the_way_to_the_pins_counts(self, world, operator, source, clock, way):
        self.pin(operator, PUBLIC, fields=["Cache-Control: max-age=86400"])
        answers, elsewhere = operator.server.answers, operator.server.url("/pins", "brand.example.com")
        answers["/pins"] = answers["/.well-known/adagents.json"]
        first = {
            "pointer": response({"authoritative_location": elsewhere}, "Cache-Control: max-age=60"),
            "redirect": redirect(elsewhere, "Cache-Control: max-age=60"),
        }
        answers["/.well-known/adagents.json"] = first[way]
        assert reason(world, source) == "found"
        answers["/.well-known/adagents.json"] = response({"authorized_agents": []})
        clock.now += 60
        assert reason(world, source) == "key_unknown"

    def test_pin_counts_in_any_spelling_of_its_key(self, world, operator, source, clock):
        padded = PUBLIC | {"x": PUBLIC["x"] + "="}
        self.pin(operator, padded)
        assert reason(world, source) == "found"
        self.pin(operator, PUBLIC, padded | {"revoked_at": "2026-04-18T14:00:00Z"})
        clock.now += 3600
        assert reason(world, source) == "unknown"

    def test_key_that_the_publisher_revoked_counts_no_more(self, world, operator, source, clock):
        self.pin(operator, PUBLIC | {"revoked_at": "2026-04-18T14:00:00Z"}, PUBLIC, EC_PUBLIC | {"revoked_at": 5})
        assert reason(world, source) == "unknown"
        assert reason(world, source, "buyer-es256") == "unknown"
        self.pin(operator, PUBLIC | {"revoked_at": "2026-04-18T14:00:10Z"})
        clock.now += 30
        assert reason(world, source) == "found"
        asked = operator.server.asked("/jwks.json")
        clock.now += 10
        reason(world, source)
        assert operator.server.asked("/jwks.json") == asked + 1

    def test_revoked_key_counts_no_more_while_the_server_of_its_agent_fails(self, world, operator, clock):
        publisher = f"cdn.example.com:{operator.server.port}"
        network, began = operator.server.network(), clock.now
        source = AdCPAgent(
            operator.url, publisher=publisher, network=network, clock=clock, now=lambda: ISSUED + clock.now - began
        )
        self.pin(operator, PUBLIC | {"revoked_at": "2026-04-18T14:00:10Z"}, EC_PUBLIC)
        assert [reason(world, source, keyid) for keyid in ("buyer-ed25519", "buyer-es256")] == ["found", "found"]
        operator.server.answers["/jwks.json"] = response(b"", status="500 Internal Server Error")
        clock.now += 60
        assert [reason(world, source, keyid) for keyid in ("buyer-ed25519", "buyer-es256")] == ["unknown", "found"]

    def test_pins_are_kept_for_an_hour_and_fetched_again_for_an_unknown_key(self, world, operator, source, clock):
        self.pin(operator, PUBLIC)
        for wait in (1800, 1799):
            assert reason(world, source) == "found"
            clock.now += wait
            assert reason(world, source) == "found"
        assert operator.server.asked("/.well-known/adagents.json") == 1
        clock.now += 1
        assert reason(world, source) == "found"
        assert operator.server.asked("/.well-known/adagents.json") == 2
        self.pin(operator, PUBLIC, EC_PUBLIC)
        clock.now += 1
        assert reason(world, source, "buyer-es256") == "found"

    @pytest.mark.parametrize(
        ("others", "keys", "expected"),
        [
            (["https://other.example.com/"] * 50_000, 1, "found"),
            (["https://agent.example.com/other"] * 1022, 256, "found"),
            (["https://%61gent.example.com/other"] * 1024, 1, "jwks_unavailable"),
            (["https://agent.example.com/other"] * 1024, 1, "jwks_unavailable"),
            (["https://\u00e4.example/"] * 1024, 1, "jwks_unavailable"),
            ([], 257, "jwks_unavailable"),
        ],
        ids=["other hosts", "as many as allowed", "escapes", "same host", "another alphabet", "keys"],
    )
    def test_adagents_json_with_too_much_for_the_agent_is_not_read(
        self, world, operator, source, others, keys, expected
    ):
        entry = {"url": operator.url, "signing_keys": [PUBLIC] * keys}
        document = {"authorized_agents": [*({"url": url} for url in others), entry]}
        operator.server.answers["/.well-known/adagents.json"] = response(document)
        assert reason(world, source) == expected

    @pytest.mark.parametrize("size", [5, 20])
    def test_adagents_json_costs_four_times_its_size_in_memory_and_20_mib_are_refused(
        self, world, operator, source, size
    ):
        one = {"url": "https://other.example/mcp", "property_ids": ["a"] * 9, "signing_keys": [PUBLIC, {"x": [{}]}]}
        entries = b",".join([json.dumps(one).encode()] * ((size * 2**20 - 400) // (len(json.dumps(one)) + 1)))
        own = json.dumps({"url": operator.url, "signing_keys": [PUBLIC]}).encode()
        body = b'{"authorized_agents":[' + entries + b"," + own + b"]}"
        operator.server.answers["/.well-known/adagents.json"] = response(body)
        del entries
        tracemalloc.start()
        try:
            assert reason(world, source) == ("found" if size == 5 else "jwks_unavailable")
            assert tracemalloc.get_traced_memory()[1] < 4 * len(body)
        finally:
            tracemalloc.stop()

    @pytest.mark.parametrize("fault", ["500 No", "the agent's", "the set"])
    @pytest.mark.parametrize("withdrawn", WITHDRAWN.values(), ids=WITHDRAWN)
    def test_what_was_withdrawn_stays_withdrawn(self, world, operator, source, clock, withdrawn, fault):
        answers, place = operator.server.answers, "/.well-known/adagents.json"
        answers["/jwks.json"] = response(operator.jwks, "Cache-Control: max-age=60")
        self.pin(operator, PUBLIC)
        assert reason(world, source) == "found"
        broken = {"the agent's": "/mcp", "the set": "/jwks.json"}.get(fault, "")
        well, down = answers.get(broken), response(b"", status="503 Down")
        if isinstance(withdrawn, dict):
            entries = [{"url": operator.url, **entry} for entry in withdrawn.get("authorized_agents", [])]
            document = withdrawn | ({"authorized_agents": entries} if "authorized_agents" in withdrawn else {})
            answers[place] = response(document)
        else:
            answers[place] = response(b"", status=withdrawn)
        if broken:
            answers[broken] = down
        clock.now += 57
        wait_until(lambda: reason(world, source) != "found")
        if fault == "500 No":
            answers[place] = response(b"<html>", status=fault)
        for seconds in (31, 31, 60, 600, 1000, 3600):
            clock.now += seconds
            for _ in range(2):
                assert reason(world, source) != "found"
        if broken:
            answers[broken] = well
        self.pin(operator, PUBLIC)
        clock.now += 3600
        wait_until(lambda: reason(world, source) == "found")

    def test_agent_of_two_publishers_has_the_keys_that_one_of_them_pins(self, world, operator, clock):
        answers, network = operator.server.answers, operator.server.network()
        hosts = {b"cdn": PUBLIC, b"keys": EC_PUBLIC}

        def say(connection, request):
            [key] = [key for host, key in hosts.items() if b"\r\nHost: " + host in request]
            entry = {"url": operator.url, "signing_keys": [key]}
            connection.sendall(response({"authorized_agents": [entry] if key else []}))

        answers["/.well-known/adagents.json"] = say
        publishers = [f"{name}.example.com:{operator.server.port}" for name in ("cdn", "keys")]
        options = {"network": network, "clock": clock}
        agents = [AdCPAgent(operator.url, publisher=publisher, **options) for publisher in publishers]
        source = AdCPDirectory(agents)
        for keyid in ("buyer-ed25519", "buyer-es256"):
            assert [key.owner for key in world.find_all(source, lookup(keyid))] == [operator.url]
        assert reason(world, source, "stranger") == "unknown"
        hosts[b"cdn"] = None
        clock.now += 3601
        assert [reason(world, source, keyid) for keyid in ("buyer-ed25519", "buyer-es256")] == ["key_unknown", "found"]
        for listed in ([agents[0], agents[0]], [agents[0], operator.url]):
            with pytest.raises(ConfigurationError, match="listed twice"):
                AdCPDirectory(listed)

    def test_pins_that_cannot_be_fetched_withdraw_nothing(self, world, operator, source, clock):
        self.pin(operator, PUBLIC)
        for answer in (PUBLIC, b"<html>", {"authorized_agents": {}}, {"error": "try again"}):
            assert reason(world, source) == "found"
            operator.server.answers["/.well-known/adagents.json"] = response(answer)
            clock.now += 290
            assert reason(world, source) == "found"

    @pytest.mark.parametrize("target", ["https://evil.example.net/pins", "https://127.0.0.1/pins", "https://[brand"])
    def test_adagents_json_may_not_redirect_elsewhere(self, world, operator, source, target):
        operator.server.answers["/.well-known/adagents.json"] = redirect(target)
        assert reason(world, source) == "jwks_untrusted"

    def test_adagents_json_redirects_three_times_at_most(self, world, operator, source):
        operator.server.answers["/.well-known/adagents.json"] = redirect("/.well-known/adagents.json")
        assert reason(world, source) == "jwks_unavailable"
        assert operator.server.asked("/.well-known/adagents.json") == 4

    def test_authoritative_location_is_followed_once_and_without_redirects(self, world, operator, source, clock):
        self.pin(operator, PUBLIC)
        answers = operator.server.answers
        elsewhere = operator.server.url("/pins", "evil.example.net")
        answers["/pins"] = answers["/.well-known/adagents.json"]
        answers["/.well-known/adagents.json"] = response({"authoritative_location": elsewhere})
        assert reason(world, source) == "found"
        answers["/pins"] = response({"authoritative_location": elsewhere})
        clock.now += 3600
        assert reason(world, source) == "jwks_unavailable"
        answers["/pins"] = redirect("/other")
        clock.now += 30
        assert reason(world, source) == "jwks_unavailable"


@pytest.mark.parametrize(
    "options",
    [
        {"url": "http://agent.example.com"},
        {"url": None},
        {"publisher": "https://publisher.example.com"},
        {"publisher": "publisher.example.com/path"},
        {"publisher": "user@publisher.example.com"},
    ],
)
def test_agent_names_the_option_that_cannot_be_used(options):
    [named] = options
    with pytest.raises(ConfigurationError, match=f"^{named}: "):
        AdCPAgent(**{"url": "https://agent.example.com/mcp"} | options)


def test_directory_takes_agents_with_options_of_their_own(world, operator):
    network = operator.server.network()
    identity(operator)["key_origins"] = {"webhook_signing": "keys.example.com"}
    agent = AdCPAgent(operator.url, purpose="webhook_signing", network=network)
    assert world.find(AdCPDirectory([agent]), "buyer-ed25519").owner == operator.url
