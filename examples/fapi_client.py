"""A FAPI 2.0 client: it signs its request with the token, and verifies the response together with the request.

Run it where `undersigned keygen --out keys` wrote the client's key, with `fapi_resource_server.py` running there:

    python examples/fapi_client.py
"""

import requests

from undersigned import KeySet, MemoryReplayStore, Signer, SigningKey, Verifier, profiles
from undersigned.client import ResponseVerification
from undersigned_requests import SignatureAdapter

SERVER = "http://127.0.0.1:8000"


def main() -> int:
    keys = KeySet.from_file("server/public.jwks.json")
    verifier = Verifier(profiles.FAPI_2_RESPONSE, keys=keys, replay=MemoryReplayStore())
    signer = Signer(SigningKey.from_file("keys/private.jwk.json"), profile=profiles.FAPI_2_REQUEST)
    # All keys of the verifier are the server's, so any of them may sign.
    responses = ResponseVerification(verifier, signers=None)
    session = requests.Session()
    session.mount(SERVER, SignatureAdapter(signer, origins=[SERVER], responses=responses))
    headers = {"Authorization": "Bearer t0k3n"}
    answer = session.post(f"{SERVER}/payments", json={"eur": 7}, headers=headers, timeout=10)
    # A response that the server did not sign for this request raises a SignatureError.
    print(answer.status_code, answer.text.strip())
    return 0 if answer.ok else 1


if __name__ == "__main__":
    raise SystemExit(main())
