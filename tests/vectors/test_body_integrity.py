"""The published facts about body integrity, each made real: a request signed, changed and verified by the library."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from tests.keys import JSON_FIELD, changed, signed_request, verifier, with_field
from tests.vectors.published import ROOT, cases, settled

from undersigned import MemoryReplayStore, Request, VerificationUnavailable, profiles
from undersigned.digest import content_digest
from undersigned.jsonrpc import JSONRPCOperation
from undersigned.operation import PathOperation
from undersigned.policy import Policy

CASES = cases("body-integrity-policy.json", "cases", "id")
PROFILES = {"3.1": profiles.ADCP_3_1, "3.2": profiles.ADCP_3_2}
PLAIN = "https://seller.example.com/adcp/create_media_buy"
MCP = "https://seller.example.com/mcp"


def profile_of(case):
    """The endpoint's profile: its configuration, whatever the body says of itself."""
    profile = PROFILES[case["endpoint_profile"]]
    return replace(profile, digest=case["legacy_digest_policy"]) if "legacy_digest_policy" in case else profile


def policy_of(case):
    if case["mode"].startswith("protocol_methods_"):
        return Policy(**{case["mode"]: ["tasks/cancel"]}, resolver=JSONRPCOperation())
    return Policy(**{case["mode"]: ["create_media_buy"]}, resolver=PathOperation())


def content_of(case):
    version = {"adcp_version": case["request_body_adcp_version"]} if "request_body_adcp_version" in case else {}
    if case["mode"].startswith("protocol_methods_"):
        params = {"taskId": "task_001", **version}
        return MCP, json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tasks/cancel", "params": params}).encode()
    return PLAIN, json.dumps({"plan_id": "plan_001", **version}).encode()


def request_of(case, profile):
    """The request that the case's facts describe."""
    url, body = content_of(case)
    if not case["has_body"]:
        return signed_request("GET", url, (), b"", profile=profile)
    if not case["signature_present"]:
        return Request("POST", url, [JSON_FIELD], body)
    covers = case.get("covers_content_digest", True)
    signing = replace(profile, digest="required" if covers else "either")
    request = signed_request("POST", url, body=body, profile=signing)
    assert ('"content-digest"' in request.field("signature-input")) == covers
    if case.get("signature_header_state") == "malformed_pair":
        return with_field(request, "signature-input", None)
    other = body.replace(b"_001", b"_666")
    assert other != body
    if not case.get("cryptographic_signature_valid", True):
        # Rewritten after signing, header and all: the digest is that of the new body, or of no body at hand.
        digest = content_digest(other, profile.digest_encodings[0])
        request = with_field(request, "content-digest", digest)
        return changed(request, body=other if case["digest_matches_body"] else other + b" ")
    if not case.get("digest_matches_body", True):
        return changed(request, body=other)
    return request


@pytest.mark.skipif(not ROOT.is_dir(), reason=f"no published vectors at {ROOT}")
def test_all_published_facts_are_here():
    assert len(CASES) == 17


@pytest.mark.parametrize("case", CASES)
def test_a_published_fact_ends_as_published(case):
    profile, expected = profile_of(case), case["expected"]
    judge = verifier(profile)
    settlement = settled(policy_of(case), judge, request_of(case, profile), fallback=case["fallback_auth_valid"])
    unauthenticated = expected["action"] == "reject_unauthenticated"
    assert settlement.outcome == ("reject" if unauthenticated else expected["action"])
    assert (settlement.source == "signature") == expected["verified_signer_identity"]
    assert settlement.source == expected.get("authentication_source", "none")
    if "error_code" in expected:
        assert settlement.error.code == expected["error_code"]
    if unauthenticated:
        assert settlement.error.code.startswith(profile.prefix)
        assert not isinstance(settlement.error, VerificationUnavailable)


@pytest.mark.parametrize("case", CASES)
def test_the_facts_of_the_signature_are_what_the_verifier_finds(case):
    """A case is realised by a real request: its own step refuses it, and nothing before that step."""
    profile = profile_of(case)
    settlement = settled(policy_of(case), verifier(profile), request_of(case, profile), fallback=False)
    if settlement.error is None:
        assert case.get("cryptographic_signature_valid")
        return
    expected = 0
    if case.get("signature_header_state") == "malformed_pair":
        expected = 1
    elif case["signature_present"] and not case["covers_content_digest"]:
        expected = 6
    elif case["signature_present"]:
        expected = 11 if case["cryptographic_signature_valid"] else 10
    assert settlement.error.step == expected


class _Down(MemoryReplayStore):
    def claim(self, *_arguments, **_named):
        raise OSError("the store is down")


@pytest.mark.parametrize("mode", ["required_for", "warn_for", "supported_for"])
def test_a_store_that_is_down_accepts_nobody_who_has_no_other_credential(mode):
    case = {"endpoint_profile": "3.2", "mode": mode, "has_body": True, "signature_present": True}
    request, judge = request_of(case, profiles.ADCP_3_2), verifier(replay=_Down())
    settlement = settled(policy_of(case), judge, request)
    assert settlement.outcome == "reject"
    assert isinstance(settlement.error, VerificationUnavailable)
    carried = settled(policy_of(case), judge, request, fallback=True)
    assert (carried.outcome == "accept_with_warning") == (mode == "warn_for")
    assert carried.source != "signature"
