"""The page about one's own machine: its keys are found, without a server and from a server with its certificate."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess

import pytest
from tests.discovery.key_server import KeyServer, response
from tests.docs import pages

from undersigned import KeyPair, MemoryReplayStore, Request, Signer, Verifier, profiles
from undersigned.message import write_signature_agent

PAGE = "docs/development.md"


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def run(title: str, **changes: str) -> dict:
    snippet = pages.sections(PAGE)[title]
    for old, new in changes.items():
        assert old in snippet
        snippet = snippet.replace(old, new)
    return pages.run(snippet)


def sign(pair: KeyPair, profile, request: Request) -> Request:
    fields = Signer(pair.signing_key(), profile=profile).sign(request)
    return Request(request.method, request.url, [*request.fields, *fields], request.body)


def test_held_key_of_a_bot_needs_no_server(tmp_path):
    pair = KeyPair.generate()
    (tmp_path / "keys").mkdir()
    (tmp_path / "keys/public.jwks.json").write_text(json.dumps(pair.public))
    keys = run("Keys without a server")["keys"]
    verifier = Verifier(profiles.WEB_BOT_AUTH_STRING, keys=keys, replay=MemoryReplayStore())
    agent = ("Signature-Agent", write_signature_agent("https://localhost:1", form="string"))
    request = sign(pair, profiles.WEB_BOT_AUTH_STRING, Request("GET", "https://shop.example/", [agent]))
    assert verifier.verify(request).keyid == pair.signing_key().keyid


@pytest.mark.skipif(shutil.which("openssl") is None, reason="apt-get install openssl")
def test_keys_are_fetched_from_a_server_with_the_certificate_of_the_page(tmp_path):
    [command] = re.findall(r"```sh\n(openssl .*?)```", pages.page(PAGE), re.DOTALL)
    subprocess.run(shlex.split(command.replace("\\\n", "")), check=True, capture_output=True)  # noqa: S603 - the page's
    pem = tmp_path / "both.pem"
    pem.write_bytes((tmp_path / "tls.key").read_bytes() + (tmp_path / "tls.crt").read_bytes())
    pair, server = KeyPair.generate(), KeyServer(pem)
    server.answers["/jwks.json"] = response(pair.public)
    try:
        keys = run("Remote keys on localhost", **{"9443": str(server.port)})["keys"]
        verifier = Verifier(profiles.ADCP_3_2, keys=keys, replay=MemoryReplayStore())
        request = sign(pair, profiles.ADCP_3_2, Request("GET", "http://localhost:8000/"))
        assert verifier.verify(request).signer == "acme"
    finally:
        server.close()
