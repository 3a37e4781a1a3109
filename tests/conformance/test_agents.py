"""Fields, documents and ranges of our own: each one right, and then wrong."""

from __future__ import annotations

import pytest
from tests.conformance.files import lay_files

from undersigned.conformance import SetAside, find, grade
from undersigned.conformance.agents import AgentFieldCase, CardCase, RangeCase, RegistryCase
from undersigned.conformance.document import Document

URL = "https://bot.example/card"
CARD = {"client_id": URL, "jwks_uri": "https://bot.example/keys.json"}


def agent_field(**changes) -> AgentFieldCase:
    entry = {"label": "sig1", "uri": "https://bot.example", "type": "directory"}
    return AgentFieldCase("own", Document({"header": 'sig1="https://bot.example"', "entries": [entry], **changes}))


def card(**changes) -> CardCase:
    return CardCase("own", Document({"url": URL, "valid": True, "card": CARD, **changes}))


def registry(**changes) -> RegistryCase:
    members = {"registry_txt": f"# ours\n{URL} # one\nhttp://x/\n", "signature_agent_cards": [URL], **changes}
    return RegistryCase("own", Document(members))


@pytest.mark.parametrize(
    "given",
    [
        agent_field(),
        agent_field(header='sig1="https://bot.example/keys.json"', entries=[]),
        card(),
        card(valid=False, url=f"{URL}/other"),
        registry(),
        RangeCase("own", Document({"own": ["10.0.0.0/8", "::1/128"]})),
    ],
)
def test_right_case_has_no_difference(given):
    assert grade(given).difference is None


@pytest.mark.parametrize(
    ("given", "subject"),
    [
        (agent_field(entries=[]), "members"),
        (card(valid=False), "card"),
        (card(card={}), "card"),
        (registry(signature_agent_cards=[]), "cards"),
        (RangeCase("own", Document({"own": ["8.8.8.0/24"]})), "address in 8.8.8.0/24"),
        (RangeCase("own", Document({"own": ["text"]})), "not a vector"),
    ],
)
def test_wrong_case_has_its_difference(given, subject):
    assert grade(given).difference.subject == subject


def test_documents_of_agents_are_not_run_without_the_package_that_reads_them(tmp_path, monkeypatch):
    lay_files(tmp_path, {"cards.json": [{"card": CARD, "url": URL, "valid": True}]})
    assert len(find(tmp_path)) == 1
    monkeypatch.setattr("undersigned.conformance.forms_lists.find_spec", lambda _: None)
    assert find(tmp_path).set_aside == [SetAside("cards", 1, "documents of agents: install undersigned[discovery]")]


def test_address_ranges_are_not_run_without_the_package_that_rejects_them(tmp_path, monkeypatch):
    lay_files(tmp_path, {"ranges.json": {"recommended_latest": ["10.0.0.0/8"], "older": ["10.0.0.0/8"]}})
    assert len(find(tmp_path)) == 2
    monkeypatch.setattr("undersigned.conformance.forms_lists.find_spec", lambda _: None)
    assert find(tmp_path).set_aside == [
        SetAside("ranges", 2, "groups of address ranges: install undersigned[discovery]")
    ]
