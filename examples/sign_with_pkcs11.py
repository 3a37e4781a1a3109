"""A buyer whose private key stays in a hardware security module (PKCS#11).

With SoftHSM as one to try:

    softhsm2-util --init-token --free --label buyer --pin 1234 --so-pin 1234
    export PKCS11_MODULE=/usr/lib/softhsm/libsofthsm2.so PKCS11_PIN=1234
    python examples/sign_with_pkcs11.py
    python examples/sign_with_pkcs11.py

The first run makes a key in the module and writes the JWK set to publish, `public.jwks.json`. The second run signs with
the key. Both need python-pkcs11.
"""

import base64
import hashlib
import json
import os
from pathlib import Path

import pkcs11
import requests
from pkcs11.util.ec import encode_named_curve_parameters

from undersigned import Signer, profiles
from undersigned_requests import SignatureAuth

LABEL = "buyer"
KEYID = "buyer-hsm"
SELLER = "http://127.0.0.1:8000"


class HSMKey:
    """A key by its label in a token. It satisfies `undersigned.RemoteKey`."""

    keyid, algorithm = KEYID, "ecdsa-p256-sha256"

    def __init__(self, session: pkcs11.Session) -> None:
        self._private = session.get_key(object_class=pkcs11.ObjectClass.PRIVATE_KEY, label=KEYID)

    def sign(self, base: bytes) -> bytes:
        # This mechanism takes the hash of the message, and returns r and s.
        return self._private.sign(hashlib.sha256(base).digest(), mechanism=pkcs11.Mechanism.ECDSA)


def generate(session: pkcs11.Session) -> dict[str, object]:
    """Make a key pair in the token, and return the JWK set to publish."""
    curve = {pkcs11.Attribute.EC_PARAMS: encode_named_curve_parameters("secp256r1")}
    parameters = session.create_domain_parameters(pkcs11.KeyType.EC, curve, local=True)
    public, _ = parameters.generate_keypair(store=True, label=KEYID)
    point = public[pkcs11.Attribute.EC_POINT]
    x, y = (base64.urlsafe_b64encode(part).rstrip(b"=").decode() for part in (point[-64:-32], point[-32:]))
    jwk = {"kid": KEYID, "kty": "EC", "crv": "P-256", "alg": "ES256", "x": x, "y": y}
    return {"keys": [{**jwk, "use": "sig", "key_ops": ["verify"], "adcp_use": "request-signing"}]}


def buy(session: pkcs11.Session) -> requests.Response:
    auth = SignatureAuth(Signer(HSMKey(session), profile=profiles.ADCP_3_2), origins=[SELLER])
    return requests.post(f"{SELLER}/plans/gold", json={"budget": 1000}, auth=auth, timeout=10)


def main() -> int:
    token = pkcs11.lib(os.environ["PKCS11_MODULE"]).get_token(token_label=LABEL)
    published = Path("public.jwks.json")
    with token.open(user_pin=os.environ["PKCS11_PIN"], rw=not published.exists()) as session:
        if not published.exists():
            published.write_text(json.dumps(generate(session)))
            return 0
        answer = buy(session)
    print(answer.status_code, answer.text)
    return 0 if answer.ok else 1


if __name__ == "__main__":
    raise SystemExit(main())
