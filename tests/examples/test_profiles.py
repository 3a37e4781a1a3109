"""The examples for the profiles of requests and signed responses: a server on a real socket, and its client."""

from __future__ import annotations

import json
from dataclasses import replace

import httpx
import pytest
from tests.examples.programs import example, ran
from tests.serving import uvicorn_server, waitress_server
from tests.tokens.issuing import issued

from undersigned import KeyPair, MemoryReplayStore, Request, Signer, Verifier, profiles
from undersigned.asgi import SignatureMiddleware

CLIENT, SERVER = KeyPair.generate(keyid="client-2026"), KeyPair.generate(keyid="server-2026")


def here(authority: str) -> str:
    return f"http://{authority}"


def files(tmp_path, **contents):
    for name, content in contents.items():
        (tmp_path / name).write_text(json.dumps(content))
    return {name: tmp_path / name for name in contents}


def test_ucp_business_answers_a_repeated_request_as_before_and_signs_all_answers(tmp_path):
    app = example("ucp_business").business(CLIENT.key_set(), SERVER.signing_key(), here)
    at = files(tmp_path, key=CLIENT.private, business=SERVER.public)
    with uvicorn_server(app) as port:
        profile = "https://platform.example/.well-known/ucp"
        done = ran(
            "ucp_platform",
            key=at["key"],
            profile=profile,
            business=f"http://127.0.0.1:{port}",
            business_keys=at["business"],
        )
    assert (done.returncode, done.stderr) == (0, "")
    first, second, other = done.stdout.splitlines()
    assert first == second
    assert first.startswith('201 {"checkout": ')
    assert other.startswith('409 {"code": "idempotency_conflict"')


def test_one_signature_is_accepted_by_a_ucp_business_and_a_web_bot_auth_verifier_in_front_of_it(tmp_path):
    bot = KeyPair.generate()
    behind = example("ucp_business").business(bot.key_set(), SERVER.signing_key(), here, profiles.UCP_DUAL)
    decisions = []
    verifier = Verifier(profiles.WEB_BOT_AUTH_TYPED, keys=bot.key_set(), replay=MemoryReplayStore())
    app = SignatureMiddleware(behind, verifier=verifier, origins=here, on_decision=decisions.append)
    at = files(tmp_path, key=bot.private, business=SERVER.public)
    with uvicorn_server(app) as port:
        given = {"key": at["key"], "business": f"http://127.0.0.1:{port}", "business_keys": at["business"]}
        profile = "https://platform.example/.well-known/ucp"
        done = ran("ucp_platform", **given, profile=profile, bot="https://platform.example")
        alone = ran("ucp_platform", **given, profile=profile)
    first, second, other = done.stdout.splitlines()
    assert first == second
    assert (first[:3], other[:3]) == ("201", "409")
    assert [decision.outcome for decision in decisions] == ["verified"] * 3 + ["rejected"]
    # Without Signature-Agent, the verifier in front rejects the request, and cannot sign as the business.
    assert alone.returncode == 1


def test_gnap_client_rotates_its_key_and_the_old_key_has_no_power_any_more(tmp_path):
    module = example("gnap_server")
    keys = module.TokenKeys({"t0k3n": CLIENT.key_set()})
    at = files(tmp_path, key=CLIENT.private)
    with uvicorn_server(module.server(keys, here)) as port:
        done = ran("gnap_client", key=at["key"], token="t0k3n", server=f"http://127.0.0.1:{port}")
    assert (done.returncode, done.stderr) == (0, "")
    rotated, rejected = done.stdout.splitlines()
    assert rotated == '200 {"access_token":{"value":"t0k3n","key":"client-2027"}}'
    assert rejected == '401 {"error": "invalid_client"}'


@pytest.mark.parametrize("flaw", ["only the old key", "not over the old key", "another new key", "another body"])
def test_gnap_rotation_without_a_valid_second_signature_is_rejected(flaw):
    new, other = KeyPair.generate(keyid="client-2027"), KeyPair.generate(keyid="client-2027")
    body = json.dumps({"key": {"proof": "httpsig", "jwk": new.public["keys"][0]}}).encode()
    fields = [("Authorization", "GNAP t0k3n"), ("Content-Type", "application/json")]
    second = profiles.GNAP.derive(selection=replace(profiles.GNAP.selection, tags=("gnap-rotate",), label="rotation"))
    second = second if flaw == "not over the old key" else profiles.GNAP_ROTATION
    signers = [Signer(CLIENT.signing_key(), profile=profiles.GNAP)]
    signers += [Signer((other if flaw == "another new key" else new).signing_key(), profile=second)]
    module = example("gnap_server")
    with uvicorn_server(module.server(module.TokenKeys({"t0k3n": CLIENT.key_set()}), here)) as port:
        url = f"http://127.0.0.1:{port}/token"
        for signer in signers[: 1 if flaw == "only the old key" else 2]:
            fields += signer.sign(Request("POST", url, fields, body))
        answer = httpx.post(url, content=body + b" " * (flaw == "another body"), headers=fields)
    status = (401, "signature_digest_mismatch") if flaw == "another body" else (400, "invalid_rotation")
    assert (answer.status_code, answer.json()["error"]) == status


