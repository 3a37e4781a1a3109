"""A Flask service that knows who calls it.

Run it with a JWK set of the callers' public keys, as `undersigned keygen --out keys` writes one:

    python examples/flask_app.py --jwks keys/public.jwks.json --port 8000

`POST /plans/<plan>` needs a signature; `GET /` does not.
"""

import argparse
import json
from pathlib import Path

from flask import Flask
from waitress import serve

from undersigned_flask import Undersigned, current_signature, signature_required

app = Flask(__name__)
undersigned = Undersigned(mode="optional")


@app.get("/")
def welcome() -> dict[str, str]:
    return {"service": "plans"}


@app.post("/plans/<plan>")
@signature_required
def buy(plan: str) -> dict[str, str]:
    return {"plan": plan, "caller": current_signature.keyid, "signed": current_signature.target_uri}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jwks", type=Path, required=True, help="the callers' public keys, a JWK set")
    parser.add_argument("--port", type=int, default=8000)
    options = parser.parse_args()
    app.config["UNDERSIGNED_JWKS"] = json.loads(options.jwks.read_text())
    app.config["UNDERSIGNED_PROFILE"] = "adcp-3.2"
    # Give the public origin: if a proxy ends TLS, that is https and the name that callers use.
    app.config["UNDERSIGNED_ORIGINS"] = [f"http://127.0.0.1:{options.port}"]
    undersigned.init_app(app)
    serve(app, host="127.0.0.1", port=options.port)


if __name__ == "__main__":
    main()
