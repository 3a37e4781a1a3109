"""A FAPI 2.0 client: it signs its request with the token, and verifies the response together with the request.

python examples/fapi_client.py --key client.jwk.json --token t0k3n --server-keys server.jwks.json \
    --server https://bank.example
"""

import argparse
import json
from pathlib import Path

import requests

from undersigned import KeySet, MemoryReplayStore, Signer, SigningKey, Verifier, profiles
from undersigned.client import ResponseVerification
from undersigned_requests import SignatureAuth


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--key", type=Path, required=True, help="the client's private JWK")
    parser.add_argument("--token", required=True, help="the access token")
    parser.add_argument("--server", required=True, help="the server's origin, such as https://bank.example")
    parser.add_argument("--server-keys", type=Path, required=True, help="the server's public keys, a JWK set")
    options = parser.parse_args()
    key = SigningKey.from_jwk(json.loads(options.key.read_text()))
    keys = KeySet.from_jwks(json.loads(options.server_keys.read_text()))
    verifier = Verifier(profiles.FAPI_2_RESPONSE, keys=keys, replay=MemoryReplayStore())
    signer = Signer(key, profile=profiles.FAPI_2_REQUEST)
    auth = SignatureAuth(signer, origins=[options.server], responses=ResponseVerification(verifier))
    headers = {"Authorization": f"Bearer {options.token}"}
    answer = requests.post(f"{options.server}/payments", json={"eur": 7}, headers=headers, auth=auth, timeout=10)
    # A response that the server did not sign for this request raises a SignatureError.
    print(answer.status_code, answer.text.strip())
    return 0 if answer.ok else 1


if __name__ == "__main__":
    raise SystemExit(main())
