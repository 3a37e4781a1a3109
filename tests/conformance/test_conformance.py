"""The command, and what becomes of files that are no vectors or that the library does not meet."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from tests.conformance.__main__ import main
from tests.vectors.corpora import ROOT

if TYPE_CHECKING:
    from pathlib import Path

SIGNING = ROOT / "adcp-3.2.4/request-signing"
POSITIVE = json.loads((SIGNING / "profile-3.2/positive/001-post-with-content-digest.json").read_text("utf-8"))
NEGATIVE = json.loads((SIGNING / "profile-3.2/negative/001-no-signature-header.json").read_text("utf-8"))
KEYS = json.loads((SIGNING / "keys.json").read_text("utf-8"))


def lay(directory: Path, files: dict[str, object]) -> Path:
    for name, content in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return directory


def report(directory: Path, capsys) -> dict:
    code = main(str(directory), "--json")
    written = json.loads(capsys.readouterr().out)
    assert code == int(written["failed"] > 0)
    return written


def failures(directory: Path, capsys) -> dict[str, str]:
    """Return the subjects of the failures by the names of the vectors."""
    return {one["vector"]: one["subject"] for one in report(directory, capsys)["failures"]}


def changed(vector: dict, **members: object) -> dict:
    return {**vector, **members}


def test_report_counts_every_set_and_what_is_not_run(tmp_path, capsys):
    directory = lay(
        tmp_path / "any",
        {"keys": KEYS, "keys.json": KEYS, "a.json": POSITIVE, "b/negative/c.json": NEGATIVE, "d.json": [7]},
    )
    lay(directory, {"notes.txt": b"notes", "e.json": {"unknown": 1}})
    assert report(directory, capsys) == {
        "passed": 2,
        "failed": 0,
        "sets": [
            {"name": ".", "passed": 1, "failed": 0, "total": 1},
            {"name": "b", "passed": 1, "failed": 0, "total": 1},
        ],
        "not_run": [{"set": "any", "vectors": 2, "reason": "JSON files of no form that is known"}],
        "failures": [],
    }


BASE = POSITIVE["expected_signature_base"]
BODY = {**POSITIVE["request"], "body": POSITIVE["request"]["body"] + " "}
OUTCOME = NEGATIVE["expected_outcome"]


@pytest.mark.parametrize(
    ("vector", "subject"),
    [
        (changed(POSITIVE, expected_signature_base=BASE.replace("POST", "PUT")), "signature base"),
        (changed(POSITIVE, request=BODY), "outcome"),
        (changed(POSITIVE, expected_outcome=OUTCOME), "outcome"),
        (changed(POSITIVE, expected_outcome={"success": True, "verified_label": "sig2"}), "label"),
        (changed(POSITIVE, expected_outcome={"success": True, "status": "unsigned"}), "status"),
        (changed(POSITIVE, expected_outcome={"success": True, "warning_code": "any"}), "warning"),
        (changed(NEGATIVE, expected_outcome={**OUTCOME, "error_code": "another"}), "outcome"),
        (changed(NEGATIVE, expected_outcome={**OUTCOME, "failed_step": 11}), "failed step"),
        (changed(POSITIVE, jwks_ref=["nobody"]), "raised"),
        (changed(POSITIVE, request={}), "raised"),
        (changed(POSITIVE, signing_profile_version="9"), "raised"),
        (b"[", "not a vector"),
        ({"cases": [{"input_url": 7}]}, "not a vector"),
    ],
)
def test_vector_that_the_library_does_not_meet_fails_with_its_first_difference(vector, subject, tmp_path, capsys):
    directory = lay(tmp_path, {"keys.json": KEYS, "positive/vector.json": vector})
    assert list(failures(directory, capsys).values()) == [subject]


def test_every_vector_fails_without_its_keys(tmp_path, capsys):
    assert failures(lay(tmp_path, {"positive/vector.json": POSITIVE}), capsys) == {"positive/vector": "raised"}


def test_keys_are_the_nearest_ones_with_their_name(tmp_path, capsys):
    other = {"keys": [{**jwk, "x": "A" * 43} for jwk in KEYS["keys"]]}
    lay(tmp_path, {"near/keys.json": KEYS, "near/positive/vector.json": POSITIVE, "far/keys.json": other})
    assert failures(tmp_path, capsys) == {}
    assert failures(lay(tmp_path, {"near/positive/any.json": other}), capsys) == {"positive/vector": "outcome"}


@pytest.mark.parametrize(
    ("file", "change", "expected"),
    [
        ("rfc9421_vectors.json", ('@method\\"', '@authority\\"'), 10),
        ("profiles/wire-examples.json", ('"now"', '"then"'), 10),
        ("profiles/ssrf/special_ranges.json", ("127.0.0.0/8", "93.184.216.0/24"), 1),
        (
            "adcp-3.2.4/request-signing/canonicalization.json",
            ('expected_target_uri": "https', 'expected_target_uri": "http'),
            20,
        ),
        ("adcp-3.2.4/request-signing/protocol-method-names.json", ("tasks/cancel", "tasks cancel"), 1),
        ("adcp-3.2.4/request-signing/body-integrity-policy.json", ('"action": "accept"', '"action": "reject"'), 1),
        ("profiles/web-bot-auth/jwk_thumbprint_vectors.json", ('"thumbprint": "', '"thumbprint": "A'), 2),
        ("profiles/web-bot-auth/web_bot_auth_signature_agent_card_v1.json", ('"valid": true', '"valid": false'), 1),
        ("profiles/fediverse/fediverse_vectors.json", ("(request-target): ", "(request-target): x"), 1),
    ],
)
def test_changed_expectation_of_any_form_fails(file, change, expected, tmp_path, capsys):
    text = (ROOT / file).read_text("utf-8")
    assert change[0] in text
    directory = lay(tmp_path, {"changed.json": text.replace(*change).encode()})
    assert len(failures(directory, capsys)) >= expected


def test_report_as_text_shows_the_difference(tmp_path, capsys):
    vector = changed(POSITIVE, expected_signature_base=BASE.replace("POST", "PUT"))
    assert main(str(lay(tmp_path, {"keys.json": KEYS, "set/positive/v.json": vector}))) == 1
    written = capsys.readouterr().out
    assert "FAILED set: positive/v: signature base, from byte 12" in written
    assert written.endswith("0 passed, 1 failed\n")


def test_directory_without_vectors_is_an_error(tmp_path, capsys):
    for directory in (
        tmp_path,
        tmp_path / "absent",
        lay(tmp_path / "keys", {"keys.json": KEYS, "one.json": {"kty": "OKP"}}),
    ):
        with pytest.raises(SystemExit) as caught:
            main(str(directory))
        assert caught.value.code == 2
    assert "contains no vectors" in capsys.readouterr().err
