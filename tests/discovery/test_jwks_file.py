from __future__ import annotations

import json

import pytest
from tests.keys import EC_PUBLIC, JWKS, OTHER_PRIVATE, PUBLIC, lookup

from undersigned.discovery import JWKSFile
from undersigned.errors import ConfigurationError


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "keys.json"
    path.write_text(json.dumps({"keys": [PUBLIC]}))
    return path


@pytest.fixture
def source(path, clock):
    return JWKSFile(path, clock=clock)


def find(source, keyid: str):
    return next(iter(source.find(lookup(keyid))), None)


def replace(path, text: str) -> None:
    """Change the file as an operator should."""
    new = path.with_suffix(".new")
    new.write_text(text)
    new.rename(path)


def test_file_is_read_and_does_not_block(source):
    assert find(source, "buyer-ed25519").algorithm == "ed25519"
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


def test_file_without_keys_leaves_none(source, path, clock):
    replace(path, '{"keys": []}')
    clock.now += 1
    assert find(source, "buyer-ed25519") is None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"keys": 5}', '{"keys": []} ' + " " * (1 << 20)])
def test_broken_file_leaves_the_last_good_keys_and_says_so_once(source, path, clock, caplog, text):
    replace(path, text)
    for _ in range(3):
        clock.now += 1
        assert find(source, "buyer-ed25519") is not None
    assert [record.getMessage().partition(": ")[0] for record in caplog.records] == [str(path)]
    replace(path, json.dumps({"keys": [EC_PUBLIC]}))
    clock.now += 1
    assert find(source, "buyer-ed25519") is None
    assert len(caplog.records) == 1


def test_missing_file_leaves_the_last_good_keys_and_is_read_when_it_is_back(source, path, clock, caplog):
    path.unlink()
    for _ in range(2):
        clock.now += 1
        assert find(source, "buyer-ed25519") is not None
    assert [record.getMessage() for record in caplog.records] == [
        f"{path}: No such file or directory; the keys read before are used"
    ]
    path.write_text(json.dumps({"keys": [EC_PUBLIC]}))
    clock.now += 1
    assert find(source, "buyer-es256") is not None


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
    with pytest.raises(ConfigurationError, match=f"^path: .*{told}"):
        JWKSFile(path)


def test_missing_file_from_the_start_is_a_mistake(tmp_path):
    with pytest.raises(ConfigurationError, match="No such file"):
        JWKSFile(tmp_path / "none.json")


def test_interval_is_checked(path):
    with pytest.raises(ConfigurationError, match=r"^interval: "):
        JWKSFile(path, interval=-1)


def test_file_names_no_private_material_in_its_errors(path):
    path.write_text(json.dumps(OTHER_PRIVATE))
    with pytest.raises(ConfigurationError) as raised:
        JWKSFile(path)
    assert OTHER_PRIVATE["d"] not in str(raised.value)
