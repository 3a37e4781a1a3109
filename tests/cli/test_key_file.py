from __future__ import annotations

import json
import os
import pathlib

import pytest
from tests.cli.command import invoke

SECRET = "A_rC9vrZ2D1xJWLBXGdRW7CYLAh_f83Gqv8nhly7N2M"


def sign(path) -> str:
    result = invoke("sign", "--key", str(path), "-")
    assert (result.exit_code, result.stdout) == (2, "")
    return result.stderr


def verify(path) -> str:
    result = invoke("verify", "--jwks", str(path), "-")
    assert (result.exit_code, result.stdout) == (2, "")
    return result.stderr


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b'"key"', b"{", b"\xff", b'{"kid": "a", "kid": "b"}', b"[" * 100_000, b"9" * 10_000],
    ids=["empty", "list", "string", "cut off", "not UTF-8", "repeated key", "deep", "long"],
)
def test_key_file_is_rejected_by_option_and_name_unless_a_json_object(content, tmp_path):
    path = tmp_path / "key"
    path.write_bytes(content)
    assert "'--key': " in sign(path)
    assert "is not a JSON object without repeated keys" in sign(path)
    assert "'--jwks': " in verify(path)
    assert "is not a JSON object without repeated keys" in verify(path)


def test_key_file_is_rejected_when_it_does_not_exist(tmp_path):
    assert "does not exist" in sign(tmp_path / "absent")
    assert "does not exist" in verify(tmp_path / "absent")
    assert "is a directory" in sign(tmp_path)


def test_key_file_is_rejected_when_it_cannot_be_read(keys, monkeypatch):
    opened = pathlib.Path.open

    def unreadable(path, *mode, **options):
        if path.name in {"private", "public"}:
            raise PermissionError(13, os.strerror(13))
        return opened(path, *mode, **options)

    monkeypatch.setattr(pathlib.Path, "open", unreadable)
    assert "cannot be read: Permission denied" in sign(keys.private)
    assert "cannot be read: Permission denied" in verify(keys.public)


def test_unusable_key_is_rejected_without_quoting_it(tmp_path):
    path = tmp_path / "key"
    path.write_text(json.dumps({"kid": "a", "kty": "OKP", "crv": "Ed25519", "alg": "ES256", "d": SECRET}))
    said = sign(path)
    assert "kty, crv and alg must agree" in said
    assert SECRET not in said


def test_key_for_another_purpose_is_rejected_by_the_profile(keys, tmp_path):
    path = tmp_path / "key"
    path.write_text(
        json.dumps({**json.loads(pathlib.Path(keys.private).read_bytes()), "adcp_use": "governance-signing"})
    )
    assert "adcp_use" in sign(path)


def test_key_set_is_rejected_when_two_keys_share_a_kid(keys, tmp_path):
    path = tmp_path / "set"
    members = json.loads(pathlib.Path(keys.public).read_bytes())["keys"]
    path.write_text(json.dumps({"keys": members * 2}))
    assert "share the kid" in verify(path)
    path.write_text(json.dumps({"keys": members[0]}))
    assert '"keys" array' in verify(path)


@pytest.mark.parametrize(
    "args", [("sign", "https://a.test"), ("request", "GET", "https://a.test"), ("doctor", "https://a.test")]
)
def test_command_without_a_key_says_how_to_make_one(args):
    result = invoke(*args)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "Missing option '--key'. `undersigned keygen --out keys` makes a key pair" in " ".join(result.stderr.split())
