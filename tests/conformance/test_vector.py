from __future__ import annotations

import pytest
from tests.conformance.laid import KEYS, MCP, PLAIN, RING, RPC, SIGNED, own

from undersigned import ConfigurationError, profiles
from undersigned.conformance.document import Document, MalformedVector
from undersigned.conformance.vector import Endpoint, KeyRing, Vector
from undersigned.policy.jsonrpc import JSONRPCResolver
from undersigned.policy.operation import PathResolver


def vector(path: str = SIGNED, *, endpoint: Endpoint = PLAIN, ring: KeyRing = RING, **changes) -> Vector:
    """One of our own vectors; a change replaces a member, None takes it away."""
    members = {name: value for name, value in {**own(path), **changes}.items() if value is not None}
    return Vector("positive/own", Document(members), endpoint, ring)


def test_a_vector_gives_its_request_its_outcome_and_its_base():
    given, members = vector(), own(SIGNED)
    assert given.request.url == members["request"]["url"]
    assert given.request.body == members["request"]["body"].encode()
    assert given.request.fields.combined("signature") == members["request"]["headers"]["Signature"]
    assert (given.accepted, given.code, given.label) == (True, None, "sig1")
    assert given.base == members["expected_signature_base"]
    assert given.now == members["reference_now"]
    assert vector(expected_signature_base=None).base is None


def test_headers_are_an_object_or_pairs_that_may_repeat_a_name():
    request = {**own(SIGNED)["request"], "headers": [["X-A", "1"], ["x-a", "2"]]}
    assert vector(request=request).request.fields.combined("x-a") == "1, 2"


def test_a_body_of_no_bytes_is_refused():
    request = {**own(SIGNED)["request"], "body": "\ud800"}
    with pytest.raises(MalformedVector, match="lone surrogate"):
        _ = vector(request=request).request


@pytest.mark.parametrize("digest", ["required", "forbidden", "either"])
def test_the_digest_policy_is_the_capabilitys(digest):
    assert vector(verifier_capability={"covers_content_digest": digest}).profile.digest == digest


def test_without_a_capability_the_profile_is_the_sets_and_there_is_no_policy():
    given = vector(verifier_capability=None)
    assert given.profile == profiles.ADCP_3_2
    assert given.policy is None


@pytest.mark.parametrize("digest", ["sometimes", ""])
def test_a_digest_policy_nobody_knows_is_refused(digest):
    with pytest.raises(ConfigurationError, match="digest"):
        _ = vector(verifier_capability={"covers_content_digest": digest}).profile


def test_the_lists_of_the_policy_are_the_capabilitys():
    policy = vector(verifier_capability={"required_for": ["a"], "warn_for": ["b"], "supported_for": ["c"]}).policy
    assert (policy.required_for, policy.warn_for, policy.supported_for) == ({"a"}, {"b"}, {"c"})
    assert policy.resolver == PathResolver()


def test_an_endpoint_that_lists_methods_speaks_json_rpc():
    methods = {"protocol_methods_required_for": ["tasks/cancel"], "protocol_methods_warn_for": []}
    policy = vector(verifier_capability=methods).policy
    assert (policy.protocol_methods_required_for, policy.resolver) == ({"tasks/cancel"}, JSONRPCResolver())
    assert vector(RPC, endpoint=MCP, verifier_capability=methods).policy.resolver is MCP.resolver
    empty = {"protocol_methods_required_for": []}
    assert vector(verifier_capability=empty).policy.resolver == PathResolver()


def test_the_keys_are_those_the_vector_names():
    assert set(vector().keys.keys) == {"own-buyer"}
    assert set(vector(jwks_ref=["own-buyer", "own-buyer-p256"]).keys.keys) == {"own-buyer", "own-buyer-p256"}


@pytest.mark.parametrize("wrap", [lambda jwk: {"keys": [jwk]}, lambda jwk: {"$comment": "a key", "own": jwk}])
def test_the_keys_may_be_the_vectors_own(wrap):
    jwk = {**own(KEYS)["keys"][0], "kid": "override"}
    given = vector(jwks_override=wrap(jwk))
    assert set(given.keys.keys) == {"override"}
    assert given.signing_key("override").keyid == "override"


def test_a_key_that_is_not_there_is_named_as_a_fault_of_the_vector():
    for read in (lambda: vector(jwks_ref=["nobody"]).keys, lambda: vector().signing_key("nobody")):
        with pytest.raises(MalformedVector, match="a key that the keys do not have"):
            read()


def test_keys_that_cannot_be_read_are_the_fault_of_every_vector_that_needs_them():
    with pytest.raises(MalformedVector, match=r"keys\.json: not there"):
        _ = vector(ring=KeyRing((), "keys.json: not there")).keys


def test_a_public_key_alone_signs_nothing():
    jwk = {name: value for name, value in own(KEYS)["keys"][0].items() if not name.startswith("_")}
    with pytest.raises(MalformedVector, match="_private_d_for_test_only is not a string"):
        vector(ring=KeyRing((Document(jwk),))).signing_key("own-buyer")


def test_a_vector_is_judged_from_fresh_state_each_time():
    given = vector()
    assert [given.result().error, given.result().error] == [None, None]
