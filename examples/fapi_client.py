"""A FAPI 2.0 client: it signs its request with the token, and verifies the response together with the request.

python examples/fapi_client.py --key client.jwk.json --token t0k3n --server-keys server.jwks.json \
    --server https://bank.example
"""

import argparse

import requests

from undersigned import KeySet, MemoryReplayStore, Signer, SigningKey, Verifier, profiles
from undersigned.client import ResponseVerification
from undersigned_requests import SignatureAdapter


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--key", required=True, help="the client's private JWK")
    parser.add_argument("--token", required=True, help="the access token")
    parser.add_argument("--server", required=True, help="the server's origin, such as https://bank.example")
    parser.add_argument("--server-keys", required=True, help="the server's public keys, a JWK set")
    options = parser.parse_args()
    key = SigningKey.from_file(options.key)
    keys = KeySet.from_file(options.server_keys)
    verifier = Verifier(profiles.FAPI_2_RESPONSE, keys=keys, replay=MemoryReplayStore())
    signer = Signer(key, profile=profiles.FAPI_2_REQUEST)
    # All keys of the verifier are the server's, so any of them may sign.
    responses = ResponseVerification(verifier, signers=None)
    session = requests.Session()
    session.mount(options.server, SignatureAdapter(signer, origins=[options.server], responses=responses))
    headers = {"Authorization": f"Bearer {options.token}"}
    answer = session.post(f"{options.server}/payments", json={"eur": 7}, headers=headers, timeout=10)
    # A response that the server did not sign for this request raises a SignatureError.
    print(answer.status_code, answer.text.strip())
    return 0 if answer.ok else 1


if __name__ == "__main__":
    raise SystemExit(main())
