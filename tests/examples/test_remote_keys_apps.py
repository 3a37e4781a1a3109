"""The example service that fetches keys in the background, started as its file says."""

from __future__ import annotations

import json

from tests.discovery.key_server import response
from tests.examples.programs import start_service
from tests.keys import BODY, JSON, ORIGIN
from tests.wire import ask, assert_rejected, assert_unsigned, raw_request

from undersigned import KeyPair, Request, Signer, profiles


def sign(pair: KeyPair) -> bytes:
    signer = Signer(pair.signing_key(), profile=profiles.ADCP_3_2)
    fields = signer.sign(Request("POST", f"{ORIGIN}/plans/gold", JSON, BODY))
    return raw_request("POST", "/plans/gold", [*JSON, *fields], BODY)


def test_service_fetches_keys_follows_a_rotation_and_publishes_its_own(server, key_server_certificate, tmp_path):
    old, new, own = (KeyPair.generate(keyid=keyid) for keyid in ("old", "new", "own"))
    server.answers["/jwks.json"] = response(old.public)
    (tmp_path / "own.json").write_text(json.dumps(own.public))
    environment = {
        "BUYER_JWKS": f"https://localhost:{server.port}/jwks.json",
        "JWKS": str(tmp_path / "own.json"),
        "KEY_NETWORKS": "127.0.0.0/8 ::1/128",
        "ORIGIN": ORIGIN,
        "REPLAY": str(tmp_path / "replay.sqlite"),
        "SSL_CERT_FILE": str(key_server_certificate),
    }
    with start_service("fastapi_remote_keys_app", tmp_path, **environment) as port:
        raw = sign(old)
        assert ask(port, raw).json == {"plan": "gold", "caller": "buyer.example.com", "key": "old"}
        assert_rejected(ask(port, raw), "request_signature_replayed")
        assert server.asked() == 1
        server.answers["/jwks.json"] = response({"keys": [*old.public["keys"], *new.public["keys"]]})
        assert ask(port, sign(new)).json["key"] == "new"
        assert ask(port, raw_request("GET", "/.well-known/jwks.json")).json == own.public
        assert_unsigned(ask(port, raw_request("POST", "/plans/gold", JSON, BODY)))
