"""`undersigned routes`, `flask undersigned routes` and `manage.py undersigned routes` print one table."""

import json
import sys
from io import StringIO
from types import ModuleType

import pytest
from click.testing import CliRunner
from django.core.handlers.wsgi import WSGIHandler
from django.core.management import CommandError, call_command
from django.http import HttpResponse
from django.test import override_settings
from django.urls import path
from flask import Flask
from tests.integrations import django_site  # noqa: F401 - it sets Django up
from tests.keys import ORIGIN, verifier

from undersigned import Policy, wsgi
from undersigned.cli.group import undersigned
from undersigned_django import RouteResolver as DjangoResolver
from undersigned_flask import RouteResolver, Undersigned

TABLE = """\
METHOD  PATH    OPERATION  DEMAND    SOURCE
POST    /buy    buy        required  required_for; its name
"""


def options(resolver) -> dict:
    policy = Policy(required_for=["buy"], resolver=resolver)
    return {"verifier": verifier(), "origins": [ORIGIN], "policy": policy}


def create_app() -> Flask:
    app = Flask("shop", static_folder=None)
    Undersigned(app, **options(RouteResolver()))
    app.add_url_rule("/buy", "buy", lambda: "", methods=["POST"])
    return app


def buy(_request) -> HttpResponse:
    return HttpResponse("")


@pytest.fixture
def run(monkeypatch):
    """Run the command for a module that has an application, one without a policy, and a function that makes one."""
    module = ModuleType("shop_main")
    module.app, module.create_app, module.bare = create_app(), create_app, Flask("bare")
    monkeypatch.setitem(sys.modules, "shop_main", module)
    monkeypatch.setattr(sys, "path", [*sys.path])
    return lambda *arguments: CliRunner().invoke(undersigned, ["routes", *map(str, arguments)])


def words(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()]


@pytest.mark.parametrize("name", ["shop_main:app", "shop_main", "shop_main:create_app()"])
def test_table_of_an_application(run, name):
    result = run(name)
    assert (result.exit_code, words(result.output)) == (0, words(TABLE))


def test_table_as_json(run):
    [line] = json.loads(run("shop_main:app", "--json").output)
    assert line == {
        "method": "POST", "path": "/buy", "operation": "buy", "demand": "required", "source": "required_for; its name"
    }  # fmt: skip


def test_table_that_was_kept_is_compared(run, tmp_path):
    kept = tmp_path / "routes.txt"
    kept.write_text(run("shop_main:app").output)
    assert (run("shop_main:app", "--check", kept).exit_code, run("shop_main:app", "--check", kept).output) == (0, "")
    kept.write_text(kept.read_text().replace("required ", "open     "))
    result = run("shop_main:app", "--check", kept)
    assert result.exit_code == 1
    assert [line[0] for line in result.output.splitlines()] == ["-", "+", "@", "-", "+"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("shop_main:bare", "no undersigned middleware with a policy is inside it or around it"),
        ("shop_main:other", "has no attribute 'other'"),
        ("no_shop:app", "No module named 'no_shop'"),
    ],
)
def test_application_without_a_table_is_told(run, name, expected):
    result = run(name)
    assert result.exit_code > 0
    assert expected in result.output


def test_flask_prints_the_same():
    result = create_app().test_cli_runner().invoke(args=["undersigned", "routes"])
    assert words(result.output) == words(TABLE)


def django(*arguments, **settings) -> str:
    urls = ModuleType("urls")
    urls.urlpatterns = [path("buy", buy)]
    out = StringIO()
    with override_settings(ROOT_URLCONF=urls, **settings):
        call_command("undersigned", "routes", *arguments, stdout=out)
    return out.getvalue()


INSIDE = {
    "MIDDLEWARE": ["undersigned_django.middleware.SignatureMiddleware"],
    "UNDERSIGNED": {name.upper(): value for name, value in options(DjangoResolver()).items()},
}


def around() -> object:
    return wsgi.SignatureMiddleware(WSGIHandler(), **options(DjangoResolver()))


@pytest.mark.parametrize("is_inside", [True, False])
def test_django_prints_the_same(tmp_path, monkeypatch, is_inside):
    given = INSIDE
    if not is_inside:
        given = {"MIDDLEWARE": ["undersigned_django.middleware.RouteMiddleware"], "WSGI_APPLICATION": "shop_wsgi.app"}
        given["UNDERSIGNED"] = None
        module = ModuleType("shop_wsgi")
        with override_settings(**given):
            module.app = around()
        monkeypatch.setitem(sys.modules, "shop_wsgi", module)
    expected = words(TABLE.replace("POST", "*   "))
    assert words(django(**given)) == expected
    kept = tmp_path / "routes.txt"
    kept.write_text(django(**given))
    assert django("--check", str(kept), **given) == ""
    kept.write_text("")
    with pytest.raises(SystemExit):
        django("--check", str(kept), **given)


def test_django_without_a_policy_is_told():
    with pytest.raises(CommandError, match="with a policy"):
        django(MIDDLEWARE=[], UNDERSIGNED={**INSIDE["UNDERSIGNED"], "POLICY": None, "MODE": "required"})
