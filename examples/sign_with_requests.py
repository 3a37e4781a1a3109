"""A buyer who signs what requests sends.

With a key that `undersigned keygen --out keys` wrote, and one of the example services running:

    python examples/sign_with_requests.py --key keys/private.jwk.json --seller http://127.0.0.1:8000
"""

import argparse
import json
from pathlib import Path

import requests

from undersigned import Signer, SigningKey, profiles
from undersigned_requests import SignatureAuth


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--key", type=Path, required=True, help="the buyer's private JWK")
    parser.add_argument("--seller", required=True, help="the seller's origin, such as https://seller.example.com")
    options = parser.parse_args()
    key = SigningKey.from_jwk(json.loads(options.key.read_text()))
    with requests.Session() as session:
        # Every request of the session is signed; one to an origin that is not listed is rejected before it is sent.
        session.auth = SignatureAuth(Signer(key, profile=profiles.ADCP_3_2), origins=[options.seller])
        answer = session.post(f"{options.seller}/plans/gold", json={"budget": 1000}, timeout=10)
    for name in ("Content-Digest", "Signature-Input", "Signature"):
        print(f"{name}: {answer.request.headers[name]}")
    print(answer.status_code, answer.text)
    return 0 if answer.ok else 1


if __name__ == "__main__":
    raise SystemExit(main())
