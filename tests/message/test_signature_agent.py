from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from undersigned import UndersignedError
from undersigned.message import DIRECTORY_PATH, SignatureAgent, write_signature_agent
from undersigned.message.signature_agent import read_signature_agent

PUBLISHED = Path(__file__).parents[1] / "vectors" / "published" / "profiles" / "web-bot-auth"
FIELDS = json.loads((PUBLISHED / "web_bot_auth_signature_agent_v1.json").read_text("utf-8"))
BOT = "https://bot.example"
FORMS = ["string", "typed", "jwks"]


@pytest.mark.parametrize("published", FIELDS, ids=lambda field: field["name"])
def test_published_fields_are_read_and_written(published):
    [entry] = published["entries"]
    agent = read_signature_agent(published["header"], form="typed", member=entry["label"])
    assert (agent.url, agent.document) == (entry["uri"], entry["type"])
    written = write_signature_agent(entry["uri"], form="typed", label=entry["label"], document=entry["type"])
    assert written == published["header"]


def test_string_names_the_directory_of_its_origin():
    agent = read_signature_agent(f'"{BOT}"', form="string")
    assert agent == SignatureAgent(BOT, "directory", BOT + DIRECTORY_PATH)
    assert read_signature_agent('"HTTPS://Bot.example:443/"', form="string").location == agent.location


@pytest.mark.parametrize(
    ("value", "location"),
    [
        (f'a="{BOT}/keys.json", me="{BOT}/k?v=2#x"', f"{BOT}/k?v=2"),
        (f'me="{BOT}"', f"{BOT}/"),
        (f'me="{BOT}/%7ea/../k"', f"{BOT}/k"),
    ],
)
def test_member_of_the_jwks_form_names_a_set(value, location):
    agent = read_signature_agent(value, form="jwks", member="me")
    assert (agent.document, agent.location) == ("jwks_uri", location)


@pytest.mark.parametrize(
    ("value", "document"),
    [
        (f'me="{BOT}"', "directory"),
        (f'me="{BOT}/";type=directory;more=1', "directory"),
        (f'me="{BOT}/k";type=jwks_uri', "jwks_uri"),
        (f'me="{BOT}/card";type=cimd', "cimd"),
    ],
)
def test_member_of_the_typed_form_names_what_its_type_says(value, document):
    assert read_signature_agent(value, form="typed", member="me").document == document


@pytest.mark.parametrize(
    ("form", "member"),
    [
        ("typed", '"https://bot.example/keys.json"'),
        ("typed", '"https://bot.example?"'),
        ("typed", '"https://bot.example#"'),
        ("typed", '"https://bot.example";type=other'),
        ("typed", '"https://bot.example";type="directory"'),
        ("typed", '"https://bot.example";type'),
        ("jwks", '"https://bot.example/keys.json";type=jwks_uri'),
        ("jwks", '"https://bot.example/keys.json";x'),
    ],
)
def test_member_that_names_nothing_is_ignored(form, member):
    assert read_signature_agent(f"sig1={member}", form=form, member="sig1") is None


def test_string_that_names_no_directory_is_ignored():
    assert read_signature_agent('"https://bot.example/keys.json"', form="string") is None


@pytest.mark.parametrize(
    "member",
    [
        '("https://bot.example/keys.json")',
        "https",
        "?1",
        "5",
        ":aHR0cHM6Ly9hLw==:",
        '%"https://bot.example/"',
        '"http://bot.example/keys.json"',
        '"https://me@bot.example/keys.json"',
        '"https://@bot.example/keys.json"',
        '"//bot.example/keys.json"',
        '"/keys.json"',
        '"data:application/json,{}"',
        '"https://bot example/"',
        '"https://bot.example/a b"',
        '""',
    ],
)
def test_member_that_is_not_an_https_url_is_malformed(member):
    for form in ("jwks", "typed"):
        with pytest.raises(UndersignedError):
            read_signature_agent(f"sig1={member}", form=form, member="sig1")
    with pytest.raises(UndersignedError):
        read_signature_agent(member, form="string")


@pytest.mark.parametrize(
    ("form", "value"),
    [
        ("string", f'sig1="{BOT}"'),
        ("string", f'"{BOT}", "{BOT}"'),
        ("string", BOT),
        ("string", "?1"),
        ("string", ""),
        ("string", '"é"'),
        ("jwks", f'"{BOT}"'),
        ("typed", f'"{BOT}"'),
        ("jwks", f'other="{BOT}"'),
        ("jwks", f'sig1="{BOT}", sig1="{BOT}/2"'),
        ("jwks", f'sig1="{BOT}";a=1;a=2'),
        ("jwks", ""),
        ("jwks", f'sig1="{BOT}' + "/" * 4096 + '"'),
        ("string", '"' + ":" * 129 + '"'),
    ],
)
def test_field_of_another_shape_is_malformed(form, value):
    with pytest.raises(UndersignedError):
        read_signature_agent(value, form=form, member="sig1")


@given(st.text(st.characters(max_codepoint=255), max_size=60) | st.text('"=;,a:/ hpst.()', max_size=30))
def test_any_text_is_read_or_malformed(value):
    for form in FORMS:
        try:
            agent = read_signature_agent(value, form=form, member="a")
        except UndersignedError:
            continue
        assert agent is None or agent.location.startswith("https://")


def test_signer_writes_the_form_of_the_destination():
    assert write_signature_agent(BOT, form="string") == '"https://bot.example"'
    assert write_signature_agent(BOT, form="typed", label="me") == 'me="https://bot.example"'
    assert write_signature_agent(f"{BOT}/k", form="jwks") == 'sig1="https://bot.example/k"'
    typed = write_signature_agent(f"{BOT}/k", form="typed", document="jwks_uri")
    assert typed == 'sig1="https://bot.example/k";type=jwks_uri'


@pytest.mark.parametrize(
    ("url", "options", "option"),
    [
        (f"{BOT}/k", {"form": "string"}, "url"),
        (f"{BOT}/k", {"form": "typed"}, "url"),
        ("http://bot.example", {"form": "jwks"}, "url"),
        (f'{BOT}/k", b="x', {"form": "jwks"}, "url"),
        (f"{BOT}/\\k", {"form": "jwks"}, "url"),
        (f"{BOT}/é", {"form": "jwks"}, "url"),
        (BOT, {"form": "other"}, "form"),
        (BOT, {"form": "typed", "document": "card"}, "form"),
        (BOT, {"form": "typed", "label": "Sig"}, "label"),
    ],
)
def test_signer_writes_nothing_that_a_receiver_ignores(url, options, option):
    with pytest.raises(ValueError, match=f"^{option}: "):
        write_signature_agent(url, **options)
