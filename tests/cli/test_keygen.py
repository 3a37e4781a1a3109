from __future__ import annotations

import json
import os
import stat

import pytest
from cryptography.hazmat.primitives import serialization
from tests.cli.command import answers, invoke, lines, usage_error
from tests.keys import EC_PRIVATE, PRIVATE, ed25519_key, es256_key

PEM, PKCS8 = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
MEMBERS = {"kid", "kty", "crv", "alg", "use", "key_ops", "adcp_use", "x"}


def read(directory, name: str) -> dict:
    return json.loads((directory / name).read_text(encoding="ascii"))


@pytest.mark.parametrize(
    ("algorithm", "own"), [("ed25519", ("OKP", "Ed25519", "EdDSA")), ("ecdsa-p256-sha256", ("EC", "P-256", "ES256"))]
)
def test_files_are_named_and_the_public_one_verifies_signatures_of_the_private_one(algorithm, own, tmp_path):
    directory = tmp_path / "made" / "here"
    result = invoke("keygen", "--alg", algorithm, "--kid", "buyer", "--out", str(directory))
    private, public = read(directory, "private.jwk.json"), read(directory, "public.jwks.json")
    said = result.stdout
    assert (result.exit_code, result.stderr) == (0, "")
    assert all(str(directory / name) in said for name in ("private.jwk.json", "public.jwks.json"))
    assert private["d"] not in said
    [key] = public["keys"]
    assert key.keys() == MEMBERS | ({"y"} if key["kty"] == "EC" else set())
    assert private.keys() == key.keys() | {"d"}
    assert ((key["kty"], key["crv"], key["alg"]), key["kid"]) == (own, "buyer")
    request = {"method": "GET", "url": "https://seller.example.com/"}
    [made] = answers("sign", "--key", str(directory / "private.jwk.json"), "-", stdin=lines(request))
    request["headers"] = made["headers"]
    [found] = answers("verify", "--jwks", str(directory / "public.jwks.json"), "-", stdin=lines(request))
    assert (found["ok"], found["keyid"]) == (True, "buyer")


def test_defaults_are_ed25519_and_the_thumbprint(tmp_path):
    assert invoke("keygen", "--out", str(tmp_path)).exit_code == 0
    private = read(tmp_path, "private.jwk.json")
    assert (private["crv"], len(private["kid"])) == ("Ed25519", 43)


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_private_key_is_readable_by_its_owner_only_from_creation(umask, tmp_path, monkeypatch):
    opened = []
    real = os.open

    def recorded(path, flags, mode):
        descriptor = real(path, flags, mode)
        opened.append((os.fstat(descriptor).st_mode & 0o777, os.fstat(descriptor).st_size, flags))
        return descriptor

    monkeypatch.setattr("undersigned.cli.files.os.open", recorded)
    before = os.umask(umask)
    try:
        assert invoke("keygen", "--out", str(tmp_path)).exit_code == 0
    finally:
        os.umask(before)
    assert opened[0][:2] == (0o600, 0)
    assert opened[0][2] & os.O_EXCL
    assert stat.S_IMODE((tmp_path / "private.jwk.json").stat().st_mode) == 0o600


@pytest.mark.parametrize("there", ["private.jwk.json", "public.jwks.json"])
def test_existing_file_is_kept_and_no_other_file_is_written(there, tmp_path):
    (tmp_path / there).write_text("mine")
    assert f"{there}: File exists; give another directory" in usage_error("keygen", "--out", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [there]
    assert (tmp_path / there).read_text() == "mine"


@pytest.mark.skipif(os.name != "posix", reason="symbolic links are POSIX")
def test_symbolic_link_is_not_followed(tmp_path):
    (tmp_path / "private.jwk.json").symlink_to(tmp_path / "elsewhere")
    assert "File exists" in usage_error("keygen", "--out", tmp_path)
    assert not (tmp_path / "elsewhere").exists()


def test_no_file_remains_when_the_disk_is_full(tmp_path, monkeypatch):
    real, written = os.fdopen, []

    def full(descriptor, mode):
        written.append(descriptor)
        if len(written) == 2:
            raise OSError(28, "No space left on device")
        return real(descriptor, mode)

    monkeypatch.setattr("undersigned.cli.files.os.fdopen", full)
    assert "No space left on device" in usage_error("keygen", "--out", tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("below", ["", "/below"])
def test_out_is_rejected_when_it_is_a_file_or_below_a_file(below, tmp_path):
    path = tmp_path / "file"
    path.write_text("mine")
    assert "--out" in usage_error("keygen", "--out", f"{path}{below}")
    assert path.read_text() == "mine"


@pytest.mark.parametrize("kid", ["", "\u00fc", "a\tb"])
def test_invalid_kid_is_rejected_before_a_file_is_written(kid, tmp_path):
    assert "--kid" in usage_error("keygen", "--kid", kid, "--out", tmp_path / "new")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(("key", "private"), [(ed25519_key(), PRIVATE), (es256_key(), EC_PRIVATE)])
def test_key_in_pem_gives_the_files_of_that_key(key, private, tmp_path):
    pem = tmp_path / "key.pem"
    pem.touch(0o600)
    pem.write_bytes(key.private_bytes(PEM, PKCS8, serialization.NoEncryption()))
    result = invoke("keygen", "--pem", str(pem), "--kid", private["kid"], "--out", str(tmp_path))
    assert (result.exit_code, result.stderr) == (0, "")
    assert read(tmp_path, "private.jwk.json") == private
    [public] = read(tmp_path, "public.jwks.json")["keys"]
    assert {**public, "key_ops": ["sign"], "d": private["d"]} == private


@pytest.mark.parametrize("text", ["", "-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n"])
def test_pem_without_a_usable_key_is_rejected_and_not_quoted(text, tmp_path):
    (tmp_path / "key.pem").write_text(text)
    said = usage_error("keygen", "--pem", tmp_path / "key.pem", "--out", tmp_path / "new")
    assert ("--pem" in said, "c2VjcmV0" in said) == (True, False)
    assert not (tmp_path / "new").exists()
