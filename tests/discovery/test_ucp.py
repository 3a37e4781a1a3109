"""The key source of UCP against a real server of profiles, with threads and with asyncio."""

from __future__ import annotations

import pytest
from tests.discovery.key_server import failure, redirect, response
from tests.keys import EC_PRIVATE, EC_PUBLIC, OTHER_PUBLIC, PUBLIC, lookup

from undersigned import Request, SignatureError, Signer, SigningKey
from undersigned.discovery.ucp import UCPKeys
from undersigned.message import HeaderFields
from undersigned.profiles import UCP

PATH = "/.well-known/ucp"
KEYID = EC_PUBLIC["kid"]
PROFILE = {"ucp": {"version": "2026-01-11"}, "keys": [EC_PUBLIC], "services": {}}


def ask_about(value, keyid=KEYID, *, covered=True):
    """What the source is asked about a signature of a request with a UCP-Agent."""
    return lookup(
        keyid,
        fields=HeaderFields([] if value is None else [("UCP-Agent", value)]),
        components=frozenset({"@method", "ucp-agent"} if covered else {"@method"}),
        identifiers=('"@method"', '"ucp-agent"') if covered else ('"@method"',),
    )


@pytest.fixture
def make(server, clock):
    def make(**options):
        return UCPKeys(**{"network": server.network(), "clock": clock, **options})

    return make


@pytest.fixture
def find(world, server, make):
    source = make()

    def find(path=PATH, keyid=KEYID, source=source):
        return world.find_all(source, ask_about(f'profile="{server.url(path)}"', keyid))

    return find


def test_key_of_a_profile_is_owned_by_its_url(find, server):
    server.answers[PATH] = response(PROFILE)
    [key] = find()
    assert (key.keyid, key.owner, key.algorithm) == (KEYID, server.url(PATH), "ecdsa-p256-sha256")
    assert find(keyid="another") == ()


@pytest.mark.parametrize(
    "profile",
    [
        {"signing_keys": [EC_PUBLIC, PUBLIC]},
        {"keys": [EC_PUBLIC], "signing_keys": [PUBLIC]},
        {"keys": [EC_PUBLIC, PUBLIC], "signing_keys": [EC_PUBLIC, PUBLIC]},
        {"keys": [], "signing_keys": [EC_PUBLIC, PUBLIC]},
    ],
    ids=["2026-04-08", "between", "between, alike", "between, one empty"],
)
def test_keys_are_read_from_the_arrays_of_each_version(find, server, profile):
    server.answers[PATH] = response(profile)
    assert {find(keyid=jwk["kid"])[0].algorithm for jwk in (EC_PUBLIC, PUBLIC)} == {"ecdsa-p256-sha256", "ed25519"}


def test_other_members_of_ucp_agent_are_ignored(world, make, server):
    server.answers[PATH] = response(PROFILE)
    assert world.find_all(make(), ask_about(f'version="1", profile="{server.url(PATH)}";a=1'))


def test_keys_that_are_not_for_signatures_are_passed_over(find, server):
    other = {"use": "enc", "key_ops": ["encrypt"]}
    keys = [{"kty": "new", "kid": "x"}, PUBLIC | other | {"kid": KEYID}, OTHER_PUBLIC | {"key_ops": [], "kid": KEYID}]
    server.answers[PATH] = response({"keys": [*keys, EC_PUBLIC, PUBLIC | {"key_ops": "verify", "kid": "k"}]})
    [key] = find()
    assert key.algorithm == "ecdsa-p256-sha256"
    assert len(find(keyid="k")) == 1


