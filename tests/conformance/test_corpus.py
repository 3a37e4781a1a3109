from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.conformance.files import COMPONENT, KEYS, OWN, REJECTED, SIGNED, lay, lay_files, message, own

from undersigned.conformance import SetAside, find, grade
from undersigned.signature.thumbprint import thumbprint

if TYPE_CHECKING:
    from pathlib import Path

CASES = "request-signing/canonicalization.json"
METHODS = "request-signing/protocol-method-names.json"


def counts(directory: Path) -> dict[str, int]:
    return {found.name: len(found.vectors) for found in find(directory).sets}


def failures(directory: Path) -> dict[str, str]:
    """Return the faults by the names of the vectors."""
    grades = [grade(vector) for found in find(directory).sets for vector in found.vectors]
    return {graded.name: graded.difference.found for graded in grades if graded.difference is not None}


def test_vectors_are_found_from_their_directory_and_from_its_parent():
    here, above = counts(OWN), counts(OWN.parent)
    assert {f"own/{name}": count for name, count in here.items()}.items() <= above.items()
    assert set(here) == {
        "request-signing",
        "request-signing/profile-3.2",
        "request-signing/mcp",
        "request-signing/a2a",
        "webhook-signing",
        "request-signing/canonicalization",
        "request-signing/body-integrity-policy",
        "request-signing/protocol-method-names",
        "profiles/wire-examples",
    }
    assert len(find(OWN)) == sum(here.values())


def test_set_is_found_by_its_name(tmp_path):
    corpus = find(lay_files(lay(tmp_path), {SIGNED: own(SIGNED), REJECTED: own(REJECTED)}))
    found = corpus["request-signing/profile-3.2"]
    assert [vector.name for vector in found.vectors] == ["negative/replayed", "positive/ed25519"]
    assert corpus["nothing"].vectors == ()


def test_directory_without_vectors_is_an_empty_corpus(tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "file.json").write_text('{"kty": "OKP"}')
    (tmp_path / "notes.txt").write_text("notes")
    corpus = find(tmp_path)
    assert (len(corpus), list(corpus.sets), list(corpus.set_aside)) == (0, [], [])
    assert len(find(lay(tmp_path / "keys-alone"))) == 0


def test_every_vector_fails_when_the_keys_are_absent_or_broken(tmp_path):
    lay_files(tmp_path, {SIGNED: own(SIGNED)})
    assert failures(tmp_path)["positive/ed25519"] == "no file of the corpus has the keys"
    lay_files(tmp_path, {KEYS: b"["})
    assert failures(tmp_path)["keys.json"].startswith("the file is not JSON")
    lay_files(tmp_path, {KEYS: {"keys": [7]}})
    assert failures(tmp_path)["positive/ed25519"] == "no file of the corpus has the keys"
    lay_files(tmp_path, {KEYS: {"keys": [{}]}})
    assert failures(tmp_path)["positive/ed25519"] == "keys.json: kid is not a string"


def test_keys_are_the_nearest_ones_with_their_name(tmp_path):
    lay_files(lay(tmp_path), {SIGNED: own(SIGNED), "elsewhere/any-name.json": own("webhook-signing/keys.json")})
    assert failures(tmp_path) == {}
    other = {"keys": [{**jwk, "x": "AAAA"} for jwk in own(KEYS)["keys"]]}
    lay_files(tmp_path, {"elsewhere/others.json": other})
    assert failures(tmp_path) == {}
    lay_files(tmp_path, {"request-signing/profile-3.2/nearer.json": other})
    assert "positive/ed25519" in failures(tmp_path)


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"", "the file is not JSON from character 1 on"),
        (b"\x00\xff", "the file is not JSON"),
        (b'{"a":1,"a":2}', "the file is JSON that parsers interpret differently"),
    ],
)
def test_foreign_file_fails_and_does_not_affect_other_vectors(content, fault, tmp_path):
    lay_files(lay(tmp_path), {SIGNED: own(SIGNED), "request-signing/profile-3.2/positive/foreign.json": content})
    found = failures(tmp_path)
    assert list(found) == ["positive/foreign"]
    assert found["positive/foreign"].startswith(fault)


