from __future__ import annotations

import json
import os
import threading

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from tests.keys import EC_PUBLIC, JWKS, OTHER_PRIVATE, PUBLIC, ed25519_key, es256_key, lookup

from undersigned import ConfigurationError, KeySet, VerificationKey
from undersigned.discovery import JWKSFile


def public_pem(key) -> bytes:
    return key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "keys.json"
    path.write_text(json.dumps({"keys": [PUBLIC]}))
    return path


@pytest.fixture
def source(path, clock):
    return JWKSFile(path, owner="acme", clock=clock)


def find(source, keyid: str):
    return next(iter(source.find(lookup(keyid))), None)


def replace(path, text: str) -> None:
    """Change the file as an operator should."""
    new = path.with_suffix(".new")
    new.write_text(text)
    new.rename(path)


def test_file_is_read_for_its_owner_and_does_not_block(source):
    assert (find(source, "buyer-ed25519").algorithm, find(source, "buyer-ed25519").owner) == ("ed25519", "acme")
    assert find(source, "buyer-es256") is None
    assert not source.blocking


def test_file_is_read_again_when_it_changes_and_only_then(source, path, clock):
    key = find(source, "buyer-ed25519")
    clock.now += 1
    assert find(source, "buyer-ed25519") is key
    replace(path, json.dumps(JWKS))
    assert find(source, "buyer-es256") is None
    clock.now += 1
    assert find(source, "buyer-es256") is not None


def test_key_of_any_key_id_is_found_as_in_a_key_set(source, path, clock):
    long = "x" * 5000
    jwks = {"keys": [PUBLIC | {"kid": long}]}
    replace(path, json.dumps(jwks))
    clock.now += 1
    given = KeySet.from_jwks(jwks, owner="acme")
    assert find(source, long).thumbprint == find(given, long).thumbprint


def test_file_without_keys_leaves_none(source, path, clock):
    replace(path, '{"keys": []}')
    clock.now += 1
    assert find(source, "buyer-ed25519") is None


BROKEN = ("", "{", "[]", '{"keys": 5}', '{"keys": [5]}', '{"keys": []} ' + " " * (1 << 20))


@pytest.mark.parametrize("spoilt", [*BROKEN, None, os.mkfifo, os.mkdir])
def test_broken_file_leaves_the_last_good_keys_is_not_waited_for_and_is_named_once(source, path, clock, caplog, spoilt):
    path.unlink()
    if isinstance(spoilt, str):
        path.write_text(spoilt)
    elif spoilt:
        spoilt(path)
    for _ in range(3):
        clock.now += 1
        assert find(source, "buyer-ed25519") is not None
    [told] = caplog.messages
    assert told.startswith(f"{path}: No such file or directory; what was" if spoilt is None else f"{path}: ")
    if path.is_dir():
        path.rmdir()
    replace(path, json.dumps({"keys": [EC_PUBLIC]}))
    clock.now += 1
    assert find(source, "buyer-ed25519") is None
    assert len(caplog.records) == 1


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "not JSON"),
        ('{"keys": {}}', "no array keys"),
        ('{"keys": []}', "no key that can be used"),
        (json.dumps({"keys": [{"kid": "a", "kty": "RSA"}]}), "no key that can be used"),
        (json.dumps(PUBLIC), "no array keys"),
        (json.dumps({"keys": [PUBLIC, OTHER_PRIVATE]}), "the JWK has a private key"),
        (json.dumps({"keys": [PUBLIC, {"kid": "s", "kty": "oct", "alg": "HS256", "k": "AA"}]}), "a shared secret"),
    ],
)
def test_file_that_is_no_use_from_the_start_is_a_mistake(path, text, told):
    path.write_text(text)
    with pytest.raises(ConfigurationError, match=f"^path: .*{told}") as raised:
        JWKSFile(path)
    assert OTHER_PRIVATE["d"] not in str(raised.value)


def test_missing_file_from_the_start_is_a_mistake(tmp_path):
    with pytest.raises(ConfigurationError, match="No such file"):
        JWKSFile(tmp_path / "none.json")


@pytest.fixture
def pem(tmp_path):
    path = tmp_path / "public.pem"
    path.write_bytes(public_pem(ed25519_key()))
    return path


def test_public_key_in_pem_is_read_under_the_given_keyid_and_again_when_it_changes(pem, clock):
    source = JWKSFile(pem, keyid="buyer-ed25519", clock=clock)
    assert find(source, "buyer-ed25519").thumbprint == VerificationKey.from_jwk(PUBLIC).thumbprint
    assert find(source, "buyer-es256") is None
    replace(pem, public_pem(es256_key()).decode())
    clock.now += 2
    assert find(source, "buyer-ed25519").algorithm == "ecdsa-p256-sha256"


def test_keyid_is_needed_for_a_pem_and_rejected_for_a_set(pem, path):
    with pytest.raises(ConfigurationError, match="a PEM has no key ID"):
        JWKSFile(pem)
    with pytest.raises(ConfigurationError, match="have their own kids"):
        JWKSFile(path, keyid="buyer-ed25519")


@pytest.mark.parametrize("content", [b"-----BEGIN PRIVATE KEY-----", public_pem(ed25519_key()) * 2])
def test_pem_without_exactly_one_public_key_is_rejected(content, pem):
    pem.write_bytes(content)
    with pytest.raises(ConfigurationError, match="pem: "):
        JWKSFile(pem, keyid="a")


def test_new_file_is_seen_by_all_threads_from_the_first_look_on(source, path, clock, monkeypatch):
    replace(path, json.dumps({"keys": [PUBLIC, EC_PUBLIC]}))
    clock.now += 2
    looking, go_on, real = threading.Event(), threading.Event(), os.fstat

    def slow(descriptor):
        if threading.current_thread() is thread:
            looking.set()
            go_on.wait(20)
        return real(descriptor)

    monkeypatch.setattr(os, "fstat", slow)
    thread = threading.Thread(target=source.find, args=(lookup(),))
    thread.start()
    assert looking.wait(20)
    assert find(source, "buyer-es256")
    go_on.set()
    thread.join()