def test_large_profile_is_read_up_to_128_kib(find, server):
    server.answers[PATH] = response(PROFILE | {"more": "x" * 120_000})
    assert find()
    server.answers["/larger"] = response(PROFILE | {"more": "x" * 131_072})
    assert failure(find, "/larger").reason == "signature_jwks_malformed"


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (response(b"", status="404 Not Found"), "signature_jwks_unavailable"),
        (redirect("/other"), "signature_jwks_unavailable"),
        (response(b"<html>"), "signature_jwks_malformed"),
        (response({"ucp": {}}), "signature_jwks_malformed"),
        (response({"keys": [EC_PUBLIC], "signing_keys": {}}), "signature_jwks_malformed"),
    ],
)
def test_reason_says_what_is_wrong_with_a_profile(find, server, answer, reason):
    server.answers |= {PATH: answer, "/other": response(PROFILE)}
    assert failure(find).reason == reason
    assert server.asked("/other") == 0


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (None, "signature_identity_missing"),
        ("profile", "signature_identity_malformed"),
        ("profile=token", "signature_identity_malformed"),
        ('other="https://platform.example/"', "signature_identity_malformed"),
        ('"https://platform.example/"', "signature_identity_malformed"),
        ('profile="http://platform.example/"', "signature_identity_malformed"),
        ('profile="https://me@platform.example/"', "signature_identity_malformed"),
        ('profile="/.well-known/ucp"', "signature_identity_malformed"),
        ('profile="https://10.0.0.1/"', "signature_jwks_untrusted"),
    ],
)
def test_reason_says_what_is_wrong_with_ucp_agent(world, make, server, value, reason):
    source = make(network=server.network(allowed=()))
    assert failure(world.find_all, source, ask_about(value)).reason == reason
    assert not server.requests


def test_ucp_agent_that_is_not_covered_is_not_read(world, make, server):
    value = f'profile="{server.url(PATH)}"'
    assert failure(world.find_all, make(), ask_about(value, covered=False)).reason == "signature_identity_missing"
    assert not server.requests


def test_url_of_a_business_ends_in_the_well_known_path(find, make, server):
    server.answers |= {PATH: response(PROFILE), "/ucp.json": response(PROFILE)}
    source = make(is_business=True)
    assert find(source=source)
    assert failure(find, "/ucp.json", source=source).reason == "signature_identity_malformed"
    assert find("/ucp.json")


def test_list_of_trusted_urls_is_asked_before_any_fetch(find, make, server):
    server.answers[PATH] = response(PROFILE)
    assert failure(find, source=make(trusted=["https://platform.example/"])).reason == "signature_jwks_untrusted"
    assert not server.requests
    for trusted in ([server.url(PATH)], lambda url: url == server.url(PATH)):
        assert find(source=make(trusted=trusted))


def test_url_that_is_not_trusted_any_more_is_rejected_although_its_keys_are_kept(find, make, server):
    server.answers[PATH] = response(PROFILE)
    trusted = {server.url(PATH)}
    source = make(trusted=trusted.__contains__)
    assert find(source=source)
    trusted.clear()
    assert failure(find, source=source).reason == "signature_jwks_untrusted"


def test_unknown_key_is_looked_for_once_a_minute(find, server, clock):
    server.answers[PATH] = response(PROFILE)
    assert find()
    for seconds, asked in ((1, 2), (59, 2), (1, 3)):
        clock.now += seconds
        assert find(keyid="another") == ()
        assert server.asked(PATH) == asked


@pytest.mark.parametrize(
    ("agent", "code", "status"),
    [
        ('profile="{url}"', None, None),
        ('profile="{url}x"', "profile_unreachable", 424),
        ('profile="{url}-text"', "profile_malformed", 422),
        ('profile="{url}-none"', "key_not_found", 401),
        ('profile="http://platform.example/"', "invalid_profile_url", 400),
        ('profile="https://[::1]/"', "profile_not_trusted", 403),
    ],
)
def test_request_is_verified_or_rejected_with_the_code_of_ucp(world, make, server, agent, code, status):
    server.answers |= {PATH: response(PROFILE), f"{PATH}-text": response(b"x"), f"{PATH}-none": response({"keys": []})}
    fields = [
        ("UCP-Agent", agent.format(url=server.url(PATH))),
        ("Idempotency-Key", "550e8400-e29b-41d4-a716-446655440000"),
        ("Content-Type", "application/json"),
    ]
    request = Request("POST", "https://shop.example/checkout-sessions", fields, b"{}")
    signed = Signer(SigningKey.from_jwk(EC_PRIVATE), profile=UCP).sign(request)
    request = Request(request.method, request.url, [*fields, *signed], request.body)
    verify = world.verifying(UCP, make())
    if code is None:
        assert verify(request).signer == server.url(PATH)
        assert verify(request).repeated
        return
    with pytest.raises(SignatureError) as raised:
        verify(request)
    assert (raised.value.code, raised.value.form.status) == (code, status)
