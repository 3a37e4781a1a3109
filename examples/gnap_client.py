"""A GNAP client that calls a resource server with its access token, signed with the key that the token is bound to.

python examples/gnap_client.py --key key.jwk.json --token t0k3n --server https://server.example
"""

import argparse
import json

import httpx

from undersigned import Request, Signer, SigningKey, profiles


def call(server: str, token: str, key: SigningKey) -> httpx.Response:
    body = json.dumps({"album": "2027"}).encode()
    fields = [("Authorization", f"GNAP {token}"), ("Content-Type", "application/json")]
    fields += Signer(key, profile=profiles.GNAP).sign(Request("POST", f"{server}/photos", fields, body))
    return httpx.post(f"{server}/photos", content=body, headers=fields)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--key", required=True, help="the private JWK that the token is bound to")
    parser.add_argument("--token", required=True, help="the access token")
    parser.add_argument("--server", required=True, help="the server's origin, such as https://server.example")
    options = parser.parse_args()
    answer = call(options.server, options.token, SigningKey.from_file(options.key))
    print(answer.status_code, answer.text)
    return 0 if answer.is_success else 1


if __name__ == "__main__":
    raise SystemExit(main())
