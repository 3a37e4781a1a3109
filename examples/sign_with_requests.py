"""A buyer who signs what requests sends.

Run it where `undersigned keygen --out keys` wrote a key, while one of the example services is running:

    python examples/sign_with_requests.py
"""

import requests

from undersigned import Signer, SigningKey, profiles
from undersigned_requests import SignatureAuth

SELLER = "http://127.0.0.1:8000"
"""The seller's origin, such as https://seller.example.com."""


def main() -> int:
    key = SigningKey.from_file("keys/private.jwk.json")
    with requests.Session() as session:
        # Every request of the session is signed; one to an origin that is not listed is rejected before it is sent.
        session.auth = SignatureAuth(Signer(key, profile=profiles.ADCP_3_2), origins=[SELLER])
        answer = session.post(f"{SELLER}/plans/gold", json={"budget": 1000}, timeout=10)
    for name in ("Content-Digest", "Signature-Input", "Signature"):
        print(f"{name}: {answer.request.headers[name]}")
    print(answer.status_code, answer.text)
    return 0 if answer.ok else 1


if __name__ == "__main__":
    raise SystemExit(main())
