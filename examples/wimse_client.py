"""A workload that calls another one by WIMSE, asks for a signed response, and verifies it with the request.

python examples/wimse_client.py --issuers idp.jwks.json --key key.jwk.json --token own.wit --server https://svc.example
"""

import argparse
import json
from dataclasses import replace
from pathlib import Path

import requests

from undersigned import KeySet, MemoryReplayStore, Signer, SigningKey, Verifier, profiles
from undersigned.client import ResponseVerification
from undersigned.tokens import WorkloadTokenKeys
from undersigned_requests import SignatureAuth

ASKING = profiles.WIMSE.derive(
    parameters=replace(profiles.WIMSE.parameters, written=frozenset({"wimse-sign-response"}))
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--issuers", type=Path, required=True, help="the keys of the trusted issuers, a JWK set")
    parser.add_argument("--key", type=Path, required=True, help="the private JWK that the token is for")
    parser.add_argument("--token", type=Path, required=True, help="the client's own Workload-Identity-Token")
    parser.add_argument("--server", required=True, help="the server's origin, such as https://svc.example")
    options = parser.parse_args()
    key = SigningKey.from_jwk(json.loads(options.key.read_text()))
    keys = WorkloadTokenKeys(KeySet.from_jwks(json.loads(options.issuers.read_text())))
    responses = ResponseVerification(Verifier(profiles.WIMSE_RESPONSE, keys=keys, replay=MemoryReplayStore()))
    auth = SignatureAuth(Signer(key, profile=ASKING), origins=[options.server], responses=responses)
    headers = {"Workload-Identity-Token": options.token.read_text().strip()}
    answer = requests.get(f"{options.server}/orders?id=7", headers=headers, auth=auth, timeout=10)
    # A response that no trusted workload signed for this request raises a SignatureError.
    print(answer.status_code, answer.text)
    return 0 if answer.ok else 1


if __name__ == "__main__":
    raise SystemExit(main())
