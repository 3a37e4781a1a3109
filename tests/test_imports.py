from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from tests.packages import PACKAGES

import undersigned.discovery

ROOT = Path(__file__).parents[1]
INTEGRATIONS = {name: folder for name, folder in PACKAGES.items() if name != "undersigned"}
FOREIGN = {
    *("starlette", "fastapi", "flask", "werkzeug", "django", "aiohttp", "tornado", "sanic", "requests", "httpx"),
    *("httpx2", "httpcore2", "joserfc", "publicsuffixlist", "click", "asyncio", "pytest"),
}
FIRST_USE = ("undersigned.normalization", "undersigned.discovery", "undersigned.cli", "undersigned.explanation")


def test_import_of_the_library_loads_no_framework_client_event_loop_or_package_for_later():
    program = "import sys, undersigned; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-I", "-c", program], check=True, capture_output=True, text=True).stdout  # noqa: S603 - our own words
    assert "undersigned" in loaded.split()
    assert not FOREIGN & {name.partition(".")[0] for name in loaded.split()}
    assert not [name for name in loaded.split() if name.startswith(FIRST_USE)]


EXTRAS = {
    "undersigned.cli": "cli",
    "undersigned.discovery": "discovery",
    "undersigned.webhooks": "discovery",
    "undersigned_demo": "demo",
    "undersigned_httpx.httpx2": "httpx2",
    "undersigned_inspector": "cli",
}
"""The extra of each package that is not named after it."""

FETCHLESS = {"FetchReport", "Freshness", "JWKSFile", "KeySources", "Network", "RevocationFile", "RevocationSources"}

EVERY_IMPORT = """
import json
import sys
from importlib import import_module
from importlib.abc import MetaPathFinder

modules, blocked = json.load(sys.stdin)


class Blocked(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] in blocked:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


sys.meta_path.insert(0, Blocked())
told = {}
for name in modules:
    try:
        module = import_module(name)
    except ModuleNotFoundError as missing:
        told[name] = str(missing)
        continue
    for listed in getattr(module, "__all__", []):
        try:
            getattr(module, listed)
        except ModuleNotFoundError as missing:
            told[f"{name}.{listed}"] = str(missing)
print(json.dumps(told))
"""


def told_without(blocked: set[str], modules: list[str]) -> dict[str, str]:
    """Return what each module, or a name that it lists, says if it cannot be imported without these libraries."""
    program = [sys.executable, "-c", EVERY_IMPORT]
    given = json.dumps([modules, sorted(blocked)])
    done = subprocess.run(program, input=given, check=True, capture_output=True, text=True)  # noqa: S603 - our own words
    return json.loads(done.stdout)


def every_module() -> list[str]:
    """Return our modules, but not the fixtures, which pytest itself imports."""
    folders = sorted(PACKAGES.values())
    files = [(file, folder.parent) for folder in folders for file in sorted(folder.rglob("*.py"))]
    names = [".".join(file.relative_to(root).with_suffix("").parts).removesuffix(".__init__") for file, root in files]
    return [name for name in names if name != "undersigned.testing.fixtures" and not name.endswith(".__main__")]


def extra_of(name: str) -> str:
    named = max((package for package in EXTRAS if f"{name}.".startswith(f"{package}.")), key=len, default="")
    return EXTRAS.get(named) or name.partition(".")[0].removeprefix("undersigned_")


def libraries() -> set[str]:
    """Return the names by which the libraries of all extras are imported."""
    imported = {"djangorestframework": "rest_framework", "pynacl": "nacl", "opentelemetry-api": "opentelemetry"}
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    required = {re.split(r"[^\w-]", line)[0] for extra in extras.values() for line in extra} - {"undersigned"}
    # What these bring with them is missing too.
    return {imported.get(name, name) for name in required} | {"asgiref", "psycopg_pool", "werkzeug"}


def test_every_import_that_needs_an_extra_names_it():
    told = told_without(libraries(), every_module())
    assert told == {
        name: f"{message.partition(' ')[0]} is not installed: pip install 'undersigned[{extra_of(name)}]'"
        for name, message in told.items()
    }
    # The stores of Redis take a client that exists.
    assert INTEGRATIONS.keys() - {name.partition(".")[0] for name in told} == {"undersigned_redis"}
    assert not [name for name in told if name.removeprefix("undersigned.discovery.") in FETCHLESS]


@pytest.mark.parametrize(
    ("library", "module", "extra"),
    [
        ("rest_framework", "undersigned_django.rest_framework", "drf"),
        ("publicsuffixlist", "undersigned.discovery.adcp", "discovery"),
    ],
)
def test_import_names_an_extra_whose_package_has_other_libraries_too(library, module, extra):
    told = told_without({library}, [module])
    assert told == {module: f"{library} is not installed: pip install 'undersigned[{extra}]'"}


def test_starlette_needs_no_fastapi():
    modules = [name for name in every_module() if name.startswith("undersigned_starlette")]
    assert told_without({"fastapi"}, modules) == {}


def test_name_that_discovery_does_not_have_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'JWKSFiles'"):
        _ = undersigned.discovery.JWKSFiles


PARTS = {"undersigned_demo", "undersigned_inspector"}
"""Packages that are parts of the library, and may import all of it."""
EXCEPTIONS = {
    "undersigned_fastapi": {"undersigned_starlette", "undersigned_starlette.routes"},
    "undersigned_quart": {"undersigned_flask.routes"},
    "undersigned_gevent": {"undersigned.wsgi.wsgiref"},
}


def imports_of(folder: Path) -> set[str]:
    """The modules of ours that the modules in a folder import, by their absolute names."""
    nodes = [node for path in folder.rglob("*.py") for node in ast.walk(ast.parse(path.read_text("utf-8")))]
    names = {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom) and node.level == 0}
    names |= {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    return {name for name in names if name.startswith("undersigned")}


@pytest.mark.parametrize("name", sorted(INTEGRATIONS.keys() - PARTS))
def test_integration_imports_public_packages_and_no_other_integration(name):
    allowed = EXCEPTIONS.get(name, set())
    others = {module for module in imports_of(INTEGRATIONS[name]) - allowed if module.partition(".")[0] != name}
    assert "undersigned" in {module.partition(".")[0] for module in others | allowed}
    assert not {module for module in others if not module.startswith("undersigned.") and module != "undersigned"}
    assert not {module for module in others if module.count(".") > 1}


def test_library_imports_no_integration():
    assert not {module for module in imports_of(PACKAGES["undersigned"]) if module.startswith("undersigned_")}
