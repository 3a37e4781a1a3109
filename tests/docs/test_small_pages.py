"""The pages with a table or a snippet or two: each snippet runs, and each table has what the library has."""

from __future__ import annotations

import json
import re
import tomllib

import pytest
import tests.integrations.django_site  # noqa: F401 - it configures Django
from django.test import override_settings
from tests.cli.command import invoke
from tests.docs.pages import ROOT, page, run, snippets

import undersigned
from undersigned import (
    ConfigurationError,
    KeyPair,
    KeySet,
    MemoryReplayStore,
    Request,
    SignatureError,
    Signer,
    Verifier,
    profiles,
    same_url,
)
from undersigned.discovery import RevocationFile
from undersigned.middleware import WSGIOptions
from undersigned.signature.algorithms import ALGORITHMS
from undersigned.testing import CELLS, FAULTS
from undersigned_django.requirement import read_setting


def rows(text: str) -> list[list[str]]:
    """Return the cells of each row that begins with a name in code."""
    return [
        [cell.strip() for cell in row.strip("|").split("|")] for row in re.findall(r"^\| `.*\|$", text, re.MULTILINE)
    ]


def test_spellings_on_the_page_of_concepts_have_one_canonical_form():
    spellings = re.search(r"`(HTTPS://[^`]+)` and `(https://[^`]+)` have the same one", page("docs/concepts.md"))
    assert same_url(spellings[1], spellings[2])


def test_example_of_rfc_9421_is_correct():
    [snippet] = snippets(page("docs/rfc9421.md"))
    assert "assert " in snippet
    run(snippet)


def test_page_of_rfc_9421_names_every_algorithm():
    table = page("docs/rfc9421.md").partition("## Algorithms")[2].partition("\n## ")[0]
    assert {name for name in re.findall(r"`([a-z0-9_-]+)`", table) if "-" in name or name == "ed25519"} == ALGORITHMS


def test_partners_keys_are_accepted_in_five_lines():
    source = snippets(page("docs/partners.md"))[0]
    assert len([line for line in source.splitlines() if line]) <= 5
    assert isinstance(run(source)["verifier"], Verifier)


def test_command_of_the_page_writes_the_page_for_a_partner():
    command = re.search(r"^\$ undersigned (.*) > partners.md$", page("docs/partners.md"), re.MULTILINE)[1].split()
    assert invoke(*command).stdout.startswith("# Signing requests to https://shop.example.com/")


def test_table_of_faults_is_the_contract_that_is_checked():
    text = page("docs/keys.md")
    shown = re.findall(r"^\| ([^|]*) \| (.*) \|$", text.partition("| asked again | log |")[2], re.MULTILINE)
    assert {state: tuple(cells.split(" | ")) for state, cells in shown[: len(CELLS)]} == CELLS
    assert f": {', '.join(FAULTS)}." in " ".join(text.split())


def test_list_of_the_page_revokes_a_key(tmp_path, monkeypatch):
    text, url = page("docs/keys.md").partition("## Revocation")[2], "https://seller.example.com/plans"
    monkeypatch.chdir(tmp_path)
    (tmp_path / "keys").mkdir()
    [read] = snippets(text)
    [command] = re.findall(r"^\$ undersigned (.*) --check ", text, re.MULTILINE)
    assert invoke(*command.split()).exit_code == 0
    written = json.loads((tmp_path / "keys/revoked.json").read_text())
    pair = KeyPair.generate(keyid="buyer-2025")
    fields = Signer(pair.signing_key(), profile=profiles.ADCP_3_2).sign(Request("GET", url))
    options = {"keys": KeySet.from_jwks(pair.public), "replay": MemoryReplayStore()}
    with pytest.raises(SignatureError, match="key_revoked"):
        Verifier(profiles.ADCP_3_2, revocations=run(read)["revocations"], **options).verify(Request("GET", url, fields))
    (tmp_path / "keys/others.json").write_text(json.dumps({**written, "revoked_kids": ["another"]}))
    others = RevocationFile("keys/others.json")
    assert Verifier(profiles.ADCP_3_2, revocations=others, **options).verify(Request("GET", url, fields))


