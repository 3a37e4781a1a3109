"""Sellers: one endpoint, with the FastAPI integration and with the Flask integration.

The endpoint answers with the request target that was signed.
"""

# No `from __future__ import annotations`: FastAPI reads an endpoint's annotations when it is declared.
from typing import Annotated

from fastapi import Depends, FastAPI
from flask import Flask

from undersigned import VerifiedSignature, Verifier
from undersigned_fastapi import SignatureMiddleware, require_signature
from undersigned_flask import Undersigned, current_signature, signature_required

METHODS = ["GET", "POST", "PUT"]


def fastapi_seller(verifier: Verifier, origin: str) -> FastAPI:
    """Return a FastAPI application at `origin` that answers signed requests for any path."""
    app = FastAPI(openapi_url=None)

    @app.api_route("/{path:path}", methods=METHODS)
    async def endpoint(signature: Annotated[VerifiedSignature, Depends(require_signature)]) -> dict[str, str]:
        return _verified_target(signature, origin)

    app.add_middleware(SignatureMiddleware, verifier=verifier, origins=[origin])
    return app


def flask_seller(verifier: Verifier, origin: str) -> Flask:
    """Return a Flask application at `origin` that answers signed requests for any path."""
    app = Flask(__name__)

    @app.route("/<path:path>", methods=METHODS)
    @signature_required
    def endpoint(path: str) -> dict[str, str]:  # noqa: ARG001 - Flask passes what the rule names
        return _verified_target(current_signature, origin)

    Undersigned(app, verifier=verifier, origins=[origin])
    return app


def _verified_target(signature: VerifiedSignature, origin: str) -> dict[str, str]:
    return {"verified": signature.target_uri.removeprefix(origin)}
