"""A Flask service that knows who calls it.

Run it where `undersigned keygen --out keys` wrote the callers' public keys:

    python examples/flask_app.py

`POST /plans/<plan>` needs a signature; `GET /` does not.
"""

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
    app.config["UNDERSIGNED_JWKS"] = json.loads(Path("keys/public.jwks.json").read_text())
    app.config["UNDERSIGNED_PROFILE"] = "adcp-3.2"
    # Give the public origin: if a proxy ends TLS, that is https and the name that callers use.
    app.config["UNDERSIGNED_ORIGINS"] = ["http://127.0.0.1:8000"]
    undersigned.init_app(app)
    serve(app, host="127.0.0.1", port=8000)


if __name__ == "__main__":
    main()
