from __future__ import annotations

import base64
import re

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

from undersigned import ConfigurationError, KeyPair, KeySet, SigningKey
from undersigned.signature.pem import is_pem, pem_jwks

PEM, INFO = serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
GENERATE = {
    "ed25519": ed25519.Ed25519PrivateKey.generate,
    "ecdsa-p256-sha256": lambda: ec.generate_private_key(ec.SECP256R1()),
    "ecdsa-p384-sha384": lambda: ec.generate_private_key(ec.SECP384R1()),
}


def public_pem(key) -> bytes:
    return key.public_key().public_bytes(PEM, INFO)


@pytest.mark.parametrize("algorithm", GENERATE)
@pytest.mark.parametrize("keyid", [None, "own"])
def test_set_of_a_pem_is_the_public_set_of_its_pair(algorithm, keyid):
    key = GENERATE[algorithm]()
    assert pem_jwks(public_pem(key), keyid=keyid) == KeyPair.from_private_key(key, keyid=keyid).public


def test_rsa_key_of_a_pem_is_for_both_algorithms():
    key = rsa.generate_private_key(65537, 2048)
    jwks = pem_jwks(public_pem(key), keyid="own")
    assert KeySet.from_jwks(jwks).keys["own"][0].algorithms == {"rsa-pss-sha512", "rsa-v1_5-sha256"}
    pair = KeyPair.from_private_key(key, keyid="own", algorithm="rsa-pss-sha512")
    assert {**jwks["keys"][0], "alg": "PS512"} == pair.public["keys"][0]


def test_purposes_are_those_that_are_given():
    [key] = pem_jwks(public_pem(GENERATE["ed25519"]()), purposes=("b", "a"))["keys"]
    assert key["adcp_use"] == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"-----BEGIN PUBLIC KEY-----\n", True),
        (b"Bag Attributes\n-----BEGIN PRIVATE KEY-----\n", True),
        (b' {"x": "-----BEGIN PUBLIC KEY-----"}', False),
        (b'["-----BEGIN "]', False),
        (b"", False),
    ],
)
def test_text_is_pem_when_it_has_a_block_and_is_not_json(text, expected):
    assert is_pem(text) is expected


ED25519 = ed25519.Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
PKCS8 = serialization.PrivateFormat.PKCS8
PRIVATE = ED25519.private_bytes(PEM, PKCS8, serialization.NoEncryption()).decode()
LINE = PRIVATE.splitlines()[1]
LOCKED = ED25519.private_bytes(PEM, PKCS8, serialization.BestAvailableEncryption(b"secret")).decode()


SSH_LOCKED = (
    "-----BEGIN OPENSSH PRIVATE KEY-----\n"
    f"{base64.encodebytes(b'openssh-key-v1' + bytes(4) + bytes([10]) + b'aes256-ctr').decode()}"
    "-----END OPENSSH PRIVATE KEY-----\n"
)


def of_version_2() -> str:
    """Return the key in PKCS #8 with its public key, as Java and Go write it (RFC 5958)."""
    seed, point = ED25519.private_bytes_raw(), ED25519.public_key().public_bytes_raw()
    content = b"\x02\x01\x01\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20" + seed + b"\x81\x21\x00" + point
    text = base64.encodebytes(bytes([0x30, len(content)]) + content).decode()
    return f"-----BEGIN PRIVATE KEY-----\n{text}-----END PRIVATE KEY-----\n"


@pytest.mark.parametrize(
    "pem",
    [
        of_version_2(),
        ED25519.private_bytes(PEM, serialization.PrivateFormat.OpenSSH, serialization.NoEncryption()),
        PRIVATE.replace("\n", "\\n"),
        PRIVATE.replace("\n", "\\r\\n"),
        PRIVATE.replace("\n", "\r\n").encode(),
    ],
    ids=["PKCS #8 v2", "OpenSSH", "line ends as two characters", "CRLF as four", "CRLF"],
)
def test_private_key_is_read_in_every_usual_form(pem):
    assert SigningKey.from_pem(pem, keyid="own").sign(b"base") == ED25519.sign(b"base")


@pytest.mark.parametrize(
    ("pem", "password", "fault"),
    [
        ("", None, "there is no whole first line -----BEGIN PRIVATE KEY-----"),
        (PRIVATE[1:], None, "there is no whole first line"),
        (PRIVATE.partition("-----END")[0], None, "there is no whole last line"),
        (PRIVATE.replace(LINE, LINE[:20]), None, "damaged, cut or of another kind"),
        (PRIVATE.replace(LINE, "A"), None, "damaged, cut or of another kind"),
        (PRIVATE, b"secret", "the password does not fit the key, or the key is not encrypted"),
        (LOCKED, None, "the key is encrypted: give its password, as password= or with --key-password"),
        (LOCKED, b"other", "the password does not fit the key"),
        (
            SSH_LOCKED,
            None,
            "the key is encrypted: give its password, as password= or with --key-password; for a key of",
        ),
        (SSH_LOCKED, b"other", "the text is damaged; for a key of OpenSSH, the package bcrypt is needed too"),
        (public_pem(ED25519).decode(), None, "this is a public key: give the private one"),
        (
            "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
            None,
            "this is a certificate, and",
        ),
    ],
    ids=range(12),
)
def test_text_that_is_no_private_key_is_said_to_be_what_it_is(pem, password, fault):
    with pytest.raises(ConfigurationError, match=f"^pem: .*{re.escape(fault)}") as caught:
        SigningKey.from_pem(pem, keyid="own", password=password)
    assert LINE[:12] not in str(caught.value)
