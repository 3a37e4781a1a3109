"""The published vectors of the AdCP 3.2 request-signing profile, through the command line."""

from __future__ import annotations

import json
import re

import pytest
from tests.cli.command import answers, lines
from tests.vectors.corpora import ROOT

_PUBLISHED = ROOT / "adcp-3.2.4/request-signing"
_POSITIVE = _PUBLISHED / "profile-3.2/positive"
_SIGNATURE_FIELDS = {"signature", "signature-input"}


def positives(*, algorithm: str = "", without: str = "nothing"):
    vectors = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(_POSITIVE.glob("*.json"))}
    return [
        pytest.param(vector, id=name)
        for name, vector in vectors.items()
        if f'alg="{algorithm}' in vector["request"]["headers"]["Signature-Input"]
        and without not in vector["request"]["headers"]["Content-Digest"]
    ]


def keys_of(vector) -> list[dict]:
    named = {key["kid"]: key for key in json.loads((_PUBLISHED / "keys.json").read_text(encoding="utf-8"))["keys"]}
    return [named[kid] for kid in vector["jwks_ref"]]


def member(field: str, label: str = "sig1") -> str:
    """The member `label` of a dictionary field, as it is written."""
    return re.search(rf"(?:^|, ){label}=(.*?)(?=, [a-z0-9]+=[(:]|$)", field)[1]


def parameter(text: str, name: str) -> str:
    return re.search(rf';{name}="?([^";]+)', text)[1]


@pytest.mark.parametrize("vector", positives(algorithm="ed25519"))
def test_every_ed25519_positive_is_signed_again_to_the_same_bytes(vector, tmp_path):
    request, published = dict(vector["request"]), vector["request"]["headers"]
    request["headers"] = {n: v for n, v in published.items() if n.lower() not in _SIGNATURE_FIELDS}
    [public] = keys_of(vector)
    key = tmp_path / "key"
    key.write_text(json.dumps({**public, "key_ops": ["sign"], "d": public["_private_d_for_test_only"]}))
    expected = member(published["Signature-Input"])
    options = [f"--{name}={parameter(expected, name)}" for name in ("created", "expires", "nonce")]
    [answer] = answers("sign", "--key", str(key), *options, "-", stdin=lines(request))
    assert answer == {
        "headers": [
            ["Signature-Input", f"sig1={expected}"],
            ["Signature", f"sig1={member(published['Signature'])}"],
        ],
        "signature_base": vector.get("expected_signature_base", answer["signature_base"]),
    }


@pytest.mark.parametrize("vector", positives(algorithm="ed25519", without="sha-512"))
def test_every_sha_256_digest_is_made_where_the_request_has_none(vector, tmp_path):
    request, published = dict(vector["request"]), vector["request"]["headers"]
    request["headers"] = {n: v for n, v in published.items() if n.lower() not in _SIGNATURE_FIELDS | {"content-digest"}}
    [public] = keys_of(vector)
    key = tmp_path / "key"
    key.write_text(json.dumps({**public, "key_ops": ["sign"], "d": public["_private_d_for_test_only"]}))
    [answer] = answers("sign", "--key", str(key), "-", stdin=lines(request))
    assert answer["headers"][0] == ["Content-Digest", published["Content-Digest"]]


@pytest.mark.parametrize("vector", positives())
def test_every_positive_is_verified(vector, tmp_path):
    jwks = tmp_path / "jwks"
    jwks.write_text(json.dumps({"keys": keys_of(vector)}))
    now = str(vector["reference_now"])
    [answer] = answers("verify", "--jwks", str(jwks), "--now", now, "-", stdin=lines(vector["request"]))
    assert (answer["ok"], answer["keyid"], answer["label"]) == (True, vector["jwks_ref"][0], "sig1")
    assert answer["signature_base"] == vector.get("expected_signature_base", answer["signature_base"])
