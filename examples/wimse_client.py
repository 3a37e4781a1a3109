"""A workload that calls another one by WIMSE, asks for a signed response, and verifies it with the request.

Run it where `undersigned keygen --out keys` wrote its key, its token is in `client.wit`, and the keys of the issuer are
in `issuer.jwks.json`:

    python examples/wimse_client.py
"""

from pathlib import Path
from urllib.parse import urlsplit

import requests

from undersigned import KeySet, MemoryReplayStore, Signer, SigningKey, Verifier, profiles
from undersigned.client import ResponseVerification
from undersigned.tokens import WorkloadTokenKeys
from undersigned_requests import SignatureAdapter

SERVER = "https://svc.example"
WORKLOAD = "wimse://example.com/svc"
ASKING = profiles.WIMSE.derive(
    parameters=profiles.WIMSE.parameters._replace(written=frozenset({"wimse-sign-response"}))
)


def main() -> int:
    key = SigningKey.from_file("keys/private.jwk.json")
    keys = WorkloadTokenKeys({urlsplit(WORKLOAD).netloc: KeySet.from_file("issuer.jwks.json")})
    verifier = Verifier(profiles.WIMSE_RESPONSE, keys=keys, replay=MemoryReplayStore())
    # Only the workload that was asked may answer.
    responses = ResponseVerification(verifier, signers={SERVER: WORKLOAD})
    signer = Signer(key, profile=ASKING)
    session = requests.Session()
    session.mount(SERVER, SignatureAdapter(signer, origins=[SERVER], responses=responses))
    headers = {"Workload-Identity-Token": Path("client.wit").read_text().strip()}
    answer = session.get(f"{SERVER}/orders?id=7", headers=headers, timeout=10)
    # A response that this workload did not sign for this request raises a SignatureError.
    print(answer.status_code, answer.text)
    return 0 if answer.ok else 1


if __name__ == "__main__":
    raise SystemExit(main())
