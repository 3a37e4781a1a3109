from __future__ import annotations

import json

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from tests.keys import EC_PUBLIC, JWKS, PRIVATE, PUBLIC, es256_key

from undersigned import ConfigurationError, KeyPair
from undersigned.publishing import PublishedKeys, PublishedUCPProfile
from undersigned.testing import FrozenNonceClock


def fields(response) -> dict[str, str]:
    return dict(response.fields)


def test_response_has_the_set_and_the_fields_that_receivers_need():
    response = PublishedKeys(JWKS).response("GET")
    assert json.loads(response.body) == JWKS
    assert fields(response) == {
        "Content-Type": "application/jwk-set+json",
        "Cache-Control": "public, max-age=300",
        "X-Content-Type-Options": "nosniff",
        "Content-Length": str(len(response.body)),
    }


def test_ucp_profile_has_its_keys_in_the_arrays_of_each_version_and_no_private_ones(tmp_path):
    profile = {"ucp": {"version": "2026-04-08", "spec": "https://ucp.example/specification/overview"}, **JWKS}
    response = PublishedUCPProfile(profile).response("GET")
    assert json.loads(response.body) == {**profile, "signing_keys": JWKS["keys"]}
    assert fields(response)["Content-Type"] == "application/json"
    write(tmp_path / "ucp.json", profile)
    assert PublishedUCPProfile(tmp_path / "ucp.json").response("GET") == response
    for wrong in ({"ucp": {}}, [], {**JWKS, "services": {"x": [PRIVATE]}}, {"keys": [PUBLIC | {"x1": PRIVATE["d"]}]}):
        with pytest.raises(ConfigurationError, match=r"^keys: "):
            PublishedUCPProfile(wrong)


def test_response_to_head_has_the_fields_alone():
    published = PublishedKeys(JWKS, max_age=60)
    response = published.response("HEAD")
    assert response.body == b""
    assert fields(response) == fields(published.response("GET"))
    assert fields(response)["Cache-Control"] == "public, max-age=60"


@pytest.mark.parametrize("options", [{"keys": {"keys": [PRIVATE]}}, {"keys": None}, {"max_age": -1}, {"max_age": 1.5}])
def test_set_or_option_that_cannot_be_used_is_a_mistake(options):
    with pytest.raises(ConfigurationError, match=rf"^{next(iter(options))}: ") as raised:
        PublishedKeys(**{"keys": JWKS} | options)
    assert PRIVATE["d"] not in str(raised.value)


def write(path, jwks: object) -> None:
    new = path.with_suffix(".new")
    new.write_text(json.dumps(jwks))
    new.rename(path)


def test_file_is_served_as_it_is_now_and_never_with_private_material(tmp_path, caplog):
    path, clock = tmp_path / "jwks.json", FrozenNonceClock()
    write(path, {"keys": [PUBLIC]})
    published = PublishedKeys(path, clock=clock)
    before = published.response("GET")
    write(path, {"keys": [PUBLIC, PRIVATE | {"kid": "oops"}]})
    clock.now += 1
    assert published.response("GET") == before
    [record] = caplog.records
    assert record.getMessage().startswith(f"{path}: keys: the member 'd' is private; publish the public JWK set")
    write(path, {"keys": [EC_PUBLIC]})
    clock.now += 1
    response = published.response("GET")
    assert json.loads(response.body) == {"keys": [EC_PUBLIC]}


@pytest.mark.parametrize("content", [{"keys": [PRIVATE]}, {}])
def test_file_that_must_not_be_published_from_the_start_is_a_mistake(tmp_path, content):
    write(tmp_path / "jwks.json", content)
    with pytest.raises(ConfigurationError, match=r"^path: .*jwks\.json cannot be used: keys: "):
        PublishedKeys(str(tmp_path / "jwks.json"))


@pytest.mark.parametrize("keyid", [None, "own"])
def test_public_key_in_pem_is_published_as_a_set(keyid, tmp_path):
    pair = KeyPair.from_private_key(es256_key(), keyid=keyid)
    public = es256_key().public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    (tmp_path / "public.pem").write_bytes(public)
    assert json.loads(PublishedKeys(tmp_path / "public.pem", keyid=keyid).response("GET").body) == pair.public


def test_private_key_in_pem_is_not_published(tmp_path):
    private = es256_key().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (tmp_path / "private.pem").write_bytes(private)
    with pytest.raises(ConfigurationError, match="this is a private key: give the public one"):
        PublishedKeys(tmp_path / "private.pem")
