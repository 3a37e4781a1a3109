from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.conformance.files import COMPONENT, KEYS, OWN, REJECTED, SIGNED, lay, lay_files, message, own

from undersigned.conformance import SetAside, find, grade

if TYPE_CHECKING:
    from pathlib import Path

CASES = "request-signing/canonicalization.json"
METHODS = "request-signing/protocol-method-names.json"
RFC9421 = "rfc9421_vectors.json"
WEB_BOT_AUTH = "web_bot_auth_vectors.json"


def counts(directory: Path) -> dict[str, int]:
    return {found.name: len(found.vectors) for found in find(directory).sets}


def failures(directory: Path) -> dict[str, str]:
    """Return the faults by the names of the vectors."""
    grades = [grade(vector) for found in find(directory).sets for vector in found.vectors]
    return {graded.name: graded.difference.found for graded in grades if graded.difference is not None}


def test_vectors_are_found_from_their_directory_and_from_its_parent():
    here, above = counts(OWN), counts(OWN.parent)
    assert above == {f"own/{name}": count for name, count in here.items()}
    assert set(here) == {
        "request-signing",
        "request-signing/profile-3.2",
        "request-signing/mcp",
        "request-signing/a2a",
        "webhook-signing",
        "request-signing/canonicalization",
        "request-signing/body-integrity-policy",
        "request-signing/protocol-method-names",
    }
    assert len(find(OWN)) == sum(here.values())


def test_set_is_found_by_its_name(tmp_path):
    corpus = find(lay_files(lay(tmp_path), {SIGNED: own(SIGNED), REJECTED: own(REJECTED)}))
    found = corpus["request-signing/profile-3.2"]
    assert [vector.name for vector in found.vectors] == ["positive/ed25519", "negative/replayed"]
    assert corpus["nothing"].vectors == ()


def test_directory_without_vectors_is_an_empty_corpus(tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "file.json").write_text("{}")
    corpus = find(tmp_path)
    assert (len(corpus), list(corpus.sets), list(corpus.set_aside)) == (0, [], [])
    assert len(find(lay(tmp_path / "keys-alone"))) == 0


def test_every_vector_fails_when_the_keys_are_absent_or_broken(tmp_path):
    lay_files(tmp_path, {SIGNED: own(SIGNED)})
    assert failures(tmp_path)["positive/ed25519"] == "keys.json: the file cannot be read: No such file or directory"
    lay_files(tmp_path, {KEYS: b"["})
    assert failures(tmp_path)["positive/ed25519"].startswith("keys.json: the file is not JSON")
    lay_files(tmp_path, {KEYS: {"keys": {}}})
    assert failures(tmp_path)["positive/ed25519"] == "keys.json: keys is not a list of objects"
    lay_files(tmp_path, {KEYS: {"keys": [{}]}})
    assert failures(tmp_path)["positive/ed25519"] == "kid is not a string"


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"", "the file is not JSON from character 1 on"),
        (b"\x00\xff", "the file is not JSON"),
        (b"7", "the file is not a JSON object"),
        (b'{"hello":"world"}', "expected_outcome is not an object"),
    ],
)
def test_foreign_file_fails_and_does_not_affect_other_vectors(content, fault, tmp_path):
    lay_files(lay(tmp_path), {SIGNED: own(SIGNED), "request-signing/profile-3.2/positive/foreign.json": content})
    found = failures(tmp_path)
    assert list(found) == ["positive/foreign"]
    if content != b'{"hello":"world"}':
        assert found["positive/foreign"].startswith(fault)


def test_directory_instead_of_a_vector_fails(tmp_path):
    lay(tmp_path)
    (tmp_path / "webhook-signing/negative/001.json").mkdir(parents=True)
    assert failures(tmp_path) == {"negative/001": "the file cannot be read: Is a directory"}


def test_unknown_json_files_are_set_aside_and_counted(tmp_path):
    files = {f"request-signing/{name}.json": {} for name in ("tomorrow/positive/1", "tomorrow/positive/2", "notes")}
    lay_files(lay(tmp_path), {SIGNED: own(SIGNED), **files})
    reason = "JSON files that belong to no set"
    assert list(find(tmp_path).set_aside) == [
        SetAside("request-signing", 1, reason),
        SetAside("request-signing/tomorrow/positive", 2, reason),
    ]
    assert next(aside.name for aside in find(tmp_path.parent).set_aside) == f"{tmp_path.name}/request-signing"


