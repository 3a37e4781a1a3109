"""A GNAP client that calls a resource server with its access token, signed with the key that the token is bound to.

Run it where `undersigned keygen --out keys` wrote the key, with `gnap_server.py` running there:

    python examples/gnap_client.py
"""

import json

import httpx

from undersigned import Request, Signer, SigningKey, profiles


def call(server: str, token: str, key: SigningKey) -> httpx.Response:
    body = json.dumps({"album": "2027"}).encode()
    fields = [("Authorization", f"GNAP {token}"), ("Content-Type", "application/json")]
    fields += Signer(key, profile=profiles.GNAP).sign(Request("POST", f"{server}/photos", fields, body))
    return httpx.post(f"{server}/photos", content=body, headers=fields)


def main() -> int:
    # The token is bound to this key.
    key = SigningKey.from_file("keys/private.jwk.json")
    answer = call("http://127.0.0.1:8000", "t0k3n", key)
    print(answer.status_code, answer.text)
    return 0 if answer.is_success else 1


if __name__ == "__main__":
    raise SystemExit(main())
