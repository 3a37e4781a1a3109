"""The examples for the profiles of requests and signed responses: a server on a real socket, and its client."""

from __future__ import annotations

import json

import httpx
from tests.examples.programs import example, pair_in, ran_in, start_example
from tests.serving import uvicorn_server
from tests.tokens.issuing import issue

from undersigned import KeyPair, MemoryReplayStore, Signer, Verifier, profiles
from undersigned.asgi import SignatureMiddleware
from undersigned_httpx import SignatureTransport

CLIENT, SERVER = KeyPair.generate(keyid="client-2026"), KeyPair.generate(keyid="server-2026")


def here(authority: str) -> str:
    return f"http://{authority}"


def send(signer, origin, method, url, **parts) -> httpx.Response:
    transport = SignatureTransport(httpx.HTTPTransport(), signer, origins=[origin])
    with httpx.Client(transport=transport) as client:
        return client.request(method, url, **parts)


def files(tmp_path, **contents):
    for name, content in contents.items():
        (tmp_path / name).write_text(json.dumps(content))
    return {name: tmp_path / name for name in contents}


def platform(folder, pair, port, **constants):
    """The example platform, which has run with a business at that port."""
    pair_in(folder, "keys", pair)
    (folder / "business.jwks.json").write_text(json.dumps(SERVER.public))
    return ran_in(folder, "ucp_platform", BUSINESS=f"http://127.0.0.1:{port}", **constants)


def test_ucp_business_answers_a_repeated_request_as_before_and_signs_all_answers(tmp_path):
    app = example("ucp_business").business(CLIENT.key_set(), SERVER.signing_key(), here)
    with uvicorn_server(app) as port:
        done = platform(tmp_path, CLIENT, port)
    assert (done.returncode, done.stderr) == (0, "")
    first, second, other = done.stdout.splitlines()
    assert first == second
    assert first.startswith('201 {"checkout": ')
    assert other.startswith('409 {"code": "idempotency_conflict"')


def test_one_signature_is_accepted_by_ucp_and_by_web_bot_auth(tmp_path):
    bot = KeyPair.generate()
    behind = example("ucp_business").business(bot.key_set(), SERVER.signing_key(), here, profiles.UCP_DUAL)
    decisions = []
    verifier = Verifier(profiles.WEB_BOT_AUTH_TYPED, keys=bot.key_set(), replay=MemoryReplayStore())
    app = SignatureMiddleware(behind, verifier=verifier, origins=here, on_decision=decisions.append)
    with uvicorn_server(app) as port:
        done = platform(tmp_path, bot, port, BOT="https://platform.example")
        alone = platform(tmp_path, bot, port)
    first, second, other = done.stdout.splitlines()
    assert first == second
    assert (first[:3], other[:3]) == ("201", "409")
    assert [decision.outcome for decision in decisions] == ["verified"] * 3 + ["rejected"]
    # Without Signature-Agent, the verifier in front rejects the request, and cannot sign as the business.
    assert alone.returncode == 1


def test_ucp_business_over_mcp_answers_calls_and_rejections_as_json_rpc(tmp_path):
    app = example("ucp_mcp_business").business(CLIENT.key_set(), SERVER.signing_key(), here)
    with uvicorn_server(app) as port:
        done = platform(tmp_path, CLIENT, port, OVER_MCP=True)
    with start_example("ucp_mcp_business.py", key=tmp_path / "keys/private.jwk.json") as port:
        unsigned = httpx.post(f"http://127.0.0.1:{port}/mcp", json={"jsonrpc": "2.0"}, headers={"Host": "shop.example"})
    assert (done.returncode, done.stderr) == (0, "")
    first, second, other = [
        (status, json.loads(text)) for status, _, text in (line.partition(" ") for line in done.stdout.splitlines())
    ]
    assert first == second
    assert (first[0], first[1]["id"], list(first[1]["result"]["structuredContent"])) == ("200", 1, ["checkout"])
    assert (other[0], other[1]["error"]["data"]["code"]) == ("409", "idempotency_conflict")
    assert (unsigned.status_code, unsigned.json()["error"]["data"]["code"]) == (401, "signature_missing")
    for error in (other[1], unsigned.json()):
        assert (error["jsonrpc"], error["error"]["code"]) == ("2.0", -32000)


def test_ucp_business_over_mcp_wants_its_tool_and_an_idempotency_key():
    app = example("ucp_mcp_business").business(CLIENT.key_set(), SERVER.signing_key(), here)
    tool = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "create_checkout"}}
    errors = []
    with uvicorn_server(app) as port:
        origin = f"http://127.0.0.1:{port}"
        signed_by = Signer(CLIENT.signing_key(), profile=profiles.UCP_MCP)
        for content in (tool, {**tool, "method": "tools/list"}, []):
            answer = send(signed_by, origin, "POST", f"{origin}/mcp", json=content)
            errors.append((answer.status_code, answer.json()["id"], answer.json()["error"]["code"]))
    assert errors == [(400, 7, -32602), (404, None, -32601), (404, None, -32601)]


def test_adcp_seller_takes_each_version_at_its_own_path_only(tmp_path):
    at = files(tmp_path, jwks=CLIENT.public)
    answers = {}
    with start_example("adcp_versions_app.py", jwks=at["jwks"]) as port:
        origin = f"http://127.0.0.1:{port}"
        for profile in (profiles.ADCP_3_2, profiles.ADCP_3_1):
            signer = Signer(CLIENT.signing_key(), profile=profile, components=["content-digest"])
            for path in ("/plans/gold", "/v3.1/plans/gold"):
                signed_by = signer
                answer = send(signed_by, origin, "POST", f"{origin}{path}", json={"budget": 1000})
                answers[profile.name, path] = (answer.status_code, answer.json())
    bought = (200, {"plan": "gold", "caller": "acme"})
    rejected = (401, {"error": "request_signature_header_malformed"})
    assert answers == {
        ("adcp-3.2", "/plans/gold"): bought,
        ("adcp-3.2", "/v3.1/plans/gold"): rejected,
        ("adcp-3.1", "/plans/gold"): rejected,
        ("adcp-3.1", "/v3.1/plans/gold"): bought,
    }