def test_file_without_permission_fails(tmp_path, monkeypatch):
    lay_files(tmp_path, {SIGNED: b"{}"})

    def read(_path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.read_bytes", read)
    assert failures(tmp_path) == {"positive/ed25519": "the file cannot be read: Permission denied"}


def test_directory_that_cannot_be_read_is_an_error(tmp_path):
    with pytest.raises(OSError, match="absent"):
        find(tmp_path / "absent")


def test_unknown_json_files_are_set_aside_and_counted(tmp_path):
    files = {f"request-signing/{name}.json": {} for name in ("tomorrow/positive/1", "tomorrow/positive/2", "notes")}
    lay_files(lay(tmp_path), {SIGNED: own(SIGNED), **files, "list.json": [1]})
    reason = "JSON files of no form that is known"
    assert sorted(find(tmp_path).set_aside, key=lambda aside: aside.name) == [
        SetAside("request-signing", 1, reason),
        SetAside("request-signing/tomorrow", 2, reason),
        SetAside(tmp_path.name, 1, reason),
    ]


@pytest.mark.parametrize("change", [{"signing_profile_version": "4"}, {"transport": "smtp"}])
def test_request_of_an_unknown_endpoint_is_a_failure(change, tmp_path):
    lay_files(lay(tmp_path), {SIGNED: {**own(SIGNED), **change}})
    fault = "signing_profile_version or transport is not one that is known"
    assert failures(tmp_path) == {"positive/ed25519": fault}


def test_unreadable_file_of_cases_is_one_failure(tmp_path):
    lay_files(lay(tmp_path), {CASES: b"{", METHODS: {"valid_declarations": 7}})
    assert failures(tmp_path) == {
        "canonicalization.json": "the file is not JSON from character 2 on",
        "protocol-method-names.json": "valid_declarations is not a list of objects",
    }


def test_readable_cases_run_when_a_later_part_is_malformed(tmp_path):
    methods = {"valid_declarations": [{"family": "own", "methods": ["tasks/get"]}], "invalid_declarations": [7]}
    lay_files(lay(tmp_path), {CASES: {"cases": [{"name": 7, "input_url": ""}, {}]}, METHODS: methods})
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


def test_cases_of_rfc_9421_are_found_by_their_kind(tmp_path):
    components = [{"id": "own", "message": message(), **COMPONENT}]
    signed = {"id": "own", "message": {"kind": "request"}, "alg": "rsa-pss-sha512"}
    lay_files(tmp_path, {"any.json": {"keys": {}, "components": components, "bases": [], "vectors": [signed]}})
    assert [vector.name for vector in find(tmp_path)["any"].vectors] == ["components/own", "vectors/own"]
    assert failures(tmp_path) == {"vectors/own": "method is not a string"}


RSA = {"kty": "RSA", "n": "AQAB", "e": "AQAB"}
HTTP = b'GET /p HTTP/1.1\r\nHost: own.test\r\nSignature-Input: a=("@path")\r\nSignature: a=:AAAA:\r\n\r\n'


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.json", {"bases": 7}, {"a.json": "bases is not a list of objects"}),
        ("a.json", {"vectors": [{"message": message()}]}, {"vectors/vectors[0]": "key is not a string"}),
        (
            "a.json",
            {"vectors": [{"id": "v", "message": message(), "key": "k"}]},
            {"vectors/v": "no file of the corpus has the key that the vector names"},
        ),
        (
            "a.json",
            {"components": [], "policy": [{"id": "p", "message": {"kind": "response", "status": 200, "fields": []}}]},
            {"policy/p": "message is not a request"},
        ),
        ("a.json", {"components": [], "thumbprints": [{}]}, {"thumbprints/thumbprints[0]": "jwk is not a JWK"}),
        ("a.json", {"examples": [{"id": "e", "headers": []}]}, {"e": "a key is neither a JWK nor a PEM text"}),
        (
            "a.json",
            {"examples": [{"id": "tap", "headers": [["Signature-Input", "a=()"]]}]},
            {"tap": "method is not a string", "tap: verdict": "method is not a string"},
        ),
        (
            "a.json",
            {
                "examples": [
                    {
                        "id": "tap",
                        "headers": {"Signature-Input": "a=()"},
                        "status": 200,
                        "method": "GET",
                        "url": "https://own.test/",
                    }
                ]
            },
            {"tap": "a key is neither a JWK nor a PEM text", "tap: verdict": "the message is not a request"},
        ),
        (
            "a.json",
            {
                "examples": [
                    {
                        "id": "ucp-response",
                        "headers": {"Signature-Input": "a=()"},
                        "method": "GET",
                        "url": "https://own.test/",
                    }
                ]
            },
            {
                "ucp-response": "a key is neither a JWK nor a PEM text",
                "ucp-response: verdict": "the message is not a response",
            },
        ),
        ("a.json", {"vectors": [{"scheme": "rfc9421"}]}, {"a.json": "keys is not an object"}),
        (
            "a.json",
            {"keys": {}, "vectors": [{"scheme": "rfc9421", "id": "s"}, {"scheme": "cavage", "id": "c"}]},
            {**dict.fromkeys(("s", "s: verdict", "c: verdict"), "method is not"), "c": "key is not a string"},
        ),
        (
            "a.json",
            {
                "vectors": [
                    {
                        "signedBase": "",
                        "id": "n",
                        "request": {"method": "GET", "url": "https://own.test/", "headers": [], "status": 200},
                    }
                ]
            },
            {"n": "the message is not a request"},
        ),
        ("a.json", {"signature_base": "", "headers": []}, dict.fromkeys(("a", "a: verdict"), "method is not a string")),
        (
            "a.json",
            {"signature_base": "", "headers": [], "method": "GET", "url": "https://own.test/", "jwk": RSA},
            {"a": "", "a: verdict": "the signature has no created"},
        ),
        (
            "a.json",
            {"signature_base": "", "request": {}, "response": {"body": "[]"}},
            {"a": "keys is not a list of objects"},
        ),
        (
            "a.json",
            {"signature_base": "", "request": {}, "response": {"body": '{"keys": []}'}},
            {"a": "the content of the response has no key"},
        ),
        ("a.json", [{"target_url": "https://own.test/", "signature_input": 7}], {"[0] None": "signature_input is not"}),
        ("a.json", [{"jwk": "[]", "thumbprint": "x"}], {"[0] None": "jwk is not a JWK"}),
        ("a.json", [{"jwk": RSA, "thumbprint": "x"}], {"[0] None": thumbprint(RSA)}),
        ("a.txt", HTTP, {"a": "no file of the corpus is the key of this message"}),
        ("a.txt", HTTP.replace(b"Host:", b"Host"), {}),
        ("a.txt", b"\xff", {}),
    ],
)
def test_malformed_part_of_a_known_form_fails_alone(name, content, expected, tmp_path):
    lay_files(tmp_path, {name: content})
    found = failures(tmp_path)
    assert found.keys() == expected.keys()
    assert all(found[vector].startswith(fault) for vector, fault in expected.items())


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
