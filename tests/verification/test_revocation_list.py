from __future__ import annotations

import json
import math

import pytest

from undersigned import ConfigurationError, RevocationList


def test_revocation_list_is_stale_after_four_intervals():
    listed = RevocationList(revoked=frozenset({"k"}), updated=1000, next_update=1600)
    assert not listed.is_stale(1600)
    assert not listed.is_stale(1600 + 4 * 600)
    assert listed.is_stale(1600 + 4 * 600 + 1)


@pytest.mark.parametrize(
    ("updated", "next_update"),
    [(1, 1), (2, 1), (0, math.nan), (math.nan, 1), (0, math.inf), (-math.inf, 0), (math.nan, math.nan)],
)
def test_revocation_list_needs_a_finite_next_update_after_updated(updated, next_update):
    with pytest.raises(ConfigurationError, match="next_update"):
        RevocationList(revoked=frozenset(), updated=updated, next_update=next_update)


@pytest.mark.parametrize("option", ["updated", "next_update"])
def test_revocation_list_rejects_milliseconds(option):
    with pytest.raises(ConfigurationError, match=f"^{option}: .* milliseconds"):
        RevocationList(**{"revoked": frozenset(), "updated": 0, "next_update": 60} | {option: 1_776_520_800_000})


@pytest.mark.parametrize("revoked", ["buyer-2026", b"buyer-2026", {"buyer-2026": 1}, [5], None, 5])
def test_revocation_list_rejects_what_are_not_key_ids(revoked):
    with pytest.raises(ConfigurationError, match=r"^revoked: give the revoked key IDs"):
        RevocationList(revoked=revoked, updated=0, next_update=60)


@pytest.mark.parametrize("revoked", [["a", "b"], {"a", "b"}, ("a", "b")])
def test_revocation_list_keeps_key_ids_as_a_set_for_every_owner_and_does_not_block(revoked):
    listed = RevocationList(revoked=revoked, updated=0, next_update=60)
    assert (listed.revoked, listed.blocking) == (frozenset({"a", "b"}), False)
    assert listed.current("") is listed.current("anybody") is listed


PUBLISHED = {
    "version": 1,
    "issuer": "https://gov.example.com",
    "updated": "2026-04-18T14:00:00Z",
    "next_update": "2026-04-18T14:15:00Z",
    "revoked_jtis": ["01HWZX"],
    "revoked_kids": ["gov-2026-03"],
}


@pytest.mark.parametrize("issuer", [None, "https://gov.example.com"])
@pytest.mark.parametrize("text", [json.dumps(PUBLISHED), json.dumps(PUBLISHED).encode()])
def test_revocation_list_is_read_in_its_published_form(text, issuer):
    listed = RevocationList.from_json(text, issuer=issuer)
    assert listed.revoked == {"gov-2026-03"}
    assert (listed.updated, listed.next_update) == (1_776_520_800, 1_776_521_700)
    assert listed.issuer == "https://gov.example.com"


@pytest.mark.parametrize("updated", ["2026-04-18T16:00:00+02:00", "2026-04-18T14:00:00.000Z"])
def test_time_of_a_list_may_have_any_zone_and_fractions(updated):
    assert RevocationList.from_json(json.dumps(PUBLISHED | {"updated": updated})).updated == 1_776_520_800


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"issuer": "https://evil.example"}, "issuer"),
        ({"issuer": None}, "issuer"),
        ({"revoked_kids": None}, "revoked_kids"),
        ({"revoked_kids": "gov-2026-03"}, "revoked_kids"),
        ({"revoked_kids": [5]}, "revoked_kids"),
        ({"updated": 1_776_520_800}, "dates and times with a zone"),
        ({"next_update": "soon"}, "dates and times with a zone"),
        ({"next_update": "2026-04-18T14:15:00"}, "dates and times with a zone"),
        ({"next_update": "2026-04-18"}, "dates and times with a zone"),
        ({"next_update": "2026-13-01T00:00:00Z"}, "dates and times with a zone"),
        ({"next_update": "9" * 99}, "dates and times with a zone"),
        ({"next_update": "2026-04-18T14:00:59Z"}, "1 to 30 minutes"),
        ({"next_update": "2026-04-18T14:30:01Z"}, "1 to 30 minutes"),
        ({"next_update": "2026-04-18T13:59:00Z"}, "1 to 30 minutes"),
    ],
)
def test_revocation_list_in_another_form_is_rejected(change, told):
    with pytest.raises(ConfigurationError, match=told):
        RevocationList.from_json(json.dumps(PUBLISHED | change), issuer="https://gov.example.com")


@pytest.mark.parametrize("text", ["", "[]", '{"issuer": "a", "issuer": "b"}', b"\xff", "[" * 100_000])
def test_text_is_rejected_when_it_is_not_a_json_object(text):
    with pytest.raises(ConfigurationError, match="not a JSON object"):
        RevocationList.from_json(text)
