from __future__ import annotations

import json
import pathlib

import pytest
from tests.cli.command import GET, answers, invoke, lines, usage_error

SECRET = "A_rC9vrZ2D1xJWLBXGdRW7CYLAh_f83Gqv8nhly7N2M"


def rejected(option: str, path) -> str:
    """Return what is said of a file that `--key` or `--jwks` names."""
    return usage_error({"--key": "sign", "--jwks": "verify"}[option], option, path, "-")


@pytest.mark.parametrize(
    ("content", "form"),
    [
        (b"", "it is empty"),
        *((text, "it is not a JSON object without") for text in (b"[]", b'"key"', b"{", b"[" * 100_000)),
        (b'{"kid": "a", "kid": "b"}', "it is not a JSON object without repeated keys"),
        (b"\xff", "it is neither JSON nor PEM"),
        (b"9" * 10_000, "it is bare Base64 or hexadecimal: give the whole file"),
        ("-----BEGIN".encode("utf-16"), "it is in UTF-16: save it as UTF-8"),
        (b"ssh-ed25519 AAAA me", "it is an OpenSSH public key: `ssh-keygen"),
        (b"\x30\x2e\x02\x01\x00\xff", "it is DER: `openssl pkey"),
    ],
)
def test_key_file_that_is_no_key_is_rejected_by_option_and_form(content, form, tmp_path):
    path = tmp_path / "key"
    path.write_bytes(content)
    for option in ("--key", "--jwks"):
        assert f"'{option}': " in (said := rejected(option, path))
        assert form in said


def test_key_file_is_rejected_when_it_does_not_exist(tmp_path):
    assert "No such file" in rejected("--key", tmp_path / "absent")
    assert "No such file" in rejected("--jwks", tmp_path / "absent")
    assert "Is a directory" in rejected("--key", tmp_path)


def test_other_users_who_can_read_a_private_key_are_warned_about(keys, tmp_path):
    path = tmp_path / "key"
    path.write_bytes(pathlib.Path(keys.private).read_bytes())
    path.chmod(0o644)
    shown = invoke("sign", "--key", str(path), "https://a.test").stderr
    assert (
        f"Warning: other users can read the private key in {path} (mode 0644). Change that: chmod 600 {path}" in shown
    )
    for options in (("--key", keys.private), ("--key", "-")):
        result = invoke("sign", *options, "https://a.test", stdin=path.read_bytes())
        assert (result.exit_code, "Warning" in result.stderr) == (0, False)


def test_every_file_can_be_standard_input(keys, tmp_path):
    private, public = pathlib.Path(keys.private).read_bytes(), pathlib.Path(keys.public).read_bytes()
    [made] = answers("sign", "--key", keys.private, "-", stdin=lines(GET))
    fields = "".join(f"{name}: {value}\n" for name, value in made["headers"])
    raw = f"GET /orders HTTP/1.1\nHost: seller.example.com\n{fields}\n".encode()
    (tmp_path / "request").write_bytes(raw)
    for args, stdin, code in (
        (("sign", "--key", "-", GET["url"]), private, 0),
        (("sign", "--key", keys.private, "-d", "@-", GET["url"]), b"{}", 0),
        (("explain", str(tmp_path / "request"), "--jwks", "-"), public, 0),
        (("explain", "-", "--jwks", keys.public), raw, 0),
        (("doctor", "--key", "-", "http://127.0.0.1:9"), private, 1),
    ):
        assert invoke(*args, stdin=stdin).exit_code == code, args


def test_unusable_key_is_rejected_without_quoting_it(tmp_path):
    path = tmp_path / "key"
    path.write_text(json.dumps({"kid": "a", "kty": "OKP", "crv": "Ed25519", "alg": "ES256", "d": SECRET}))
    said = rejected("--key", path)
    assert "kty, crv and alg must agree" in said
    assert SECRET not in said


def test_key_set_is_an_array(keys, tmp_path):
    path = tmp_path / "set"
    members = json.loads(pathlib.Path(keys.public).read_bytes())["keys"]
    path.write_text(json.dumps({"keys": members[0]}))
    assert '"keys" array' in rejected("--jwks", path)


@pytest.mark.parametrize(
    "args", [("sign", "https://a.test"), ("request", "GET", "https://a.test"), ("doctor", "https://a.test")]
)
def test_command_without_a_key_says_how_to_make_one(args):
    assert "Missing option '--key'. `undersigned keygen --out keys` makes a key pair" in usage_error(*args)