def test_unreadable_file_of_cases_is_one_failure(tmp_path):
    lay_files(lay(tmp_path), {CASES: b"{", METHODS: {"valid_declarations": 7}})
    assert failures(tmp_path) == {
        "canonicalization.json": "the file is not JSON from character 2 on",
        "protocol-method-names.json": "valid_declarations is not a list of objects",
    }


def test_readable_cases_run_when_a_later_part_is_malformed(tmp_path):
    methods = {"valid_declarations": [{"family": "own", "methods": ["tasks/get"]}], "invalid_declarations": [7]}
    lay_files(lay(tmp_path), {CASES: {"cases": [{"name": 7}, {}]}, METHODS: methods})
    assert counts(tmp_path) == {"request-signing/canonicalization": 2, "request-signing/protocol-method-names": 2}
    assert failures(tmp_path) == {
        "cases[0]": "expected_target_uri is not a string",
        "cases[1]": "expected_target_uri is not a string",
        "protocol-method-names.json": "invalid_declarations is not a list of strings",
    }


def test_each_method_name_becomes_a_case(tmp_path):
    methods = {
        "valid_declarations": [{"family": "own", "methods": ["tasks/get", "X"]}],
        "invalid_declarations": ["x"],
        "exact_match_cases": [{"id": "a", "declared_methods": ["X"], "wire_method": "Y", "matches": False}],
    }
    lay_files(lay(tmp_path), {METHODS: methods})
    names = [vector.name for vector in find(tmp_path)["request-signing/protocol-method-names"].vectors]
    assert names == ["own: tasks/get", "own: X", "not to be declared: x", "a"]
    assert failures(tmp_path) == {}


def test_rfc_9421_cases_are_run_or_set_aside(tmp_path):
    components = [
        {"id": "own", "message": message(), **COMPONENT},
        {"id": "answer", "message": {"kind": "response"}},
        {"id": "2.2.1-lowercase-method", "message": message()},
    ]
    signed = {"id": "own", "message": {"kind": "request"}, "alg": "rsa-pss-sha512"}
    lay_files(tmp_path, {RFC9421: {"keys": {}, "components": components, "bases": [], "vectors": [signed]}})
    corpus = find(tmp_path)
    assert [vector.name for vector in corpus["rfc9421_vectors"].vectors] == ["components/own", "vectors/own"]
    reasons = {aside.reason.partition(":")[0]: aside.count for aside in corpus.set_aside}
    assert reasons == {
        "responses": 1,
        "methods in lower case": 1,
        "signatures by algorithms that no profile accepts; their bases are compared": 1,
    }


def test_unreadable_flat_file_is_one_failure(tmp_path):
    lay_files(tmp_path, {RFC9421: b"[]", WEB_BOT_AUTH: b"\xff"})
    assert failures(tmp_path) == {
        RFC9421: "the file is not a JSON object",
        WEB_BOT_AUTH: "the file is not JSON: it is not UTF-8",
    }


def test_web_bot_auth_bases_are_run_and_its_policy_is_set_aside(tmp_path):
    vector = {"id": "own", "message": message(), "alg": "ed25519", "key": "k", "label": "s", "signature_base": "x"}
    lay_files(tmp_path, {WEB_BOT_AUTH: {"vectors": [vector], "policy": [{}, {}], "thumbprints": [{}], "$comment": ""}})
    corpus = find(tmp_path)
    assert counts(tmp_path) == {"web_bot_auth_vectors": 1}
    assert list(corpus.set_aside) == [
        SetAside("web_bot_auth_vectors", 3, "this library has no profile for Web Bot Auth")
    ]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
MEMBERS = [*sorted(own(SIGNED)), "jwks_override", "test_harness_state"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(member=st.sampled_from(MEMBERS), value=JSON)
def test_any_member_of_a_vector_gives_a_grade(member, value, tmp_path):
    lay_files(lay(tmp_path), {SIGNED: {**own(SIGNED), member: value}})
    [vector] = find(tmp_path)["request-signing/profile-3.2"].vectors
    assert grade(vector).name == "positive/ed25519"
