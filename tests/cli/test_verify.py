from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from tests.cli.command import GET, NOTHING, POST, REQUESTS, answers, invoke, lines, objects, run
from tests.cli.conftest import KEYID
from tests.vectors.corpora import ROOT

NOW = 1776520800


def sign(keys, request, *options: str, key: str = "private") -> dict:
    """Return `request` with the headers that `sign` adds."""
    [answer] = answers("sign", "--key", getattr(keys, key), "--created", str(NOW), *options, "-", stdin=lines(request))
    return {**request, "headers": [*map(list, dict(request.get("headers", {})).items()), *answer["headers"]]}


def verify(keys, *requests: object, options=("--now", str(NOW))) -> list[dict]:
    return answers("verify", "--jwks", keys.public, *options, "-", stdin=lines(*requests))


def rejection_line(code: str, step: int | None, detail: str) -> dict:
    return {"ok": False, "code": code, "step": step, "detail": detail}


def test_verified_request_gives_keyid_label_and_base(keys):
    [made] = answers("sign", "--key", keys.private, "--created", str(NOW), "-", stdin=lines(POST))
    request = {**POST, "headers": [*map(list, POST["headers"].items()), *made["headers"]]}
    done = run("verify", "--jwks", keys.public, "--now", str(NOW), "-", stdin=lines(request))
    assert (done.returncode, done.stderr) == (0, b"")
    assert objects(done.stdout) == [
        {"ok": True, "keyid": KEYID, "label": "sig1", "signature_base": made["signature_base"]}
    ]


@pytest.mark.parametrize("profile", ["adcp-3.2", "adcp-3.1", "adcp-webhook"])
@pytest.mark.parametrize("key", ["private", "ecdsa"])
def test_signed_request_is_verified_under_the_same_profile(profile, key, keys):
    request = sign(keys, POST, "--profile", profile, key=key)
    [answer] = verify(keys, request, options=("--now", str(NOW), "--profile", profile))
    assert answer["ok"]


def test_repeated_line_is_a_replay_while_the_command_runs_unless_no_replay_is_given(keys):
    request = sign(keys, GET)
    first, second = verify(keys, request, request)
    assert first["ok"]
    assert second == rejection_line("request_signature_replayed", 12, "this nonce was already used with this key")
    assert verify(keys, request)[0]["ok"]
    options = ("--now", str(NOW), "--no-replay")
    assert [answer["ok"] for answer in verify(keys, request, request, options=options)] == [True, True]


def test_clock_is_fixed_by_now_and_real_without_it(keys):
    request = sign(keys, GET)
    for options in (("--now", str(NOW + 361)), ()):
        [expired] = verify(keys, request, options=options)
        assert (expired["code"], expired["step"]) == ("request_signature_window_invalid", 5)
    [made] = answers("sign", "--key", keys.private, "--created", str(int(time.time())), "-", stdin=lines(GET))
    assert verify(keys, {**GET, "headers": made["headers"]}, options=())[0]["ok"]


@pytest.mark.parametrize(
    ("change", "code", "step"),
    [
        ({"url": "https://seller.example.com/refunds"}, "request_signature_invalid", 10),
        ({"url": "ftp://seller.example.com/"}, "request_target_uri_malformed", 10),
        ({"url": "\ud800"}, "request_target_uri_malformed", 10),
        ({"method": "\ud800"}, "request_signature_invalid", 10),
        ({"body": "[]"}, "request_signature_digest_mismatch", 11),
        ({"headers": {}}, "request_signature_required", 0),
        ({"headers": {"Signature": "\ud800", "Signature-Input": "\ud800"}}, "request_signature_header_malformed", 1),
        ({"body": "\ud800"}, "line_malformed", None),
    ],
)
def test_changed_request_is_rejected_with_code_and_step_and_the_next_is_verified(change, code, step, keys):
    request = sign(keys, POST)
    first, accepted = verify(keys, {**request, **change}, request)
    assert (first, accepted["ok"]) == (rejection_line(code, step, first["detail"]), True)
    assert first["detail"].isprintable()
    assert len(first["detail"]) > 10


@given(request_=REQUESTS)
def test_any_unsigned_request_is_rejected(request_, keys):
    [answer] = verify(keys, request_)
    assert (answer.keys(), answer["ok"]) == ({"ok", "code", "step", "detail"}, False)


@given(request_=REQUESTS)
def test_any_signed_request_is_verified(request_, keys):
    [made] = answers("sign", "--key", keys.private, "--created", str(NOW), "-", stdin=lines(request_))
    if "headers" in made:
        headers = request_.get("headers", [])
        pairs = headers.items() if isinstance(headers, dict) else headers
        [answer] = verify(keys, {**request_, "headers": [*pairs, *made["headers"]]})
        assert answer["ok"], answer
        assert answer["signature_base"] == made["signature_base"]


@pytest.mark.parametrize("change", [{"method": "PUT"}, {"headers": 1}], ids=["rejected", "malformed"])
def test_exit_code_is_1_when_one_of_several_requests_is_not_verified(change, keys):
    request, other = sign(keys, GET), sign(keys, GET)
    stdin = lines({**request, **change}, other)
    done = run("verify", "--jwks", keys.public, "--now", str(NOW), "-", stdin=stdin)
    assert (done.returncode, [answer["ok"] for answer in objects(done.stdout)]) == (1, [False, True])


def test_exit_code_is_1_when_there_is_no_request(keys):
    result = invoke("verify", "--jwks", keys.public, "-", stdin=b"\n")
    assert (result.exit_code, result.stdout, result.stderr) == (1, "", NOTHING)


@pytest.mark.parametrize("source", ["FILE", "-"])
def test_requests_are_read_from_a_file_and_keys_from_either(source, keys, tmp_path):
    path = tmp_path / "requests.jsonl"
    path.write_bytes(lines(sign(keys, GET), sign(keys, POST)))
    jwks = keys.public if source == "FILE" else "-"
    result = invoke("verify", "--jwks", jwks, "--now", str(NOW), str(path), stdin=Path(keys.public).read_bytes())
    assert (result.exit_code, [answer["ok"] for answer in objects(result.stdout_bytes)]) == (0, [True, True])


@pytest.mark.parametrize("name", ["001-post-with-content-digest", "003-es256-post"])
def test_published_vector_is_verified_if_test_keys_are_accepted(name):
    published = ROOT / "adcp-3.2.4/request-signing"
    vector = json.loads((published / f"profile-3.2/positive/{name}.json").read_text("utf-8"))
    options = ["--jwks", str(published / "keys.json"), "--now", str(vector["reference_now"])]
    [answer] = answers("verify", *options, "-", stdin=lines(vector["request"]))
    assert answer["detail"] == "the key is a published test key: anyone can sign with it"
    [answer] = answers("verify", "--test-keys", *options, "-", stdin=lines(vector["request"]))
    assert (answer["ok"], answer["keyid"], answer["label"]) == (True, vector["jwks_ref"][0], "sig1")
    assert answer["signature_base"] == vector["expected_signature_base"]