@pytest.mark.parametrize("framework", ["Django", "Flask"])
def test_table_of_settings_has_every_one(framework):
    settings = {"VERIFIER", "JWKS", "PROFILE", "ORIGINS", *(name.upper() for name in WSGIOptions.__optional_keys__)}
    if framework == "Django":  # its error for an unknown setting lists them
        with override_settings(UNDERSIGNED={"NO": 1}), pytest.raises(ConfigurationError) as caught:
            read_setting()
        settings = set(str(caught.value).rpartition("use ")[2].split(", "))
    column = ["Django", "Flask"].index(framework) + 3
    assert {row[0].strip("`") for row in rows(page("docs/settings.md")) if row[column] == "yes"} == settings


def test_lowest_versions_of_the_page_are_those_that_pip_asks_for():
    project = tomllib.loads(page("pyproject.toml"))["project"]
    extras = project["optional-dependencies"]
    kept = [*project["dependencies"], *(line for name, lines in extras.items() if name != "test" for line in lines)]
    asked = (re.match(r"([a-z0-9-]+)(?:\[[^]]*\])?>=([\d.]+)$", line) for line in kept)
    lowest = dict(found.groups() for found in asked if found)
    promised = dict(re.findall(r"^\| ([a-z0-9-]+) \| ([\d.]+) \|$", page("docs/project/stability.md"), re.MULTILINE))
    assert promised
    assert promised == {name: lowest.get(name) for name in promised}


def test_citation_names_this_version():
    assert f"version: {undersigned.__version__}\n" in page("CITATION.cff")


LONGEST = {"agents": 8, "webhooks": 10}
COUNTS = {"agents": 7, "webhooks": 3}


@pytest.mark.parametrize("name", LONGEST)
def test_snippet_is_short_and_in_an_example_which_another_test_runs(name):
    def lines(text: str) -> list[str]:
        return [line.strip() for line in text.splitlines() if line.strip()]

    shown = [lines(snippet) for snippet in snippets(page(f"docs/{name}.md"))]
    examples = [set(lines(path.read_text())) for path in (ROOT / "examples").glob("*_*.py")]
    assert len(shown) == COUNTS[name]
    assert [one for one in shown if len(one) > LONGEST[name] or not any(set(one) <= each for each in examples)] == []


PARTS = {
    "method": {"@method"},
    "authority": {"@authority", "@target-uri"},
    "path": {"@path", "@request-target", "@target-uri"},
    "query": {"@query", "@request-target", "@target-uri"},
}
COVERED = {row[0].strip("`"): row[1:] for row in rows(page("SECURITY.md")) if len(row) == 6 and row[0].isupper()}


@pytest.mark.parametrize("name", COVERED)
def test_table_of_the_security_page_says_what_a_signature_covers_at_least(name):
    profile = getattr(profiles, name)
    rule = profile.coverage
    always = {*rule.always, *rule.with_query}
    for wanted, said in zip(PARTS.values(), COVERED[name], strict=False):
        one_of = [set(components) <= wanted for components in rule.any_of]
        if wanted & always or any(one_of):
            assert said == "yes"
        else:
            assert said == ("by `wimse-aud`" if wanted is PARTS["authority"] and profile.parameters.audience else "no")
    assert COVERED[name][-1] == ("yes" if profile.digest.policy == "required" else "if the sender covers it")


def test_table_of_the_security_page_has_every_profile_for_requests():
    named = {name for name in profiles.__all__ if getattr(getattr(profiles, name), "message", "") == "request"}
    assert named - {"UCP_MCP"} == {*COVERED}, "add a row to the table of SECURITY.md"
