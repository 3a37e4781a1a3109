from __future__ import annotations

import json

from tests.keys import Party
from tests.wire import ask
from tests.workers import free_port, statuses, workers

APP = """
import json
from undersigned import KeySet, SqliteReplayStore, Verifier, profiles
from undersigned.wsgi import SignatureMiddleware

def application(environ, start):
    start("200 OK", [("Content-Length", "2")])
    return [b"ok"]

keys = KeySet.from_jwks(json.load(open("jwks.json")))
verifier = Verifier(profiles.ADCP_3_2, keys=keys, replay=SqliteReplayStore("replay.sqlite"))
application = SignatureMiddleware(application, verifier=verifier, origins=["https://seller.example.com"])
"""


def test_one_of_60_equal_requests_to_4_gunicorn_workers_is_accepted(tmp_path):
    party, port = Party.make(), free_port()
    (tmp_path / "app.py").write_text(APP)
    (tmp_path / "jwks.json").write_text(json.dumps(party.jwks))
    arguments = ["--chdir", str(tmp_path), "--bind", f"127.0.0.1:{port}", "--workers", "4"]
    for preload in ([], ["--preload"]):
        log = tmp_path / "log"
        with workers("gunicorn", *arguments, *preload, "app", port=port, log=log, count=4):
            raw = party.raw("GET", "/plans")
            assert statuses(port, raw, 60) == {200: 1, 401: 59}
            assert ask(port, raw).fields["www-authenticate"] == 'Signature error="request_signature_replayed"'
