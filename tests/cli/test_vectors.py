"""The published vectors of the AdCP 3.2 request-signing profile, through the command line."""

from __future__ import annotations

import json
import re

import pytest
from tests.cli.command import answers, lines
from tests.vectors.corpora import ROOT

PUBLISHED = ROOT / "adcp-3.2.4/request-signing"
KEYS = PUBLISHED / "keys.json"


def positive(name: str) -> dict:
    return json.loads((PUBLISHED / f"profile-3.2/positive/{name}.json").read_text("utf-8"))


def parameter(text: str, name: str) -> str:
    return re.search(rf';{name}="?([^";]+)', text)[1]


@pytest.mark.parametrize("name", ["001-post-with-content-digest", "003-es256-post"])
def test_positive_vector_is_verified(name):
    vector = positive(name)
    options = ["--jwks", str(KEYS), "--now", str(vector["reference_now"])]
    [answer] = answers("verify", *options, "-", stdin=lines(vector["request"]))
    assert answer["detail"] == "the key is a published test key: anyone can sign with it"
    [answer] = answers("verify", "--test-keys", *options, "-", stdin=lines(vector["request"]))
    assert (answer["ok"], answer["keyid"], answer["label"]) == (True, vector["jwks_ref"][0], "sig1")
    assert answer["signature_base"] == vector["expected_signature_base"]


@pytest.mark.parametrize("without", [(), ("Content-Digest",)])
def test_positive_vector_is_signed_again_to_the_same_bytes(without, tmp_path):
    vector = positive("001-post-with-content-digest")
    published = vector["request"]["headers"]
    [public] = [key for key in json.loads(KEYS.read_text("utf-8"))["keys"] if key["kid"] in vector["jwks_ref"]]
    key = tmp_path / "key"
    key.touch(0o600)
    key.write_text(json.dumps({**public, "key_ops": ["sign"], "d": public["_private_d_for_test_only"]}))
    options = [f"--{name}={parameter(published['Signature-Input'], name)}" for name in ("created", "nonce")]
    made = ("Signature-Input", "Signature", *without)
    unsigned = {**vector["request"], "headers": {n: v for n, v in published.items() if n not in made}}
    [answer] = answers("sign", "--key", str(key), *options, "-", stdin=lines(unsigned))
    assert dict(answer["headers"]) == {name: published[name] for name in made}
    assert answer["signature_base"] == vector["expected_signature_base"]
