"""Messages of the published file that are signed by draft-cavage-12: each one right, and then wrong in one place."""

from __future__ import annotations

import json

import pytest
from tests.conformance.files import lay_files
from tests.vectors.corpora import ROOT

from undersigned.conformance import find, grade

FILE = json.loads((ROOT / "profiles/fediverse/fediverse_vectors.json").read_text("utf-8"))
GET, POST = (case for case in FILE["vectors"] if case["scheme"] == "cavage")
[NEW] = (case for case in FILE["vectors"] if case["scheme"] == "rfc9421")


def outcomes(tmp_path, case: dict, **changes) -> dict[str, str]:
    """Return the subject of each vector's difference, or "", for one case that is changed."""
    lay_files(tmp_path, {"any.json": {**FILE, "vectors": [{**case, "id": "own", **changes}]}})
    grades = [grade(vector) for found in find(tmp_path).sets for vector in found.vectors]
    return {graded.name: "" if graded.difference is None else graded.difference.subject for graded in grades}


@pytest.mark.parametrize("case", [GET, POST, NEW])
def test_published_case_has_no_difference(case, tmp_path):
    assert outcomes(tmp_path, case) == {"own": "", "own: verdict": ""}


@pytest.mark.parametrize(
    ("case", "changes", "expected"),
    [
        (GET, {"signature_base": "x"}, ("signing string", "")),
        (GET, {"url": "https://www.example.com/other"}, ("signing string", "outcome")),
        (POST, {"body": "other"}, ("", "outcome")),
        (GET, {"now": "2024-12-20T10:00:00Z"}, ("", "outcome")),
        (GET, {"now": "never"}, ("", "not a vector")),
        (GET, {"headers": {}}, ("not a vector", "not a vector")),
        (GET, {"headers": {"Signature": GET["headers"]["Signature"]}}, ("signing string", "outcome")),
        (NEW, {"headers": {**NEW["headers"], "Signature-Input": "="}}, ("signature base", "outcome")),
        (NEW, {"headers": {**NEW["headers"], "Signature": "sig1=:AAAA:"}}, ("signature valid", "outcome")),
    ],
)
def test_changed_case_has_its_difference(case, changes, expected, tmp_path):
    assert outcomes(tmp_path, case, **changes) == dict(zip(("own", "own: verdict"), expected, strict=True))


def test_signature_over_another_signing_string_is_not_valid(tmp_path):
    signature = GET["headers"]["Signature"].replace('signature="Z8', 'signature="Z9')
    found = outcomes(tmp_path, GET, headers={**GET["headers"], "Signature": signature})
    assert found == {"own": "signature valid", "own: verdict": "outcome"}
