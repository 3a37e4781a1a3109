"""A UCP platform: it signs a checkout, sends it again as after a lost response, and verifies the signed responses.

Run it where `undersigned keygen --out keys` wrote its key, and the keys of the business are in `business.jwks.json`:

    python examples/ucp_platform.py

The third time, it sends other content with the same Idempotency-Key, which is a conflict.
"""

import json
from typing import Any
from uuid import uuid4

import requests

from undersigned import KeySet, MemoryReplayStore, Signer, SigningKey, Verifier, profiles
from undersigned.client import ResponseVerification
from undersigned.message import write_signature_agent
from undersigned_requests import SignatureAdapter

PROFILE = "https://platform.example/.well-known/ucp"
BUSINESS = "https://shop.example"
# Whether the business is an MCP server, such as `ucp_mcp_business.py`.
OVER_MCP = False
# The origin of a key directory, to sign for Web Bot Auth as well. The key's kid is then its thumbprint.
BOT = ""


def checkout(items: list[str]) -> dict[str, Any]:
    arguments = {"items": items}
    params = {"name": "create_checkout", "arguments": arguments}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params} if OVER_MCP else arguments


def main() -> int:
    verifier = Verifier(profiles.UCP_RESPONSE, keys=KeySet.from_file("business.jwks.json"), replay=MemoryReplayStore())
    responses = ResponseVerification(verifier, signers=None)
    key = SigningKey.from_file("keys/private.jwk.json")
    signer = Signer(key, profile=profiles.UCP_DUAL if BOT else profiles.UCP)
    session = requests.Session()
    session.mount(BUSINESS, SignatureAdapter(signer, origins=[BUSINESS], responses=responses))
    headers = {"UCP-Agent": f'profile="{PROFILE}"', "Idempotency-Key": str(uuid4())}
    if BOT:
        headers["Signature-Agent"] = write_signature_agent(BOT, form="typed")
    url = f"{BUSINESS}/mcp" if OVER_MCP else f"{BUSINESS}/checkout"
    for items in (["hat"], ["hat"], ["hat", "coat"]):
        answer = session.post(url, json=checkout(items), headers=headers, timeout=10)
        # A response that the business did not sign raises a SignatureError.
        print(answer.status_code, json.dumps(answer.json()))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