def test_adcp_seller_sells_nothing_for_content_that_adcp_3_1_left_unsigned():
    forbidden = profiles.ADCP_3_1.derive(digest=profiles.ADCP_3_1.digest._replace(policy="forbidden"))
    with uvicorn_server(example("adcp_versions_app").seller(CLIENT.key_set(), here)) as port:
        origin = f"http://127.0.0.1:{port}"
        signed_by = Signer(CLIENT.signing_key(), profile=forbidden)
        answer = send(signed_by, origin, "POST", f"{origin}/v3.1/plans/gold", json={"budget": 1000})
    assert (answer.status_code, answer.json()) == (403, {"error": "sign the content as well"})


def test_service_with_its_own_profile_knows_the_tenant_and_rejects_another_profile(tmp_path):
    at = files(tmp_path, jwks=CLIENT.public)
    module, answers = example("own_profile_app"), []
    with start_example("own_profile_app.py", jwks=at["jwks"]) as port:
        origin = f"http://127.0.0.1:{port}"
        url = f"{origin}/invoices?year=2026"
        for profile in (module.INTERNAL, profiles.ADCP_3_2):
            signed_by = Signer(CLIENT.signing_key(), profile=profile)
            answers.append(send(signed_by, origin, "GET", url, headers={"X-Tenant": "blue"}))
        signed = dict(answers[0].extensions["signed_request"].headers)
        changed = httpx.get(url, headers=signed | {"X-Tenant": "red"})
    assert (answers[0].status_code, answers[0].json()) == (200, {"invoices of": "blue", "caller": "acme"})
    assert (answers[1].status_code, answers[1].json()) == (401, {"error": "signature_tag_invalid"})
    assert (changed.status_code, changed.json()) == (401, {"error": "signature_invalid"})


def test_gnap_client_is_known_by_the_key_that_its_token_is_bound_to(tmp_path):
    pair_in(tmp_path, "keys", CLIENT)
    done = []
    with start_example("gnap_server.py", jwks=tmp_path / "keys/public.jwks.json") as port:
        for pair in (CLIENT, SERVER):
            pair_in(tmp_path, "keys", pair)
            done.append(ran_in(tmp_path, "gnap_client", f"http://127.0.0.1:{port}"))
    assert [(one.returncode, one.stdout.strip(), one.stderr) for one in done] == [
        (0, f'200 {{"photos of":"2027","key":"{CLIENT.public["keys"][0]["kid"]}"}}', ""),
        (1, '401 {"error": "invalid_client"}', ""),
    ]


def test_fapi_client_pays_and_verifies_the_response_with_its_request(tmp_path):
    pair_in(tmp_path, "keys", CLIENT)
    pair_in(tmp_path, "server", SERVER)
    keys = {"jwks": tmp_path / "keys/public.jwks.json", "server": tmp_path / "server/private.jwk.json"}
    with start_example("fapi_resource_server.py", **keys) as port:
        done = ran_in(tmp_path, "fapi_client", f"http://127.0.0.1:{port}")
        other = ran_in(tmp_path, "fapi_client", f"http://127.0.0.1:{port}", bearer="of another client")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == '200 {"payment":"accepted"}\n'
    assert (other.returncode, other.stderr) == (1, "")
    assert other.stdout.startswith('401 {"error": "signature_key_unknown"}')


def test_wimse_workloads_verify_each_other_by_their_tokens(tmp_path):
    issuer, stranger = KeyPair.generate(keyid="idp"), KeyPair.generate(keyid="idp")

    def token(pair, name, by=issuer) -> str:
        claims = {"sub": f"wimse://a.example/{name}", "exp": 2**33, "cnf": {"jwk": pair.public["keys"][0]}}
        return issue({"alg": "EdDSA", "kid": "idp", "typ": "wit+jwt"}, claims, by)

    pair_in(tmp_path, "keys", CLIENT)
    (tmp_path / "issuer.jwks.json").write_text(json.dumps(issuer.public))
    app = example("wimse_server").server(
        {"a.example": issuer.key_set()}, SERVER.signing_key(), token(SERVER, "server"), here
    )
    outcomes = []
    with uvicorn_server(app) as port:
        for by in (issuer, stranger):
            (tmp_path / "client.wit").write_text(token(CLIENT, "client", by))
            server = f"http://127.0.0.1:{port}"
            done = ran_in(tmp_path, "wimse_client", SERVER=server, WORKLOAD="wimse://a.example/server")
            assert done.stderr == ""
            outcomes.append((done.returncode, done.stdout.strip()))
    assert outcomes == [
        (0, '200 {"orders of":"wimse://a.example/client"}'),
        (1, '400 {"error": "signature_jwks_untrusted"}'),
    ]


def test_ucp_platform_takes_no_response_of_another_business(tmp_path):
    app = example("ucp_business").business(CLIENT.key_set(), KeyPair.generate(keyid="server-2026").signing_key(), here)
    with uvicorn_server(app) as port:
        done = platform(tmp_path, CLIENT, port)
    assert (done.returncode, done.stdout) == (1, "")
    assert "\nundersigned.errors.SignatureRejected: signature_invalid" in done.stderr
