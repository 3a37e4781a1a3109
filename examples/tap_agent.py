"""A shopping agent that browses, and then pays, by Visa's Trusted Agent Protocol (experimental).

python examples/tap_agent.py --key key.jwk.json --shop https://shop.example
"""

import argparse
import json
from dataclasses import replace
from pathlib import Path

import httpx

from undersigned import Signer, SigningKey, profiles
from undersigned_httpx import SignatureAuth

PAYER = profiles.TAP.derive(name="tap-payer", selection=replace(profiles.TAP.selection, tags=("agent-payer-auth",)))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--key", type=Path, required=True, help="the agent's private JWK")
    parser.add_argument("--shop", required=True, help="the shop's origin, such as https://shop.example")
    options = parser.parse_args()
    key = SigningKey.from_jwk(json.loads(options.key.read_text()))
    browsing = SignatureAuth(Signer(key, profile=profiles.TAP), origins=[options.shop])
    paying = SignatureAuth(Signer(key, profile=PAYER), origins=[options.shop])
    for method, path, auth in (("GET", "/hats", browsing), ("POST", "/pay", browsing), ("POST", "/pay", paying)):
        answer = httpx.request(method, f"{options.shop}{path}", auth=auth)
        print(answer.status_code, answer.text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
