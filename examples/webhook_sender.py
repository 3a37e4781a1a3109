"""A sender of AdCP webhooks, which signs every attempt.

Install `undersigned[discovery]`, start `webhook_receiver.py`, then run:

    python examples/webhook_sender.py --key keys/private.jwk.json --url https://localhost:8443/webhooks

A receiver has chosen the URL, so only public addresses are reached, unless `--network 127.0.0.0/8` allows more.
"""

import argparse
import uuid

from undersigned import Signer, SigningKey, profiles
from undersigned.discovery import Network
from undersigned.webhooks import WebhookSender


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--key", required=True, help="the sender's private JWK")
    parser.add_argument("--url", required=True, help="where to deliver, an https URL")
    parser.add_argument("--network", action="append", default=[], help="a special address range that may be reached")
    options = parser.parse_args()
    key = SigningKey.from_file(options.key)
    signer = Signer(key, profile=profiles.ADCP_WEBHOOK)
    sender = WebhookSender(signer, network=Network(allowed=options.network))
    payload = {"idempotency_key": str(uuid.uuid4()), "status": "completed"}
    delivery = sender.deliver(options.url, payload)
    if not delivery.is_delivered:
        print(f"gave up after {delivery.attempts} attempts: {delivery.code or delivery.detail}")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
