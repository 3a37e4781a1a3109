"""Vectors that are wrong in one place each: every one has to be found out, there and not elsewhere."""

from __future__ import annotations

import pytest
from tests.conformance.laid import ECDSA, REFUSED, RPC, SIGNED, UNSIGNED, difference, own, told

BASE = "expected_signature_base"


def expecting(path: str, **expected) -> dict:
    document = own(path)
    return {**document, "expected_outcome": {**document["expected_outcome"], **expected}}


@pytest.mark.parametrize("path", [SIGNED, ECDSA, REFUSED, UNSIGNED, RPC])
def test_a_vector_that_is_right_has_no_difference(path, tmp_path):
    assert difference(tmp_path, path, own(path)) is None


def test_a_flipped_outcome_is_found(tmp_path):
    refused = {**own(SIGNED), "expected_outcome": {"success": False, "error_code": "request_signature_invalid"}}
    assert told(tmp_path, SIGNED, refused) == ("outcome", "refused with request_signature_invalid", "accepted")
    accepted = {**own(REFUSED), "expected_outcome": {"success": True}}
    found = difference(tmp_path / "other", REFUSED, accepted)
    assert (found.expected, found.found) == ("accepted", "refused with request_signature_replayed")
    assert found.note == "refused at step 12: the keyid and nonce were seen before"


def test_a_wrong_code_is_found_to_the_byte(tmp_path):
    found = difference(tmp_path, REFUSED, expecting(REFUSED, error_code="request_signature_replayed "))
    assert (found.what, found.byte) == ("outcome", len("refused with request_signature_replayed"))


@pytest.mark.parametrize("path", [SIGNED, ECDSA, RPC, REFUSED])
def test_a_base_that_is_off_by_one_byte_is_found_there(path, tmp_path):
    base = own(path)[BASE]
    for index in (0, len(base) // 2, len(base) - 1):
        other = base[:index] + chr(ord(base[index]) ^ 1) + base[index + 1 :]
        found = difference(tmp_path, path, {**own(path), BASE: other})
        assert (found.what, found.byte) == ("signature base", index)
    assert told(tmp_path, path, {**own(path), BASE: base + "\n"})[0] == "signature base"


def test_the_base_of_a_message_that_is_refused_before_it_is_signed_for_is_compared_too(tmp_path):
    path = "request-signing/a2a/negative/signed-and-unresolved.json"
    assert difference(tmp_path, path, own(path)) is None
    assert told(tmp_path, path, {**own(path), BASE: "x"})[0] == "signature base"


@pytest.mark.parametrize("name", ["no-nonce", "target-host-empty", "component-unknown"])
def test_a_message_without_a_base_is_not_asked_for_one(name, tmp_path):
    path = f"request-signing/profile-3.2/negative/{name}.json"
    assert difference(tmp_path, path, {**own(path), BASE: "x"}) is None


def test_a_signature_that_must_be_there_and_is_not_is_found(tmp_path):
    silent = {**own(UNSIGNED), "expected_outcome": {"success": True}}
    assert told(tmp_path, UNSIGNED, silent) == ("status", "verified", "unsigned")


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
        (REFUSED, "resolved_operation", "get_products", "create_media_buy"),
    ],
)
def test_a_wrong_expectation_of_the_outcome_is_found(path, member, value, found, tmp_path):
    assert told(tmp_path, path, expecting(path, **{member: value}))[1:] == (value or "none", found)


def test_a_warning_that_is_expected_is_compared(tmp_path):
    path = "request-signing/profile-3.2/positive/warned-expired.json"
    assert difference(tmp_path, path, own(path)) is None
    other = expecting(path, warning_code="request_signature_invalid")
    assert told(tmp_path, path, other) == ("warning", "request_signature_invalid", "request_signature_window_invalid")


def test_an_operation_that_cannot_be_resolved_is_no_operation(tmp_path):
    path = "request-signing/a2a/negative/unresolved-batch.json"
    named = expecting(path, resolved_operation="get_products")
    assert told(tmp_path, path, named) == ("resolved_operation", "get_products", "unresolved")


def test_a_webhook_has_no_operation(tmp_path):
    accepted, refused = (f"webhook-signing/{name}.json" for name in ("positive/ed25519", "negative/unsigned"))
    assert difference(tmp_path, accepted, expecting(accepted, resolved_operation=None)) is None
    assert told(tmp_path / "other", refused, expecting(refused, resolved_operation="x"))[1:] == ("x", "none")


def test_a_positive_whose_key_has_no_private_half_is_a_failure_and_not_half_a_pass(tmp_path):
    jwk = {name: value for name, value in own("request-signing/keys.json")["keys"][0].items() if name[0] != "_"}
    document = {**own(SIGNED), "jwks_override": {"keys": [jwk]}}
    assert told(tmp_path, SIGNED, document) == ("not a vector", "", "_private_d_for_test_only is not a string")


@pytest.mark.parametrize("member", ["request", "reference_now", "jwks_ref", "expected_outcome"])
@pytest.mark.parametrize("value", [None, 1.5, "x", [], {}, [1], {"keys": 1}])
def test_a_member_of_another_type_is_a_failure_that_names_it(member, value, tmp_path):
    found = difference(tmp_path, SIGNED, {**own(SIGNED), member: value})
    if (member, value) == ("jwks_ref", []):
        assert found.found == "refused with request_signature_key_unknown"
    else:
        assert (found.what, found.expected) == ("not a vector", "")
        assert " is not " in found.found


@pytest.mark.parametrize("capability", [{"required_for": "x"}, {"required_for": ["SendMessage"]}, {"warn_for": [1]}, 1])
def test_a_capability_that_nobody_can_configure_is_a_failure_that_says_why(capability, tmp_path):
    found = difference(tmp_path, SIGNED, {**own(SIGNED), "verifier_capability": capability})
    assert found.what == "not a vector"
    assert found.found.startswith(("required_for", "warn_for", "verifier_capability"))
