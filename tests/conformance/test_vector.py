from __future__ import annotations

import pytest
from tests.conformance.files import KEYS, MCP, PLAIN, RING, RPC, SIGNED, own

from undersigned import ConfigurationError, profiles
from undersigned.conformance.document import Document, MalformedVector
from undersigned.conformance.vector import Endpoint, KeyRing, Vector
from undersigned.policy.jsonrpc import JSONRPCResolver
from undersigned.policy.operation import PathResolver


def vector(path: str = SIGNED, *, endpoint: Endpoint = PLAIN, ring: KeyRing = RING, **changes) -> Vector:
    """Return one of our own vectors with changes. None removes a member."""
    members = {name: value for name, value in {**own(path), **changes}.items() if value is not None}
    return Vector("positive/own", Document(members), endpoint, ring)


def test_vector_has_its_request_outcome_and_base():
    given, members = vector(), own(SIGNED)
    assert given.request.url == members["request"]["url"]
    assert given.request.body == members["request"]["body"].encode()
    assert given.request.fields.combined.get("signature") == members["request"]["headers"]["Signature"]
    assert (given.accepted, given.code, given.label) == (True, None, "sig1")
    assert given.base == members["expected_signature_base"]
    assert given.now == members["reference_now"]
    assert vector(expected_signature_base=None).base is None


def test_headers_are_an_object_or_pairs_with_repeated_names():
    request = {**own(SIGNED)["request"], "headers": [["X-A", "1"], ["x-a", "2"]]}
    assert vector(request=request).request.fields.combined.get("x-a") == "1, 2"


def test_body_is_rejected_when_it_has_a_lone_surrogate():
    request = {**own(SIGNED)["request"], "body": "\ud800"}
    with pytest.raises(MalformedVector, match="lone surrogate"):
        _ = vector(request=request).request


@pytest.mark.parametrize("digest", ["required", "forbidden", "either"])
def test_digest_policy_comes_from_the_capability(digest):
    assert vector(verifier_capability={"covers_content_digest": digest}).profile.digest.policy == digest


def test_profile_is_the_sets_and_policy_is_none_without_a_capability():
    given = vector(verifier_capability=None)
    assert given.profile == profiles.ADCP_3_2
    assert given.policy is None


@pytest.mark.parametrize("digest", ["sometimes", ""])
def test_unknown_digest_policy_is_rejected(digest):
    with pytest.raises(ConfigurationError, match="digest"):
        _ = vector(verifier_capability={"covers_content_digest": digest}).profile


def test_policy_lists_come_from_the_capability():
    policy = vector(verifier_capability={"required_for": ["a"], "warn_for": ["b"], "supported_for": ["c"]}).policy
    assert (policy.required_for, policy.warn_for, policy.supported_for) == ({"a"}, {"b"}, {"c"})
    assert policy.resolver == PathResolver()


def test_resolver_is_json_rpc_when_the_capability_lists_methods():
    methods = {"protocol_methods_required_for": ["tasks/cancel"], "protocol_methods_warn_for": []}
    policy = vector(verifier_capability=methods).policy
    assert (policy.protocol_methods_required_for, policy.resolver) == ({"tasks/cancel"}, JSONRPCResolver())
    assert vector(RPC, endpoint=MCP, verifier_capability=methods).policy.resolver is MCP.resolver
    empty = {"protocol_methods_required_for": []}
    assert vector(verifier_capability=empty).policy.resolver == PathResolver()


def test_keys_are_the_ones_named_by_the_vector():
    assert set(vector().keys.keys) == {"own-buyer"}
    assert set(vector(jwks_ref=["own-buyer", "own-buyer-p256"]).keys.keys) == {"own-buyer", "own-buyer-p256"}


@pytest.mark.parametrize("wrap", [lambda jwk: {"keys": [jwk]}, lambda jwk: {"$comment": "a key", "own": jwk}])
def test_keys_may_come_from_the_vector(wrap):
    jwk = {**own(KEYS)["keys"][0], "kid": "override"}
    given = vector(jwks_override=wrap(jwk))
    assert set(given.keys.keys) == {"override"}
    assert given.signing_key("override").keyid == "override"


def test_missing_key_is_a_fault_of_the_vector():
    for read in (lambda: vector(jwks_ref=["nobody"]).keys, lambda: vector().signing_key("nobody")):
        with pytest.raises(MalformedVector, match="is not in the keys of the set"):
            read()


def test_unreadable_keys_are_a_fault_of_every_vector_that_needs_them():
    with pytest.raises(MalformedVector, match=r"keys\.json: not there"):
        _ = vector(ring=KeyRing((), "keys.json: not there")).keys


def test_public_key_cannot_sign():
    jwk = {name: value for name, value in own(KEYS)["keys"][0].items() if not name.startswith("_")}
    with pytest.raises(MalformedVector, match="_private_d_for_test_only is not a string"):
        vector(ring=KeyRing((Document(jwk),))).signing_key("own-buyer")


def test_vector_is_verified_in_a_new_state_each_time():
    given = vector()
    assert [given.result().error, given.result().error] == [None, None]