def test_fapi_client_pays_and_verifies_the_response_with_its_request(tmp_path):
    module = example("fapi_resource_server")
    keys = module.ClientKeys({"t0k3n": CLIENT.key_set()})
    at = files(tmp_path, key=CLIENT.private, server=SERVER.public)
    with waitress_server(module.resource_server(keys, SERVER.signing_key(), here)) as port:
        options = {"server": f"http://127.0.0.1:{port}", "server_keys": at["server"]}
        done = ran("fapi_client", key=at["key"], token="t0k3n", **options)
        other = ran("fapi_client", key=at["key"], token="of another client", **options)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == '200 {"payment":"accepted"}\n'
    assert (other.returncode, other.stderr) == (1, "")
    assert other.stdout.startswith('401 {"error": "signature_key_unknown"}')


def test_wimse_workloads_verify_each_other_by_their_tokens(tmp_path):
    issuer, stranger = KeyPair.generate(keyid="idp"), KeyPair.generate(keyid="idp")

    def token(pair, name, by=issuer) -> str:
        claims = {"sub": f"wimse://a.example/{name}", "exp": 2**33, "cnf": {"jwk": pair.public["keys"][0]}}
        return issued({"alg": "EdDSA", "kid": "idp", "typ": "wit+jwt"}, claims, by)

    at = files(tmp_path, key=CLIENT.private, issuers=issuer.public)
    app = example("wimse_server").server(issuer.key_set(), SERVER.signing_key(), token(SERVER, "server"), here)
    outcomes = []
    with uvicorn_server(app) as port:
        for by in (issuer, stranger):
            (tmp_path / "token").write_text(token(CLIENT, "client", by))
            options = {"key": at["key"], "issuers": at["issuers"], "token": tmp_path / "token"}
            done = ran("wimse_client", **options, server=f"http://127.0.0.1:{port}")
            assert done.stderr == ""
            outcomes.append((done.returncode, done.stdout.strip()))
    assert outcomes == [
        (0, '200 {"orders of":"wimse://a.example/client"}'),
        (1, '400 {"error": "signature_jwks_untrusted"}'),
    ]


def test_aauth_resource_knows_the_agent_by_its_token(tmp_path):
    issuer, stranger = KeyPair.generate(keyid="issuer"), KeyPair.generate(keyid="issuer")
    url = "https://issuer.example"
    jwk = {**CLIENT.public["keys"][0], "alg": "Ed25519"}
    claims = {"iss": url, "sub": "aauth:agent@issuer.example", "exp": 2**33, "cnf": {"jwk": jwk}}
    header = {"alg": "EdDSA", "kid": "issuer", "typ": "aa-agent+jwt"}
    at = files(tmp_path, key=CLIENT.private)
    outcomes = []
    with waitress_server(example("aauth_resource").resource({url: issuer.key_set()}, here)) as port:
        for by in (issuer, stranger):
            (tmp_path / "token").write_text(issued(header, claims, by))
            given = {"key": at["key"], "token": tmp_path / "token"}
            done = ran("aauth_agent", **given, resource=f"http://127.0.0.1:{port}")
            assert done.stderr == ""
            outcomes.append((done.returncode, done.stdout.strip()))
    assert outcomes == [
        (0, '200 {"calendar for":"aauth:agent@issuer.example"}'),
        (1, '401 {"error": "signature_jwks_untrusted"}'),
    ]


def test_tap_shop_lets_an_agent_browse_and_only_a_payer_pay(tmp_path):
    at = files(tmp_path, key=CLIENT.private)
    with uvicorn_server(example("tap_shop").shop(CLIENT.key_set(), here)) as port:
        done = ran("tap_agent", key=at["key"], shop=f"http://127.0.0.1:{port}")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        '200 {"hats for":"client-2026"}',
        '403 {"error":"not a payer"}',
        '200 {"paid by":"client-2026"}',
    ]


def test_ucp_platform_takes_no_response_of_another_business(tmp_path):
    app = example("ucp_business").business(CLIENT.key_set(), KeyPair.generate(keyid="server-2026").signing_key(), here)
    at = files(tmp_path, key=CLIENT.private, business=SERVER.public)
    with uvicorn_server(app) as port:
        done = ran(
            "ucp_platform",
            key=at["key"],
            profile="https://platform.example/.well-known/ucp",
            business=f"http://127.0.0.1:{port}",
            business_keys=at["business"],
        )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.endswith("SignatureRejected: signature_invalid\n")
