"""The line that a middleware logs when it is made: what is verified and where."""

from __future__ import annotations

import logging
import re
from multiprocessing import get_context
from tempfile import TemporaryDirectory

import pytest
from tests.keys import ORIGIN, Party

from undersigned import JSONRPCResolver, MemoryReplayStore, Policy, SqliteReplayStore, asgi, profiles, wsgi
from undersigned.signature.rules import ReplayRule

START = "undersigned verifies requests with the profile adcp-3.2: AdCP 3.2, request signing (2026); Ed25519 with it; "


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


def test_line_says_that_a_function_names_the_origins(said):
    assert said(lambda _authority: ORIGIN).endswith("; origins: those that a function names")


def test_line_names_a_few_of_many_origins(said):
    assert len(said([f"https://t{at}.example.com" for at in range(1000)])) < 400


def test_line_says_that_nonces_are_kept_in_one_process_only(said):
    told = "; nonces are kept in the memory of this process only: several workers need a store that they share"
    assert said(in_memory=True).endswith(f"origins: {ORIGIN}{told}")


def level_of_the_line(origin: str, *, in_memory: bool) -> str:
    """Make a middleware, and return the level of the only line that it logs."""
    records: list[logging.LogRecord] = []
    handler = logging.Handler()
    handler.emit = records.append
    logger = logging.getLogger("undersigned")
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    with TemporaryDirectory() as folder:
        replay = MemoryReplayStore() if in_memory else SqliteReplayStore(f"{folder}/nonces")
        asgi.SignatureMiddleware(lambda *_: None, verifier=Party.make().verifier(replay=replay), origins=[origin])
    (record,) = records
    return record.levelname


@pytest.mark.parametrize(
    ("origin", "in_memory", "level"),
    [(ORIGIN, True, "WARNING"), ("http://localhost:8000", True, "INFO"), (ORIGIN, False, "INFO")],
)
def test_nonces_in_memory_are_a_warning_in_a_worker_that_another_process_started(origin, in_memory, level):
    with get_context("spawn").Pool(1) as pool:
        assert pool.apply(level_of_the_line, (origin,), {"in_memory": in_memory}) == level


def test_line_of_a_profile_that_keeps_no_nonces_says_nothing_of_them(said):
    forgetful = profiles.ADCP_3_2.derive(name="forgetful", replay=ReplayRule(remembers="nothing"), dangerous="a test")
    assert said(in_memory=True, profile=forgetful).endswith(f"origins: {ORIGIN}")
