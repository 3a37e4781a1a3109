"""A sender of AdCP webhooks, which signs every attempt.

Start `webhook_receiver.py`, then run it where `undersigned keygen --out keys` wrote the sender's key:

    python examples/webhook_sender.py
"""

import uuid

from undersigned import Signer, SigningKey, profiles
from undersigned.discovery import Network
from undersigned.webhooks import WebhookSender

URL = "https://localhost:8000/webhooks"
# A receiver has chosen the URL, so only public addresses are reached. A receiver on this machine has another one.
NETWORK = Network(allowed=["127.0.0.0/8", "::1/128"])


def main() -> int:
    key = SigningKey.from_file("keys/private.jwk.json")
    signer = Signer(key, profile=profiles.ADCP_WEBHOOK)
    sender = WebhookSender(signer, network=NETWORK)
    payload = {"idempotency_key": str(uuid.uuid4()), "status": "completed"}
    delivery = sender.deliver(URL, payload)
    if not delivery.is_delivered:
        print(f"gave up after {delivery.attempts} attempts: {delivery.code or delivery.detail}")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
