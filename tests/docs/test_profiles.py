"""The page about profiles: its table has every profile with its values, and its snippets run."""

from __future__ import annotations

import re

import pytest
from tests.docs.pages import ROOT, page, run, snippets

from undersigned import KeyPair, MemoryReplayStore, Request, Signer, Verifier, profiles
from undersigned.profiles import __all__ as names

PAGE = page("docs/profiles.md")
EXAMPLES = {path.name: path.read_text("utf-8") for path in (ROOT / "examples").glob("*.py")}
ROWS = {
    cells[0].strip("` "): cells
    for cells in (row.strip("|").split("|") for row in re.findall(r"^\| `[A-Z].*\|$", PAGE, re.MULTILINE))
}
PAGES = [ROOT / "docs" / "profiles.md", *sorted((ROOT / "docs" / "profiles").glob("*.md"))]
SNIPPETS = snippets(PAGE)
COMPONENTS = re.compile(r'"?[@a-z][a-z-]+"?(?:;req)?')
NAMES = [name for name in names if name not in {"BY_NAME", "FOR_REQUESTS"}]


def test_table_has_published_profiles_only():
    assert {name for name in ROWS if name.isupper()} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_published_profile_has_its_places(name):
    assert getattr(profiles, name).source is not None, "source=: name the document, its date and its URL"
    assert name in ROWS, "add a row to docs/profiles.md"
    pages = [page.stem for page in PAGES[1:] if f"`{name}`" in page.read_text("utf-8")]
    assert pages, "add a page to docs/profiles/ that names it, and to docs/index.md"
    used = [file for file, text in EXAMPLES.items() if re.search(rf"(profiles\.|`){name}\b", text)]
    assert used, "use it in a program of examples/"


@pytest.mark.parametrize("name", sorted({*ROWS} & {*NAMES}))
def test_row_has_the_values_of_the_profile(name):
    profile, (_, _, covers, algorithms, valid, remembered) = getattr(profiles, name), ROWS[name]
    assert int(algorithms) == len(profile.algorithms)
    if "the same" not in covers:
        first = re.search("`([^`]*)`", covers)[1]
        assert tuple(COMPONENTS.findall(first)) == (
            *profile.coverage.always,
            *[group[0] for group in profile.coverage.any_of],
        )
    seconds = {"300 s": 300, "24 h": 86_400, "60 s": 60, "480 s": 480, "600 s": 600, "5 minutes": 300}
    told = [value for text, value in seconds.items() if text in valid]
    longest = profile.validity.default or profile.validity.longest
    assert told == ([longest] if longest and told else [])
    assert ("expires" in profile.required) == ("to `expires`" in valid and "if sent" not in valid)
    assert remembered.split()[0].lower() == {"field": "idempotency-key"}.get(
        profile.replay.remembers, profile.replay.remembers
    )


def test_own_profile_of_the_page_is_that_of_its_example():
    made = SNIPPETS[1].partition("\n\n")[2]
    assert made.startswith("INTERNAL = ")
    assert made in EXAMPLES["own_profile_app.py"]


def test_own_profile_of_the_page_signs_and_verifies():
    own, pair = run(SNIPPETS[1])["INTERNAL"], KeyPair.generate()
    assert len(SNIPPETS[1].strip().splitlines()) <= 10
    request = Request("GET", "https://a.example/p?q=1", [("X-Tenant", "a")])
    fields = Signer(pair.signing_key(), profile=own).sign(request)
    assert fields.components == ("@method", "@authority", "@path", "x-tenant", "@query")
    verifier = Verifier(own, keys=pair.key_set(), replay=MemoryReplayStore())
    assert verifier.verify(Request(request.method, request.url, [*request.fields, *fields]))


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_snippet_of_a_page_that_makes_a_verifier_runs(path):
    given = {"jwks": KeyPair.generate(keyid="buyer").public, "issuer_keys": KeyPair.generate().key_set()}
    for snippet in snippets(path.read_text("utf-8")):
        compile(snippet, path.name, "exec")
        if "verifier = " in snippet and "app = " not in snippet:  # the tests of the README serve an application
            assert isinstance(run(snippet, **given)["verifier"], Verifier)


def test_profile_on_the_page_about_migrating_accepts_a_plain_signature():
    [snippet] = [text for text in snippets(page("docs/migrating.md")) if "TODAY = " in text]
    today, pair = run(snippet)["TODAY"], KeyPair.generate()
    request = Request("POST", "https://a.example/p", (), b"{}")
    fields = Signer(pair.signing_key(), profile=today).sign(request)
    assert re.search(
        r'sig1=\("@method" "@authority" "@target-uri"\);created=\d+;keyid=', dict(fields)["Signature-Input"]
    )
    verifier = Verifier(today, keys=pair.key_set(), replay=MemoryReplayStore())
    assert verifier.verify(Request(request.method, request.url, [*fields], request.body))


@pytest.mark.parametrize("name", NAMES)
def test_page_of_a_profile_names_its_edition(name):
    source = getattr(profiles, name).source
    told = [
        path.name
        for path in PAGES[1:]
        if f"`{name}`" in (text := path.read_text("utf-8")) and source.edition.removeprefix("v") in text
    ]
    assert told
