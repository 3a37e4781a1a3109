"""The documentation site: what its pages are made of, and the check of the finished pages."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import sys
from pathlib import Path

import pytest

import undersigned

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
INTEGRATIONS = sorted(init.parent.name for init in ROOT.glob("integrations/*/__init__.py"))
sys.path.insert(0, str(DOCS))

import site_check  # noqa: E402 - a module of docs/
import site_pages  # noqa: E402 - as above


def public_packages() -> list[str]:
    inner = [found.name for found in pkgutil.walk_packages(undersigned.__path__, "undersigned.") if found.ispkg]
    packages = [name for name in inner if ".cli" not in name and hasattr(importlib.import_module(name), "__all__")]
    return [*packages, *(name for name in INTEGRATIONS if name != "undersigned_demo")]


OTHERS = ["undersigned", "undersigned.errors", "undersigned.webhooks"]


@pytest.mark.parametrize("package", [*public_packages(), *OTHERS])
def test_reference_describes_every_public_package(package):
    assert package in site_pages.documented()


@pytest.mark.parametrize("package", public_packages())
def test_reference_has_every_public_name_once(package):
    written = site_pages.reference(package)
    for name in site_pages.public_names(importlib.import_module(package)):
        own = len(
            re.findall(rf"^\.\. (?:autoclass|autofunction|py:data):: (?:{package}\.)?{name}$", written, re.MULTILINE)
        )
        other = len(re.findall(rf"^\* :py:obj:`{name} <", written, re.MULTILINE))
        assert own + other == 1, name


@pytest.mark.parametrize("package", [*public_packages(), *OTHERS])
def test_every_public_name_of_the_reference_is_described(package):
    module = importlib.import_module(package)
    values = [getattr(module, name) for name in site_pages.public_names(module)]
    assert all(value.__doc__ for value in values if inspect.isclass(value) or inspect.isroutine(value))
    assert not re.search(r"^\.\. py:data:: \w+\n\n {3}\n", site_pages.reference(package), re.MULTILINE)


def test_reference_has_every_name_of_the_root_once():
    page = (DOCS / "reference" / "undersigned.md").read_text("utf-8")
    named = " ".join(re.findall(r"^\.\. package:: undersigned: (.+)$", page, re.MULTILINE)).split()
    assert sorted(named) == sorted(site_pages.public_names(undersigned))


@pytest.mark.parametrize(
    ("package", "text"),
    [
        ("undersigned.verification", "* :py:obj:`Verifier <undersigned.Verifier>`"),  # under the root
        ("undersigned.testing", "   A part of a request that `tamper` changes."),  # the text after an assignment
        ("undersigned.testing", "* :py:obj:`KeyPair <undersigned.KeyPair>`: A key pair"),  # of another package
    ],
)
def test_reference_describes_a_name_in_its_place(package, text):
    assert text in site_pages.reference(package)


@pytest.fixture
def site(tmp_path):
    (tmp_path / "a.html").write_text('<h1 id="top">A</h1><a href="b.html#end">b</a><a href="https://x.example/">x</a>')
    (tmp_path / "b.html").write_text(
        '<p id="end"><a href="a.html">a</a><link rel="canonical" href="https://x.example/">'
    )
    return tmp_path


def test_finished_site_has_no_faults(site):
    assert list(site_check.faults(site)) == []


@pytest.mark.parametrize(
    ("html", "fault"),
    [
        ('<a href="c.html">c</a>', "c.html leads to no file"),
        ('<a href="b.html#begin">b</a>', "b.html#begin leads to no place on that page"),
        ('<a href="#nowhere">n</a>', "#nowhere leads to no place on that page"),
        ('<img src="picture.svg">', "picture.svg leads to no file"),
        pytest.param(
            "<p>f(a=&lt;B object at 0x7f&gt;)",
            "the address of an object differs each time the site is built",
            id="address",
        ),
        ('<script src="https://cdn.example/x.js"></script>', "https://cdn.example/x.js is fetched from elsewhere"),
        ('<link rel="stylesheet" href="//fonts.example/f.css">', "//fonts.example/f.css is fetched from elsewhere"),
    ],
)
def test_fault_of_a_page_is_reported(site, html, fault):
    (site / "d.html").write_text(html)
    assert list(site_check.faults(site)) == [f"d.html: {fault}"]


def test_style_from_elsewhere_is_reported(site):
    (site / "s.css").write_text('@import "https://fonts.example/f.css";')
    assert list(site_check.faults(site)) == ["s.css: a style is fetched from elsewhere"]


def test_page_has_every_example_with_what_it_is():
    rows = dict(
        re.findall(
            r"^\| \[(\w+\.py)\]\(\.\./examples/\1\) \| (.+) \|$",
            (DOCS / "examples.md").read_text("utf-8"),
            re.MULTILINE,
        )
    )
    said = {
        path.name: path.read_text("utf-8").partition('"""')[2].partition("\n")[0].removesuffix('"""')
        for path in (ROOT / "examples").glob("*.py")
    }
    assert rows == said, "docs/examples.md needs a row for each example, with the first sentence of its docstring"
