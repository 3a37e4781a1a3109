"""Every snippet of the README is run, and every literal is made again."""

from __future__ import annotations

import base64
import json
import pathlib
import re

import pytest
from fastapi import FastAPI
from flask import Flask
from tests.serving import uvicorn_server, waitress_server

from undersigned import KeySet, MemoryReplayStore, Operation, Request, Signer, SigningKey, Verifier, profiles
from undersigned.asgi import SignatureMiddleware

README = pathlib.Path(__file__).parent.parent / "README.md"
SECTION = re.compile(r"^## (?P<title>.+?)$(?P<text>.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
SEED = bytes.fromhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")
PUBLIC = bytes.fromhex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")
BODY = b'{"plan_id":"plan_001"}'
ORIGIN = "https://seller.example.com"


def sections() -> dict[str, str]:
    return {match["title"]: match["text"] for match in SECTION.finditer(README.read_text())}


def snippet(title: str, language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)\n```", sections()[title], re.DOTALL)
    assert found, title
    return found[1]


def b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


PUBLIC_JWK = {
    "kid": "buyer-2026",
    "kty": "OKP",
    "crv": "Ed25519",
    "alg": "EdDSA",
    "use": "sig",
    "key_ops": ["verify"],
    "adcp_use": "request-signing",
    "x": b64(PUBLIC),
}
PRIVATE_JWK = {**PUBLIC_JWK, "key_ops": ["sign"], "d": b64(SEED)}


def literal_request() -> tuple[dict[str, str], str]:
    """The fields and the base of the request the README shows."""
    signer = Signer(SigningKey.from_jwk(PRIVATE_JWK), profile=profiles.ADCP_3_2)
    signed = signer.sign(
        Request("POST", f"{ORIGIN}/adcp/create_media_buy", {"Content-Type": "application/json"}, BODY),
        created=1776520800,
        nonce="KXYnfEfJ0PBRZXQyVXfVQA",
    )
    return dict(signed.fields), signed.signature_base


@pytest.fixture
def keys(tmp_path, monkeypatch):
    (tmp_path / "keys").mkdir()
    (tmp_path / "keys/public.jwks.json").write_text(json.dumps({"keys": [PUBLIC_JWK]}))
    (tmp_path / "keys/private.jwk.json").write_text(json.dumps(PRIVATE_JWK))
    monkeypatch.chdir(tmp_path)


def at(source: str, origin: str) -> str:
    """The snippet with a server on loopback in the place of the public one."""
    assert ORIGIN in source
    return source.replace(ORIGIN, origin)


def run(source: str, names: dict[str, object]) -> dict[str, object]:
    exec(compile(source, "README.md", "exec"), names)  # noqa: S102 - the README's own words
    return names


def post(origin: str) -> dict[str, object]:
    names = run(at(snippet("Sign with requests", "python"), origin), {})
    answer = names["answer"]
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.mark.usefixtures("keys")
def test_request_of_the_requests_snippet_is_accepted_by_the_fastapi_snippet():
    holder = {}

    async def app(scope, receive, send):
        await holder["app"](scope, receive, send)

    with uvicorn_server(app) as port:
        origin = f"http://127.0.0.1:{port}"
        # FastAPI resolves annotations by the module's names, so the snippet runs as one.
        names = run(at(snippet("Verify in FastAPI", "python"), origin), {"__name__": "readme"})
        holder["app"] = names["app"]
        assert post(origin) == {"buyer": "buyer-2026", "plan": "plan_001"}


@pytest.mark.usefixtures("keys")
def test_request_of_the_requests_snippet_is_accepted_by_the_flask_snippet():
    holder = {}

    def app(environ, start_response):
        return holder["app"](environ, start_response)

    with waitress_server(app) as port:
        origin = f"http://127.0.0.1:{port}"
        names = run(at(snippet("Verify in Flask", "python"), origin), {"__name__": "readme"})
        holder["app"] = names["app"]
        assert isinstance(names["app"], Flask)
        assert post(origin) == {"buyer": "buyer-2026", "plan": "plan_001"}


def test_literal_fields_equal_the_output_of_the_signer():
    shown = snippet("What is on the wire", "http")
    fields, _ = literal_request()
    for name, value in fields.items():
        assert f"{name}: {value}\n" in shown
    assert shown.endswith(BODY.decode())


def test_literal_base_equals_the_signed_base():
    assert snippet("What is on the wire", "text") == literal_request()[1]


def test_literal_request_verifies():
    head, _, body = snippet("What is on the wire", "http").partition("\n\n")
    lines = head.split("\n")
    method, target, _ = lines[0].split()
    fields = [tuple(line.split(": ", 1)) for line in lines[1:]]
    verifier = Verifier(
        profiles.ADCP_3_2,
        keys=KeySet.from_jwks({"keys": [PUBLIC_JWK]}),
        replay=MemoryReplayStore(),
        clock=lambda: 1776520800,
    )
    assert verifier.verify(Request(method, f"{ORIGIN}{target}", fields, body)).keyid == "buyer-2026"


def test_readme_starts_with_two_commands():
    commands = re.findall(r"```sh\n(.*?)\n```", README.read_text())
    assert commands == ["pip install -e '.[demo]' && undersigned demo", "pip install -e '.[test]' && pytest -n auto"]


def test_policy_on_the_page_decides_as_described():
    page = (README.parent / "docs" / "policy.md").read_text()
    source = re.search(r"```python\n(.*?)\n```", page, re.DOTALL)
    assert source
    keys = KeySet.from_jwks({"keys": [PUBLIC_JWK]})
    verifier = Verifier(profiles.ADCP_3_2, keys=keys, replay=MemoryReplayStore())
    names = run(source[1], {"app": FastAPI(), "verifier": verifier})
    assert names["policy"].demand(Operation("create_media_buy")) == "required"
    assert names["policy"].demand(Operation("sync_creatives")) == "warn"
    assert isinstance(names["app"], SignatureMiddleware)
