"""A receiver of AdCP webhooks.

Run it with a JWK set of the senders' public keys, and a certificate with its key:

    python examples/webhook_receiver.py --jwks keys/public.jwks.json --certificate localhost.pem --port 8443

`webhook_sender.py` sends to it.
"""

import argparse
from pathlib import Path

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
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jwks", required=True, help="the senders' public keys, a JWK set")
    parser.add_argument("--certificate", type=Path, required=True, help="a certificate and its key, in PEM")
    parser.add_argument("--port", type=int, default=8443)
    options = parser.parse_args()
    keys = KeySet.from_file(options.jwks, owner="seller")
    verifier = Verifier(profiles.ADCP_WEBHOOK, keys=keys, replay=MemoryReplayStore())
    origin = f"https://localhost:{options.port}"
    app.add_middleware(SignatureMiddleware, verifier=verifier, origins=[origin], mode="optional")
    uvicorn.run(app, host="127.0.0.1", port=options.port, ssl_certfile=options.certificate)


if __name__ == "__main__":
    main()
