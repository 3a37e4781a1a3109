"""`undersigned revoke`: the list is written, and a service that reads it refuses the key."""

from __future__ import annotations

import itertools
import json

import pytest
from tests.cli.command import invoke
from tests.serving import uvicorn_server

from undersigned import ConfigurationError, KeyPair, KeySet, MemoryReplayStore, VerificationKey, Verifier, profiles
from undersigned.asgi import SignatureMiddleware
from undersigned.cli import revoke as module
from undersigned.discovery import RevocationFile
from undersigned.message.timestamps import system_clock

PAIRS = [KeyPair.generate("ed25519", keyid="a"), KeyPair.generate("ecdsa-p256-sha256", keyid="b")]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "revoked.json"


@pytest.fixture
def service(path):
    """The origin of a service that reads the list."""

    async def app(_scope, _receive, send):
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body"})

    revoke(path)
    keys = KeySet.of(*(VerificationKey.from_jwk(pair.public["keys"][0], owner="acme") for pair in PAIRS))
    verifier = Verifier(profiles.ADCP_3_2, keys=keys, replay=MemoryReplayStore(), revocations=RevocationFile(path))
    with uvicorn_server(
        SignatureMiddleware(app, verifier=verifier, origins="http://{}".format, mode="optional")
    ) as port:
        yield f"http://127.0.0.1:{port}"


def revoke(path, *arguments: str, code: int = 0) -> str:
    done = invoke("revoke", "--list", str(path), *arguments)
    assert done.exit_code == code, done.output
    return done.output


@pytest.mark.parametrize("wrong", ["2026-01-01T00:00:00Z", "2126-01-01T00:00:00Z"])
def test_keys_are_added_once_and_the_list_stays_current(path, wrong):
    assert "refuses them after its next fetch: at its start" in revoke(path, "a", "--issuer", "https://shop.example")
    first = json.loads(path.read_text())
    assert (first["issuer"], first["revoked_kids"]) == ("https://shop.example", ["a"])
    assert f"by {first['next_update']}" in revoke(path, "b", "a")
    path.write_text(json.dumps({**json.loads(path.read_text()), "updated": wrong, "note": 1}))
    assert "revoked" not in revoke(path).replace(str(path), "")
    again = json.loads(path.read_text())
    assert (again["issuer"], again["revoked_kids"], again["note"]) == ("https://shop.example", ["a", "b"], 1)
    assert RevocationFile(path).is_ready(system_clock())


def test_restored_key_is_accepted_although_the_list_was_just_written(path):
    revoke(path, "a", "b")
    source = RevocationFile(path, clock=itertools.count().__next__)
    assert "restored: a" in revoke(path, "a", "--restore")
    assert source.current("").revoked == {"b"}
    assert "a is not on the list" in revoke(path, "a", "--restore", code=2)
    assert "name the keys" in revoke(path, "--restore", code=2)


def test_list_that_lacks_a_key_without_a_later_time_is_told(path, caplog):
    revoke(path, "a", "b")
    source = RevocationFile(path, clock=itertools.count().__next__)
    path.write_text(json.dumps({**json.loads(path.read_text()), "revoked_kids": ["c"]}))
    assert source.current("").revoked == {"a", "b", "c"}
    assert source.current("")
    [line] = caplog.messages
    assert "its updated is not later: they stay revoked" in line


def test_planted_link_is_not_followed_and_a_full_disk_leaves_the_list_as_it_is(path, monkeypatch):
    revoke(path, "a")
    (victim := path.with_name("victim")).write_text("mine")
    path.with_name(f"{path.name}.new").symlink_to(victim)
    revoke(path, "b")
    assert (victim.read_text(), json.loads(path.read_text())["revoked_kids"]) == ("mine", ["a", "b"])
    monkeypatch.setattr("os.fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    assert "No space left on device" in revoke(path, "c", code=2)
    assert json.loads(path.read_text())["revoked_kids"] == ["a", "b"]
    assert {there.name for there in path.parent.iterdir()} == {path.name, "victim"}


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.private["kid"])
def test_service_that_reads_the_list_is_seen_to_refuse_the_key(pair, path, service):
    kid = pair.private["kid"]
    assert f"checked: {service}/ refuses {kid}" in revoke(path, kid, "--check", f"{service}/")


def test_service_that_does_not_refuse_the_key_is_told(tmp_path, service, monkeypatch):
    monkeypatch.setattr(module, "_TRIES", 2)
    told = revoke(tmp_path / "another.json", "a", "--check", f"{service}/", code=1)
    assert f"NOT refused: {service}/ answers signature_" in told
    told = revoke(tmp_path / "another.json", "typo", "--check", f"{service}/", code=1)
    assert f"NOT checked: {service}/ does not know the key ID typo" in told
    assert "name the keys" in revoke(tmp_path / "another.json", "--check", f"{service}/", code=2)


@pytest.mark.parametrize("text", ["[]", "{", '{"revoked_kids": [1]}', '{"revoked_kids": {}}', '{"revoked_kids": [{}]}'])
def test_file_that_is_no_list_is_left_alone(text, path):
    path.write_text(text)
    assert "is not a revocation list" in revoke(path, "a", code=2)
    assert path.read_text() == text


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("--check", "shop.example"), 2, "write all of it"),
        (("--check", "http://127.0.0.1:1/"), 1, "no response"),
        (("--check", "http://127.0.0.1:1/", "--profile", "web-bot-auth"), 1, "no response"),
        (("--check", "http://127.0.0.1:1/", "--profile", "fapi-2-request"), 2, "authorization"),
    ],
)
def test_service_that_cannot_be_asked_is_an_error(arguments, code, told, path):
    assert told in revoke(path, "a", *arguments, code=code)


def test_list_that_cannot_be_written_or_read_is_an_error(tmp_path):
    path = tmp_path / "absent" / "revoked.json"
    assert f"there is no folder {path.parent}" in revoke(path, "a", code=2)
    with pytest.raises(ConfigurationError, match=f"undersigned revoke --list {path}` makes a list"):
        RevocationFile(path)
