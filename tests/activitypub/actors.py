"""The keys and requests of a test actor, and a verifier of both schemes."""

from __future__ import annotations

import base64
import hashlib
from functools import partial

from tests import keys
from tests.keys import OneKey, key_pair

from undersigned import Request
from undersigned.activitypub import ActivityPubVerifier
from undersigned.cavage import CavageSigner

NOW = 1_795_305_605
ACTOR = "https://social.example/users/bob"
KEYID = f"{ACTOR}#main-key"
INBOX = "https://inbox.example/inbox?page=1"
CREATE = b'{"type":"Create"}'
TYPE = ("Content-Type", "application/activity+json")
GET = Request("GET", INBOX)
POST = Request("POST", INBOX, [TYPE], CREATE)


_RSA = ("rsa-v1_5-sha256", KEYID)
pair = partial(key_pair, *_RSA)
signing_key = partial(keys.signing_key, *_RSA)
verification_key = partial(keys.verification_key, *_RSA)


def verifier(**options) -> ActivityPubVerifier:
    return ActivityPubVerifier(**{"keys": OneKey(verification_key()), "clock": lambda: NOW} | options)


def sign_by_draft(request: Request, **options) -> Request:
    """A request signed by the draft."""
    made = CavageSigner(signing_key(), **{"clock": lambda: NOW} | options).sign(request)
    # As a client does, what is made replaces fields of the same names.
    names = {name.lower() for name, _ in made}
    kept = [(name, value) for name, value in request.fields if name not in names]
    return with_fields(Request(request.method, made.target_uri, kept, request.body), *made)


def with_fields(request: Request, *fields: tuple[str, str]) -> Request:
    """The request with further fields, and with the Host that a client sends."""
    host = () if "host" in request.fields.combined else (("Host", request.url.split("/")[2]),)
    return Request(request.method, request.url, [*request.fields, *host, *fields], request.body)


def sign_by_hand(
    request: Request, lines: dict[str, str], parameters: str = "", *, algorithm: str = "hs2019"
) -> Request:
    """A request with a signature over these names and values, which our signer might not make.

    Args:
        request: the request, with its fields.
        lines: the signed names with the values that are signed.
        parameters: further parameters, each with a comma in front.
        algorithm: the algorithm parameter.
    """
    base = "\n".join([f"{name}: {value}" for name, value in lines.items()])
    made = signature_field(algorithm, lines, signing_key().sign(base.encode()))
    return with_fields(request, ("Signature", made + parameters))


def signature_field(algorithm: str, names, signature: bytes) -> str:
    """The value of a Signature field of the draft."""
    text = base64.b64encode(signature).decode()
    return f'keyId="{KEYID}",algorithm="{algorithm}",headers="{" ".join(names)}",signature="{text}"'


def sha256(body: bytes) -> str:
    return f"SHA-256={base64.b64encode(hashlib.sha256(body).digest()).decode()}"
