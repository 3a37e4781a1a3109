"""Vectors that are wrong in one place each. The difference must be found in that place."""

from __future__ import annotations

import pytest
from tests.conformance.files import ECDSA, REJECTED, RPC, SIGNED, UNSIGNED, difference, difference_of, own

BASE = "expected_signature_base"


def expecting(path: str, **expected) -> dict:
    document = own(path)
    return {**document, "expected_outcome": {**document["expected_outcome"], **expected}}


@pytest.mark.parametrize("path", [SIGNED, ECDSA, REJECTED, UNSIGNED, RPC])
def test_correct_vector_has_no_difference(path, tmp_path):
    assert difference(tmp_path, path, own(path)) is None


def test_flipped_outcome_is_found(tmp_path):
    rejected = {**own(SIGNED), "expected_outcome": {"success": False, "error_code": "request_signature_invalid"}}
    assert difference_of(tmp_path, SIGNED, rejected) == (
        "outcome",
        "rejected with request_signature_invalid",
        "accepted",
    )
    accepted = {**own(REJECTED), "expected_outcome": {"success": True}}
    found = difference(tmp_path / "other", REJECTED, accepted)
    assert (found.expected, found.found) == ("accepted", "rejected with request_signature_replayed")
    assert found.note == "rejected at step 12: the keyid and nonce were seen before"


def test_wrong_code_is_found_to_the_byte(tmp_path):
    found = difference(tmp_path, REJECTED, expecting(REJECTED, error_code="request_signature_replayed "))
    assert (found.subject, found.byte) == ("outcome", len("rejected with request_signature_replayed"))


@pytest.mark.parametrize("path", [SIGNED, ECDSA, RPC, REJECTED])
def test_wrong_byte_of_a_base_is_found(path, tmp_path):
    base = own(path)[BASE]
    for index in (0, len(base) // 2, len(base) - 1):
        other = base[:index] + chr(ord(base[index]) ^ 1) + base[index + 1 :]
        found = difference(tmp_path, path, {**own(path), BASE: other})
        assert (found.subject, found.byte) == ("signature base", index)
    assert difference_of(tmp_path, path, {**own(path), BASE: base + "\n"})[0] == "signature base"


def test_base_of_a_rejected_message_is_also_compared(tmp_path):
    path = "request-signing/a2a/negative/signed-and-unresolved.json"
    assert difference(tmp_path, path, own(path)) is None
    assert difference_of(tmp_path, path, {**own(path), BASE: "x"})[0] == "signature base"


@pytest.mark.parametrize("name", ["no-nonce", "target-host-empty", "component-unknown"])
def test_base_is_not_compared_when_the_message_has_none(name, tmp_path):
    path = f"request-signing/profile-3.2/negative/{name}.json"
    assert difference(tmp_path, path, {**own(path), BASE: "x"}) is None


def test_missing_signature_is_found(tmp_path):
    silent = {**own(UNSIGNED), "expected_outcome": {"success": True}}
    assert difference_of(tmp_path, UNSIGNED, silent) == ("status", "verified", "unsigned")


@pytest.mark.parametrize(
    ("path", "member", "value", "found"),
    [
        (UNSIGNED, "status", "verified", "unsigned"),
        (SIGNED, "status", "unsigned", "verified"),
        (SIGNED, "verified_label", "sig2", "sig1"),
        (SIGNED, "authentication_source", "fallback", "signature"),
        (SIGNED, "warning_code", "request_signature_invalid", "none"),
        (RPC, "resolved_operation", "get_products", "create_media_buy"),
        (RPC, "dispatched_operation", None, "create_media_buy"),
        (REJECTED, "resolved_operation", "get_products", "create_media_buy"),
    ],
)
def test_wrong_expectation_of_the_outcome_is_found(path, member, value, found, tmp_path):
    assert difference_of(tmp_path, path, expecting(path, **{member: value}))[1:] == (value or "none", found)


def test_expected_warning_is_compared(tmp_path):
    path = "request-signing/profile-3.2/positive/warned-expired.json"
    assert difference(tmp_path, path, own(path)) is None
    other = expecting(path, warning_code="request_signature_invalid")
    assert difference_of(tmp_path, path, other) == (
        "warning",
        "request_signature_invalid",
        "request_signature_window_invalid",
    )


def test_unresolvable_operation_is_compared_as_unresolved(tmp_path):
    path = "request-signing/a2a/negative/unresolved-batch.json"
    named = expecting(path, resolved_operation="get_products")
    assert difference_of(tmp_path, path, named) == ("resolved_operation", "get_products", "unresolved")


def test_webhook_has_no_operation(tmp_path):
    accepted, rejected = (f"webhook-signing/{name}.json" for name in ("positive/ed25519", "negative/unsigned"))
    assert difference(tmp_path, accepted, expecting(accepted, resolved_operation=None)) is None
    assert difference_of(tmp_path / "other", rejected, expecting(rejected, resolved_operation="x"))[1:] == ("x", "none")


def test_positive_vector_fails_when_its_key_lacks_the_private_key(tmp_path):
    jwk = {name: value for name, value in own("request-signing/keys.json")["keys"][0].items() if name[0] != "_"}
    document = {**own(SIGNED), "jwks_override": {"keys": [jwk]}}
    assert difference_of(tmp_path, SIGNED, document) == ("not a vector", "", "_private_d_for_test_only is not a string")


@pytest.mark.parametrize("member", ["request", "reference_now", "jwks_ref", "expected_outcome"])
@pytest.mark.parametrize("value", [None, 1.5, "x", [], {}, [1], {"keys": 1}])
def test_member_of_another_type_fails_with_its_name(member, value, tmp_path):
    found = difference(tmp_path, SIGNED, {**own(SIGNED), member: value})
    if (member, value) == ("jwks_ref", []):
        assert found.found == "rejected with request_signature_key_unknown"
    else:
        assert (found.subject, found.expected) == ("not a vector", "")
        assert " is not " in found.found


@pytest.mark.parametrize("capability", [{"required_for": "x"}, {"required_for": ["SendMessage"]}, {"warn_for": [1]}, 1])
def test_impossible_capability_fails_with_its_fault(capability, tmp_path):
    found = difference(tmp_path, SIGNED, {**own(SIGNED), "verifier_capability": capability})
    assert found.subject == "not a vector"
    assert found.found.startswith(("required_for", "warn_for", "verifier_capability"))
