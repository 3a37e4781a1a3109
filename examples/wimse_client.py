"""A workload that calls another one by WIMSE, asks for a signed response, and verifies it with the request.

python examples/wimse_client.py --issuers idp.jwks.json --key key.jwk.json --token own.wit \
    --server https://svc.example --workload wimse://example.com/svc
"""

import argparse
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import requests

from undersigned import KeySet, MemoryReplayStore, Signer, SigningKey, Verifier, profiles
from undersigned.client import ResponseVerification
from undersigned.tokens import WorkloadTokenKeys
from undersigned_requests import SignatureAdapter

ASKING = profiles.WIMSE.derive(
    parameters=replace(profiles.WIMSE.parameters, written=frozenset({"wimse-sign-response"}))
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--issuers", required=True, help="the keys of the workload's issuer, a JWK set")
    parser.add_argument("--key", required=True, help="the private JWK that the token is for")
    parser.add_argument("--token", type=Path, required=True, help="the client's own Workload-Identity-Token")
    parser.add_argument("--server", required=True, help="the server's origin, such as https://svc.example")
    parser.add_argument("--workload", required=True, help="the workload that answers, such as wimse://example.com/svc")
    options = parser.parse_args()
    key = SigningKey.from_file(options.key)
    trust_domain = urlsplit(options.workload).netloc
    keys = WorkloadTokenKeys({trust_domain: KeySet.from_file(options.issuers)})
    verifier = Verifier(profiles.WIMSE_RESPONSE, keys=keys, replay=MemoryReplayStore())
    # Only the workload that was asked may answer.
    responses = ResponseVerification(verifier, signers={options.server: options.workload})
    signer = Signer(key, profile=ASKING)
    session = requests.Session()
    session.mount(options.server, SignatureAdapter(signer, origins=[options.server], responses=responses))
    headers = {"Workload-Identity-Token": options.token.read_text().strip()}
    answer = session.get(f"{options.server}/orders?id=7", headers=headers, timeout=10)
    # A response that this workload did not sign for this request raises a SignatureError.
    print(answer.status_code, answer.text)
    return 0 if answer.ok else 1


if __name__ == "__main__":
    raise SystemExit(main())
