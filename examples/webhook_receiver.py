"""A receiver of AdCP webhooks.

Run it where `undersigned keygen --out keys` wrote the senders' public keys, and a certificate with its key is in
`localhost.pem`:

    python examples/webhook_receiver.py

`webhook_sender.py` sends to it.
"""

import uvicorn
from fastapi import FastAPI, Response

from undersigned import KeySet, MemoryReplayStore, Verifier, profiles
from undersigned_fastapi import Signature, SignatureMiddleware

app = FastAPI()
received: set[tuple[str, str]] = set()


@app.post("/webhooks")
async def receive(signature: Signature) -> Response:
    payload = signature.json()
    delivery = (signature.signer, payload["idempotency_key"])
    if delivery not in received:
        received.add(delivery)
        print(f"{signature.signer}: {payload['status']}", flush=True)
    return Response(status_code=204)


def main() -> None:
    keys = KeySet.from_file("keys/public.jwks.json", owner="seller")
    verifier = Verifier(profiles.ADCP_WEBHOOK, keys=keys, replay=MemoryReplayStore())
    origin = "https://localhost:8000"
    app.add_middleware(SignatureMiddleware, verifier=verifier, origins=[origin], mode="optional")
    uvicorn.run(app, host="127.0.0.1", port=8000, ssl_certfile="localhost.pem")


if __name__ == "__main__":
    main()
