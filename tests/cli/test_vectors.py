"""The published vectors of the AdCP 3.2 request-signing profile, through the command line."""

from __future__ import annotations

import json

import pytest
from tests.cli.command import answers, lines
from tests.vectors.corpora import ROOT

PUBLISHED = ROOT / "adcp-3.2.4/request-signing"
KEYS = PUBLISHED / "keys.json"


def positive(name: str) -> dict:
    return json.loads((PUBLISHED / f"profile-3.2/positive/{name}.json").read_text("utf-8"))


@pytest.mark.parametrize("name", ["001-post-with-content-digest", "003-es256-post"])
def test_positive_vector_is_verified(name):
    vector = positive(name)
    options = ["--jwks", str(KEYS), "--now", str(vector["reference_now"])]
    [answer] = answers("verify", *options, "-", stdin=lines(vector["request"]))
    assert answer["detail"] == "the key is a published test key: anyone can sign with it"
    [answer] = answers("verify", "--test-keys", *options, "-", stdin=lines(vector["request"]))
    assert (answer["ok"], answer["keyid"], answer["label"]) == (True, vector["jwks_ref"][0], "sig1")
    assert answer["signature_base"] == vector["expected_signature_base"]
