"""The page about tests: its snippets run, and its tables have every tool."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest
from fastapi import FastAPI
from tests.docs import pages

from undersigned import MemoryReplayStore, Request, SignatureError, Verifier, testing
from undersigned_fastapi import Signature, SignatureMiddleware

PAGE = pages.page("docs/testing.md")
SNIPPETS = pages.sections("docs/testing.md")


def run(*titles: str) -> dict:
    return pages.run(*(SNIPPETS[title] for title in titles), app=FastAPI())


def test_snippet_for_pytest_passes_in_a_project_of_its_own(tmp_path):
    (tmp_path / "test_app.py").write_text(SNIPPETS["Test an application with pytest"])
    (tmp_path / "conftest.py").write_text(re.search(r"`(pytest_plugins = .*)`", PAGE)[1])
    assert "1 passed" in pages.tests_in(tmp_path)


def test_tampered_requests_of_the_page_are_rejected():
    names = run("Test an application without pytest", "Test what must be rejected", "Make every run the same")
    assert len(names["changed"]) == len(testing.PARTS)
    for request in names["changed"]:
        with pytest.raises(SignatureError):
            names["verifier"].verify(request)


def test_tampered_requests_and_replays_are_rejected_as_the_page_shows():
    names = run("Test an application without pytest", "Test what must be rejected", "Make every run the same")
    others = [one for one in pages.snippets(PAGE) if "def test_tampered" in one or "def without" in one]
    names = pages.run(*others, **names)
    verifier = Verifier(keys=names["keys"], replay=MemoryReplayStore())

    def make_app(**options) -> FastAPI:
        app = FastAPI()

        @app.post("/plans/{plan}")
        async def buy(plan: str, signature: Signature) -> str:
            return f"{plan} {signature.keyid}"

        app.add_middleware(SignatureMiddleware, verifier=verifier, origins=["https://testserver"], **options)
        return app

    names["test_tampered_requests_and_replays_are_rejected"](make_app(), names["signed"], names["changed"])
    app = make_app(mode="optional")
    names["without_signatures"](app, SimpleNamespace(keyid="fake"))
    assert names["TestClient"](app, base_url="https://testserver").post("/plans/a").json() == "a fake"


def test_frozen_clock_of_the_page_ends_a_signature():
    names = run("Test an application without pytest", "Make every run the same")
    frozen, request = names["frozen"], Request("GET", "https://testserver/plans")
    frozen.now -= 400
    signed = names["signer"].sign(request)
    fresh = Request("GET", request.url, [*signed])
    assert names["verifier"].verify(fresh).keyid
    frozen.advance(400)
    with pytest.raises(SignatureError, match="signature_window_invalid"):
        names["verifier"].verify(fresh)


def test_page_has_every_tool():
    assert {name for name in testing.__all__ if name not in {"Part", "sign_environ"}} <= set(re.findall(r"\w+", PAGE))
