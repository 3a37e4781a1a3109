"""Servers that load the application before they fork their workers: no store accepts a request twice."""

from __future__ import annotations

import json
import sys

import pytest
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

STORE
keys = KeySet.from_jwks(json.load(open("jwks.json")))
verifier = Verifier(profiles.ADCP_3_2, keys=keys, replay=store)
application = SignatureMiddleware(application, verifier=verifier, origins=["https://seller.example.com"])
"""
SQLITE = "store = SqliteReplayStore('replay.sqlite')"
POOL = """
from psycopg_pool import ConnectionPool
from undersigned_postgres import PostgresReplayStore
pool = ConnectionPool("CONNINFO", min_size=1, open=True)
store = PostgresReplayStore(pool)
"""
GUNICORN = ["gunicorn", "--workers", "4", "--bind", "127.0.0.1:PORT", "--chdir", "FOLDER", "app"]
UWSGI = [
    *("uwsgi", "--master", "--processes", "4", "--http-socket", "127.0.0.1:PORT", "--die-on-term", "--enable-threads"),
    *("--virtualenv", sys.prefix, "--chdir", "FOLDER", "--module", "app"),
]
SERVERS = {
    "gunicorn": GUNICORN,
    "gunicorn --preload": [*GUNICORN, "--preload"],
    "uwsgi": UWSGI,
    "uwsgi --lazy-apps": [*UWSGI, "--lazy-apps"],
}
IN_EACH = {"gunicorn", "uwsgi --lazy-apps"}
"""What loads the application in each worker."""


@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize("store", ["sqlite", "postgres"])
def test_one_of_60_equal_requests_to_4_workers_is_accepted_or_all_are_told_why_not(server, store, tmp_path, request):
    party, port = Party.make(), free_port()
    code = SQLITE if store == "sqlite" else POOL.replace("CONNINFO", request.getfixturevalue("database"))
    (tmp_path / "app.py").write_text(APP.replace("STORE", code))
    (tmp_path / "jwks.json").write_text(json.dumps(party.jwks))
    name, *words = [word.replace("PORT", str(port)).replace("FOLDER", str(tmp_path)) for word in SERVERS[server]]
    log = tmp_path / "log"
    with workers(name, *words, port=port, log=log, count=4):
        raw = party.raw("GET", "/plans")
        if store == "sqlite" or server in IN_EACH:
            assert statuses(port, raw, 60) == {200: 1, 401: 59}
            assert ask(port, raw).fields["www-authenticate"] == 'Signature error="request_signature_replayed"'
            return
        assert statuses(port, raw, 60) == {503: 60}
    # Each worker says it once.
    told = log.read_text().count("call pool.open() in post_fork of gunicorn or in @postfork of uWSGI")
    assert 0 < told <= 4
