"""An AAuth resource: it knows the agent that calls it by the JWT that the request has with it (experimental).

    python examples/aauth_resource.py --issuer https://issuer.example --issuer-keys issuer.jwks.json --port 8000

The issuer's keys are in a file, as the draft does not say yet where they are published.
"""

import argparse
import json
from pathlib import Path

from flask import Flask, request
from waitress import serve

from undersigned import KeySet, MemoryReplayStore, Verifier, profiles
from undersigned.middleware import ConfiguredOrigins
from undersigned.tokens import SignatureKeyTokens
from undersigned.wsgi import SignatureMiddleware, required_signature


def resource(issuers: dict[str, KeySet], origins: ConfiguredOrigins) -> Flask:
    app = Flask(__name__)

    @app.get("/calendar")
    def calendar() -> dict[str, str]:
        return {"calendar for": required_signature(request.environ).signer}

    keys = SignatureKeyTokens(issuers, types=("aa-agent+jwt",))
    verifier = Verifier(profiles.AAUTH, keys=keys, replay=MemoryReplayStore())
    app.wsgi_app = SignatureMiddleware(app.wsgi_app, verifier=verifier, origins=origins)
    return app


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--issuer", required=True, help="the URL of the trusted issuer, as tokens have it in iss")
    parser.add_argument("--issuer-keys", type=Path, required=True, help="the issuer's keys, a JWK set")
    parser.add_argument("--port", type=int, default=8000)
    options = parser.parse_args()
    issuers = {options.issuer: KeySet.from_jwks(json.loads(options.issuer_keys.read_text()))}
    serve(resource(issuers, [f"http://127.0.0.1:{options.port}"]), host="127.0.0.1", port=options.port)


if __name__ == "__main__":
    main()
