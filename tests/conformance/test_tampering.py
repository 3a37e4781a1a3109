from __future__ import annotations

from dataclasses import replace

import pytest

from undersigned import MemoryReplayStore, Request, SignatureError, Verifier, profiles
from undersigned.conformance.tampering import KEYS, METHOD, NOW, OPERATION, Facts
from undersigned.policy.webhooks import registers_authentication
from undersigned.signature.rules import DigestRule

GOOD = Facts(
    profile=profiles.ADCP_3_2,
    rpc=False,
    has_body=True,
    version="",
    registers_webhook=False,
    signed=True,
    paired=True,
    covers_digest=True,
    digest_matches=True,
    signature_valid=True,
)


def step(facts: Facts) -> object:
    """Return the step that rejects the request, or None."""
    verifier = Verifier(facts.profile, keys=KEYS, replay=MemoryReplayStore(), clock=lambda: NOW)
    try:
        verifier.verify(facts.request())
    except SignatureError as error:
        return error.step
    return None


@pytest.mark.parametrize("profile", [profiles.ADCP_3_1, profiles.ADCP_3_2])
@pytest.mark.parametrize("rpc", [False, True])
@pytest.mark.parametrize("has_body", [False, True])
def test_untampered_request_is_accepted(profile, rpc, has_body):
    assert step(replace(GOOD, profile=profile, rpc=rpc, has_body=has_body)) is None


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"signed": False}, 0),
        ({"paired": False}, 1),
        ({"covers_digest": False}, 6),
        ({"signature_valid": False}, 10),
        ({"signature_valid": False, "digest_matches": False}, 10),
        ({"signature_valid": False, "has_body": False}, 10),
        ({"digest_matches": False}, 11),
        ({"profile": profiles.ADCP_3_1, "covers_digest": False}, None),
        ({"profile": profiles.ADCP_3_1, "covers_digest": False, "signature_valid": False}, 10),
        ({"profile": profiles.ADCP_3_1.derive(digest=DigestRule(policy="forbidden"))}, 6),
    ],
)
def test_each_fact_is_rejected_at_its_own_step(changes, expected):
    assert step(replace(GOOD, **changes)) == expected


def test_operation_stays_when_the_request_is_changed():
    rewritten = replace(GOOD, profile=profiles.ADCP_3_1, covers_digest=False, signature_valid=False).request()
    assert rewritten.url.partition("?")[0].endswith(f"/{OPERATION}")
    assert replace(GOOD, rpc=True, digest_matches=False).request().content.json()["method"] == METHOD


@pytest.mark.parametrize("rpc", [False, True])
def test_content_follows_the_facts(rpc):
    request: Request = replace(GOOD, rpc=rpc, version="3.1", registers_webhook=True).request()
    members = request.content.json()["params"] if rpc else request.content.json()
    assert members["adcp_version"] == "3.1"
    assert registers_authentication(request.content.json(), inside=False)
    assert not registers_authentication(replace(GOOD, rpc=rpc).request().content.json(), inside=False)


def test_equal_facts_give_equal_bytes():
    assert GOOD.request() == GOOD.request()
