"""A GNAP client that rotates the key of its access token, and then shows that the old key is rejected.

python examples/gnap_client.py --key old.jwk.json --token t0k3n --server https://server.example
"""

import argparse
import json
from pathlib import Path

import httpx

from undersigned import KeyPair, Request, Signer, SigningKey, profiles
from undersigned_httpx import SignatureAuth


def rotate(server: str, token: str, key: SigningKey, new: KeyPair) -> httpx.Response:
    public = {name: value for name, value in new.private.items() if name != "d"} | {"key_ops": ["verify"]}
    body = json.dumps({"key": {"proof": "httpsig", "jwk": public}}).encode()
    fields = [("Authorization", f"GNAP {token}"), ("Content-Type", "application/json")]
    fields += Signer(key, profile=profiles.GNAP).sign(Request("POST", f"{server}/token", fields, body))
    # With this profile, the auth keeps the signature of the old key, and signs over it.
    auth = SignatureAuth(Signer(new.signing_key(), profile=profiles.GNAP_ROTATION), origins=[server])
    return httpx.post(f"{server}/token", content=body, headers=fields, auth=auth)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--key", type=Path, required=True, help="the private JWK that the token is bound to")
    parser.add_argument("--token", required=True, help="the access token")
    parser.add_argument("--server", required=True, help="the server's origin, such as https://server.example")
    options = parser.parse_args()
    old = SigningKey.from_jwk(json.loads(options.key.read_text()))
    for _ in range(2):
        answer = rotate(options.server, options.token, old, KeyPair.generate(keyid="client-2027"))
        print(answer.status_code, answer.text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
