"""The page about keys: a list of revoked keys, as the page writes and reads it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.cli.command import invoke

from undersigned import KeyPair, KeySet, MemoryReplayStore, Request, SignatureError, Signer, Verifier, profiles
from undersigned.discovery import RevocationFile
from undersigned.testing import CELLS, FAULTS

WHOLE = (Path(__file__).parents[2] / "docs/keys.md").read_text("utf-8")
PAGE = WHOLE.partition("## Revocation")[2]
URL = "https://seller.example.com/plans"


def test_table_of_the_page_is_the_contract_that_is_checked():
    rows = re.findall(r"^\| ([^|]*) \| (.*) \|$", WHOLE.partition("| asked again | log |")[2], re.MULTILINE)
    assert {state: tuple(cells.split(" | ")) for state, cells in rows[: len(CELLS)]} == CELLS
    assert f": {', '.join(FAULTS)}." in " ".join(WHOLE.split())


def test_list_of_the_page_revokes_a_key(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "keys").mkdir()
    [read] = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    [command] = re.findall(r"^\$ undersigned (.*) --check ", PAGE, re.MULTILINE)
    assert invoke(*command.split()).exit_code == 0
    written = json.loads((tmp_path / "keys/revoked.json").read_text())
    names: dict = {}
    exec(read, names)  # noqa: S102 - the page's own words
    pair = KeyPair.generate(keyid="buyer-2025")
    fields = Signer(pair.signing_key(), profile=profiles.ADCP_3_2).sign(Request("GET", URL))
    options = {"keys": KeySet.from_jwks(pair.public), "replay": MemoryReplayStore()}
    with pytest.raises(SignatureError, match="key_revoked"):
        Verifier(profiles.ADCP_3_2, revocations=names["revocations"], **options).verify(Request("GET", URL, fields))
    (tmp_path / "keys/others.json").write_text(json.dumps({**written, "revoked_kids": ["another"]}))
    others = RevocationFile("keys/others.json")
    assert Verifier(profiles.ADCP_3_2, revocations=others, **options).verify(Request("GET", URL, fields))
