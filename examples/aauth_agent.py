"""An AAuth agent: it sends its JWT in Signature-Key, and signs with the key that the JWT names (experimental).

python examples/aauth_agent.py --key key.jwk.json --token agent.jwt --resource https://api.example
"""

import argparse
import json
from pathlib import Path

import requests

from undersigned import Signer, SigningKey, profiles
from undersigned_requests import SignatureAuth


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--key", type=Path, required=True, help="the private JWK that the token is for")
    parser.add_argument("--token", type=Path, required=True, help="the agent's JWT")
    parser.add_argument("--resource", required=True, help="the resource's origin, such as https://api.example")
    options = parser.parse_args()
    key = SigningKey.from_jwk(json.loads(options.key.read_text()))
    auth = SignatureAuth(Signer(key, profile=profiles.AAUTH), origins=[options.resource])
    # The label of the signature names its member of Signature-Key; the profile's label is sig.
    headers = {"Signature-Key": f'sig=jwt;jwt="{options.token.read_text().strip()}"'}
    answer = requests.get(f"{options.resource}/calendar", headers=headers, auth=auth, timeout=10)
    print(answer.status_code, answer.text.strip())
    return 0 if answer.ok else 1


if __name__ == "__main__":
    raise SystemExit(main())
