"""A UCP platform: it signs a checkout, sends it again as after a lost answer, and verifies the signed responses.

    python examples/ucp_platform.py --key keys/private.jwk.json --profile https://platform.example/.well-known/ucp \
        --business https://shop.example --business-keys shop.jwks.json

The third time, it sends other content with the same Idempotency-Key, which is a conflict.
With --bot, the same signature is also one of Web Bot Auth, for a business that takes both. With --mcp, it calls the
business's tool over MCP (`ucp_mcp_business.py`).
"""

import argparse
import json
from typing import Any
from uuid import uuid4

import requests

from undersigned import KeySet, MemoryReplayStore, Signer, SigningKey, Verifier, profiles
from undersigned.client import ResponseVerification
from undersigned.message import write_signature_agent
from undersigned_requests import SignatureAdapter


def checkout(items: list[str], *, over_mcp: bool) -> dict[str, Any]:
    arguments = {"items": items}
    params = {"name": "create_checkout", "arguments": arguments}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params} if over_mcp else arguments


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--key", required=True, help="the platform's private JWK")
    parser.add_argument("--profile", required=True, help="the URL of the platform's UCP profile, which has its keys")
    parser.add_argument("--business", required=True, help="the business's origin, such as https://shop.example")
    parser.add_argument("--business-keys", required=True, help="the keys of the business's UCP profile")
    parser.add_argument("--bot", help="the origin of the key directory; the key's kid is then its thumbprint")
    parser.add_argument("--mcp", action="store_true", help="the business is an MCP server")
    options = parser.parse_args()
    key = SigningKey.from_file(options.key)
    keys = KeySet.from_file(options.business_keys)
    verifier = Verifier(profiles.UCP_RESPONSE, keys=keys, replay=MemoryReplayStore())
    responses = ResponseVerification(verifier, signers=None)
    signer = Signer(key, profile=profiles.UCP_DUAL if options.bot else profiles.UCP)
    session = requests.Session()
    session.mount(options.business, SignatureAdapter(signer, origins=[options.business], responses=responses))
    headers = {"UCP-Agent": f'profile="{options.profile}"', "Idempotency-Key": str(uuid4())}
    if options.bot:
        headers["Signature-Agent"] = write_signature_agent(options.bot, form="typed")
    url = f"{options.business}/mcp" if options.mcp else f"{options.business}/checkout"
    for items in (["hat"], ["hat"], ["hat", "coat"]):
        content = checkout(items, over_mcp=options.mcp)
        answer = session.post(url, json=content, headers=headers, timeout=10)
        # A response that the business did not sign raises a SignatureError.
        print(answer.status_code, json.dumps(answer.json()))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
