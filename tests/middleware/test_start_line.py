"""The line that a middleware logs when it is made: what is verified and where."""

from __future__ import annotations

import logging
import re
from io import BytesIO
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from tests.keys import ORIGIN, Party

from undersigned import JSONRPCResolver, MemoryReplayStore, Policy, SqliteReplayStore, asgi, profiles, wsgi
from undersigned.fork_safety import is_one_of_several
from undersigned.signature.rules import ReplayRule
from undersigned.wsgi.servers import may_have_workers

START = "undersigned verifies requests with the profile adcp-3.2: AdCP v3.2, request signing; Ed25519 with it; "


@pytest.fixture(params=[asgi.SignatureMiddleware, wsgi.SignatureMiddleware], ids=["asgi", "wsgi"])
def said(request, party, caplog, tmp_path):
    """Make a middleware, and return the only line that it logs."""

    def make(origins=(ORIGIN,), *, in_memory: bool = False, profile=profiles.ADCP_3_2, **options) -> str:
        replay = MemoryReplayStore() if in_memory else SqliteReplayStore(tmp_path / "nonces")
        verifier = party.verifier(replay=replay, profile=profile)
        with caplog.at_level(logging.INFO, "undersigned"):
            request.param(lambda *_: None, verifier=verifier, origins=origins, **options)
        (record,) = caplog.records
        assert (record.name, record.levelname) == ("undersigned", "INFO")
        return re.sub("with (OpenSSL|libsodium)[^;]*;", "with it;", record.getMessage())

    return make


@pytest.mark.parametrize(
    ("mode", "asked"),
    [
        ("required", "every request must be signed"),
        ("optional", 'mode="optional": unsigned requests pass, and signatures must be valid'),
        ("observe", 'mode="observe": unsigned requests pass and are logged, and signatures must be valid'),
    ],
)
def test_line_says_the_profile_the_mode_and_the_origins(said, mode, asked):
    assert said(mode=mode) == f"{START}{asked}; origins: {ORIGIN}"


def test_line_names_the_operations_of_a_policy(said):
    policy = Policy(required_for=["create_media_buy"], supported_for=["get_products", "get_plans"])
    line = said(policy=policy)
    assert line == (
        f"{START}policy: required_for [create_media_buy], supported_for [get_plans, get_products]; origins: {ORIGIN}"
    )


def test_line_names_a_few_of_many_operations(said):
    many = [f"operation_{at}" for at in range(1000)]
    line = said(policy=Policy(warn_for=many, protocol_methods_warn_for=["tasks/cancel"], resolver=JSONRPCResolver()))
    assert "operation_104 and 992 more], protocol_methods_warn_for [tasks/cancel]" in line


def test_line_says_that_a_policy_lists_no_operation(said):
    assert said(policy=Policy()) == f"{START}policy: it lists no operation; origins: {ORIGIN}"


def test_line_says_that_nonces_are_kept_in_one_process_only(said):
    told = "; nonces are kept in the memory of this process only: several workers need a store that they share"
    assert said(in_memory=True).endswith(f"origins: {ORIGIN}{told}")


def warnings(origin: str, *, in_memory: bool, environ: dict | None = None) -> list[str]:
    """Make two middlewares in this process, call them if there is an environ, and return what is logged at WARNING."""
    records: list[logging.LogRecord] = []
    handler = logging.Handler(logging.WARNING)
    handler.emit = records.append
    logging.getLogger("undersigned").addHandler(handler)
    module = asgi if environ is None else wsgi
    with TemporaryDirectory() as folder:
        for at in range(2):
            replay = MemoryReplayStore() if in_memory else SqliteReplayStore(f"{folder}/nonces{at}")
            options = {"verifier": Party.make().verifier(replay=replay), "origins": [origin], "mode": "optional"}
            middleware = module.SignatureMiddleware(lambda *_: [b""], **options)
            if environ is not None:
                middleware(environ, lambda *_: None)
                middleware(environ, lambda *_: None)
    return [record.getMessage() for record in records]


def environ(**others) -> dict:
    base = {"REQUEST_METHOD": "GET", "PATH_INFO": "/", "SERVER_PROTOCOL": "HTTP/1.1", "wsgi.input": BytesIO()}
    return {**base, **others}


@pytest.mark.parametrize(
    ("workers", "origin", "in_memory", "environ", "told"),
    [
        (2, ORIGIN, True, None, "each keeps its nonces in memory"),
        (1, ORIGIN, True, None, None),
        (2, "http://localhost:8000", True, None, None),
        (2, ORIGIN, False, None, None),
        (2, ORIGIN, True, environ(**{"wsgi.multiprocess": True}), "each keeps its nonces in memory"),
        (1, ORIGIN, True, environ(**{"wsgi.multiprocess": True}), None),
        (1, ORIGIN, True, environ(SERVER_SOFTWARE="Werkzeug/3.1.9"), "is for development"),
    ],
)
def test_each_process_warns_once_and_only_where_it_is_true(workers, origin, in_memory, environ, told):
    with get_context("spawn").Pool(workers) as pool:
        texts = pool.apply(warnings, (origin,), {"in_memory": in_memory, "environ": environ})
        # A worker that is ended by a signal may miss it.
        pool.close()
        pool.join()
    assert len(texts) == (told is not None)
    assert (told or "") in "".join(texts)


def test_system_without_proc_shows_no_other_workers(monkeypatch):
    def missing(path: Path) -> bytes:
        raise FileNotFoundError(path)

    monkeypatch.setattr(Path, "read_bytes", missing)
    assert is_one_of_several() is False


def test_client_of_django_has_no_other_workers():
    said = type("FakePayload", (BytesIO,), {"__module__": "django.test.client"})()
    assert may_have_workers({"wsgi.multiprocess": True, "wsgi.input": BytesIO()})
    assert not may_have_workers({"wsgi.multiprocess": True, "wsgi.input": said})


def test_line_of_a_profile_that_keeps_no_nonces_says_nothing_of_them(said):
    forgetful = profiles.ADCP_3_2.derive(name="forgetful", replay=ReplayRule(remembers="nothing"), dangerous="a test")
    assert said(in_memory=True, profile=forgetful).endswith(f"origins: {ORIGIN}")
