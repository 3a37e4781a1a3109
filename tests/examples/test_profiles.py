"""The examples for the profiles of requests and signed responses: a server on a real socket, and its client."""

from __future__ import annotations

import json

from tests.examples.programs import example, ran
from tests.serving import uvicorn_server

from undersigned import KeyPair

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
    assert all(line.endswith("signed by server-2026") for line in (first, second, other))
