"""Every snippet of the pages about frameworks is run and served: each page has the same sections, with one contract."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import re
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import falcon.asgi
import pytest
import sanic
import tests.integrations.django_site  # noqa: F401 - it configures Django
from django.core.wsgi import get_wsgi_application
from django.test import override_settings
from tests.docs import pages
from tests.drive import call_asgi
from tests.integrations.capture import threaded
from tests.integrations.own_servers import aiohttp_server, sanic_server, tornado_server
from tests.keys import BODY, JSON, ORIGINS, Party, ed25519_pair, lookup
from tests.serving import uvicorn_server, waitress_server
from tests.wire import ask, assert_rejected, assert_unsigned, handshake, raw_request
from werkzeug.serving import make_server

from undersigned import KeyPair, KeySet, MemoryReplayStore, Profile, Signer, SigningKey, Verifier, profiles
from undersigned.asgi import SignatureMiddleware

if TYPE_CHECKING:
    from collections.abc import Callable

DOCS = Path(__file__).parents[2] / "docs"
SECTIONS = ["One route", "Several routes", "Policy", "CORS", "Errors", "Tests", "WebSockets"]


def snippets(page: str) -> dict[str, str]:
    return pages.sections(f"docs/{page}.md")


@contextlib.contextmanager
def django_site(names: dict):
    """Serve the urls of a snippet with its settings."""
    urls = type("urls", (), {"urlpatterns": names["urlpatterns"]})
    written = {name: value for name, value in names.items() if name.isupper()}
    # An application that is installed while the site runs would be set up again.
    written.pop("INSTALLED_APPS")
    with override_settings(ROOT_URLCONF=urls, **written), waitress_server(get_wsgi_application()) as port:
        yield port


def sanic_site(names: dict):
    names["app"].config.TOUCHUP = False
    return sanic_server(names["app"])


PAGES = {
    "fastapi": lambda names: uvicorn_server(names["app"]),
    "starlette": lambda names: uvicorn_server(names["app"]),
    "flask": lambda names: waitress_server(names["app"]),
    "django": django_site,
    "drf": django_site,
    "aiohttp": lambda names: aiohttp_server(names["app"]),
    "tornado": lambda names: tornado_server(names["app"]),
    "litestar": lambda names: uvicorn_server(names["app"]),
    "quart": lambda names: uvicorn_server(names["app"]),
    "falcon": lambda names: uvicorn_server(names["app"]),
    "sanic": sanic_site,
}
"""The pages whose policy goes by the path."""


@pytest.fixture(autouse=True)
def _applications_may_have_one_name(monkeypatch):
    monkeypatch.setattr(sanic.Sanic, "test_mode", True)


@pytest.fixture
def run(party, monkeypatch):
    """Return a function that runs sections of a page one after the other, beside `signatures.py` for the party."""

    def running(
        page: str,
        *titles: str,
        without: str = "",
        keys: dict | None = None,
        profile: Profile = profiles.ADCP_3_2,
        rejection: Callable | None = None,
    ) -> dict:
        signatures = ModuleType("signatures")
        known = KeySet.from_jwks(keys or party.jwks, owner="acme")
        verifier = Verifier(profile, keys=known, replay=MemoryReplayStore())
        vars(signatures).update(keys=known, verifier=verifier, origins=ORIGINS)
        monkeypatch.setitem(sys.modules, "signatures", signatures)
        # Some frameworks look the module of a function up to read its annotations.
        module = ModuleType(f"snippet_{page.rpartition('/')[2]}")
        monkeypatch.setitem(sys.modules, module.__name__, module)
        for title in titles:
            snippet = snippets(page)[title]
            assert without in snippet
            snippet = snippet.replace(without, "")
            if rejection is not None:
                vars(module)["rejection"] = rejection
                snippet = snippet.replace('mode="optional"', 'mode="optional", rejection=rejection')
                snippet = snippet.replace('"MODE": "optional"', '"MODE": "optional", "REJECTION": rejection')
            code = compile(snippet, f"{page}.md", "exec", dont_inherit=True)
            exec(code, vars(module))  # noqa: S102 - the page's own words
        return vars(module)

    return running


every_page = pytest.mark.parametrize("page", PAGES)


def pages_with(title: str):
    """Return the mark of a test for the pages that have a snippet in a section."""
    return pytest.mark.parametrize("page", [page for page in PAGES if title in snippets(f"frameworks/{page}")])


def test_table_has_every_page():
    linked = re.findall(r"^\| \[.*?\]\(frameworks/(\w+)\.md\)", (DOCS / "frameworks.md").read_text(), re.MULTILINE)
    assert set(PAGES) == {path.stem for path in DOCS.glob("frameworks/*.md")} == set(linked)


@every_page
def test_page_has_the_sections_in_their_order(page):
    titles = re.findall(r"^## (.+)$", (DOCS / f"frameworks/{page}.md").read_text(), re.MULTILINE)
    assert titles[: len(SECTIONS)] == SECTIONS


def check(port: int, party: Party, path: str = "/plans/gold", *, caller: str | None = "acme") -> None:
    """Check that a route answers a signed request and not an unsigned one, and that other routes are open."""
    answer = ask(port, party.raw("POST", path, BODY))
    expected = {"plan": "gold"} | ({"caller": caller} if caller else {})
    assert (answer.status // 100, answer.json) == (2, expected)
    assert_unsigned(ask(port, raw_request("POST", path, JSON, BODY)))
    assert ask(port, raw_request("POST", "/nothing", JSON, BODY)).status == 404


NAMES_NO_ROUTE = {"tornado"}


@every_page
def test_one_route_requires_a_signature(page, run, party, caplog, monkeypatch):
    # Litestar takes the handlers of the root logger away.
    monkeypatch.setattr(logging.getLogger("undersigned"), "handlers", [caplog.handler])
    with PAGES[page](run(f"frameworks/{page}", "One route")) as port:
        check(port, party)
    [route] = {record.signature_route for record in caplog.records if hasattr(record, "signature_route")}
    assert ("plans" in (route or "")) == (page not in NAMES_NO_ROUTE)


@every_page
def test_whole_application_requires_signatures_without_the_mode(page, run, party):
    without = ', "MODE": "optional"' if page in {"django", "drf"} else ', mode="optional"'
    with PAGES[page](run(f"frameworks/{page}", "One route", without=without)) as port:
        assert_rejected(ask(port, raw_request("GET", "/nothing")), "request_signature_required")
        assert ask(port, party.raw("GET", "/nothing")).status == 404
        assert ask(port, party.raw("POST", "/plans/gold", BODY)).json["caller"] == "acme"


@pages_with("Several routes")
def test_several_routes_require_signatures_and_others_do_not(page, run, party):
    with PAGES[page](several(run, page)) as port:
        check(port, party)


def several(run, page: str) -> dict:
    # The first snippet has an application of its own, so nothing of the two is served twice.
    return run(f"frameworks/{page}", "One route") | run(f"frameworks/{page}", "One route", "Several routes")


ANSWERS_ITSELF = {"starlette", "aiohttp", "tornado", "django", "drf"}
"""The pages whose several routes have the middleware within the application, or whose guards are of each view."""


async def answer(_request, plan: str) -> sanic.HTTPResponse:
    return sanic.text(plan)


@pytest.mark.parametrize("page", [page for page in PAGES if page not in ANSWERS_ITSELF])
def test_guard_of_several_routes_lets_preflights_pass(page, run):
    asked = [("Origin", "https://shop.example"), ("Access-Control-Request-Method", "POST")]
    names = several(run, page)
    if page == "sanic":
        # Sanic answers OPTIONS only if an extension, or somebody else, has added a route.
        names["app"].add_route(answer, "/plans/<plan>", methods=["OPTIONS"], name="cors")
    with PAGES[page](names) as port:
        assert ask(port, raw_request("OPTIONS", "/plans/gold", asked)).status in {200, 204, 405}


@pages_with("Policy")
def test_policy_requires_a_signature_for_what_it_names(page, run, party):
    with PAGES[page](run(f"frameworks/{page}", "One route", "Policy")) as port:
        check(port, party, caller=None)


@pages_with("CORS")
def test_page_of_another_site_reads_every_answer(page, run, party):
    origin = ("Origin", "https://shop.example")
    asked = [origin, ("Access-Control-Request-Method", "POST"), ("Access-Control-Request-Headers", "signature")]
    with PAGES[page](run(f"frameworks/{page}", "One route", "CORS")) as port:
        preflight = ask(port, raw_request("OPTIONS", "/plans/gold", asked))
        assert preflight.status in {200, 204}
        assert "signature" in preflight.fields["access-control-allow-headers"].lower()
        unsigned = ask(port, raw_request("POST", "/plans/gold", [*JSON, origin], BODY))
        assert unsigned.status == 401
        signed = ask(port, party.raw("POST", "/plans/gold", BODY, extra=[origin]))
        assert (signed.status // 100, signed.json["caller"]) == (2, "acme")
        for answer in (preflight, unsigned, signed):
            assert answer.fields["access-control-allow-origin"] == "https://shop.example"
        assert ask(port, raw_request("POST", "/nothing", JSON, BODY)).status == 404


CODES = {"drf": "not_authenticated"}
MADE_ANEW = {"django", "drf", "falcon", "litestar", "tornado"}
"""The pages whose section of errors makes an application without a policy."""


@pytest.mark.parametrize(
    ("page", "titles"),
    [
        *((page, ["One route", "Errors"]) for page in PAGES),
        *((page, ["One route", "Policy", "Errors"]) for page in sorted(PAGES.keys() - MADE_ANEW)),
    ],
)
def test_handler_of_the_application_answers_when_a_route_rejects_a_request(page, titles, run, party):
    with PAGES[page](run(f"frameworks/{page}", *titles)) as port:
        unsigned = ask(port, raw_request("POST", "/plans/gold", JSON, BODY))
        assert (unsigned.status, unsigned.json) == (401, {"problem": CODES.get(page, "request_signature_required")})
        assert_unsigned(unsigned)
        assert ask(port, party.raw("POST", "/plans/gold", BODY)).json["plan"] == "gold"
        assert ask(port, raw_request("POST", "/nothing", JSON, BODY)).status == 404


# Django has no handler for 401.
@pytest.mark.parametrize("page", sorted(PAGES.keys() - {"django"}))
def test_function_of_rejection_answers_instead_of_the_handler_of_the_application(page, run):
    def shape(answer, _context):
        return answer.with_content(json.dumps({"shaped": answer.code}).encode())

    with PAGES[page](run(f"frameworks/{page}", "One route", "Errors", rejection=shape)) as port:
        unsigned = ask(port, raw_request("POST", "/plans/gold", JSON, BODY))
        assert (unsigned.status, unsigned.json) == (401, {"shaped": "request_signature_required"})
        assert_unsigned(unsigned)


@pytest.mark.parametrize("titles", [["One route"], ["One route", "Errors"]], ids=len)
@pytest.mark.parametrize(
    ("profile", "status"), [(profiles.WEB_BOT_AUTH_STRING, 403), (profiles.UCP, 401)], ids=["bot", "UCP"]
)
@every_page
def test_route_rejects_a_request_as_the_profile_says(page, profile, status, titles, run):
    names = run(f"frameworks/{page}", *titles, profile=profile, keys=dict(KeyPair.generate().public))
    with PAGES[page](names) as port:
        unsigned = ask(port, raw_request("POST", "/plans/gold", JSON, BODY))
        assert unsigned.status == status
        assert "@authority" in unsigned.fields["accept-signature"]


@pages_with("Tests")
def test_test_of_the_page_passes_in_a_project_of_its_own(page, tmp_path):
    (tmp_path / "keys").mkdir()
    (tmp_path / "keys/public.jwks.json").write_text(json.dumps(dict(KeyPair.generate().public)))
    texts = {"signatures.py": snippets("frameworks")["Keys and origins"]}
    for title in ("One route", "Tests"):
        *_, last = parts = re.split(r"^# (\w+\.py)\n", snippets(f"frameworks/{page}")[title], flags=re.MULTILINE)
        texts |= dict(zip(parts[1::2], parts[2::2], strict=True))
        assert "def " in last
    if "settings.py" in texts:
        # What `django-admin startproject` and pytest-django do.
        texts["settings.py"] += 'ROOT_URLCONF = "urls"\nSECRET_KEY = "secret"\n'
        texts["conftest.py"] = "import django\n\ndjango.setup()\n"
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    assert "2 passed" in pages.tests_in(tmp_path, DJANGO_SETTINGS_MODULE="settings")


@contextlib.contextmanager
def flask_run(names: dict):
    """Serve as `flask run` does: Flask-Sock needs the socket, which waitress does not show."""
    with threaded(make_server("127.0.0.1", 0, names["app"], threaded=True)) as server:
        yield server.server_port


UPGRADES_FIRST = {"sanic"}


@pages_with("WebSockets")
def test_websocket_of_the_page_requires_a_signature(page, run, party):
    serve = flask_run if page == "flask" else PAGES[page]
    with serve(run(f"frameworks/{page}", "One route", "WebSockets")) as port:
        unsigned = handshake(port, "/feed")
        assert unsigned.split(b" ")[1] in ({b"101"} if page in UPGRADES_FIRST else {b"401", b"403"}), unsigned
        assert b"acme" not in unsigned
        assert b"acme" in handshake(port, "/feed", party.fields("GET", "/feed"))


def test_unsigned_handshake_is_answered_although_a_handler_of_errors_lets_falcon_close_it(run):
    names = run("frameworks/falcon", "One route", "Errors", "WebSockets")
    app = falcon.asgi.App()
    app.add_error_handler(falcon.HTTPError, names["problem"])
    app.add_route("/feed", names["Feed"]())
    with uvicorn_server(SignatureMiddleware(app, verifier=names["verifier"], origins=ORIGINS, mode="optional")) as port:
        assert handshake(port, "/feed").split(b" ")[1] == b"401"


def test_sanic_on_an_asgi_server(run, party):
    names = run("frameworks/sanic", "One route", "An ASGI server")
    app = names["app"]
    # When an application starts, Sanic removes the signals that it does not use, also from other applications.
    app.config.TOUCHUP = False
    # Sanic makes its router when its server says that it starts, which the servers of these tests do not.
    asyncio.run(call_asgi(app, {"type": "lifespan"}))
    with uvicorn_server(names["served"]) as port:
        check(port, party)


def test_litestar_injects_the_signature(run, party):
    with uvicorn_server(run("frameworks/litestar", "One route", "Policy", "Dependencies")["app"]) as port:
        check(port, party)


# The page about all of them


def test_keys_of_the_page_name_who_signs(tmp_path, monkeypatch, party):
    (tmp_path / "keys").mkdir()
    (tmp_path / "keys/public.jwks.json").write_text(json.dumps(party.jwks))
    monkeypatch.chdir(tmp_path)
    names = pages.run(snippets("frameworks")["Keys and origins"])
    [key] = names["keys"].find(lookup("buyer-2026"))
    assert (key.owner, names["origins"]) == ("acme", [ORIGINS[0]])


def test_envelope_of_the_page_keeps_status_and_fields(run, party):
    names = run("frameworks", "Custom error responses")
    app = run("frameworks/starlette", "One route", without=', mode="optional"')
    wrapped = SignatureMiddleware(app["app"], verifier=app["verifier"], origins=ORIGINS, rejection=names["envelope"])
    with uvicorn_server(wrapped) as port:
        answer = ask(port, raw_request("GET", "/"))
        assert_unsigned(answer)
        assert answer.json == {"problem": "request_signature_required"}
        late = ask(port, party.raw("GET", "/", age=1000))
        assert (late.status, late.json) == (401, {"problem": "request_signature_window_invalid"})


def test_route_answers_with_the_content_that_ucp_prescribes(run):
    section = re.search(
        r"UCP also prescribes.*?```python\n(.*?)```", (DOCS / "frameworks.md").read_text("utf-8"), re.DOTALL
    )
    names = run("frameworks/fastapi", "One route", profile=profiles.UCP) | run("frameworks", "Custom error responses")
    with uvicorn_server(pages.run(section[1], **names)["app"]) as port:
        answer = ask(port, raw_request("POST", "/plans/gold", JSON, BODY))
        assert (answer.status, answer.json) == (401, {"code": "signature_missing", "content": "signature missing"})


CORS_INSIDE = {"flask", "litestar", "tornado"}


@every_page
def test_page_of_another_site_reads_why_a_signature_is_rejected(page, run, party):
    readable = run("frameworks", "Custom error responses", "The order of the layers")["readable"]
    with PAGES[page](
        run(f"frameworks/{page}", "One route", "CORS", rejection=readable if page in CORS_INSIDE else None)
    ) as port:
        late = ask(port, party.raw("POST", "/plans/gold", BODY, age=1000, extra=[("Origin", "https://shop.example")]))
        assert (late.status, late.json) == (401, {"error": "request_signature_window_invalid"})
        assert late.fields["access-control-allow-origin"] == "https://shop.example"


@contextlib.contextmanager
def starlette_parts(run, _monkeypatch, keys):
    """Serve the snippet of all frameworks. Yield the port of each path."""
    with uvicorn_server(run("frameworks", "Two profiles in one application", keys=keys)["app"]) as port:
        yield {"/plans": port, "/hooks": port}


@contextlib.contextmanager
def django_parts(run, monkeypatch, keys):
    run("frameworks/django", keys=keys)
    for name in ("plans", "hooks"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    with contextlib.ExitStack() as opened:
        for file, text in re.findall(
            r"^# (\S+)\.py.*\n((?:(?!# \S+\.py).*\n)*)", snippets("frameworks/django")["Two profiles"], re.MULTILINE
        ):
            for name in ["plans.urls", "hooks.urls"] if file == "plans/urls" else [file]:
                module = ModuleType(name)
                monkeypatch.setitem(sys.modules, name, module)
                exec(text, vars(module))  # noqa: S102 - the page's own words
            if file == "settings":
                opened.enter_context(override_settings(MIDDLEWARE=module.MIDDLEWARE))
        port = opened.enter_context(waitress_server(module.application))
        yield {"/plans": port, "/hooks": port}


@contextlib.contextmanager
def sanic_parts(run, _monkeypatch, keys):
    names = run("frameworks/sanic", "Two profiles", keys=keys)
    with sanic_site({"app": names["plans"]}) as plans, sanic_site({"app": names["hooks"]}) as hooks:
        yield {"/plans": plans, "/hooks": hooks}


@pytest.mark.parametrize("serve", [starlette_parts, django_parts, sanic_parts])
def test_two_profiles_of_the_page_are_for_routes_of_their_own(serve, run, party, monkeypatch):
    private, public = ed25519_pair("hook", seed=7)
    public["adcp_use"] = private["adcp_use"] = "webhook-signing"
    hooks = replace(party, signer=Signer(SigningKey.from_jwk(private), profile=profiles.ADCP_WEBHOOK))
    with serve(run, monkeypatch, {"keys": [*party.jwks["keys"], public]}) as ports:
        for by, path, other in ((party, "/plans", "/hooks"), (hooks, "/hooks", "/plans")):
            assert ask(ports[path], by.raw("POST", f"{path}/x", BODY)).json == {"caller": "acme"}
            assert ask(ports[other], by.raw("POST", f"{other}/x", BODY)).status == 401
            for crossing in (f"{path}/..{other}/x", f"{other}/..{path}/x"):
                assert {ask(port, by.raw("POST", crossing, BODY)).status for port in ports.values()} <= {401, 404}
