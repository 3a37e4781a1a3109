"""Files with keys: JWKs, and PEM as `openssl` writes it, wherever a command takes a JWK."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import trustme
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa, x25519
from tests.cli.command import GET, answers, invoke, lines, usage_error
from tests.cli.conftest import KEYID

from undersigned import KeyPair

PEM, PUBLIC = serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
PKCS8, TRADITIONAL = serialization.PrivateFormat.PKCS8, serialization.PrivateFormat.TraditionalOpenSSL
OPEN = serialization.NoEncryption()
SECRET = "A_rC9vrZ2D1xJWLBXGdRW7CYLAh_f83Gqv8nhly7N2M"
PARAMETERS = b"-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n"
KINDS = {
    "Ed25519": (ed25519.Ed25519PrivateKey.generate, "adcp-3.2"),
    "P-256": (lambda: ec.generate_private_key(ec.SECP256R1()), "adcp-3.2"),
    "P-384": (lambda: ec.generate_private_key(ec.SECP384R1()), "ucp"),
    "RSA by PSS": (lambda: rsa.generate_private_key(65537, 2048), "fapi-2-request"),
    "RSA by v1_5": (lambda: rsa.generate_private_key(65537, 2048), "activitypub"),
}
HEADERS = {
    "Authorization": "Bearer x",
    "Date": "Sat, 18 Apr 2026 14:00:00 GMT",
    "UCP-Agent": 'profile="https://a.test"',
}


class Files:
    """The two PEM files of a key."""

    def __init__(self, folder: Path, key, form=PKCS8) -> None:
        self.private, self.public = folder / "key.pem", folder / "key.pub.pem"
        self.private.touch(0o600)
        self.private.write_bytes(key.private_bytes(PEM, form, OPEN))
        self.public.write_bytes(key.public_key().public_bytes(PEM, PUBLIC))


@pytest.fixture
def files(tmp_path) -> Files:
    return Files(tmp_path, ed25519.Ed25519PrivateKey.generate())


@pytest.mark.parametrize(("generate", "profile"), KINDS.values(), ids=KINDS)
def test_key_of_every_kind_signs_and_verifies(generate, profile, tmp_path):
    files = Files(tmp_path, generate())
    options = ("--keyid", KEYID, "--profile", profile)
    request = {**GET, "headers": HEADERS}
    [made] = answers("sign", "--key", str(files.private), *options, "-", stdin=lines(request))
    request["headers"] = [*map(list, HEADERS.items()), *made["headers"]]
    [found] = answers("verify", "--jwks", str(files.public), *options, "-", stdin=lines(request))
    assert (found["ok"], found["keyid"]) == (True, KEYID)


def test_key_is_read_as_openssl_ecparam_writes_it(tmp_path):
    files = Files(tmp_path, ec.generate_private_key(ec.SECP256R1()), TRADITIONAL)
    files.private.write_bytes(PARAMETERS + files.private.read_bytes())
    options = ("--key", str(files.private), "--keyid", KEYID)
    assert answers("sign", *options, "-", stdin=lines(GET))[0].keys() == {"headers", "signature_base"}


def test_key_id_is_demanded_and_the_thumbprint_offered(files):
    thumbprint = KeyPair.from_pem(files.private.read_bytes()).private["kid"]
    for said in (rejected("--key", files.private), rejected("--jwks", files.public)):
        assert "a PEM has no key ID: give the kid" in said
        assert f"--keyid {thumbprint}" in said


def test_explain_and_doctor_read_pem(files, tmp_path):
    [made] = answers("sign", "--key", str(files.private), "--keyid", KEYID, "-", stdin=lines(GET))
    fields = "".join(f"{name}: {value}\n" for name, value in made["headers"])
    (tmp_path / "request").write_text(f"GET /orders HTTP/1.1\nHost: seller.example.com\n{fields}\n")
    options = (str(tmp_path / "request"), "--jwks", str(files.public), "--keyid", KEYID)
    assert invoke("explain", *options).exit_code == 0
    result = invoke("doctor", "--key", str(files.private), "--keyid", KEYID, "http://127.0.0.1:9")
    assert (result.exit_code, "no response: the connection is refused" in result.stderr) == (1, True)


def test_keygen_takes_an_rsa_key_and_its_algorithm(tmp_path):
    files = Files(tmp_path, rsa.generate_private_key(65537, 2048))
    assert "--alg" in usage_error("keygen", "--pem", files.private, "--out", tmp_path / "keys")
    options = ("--pem", str(files.private), "--alg", "rsa-v1_5-sha256", "--out", str(tmp_path / "keys"))
    assert invoke("keygen", *options).exit_code == 0
    assert json.loads((tmp_path / "keys" / "private.jwk.json").read_text())["alg"] == "RS256"


def test_pem_of_another_kind_is_rejected_and_not_quoted(files, tmp_path):
    key = ec.generate_private_key(ec.SECP256R1())
    old = key.private_bytes(PEM, TRADITIONAL, serialization.BestAvailableEncryption(b"secret"))
    foreign = x25519.X25519PrivateKey.generate()
    path = tmp_path / "other.pem"
    for option, content in (
        ("--key", old),
        ("--key", b"-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n"),
        ("--key", foreign.private_bytes(PEM, PKCS8, OPEN)),
        ("--jwks", files.private.read_bytes()),
        ("--jwks", trustme.CA().cert_pem.bytes()),
        ("--jwks", files.public.read_bytes() * 2),
        ("--jwks", foreign.public_key().public_bytes(PEM, PUBLIC)),
    ):
        path.write_bytes(content)
        path.chmod(0o600)
        said = rejected(option, path, "--keyid", KEYID)
        assert (f"'{option}'" in said, "c2VjcmV0" in said) == (True, False)


@pytest.mark.parametrize("given", ["a file", "standard input", "the terminal"])
def test_password_of_a_key_comes_from_a_file_or_the_terminal(given, tmp_path, monkeypatch):
    path, password = tmp_path / "key.pem", tmp_path / "password"
    locked = serialization.BestAvailableEncryption(b"secret")
    path.write_bytes(ed25519.Ed25519PrivateKey.generate().private_bytes(PEM, PKCS8, locked))
    path.chmod(0o600)
    password.write_bytes(b"secret\n")
    if given == "the terminal":
        monkeypatch.setattr("click.testing._NamedTextIOWrapper.isatty", lambda _: True, raising=False)
    where = str(password) if given == "a file" else "-"
    args = ("sign", "--key", str(path), "--key-password", where, "--keyid", KEYID, "https://seller.example.com/")
    result = invoke(*args, stdin=b"secret\n")
    assert (result.exit_code, "Signature-Input: " in result.stdout) == (0, True)
    assert "secret" not in result.output
    assert "--key-password" in usage_error("sign", "--key", path, "--keyid", KEYID, "https://seller.example.com/")
    options = ("--pem", str(path), "--key-password", where, "--out", str(tmp_path / "keys"))
    assert invoke("keygen", *options, stdin=b"secret\n").exit_code == 0
    password.write_bytes(b"other")
    assert "does not fit" in usage_error(
        "sign", "--key", path, "--key-password", password, "--keyid", KEYID, "https://a.b/"
    )


def test_public_jwk_is_a_set_of_one_and_signs_nothing(keys, tmp_path):
    [made] = answers("sign", "--key", keys.private, "-", stdin=lines(GET))
    jwk = json.loads(Path(keys.public).read_text())["keys"][0]
    request = lines({**GET, "headers": made["headers"]})
    path = tmp_path / "jwk"
    path.write_text(json.dumps(jwk))
    assert "it has no private member" in rejected("--key", path)
    assert answers("verify", "--jwks", str(path), "-", stdin=request)[0]["ok"]
    path.write_text(json.dumps({name: value for name, value in jwk.items() if name != "kid"}))
    assert "no key of the JWK set has a kid" in rejected("--jwks", path)
    assert answers("verify", "--jwks", str(path), "--keyid", KEYID, "-", stdin=request)[0]["ok"]


def test_jwk_that_does_not_fit_the_option_is_rejected_with_what_it_is(keys):
    assert "is a JWK set, which is for verifiers" in rejected("--key", keys.public)
    assert "this is a private key: give the public one" in rejected("--jwks", keys.private)


def rejected(option: str, path: Path, *more: str) -> str:
    """Return what is said of a file that `--key` or `--jwks` names."""
    return usage_error({"--key": "sign", "--jwks": "verify"}[option], option, path, *more, "-")


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
    path.write_bytes(Path(keys.private).read_bytes())
    path.chmod(0o644)
    shown = invoke("sign", "--key", str(path), "https://a.test").stderr
    assert (
        f"Warning: other users can read the private key in {path} (mode 0644). Change that: chmod 600 {path}" in shown
    )
    for options in (("--key", keys.private), ("--key", "-")):
        result = invoke("sign", *options, "https://a.test", stdin=path.read_bytes())
        assert (result.exit_code, "Warning" in result.stderr) == (0, False)


def test_every_file_can_be_standard_input(keys, tmp_path):
    private, public = Path(keys.private).read_bytes(), Path(keys.public).read_bytes()
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
    members = json.loads(Path(keys.public).read_bytes())["keys"]
    path.write_text(json.dumps({"keys": members[0]}))
    assert '"keys" array' in rejected("--jwks", path)


@pytest.mark.parametrize(
    "args", [("sign", "https://a.test"), ("request", "GET", "https://a.test"), ("doctor", "https://a.test")]
)
def test_command_without_a_key_says_how_to_make_one(args):
    assert "Missing option '--key'. `undersigned keygen --out keys` makes a key pair" in usage_error(*args)
