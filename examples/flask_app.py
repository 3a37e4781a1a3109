"""A Flask service that knows who calls it.

Run it where `undersigned keygen --out keys` wrote the callers' public keys:

    python examples/flask_app.py

`POST /plans/<plan>` needs a signature; `GET /` does not.
"""

from flask import Flask, request
from waitress import serve

from undersigned import KeySet, MemoryReplayStore, Verifier, profiles
from undersigned_flask import Undersigned, signature_required, verified_signature

app = Flask(__name__)


@app.get("/")
def welcome() -> dict[str, str]:
    return {"service": "plans"}


@app.post("/plans/<plan>")
@signature_required
def buy(plan: str) -> dict[str, str]:
    signature = verified_signature(request)
    return {"plan": plan, "caller": signature.signer, "signed": signature.target_uri}


def main() -> None:
    keys = KeySet.from_file("keys/public.jwks.json", owner="acme")
    verifier = Verifier(profiles.ADCP_3_2, keys=keys, replay=MemoryReplayStore())
    # Give the public origin: if a proxy ends TLS, that is https and the name that callers use.
    Undersigned(app, verifier=verifier, origins=["http://127.0.0.1:8000"], mode="optional")
    serve(app, host="127.0.0.1", port=8000)


if __name__ == "__main__":
    main()
