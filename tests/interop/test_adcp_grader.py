"""AdCP's own graders judge our verifier and our signer: they come with the npm package `@adcp/sdk`."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import time
from pathlib import Path

import pytest
from fastapi import FastAPI
from flask import Flask
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route
from tests.interop.peer import NPM
from tests.serving import gunicorn_server, uvicorn_server

from undersigned import KeyPair, KeySet, MemoryReplayStore, Policy, SigningKey, Verifier, profiles
from undersigned.publishing import PublishedKeys
from undersigned.signature.rules import Caps
from undersigned.verification import RevocationList
from undersigned_fastapi import SignatureMiddleware
from undersigned_flask import Undersigned
from undersigned_starlette import jwks_route

CAP = 100
"""The most live nonces of a key, which the grader's contract asks for."""


def directory() -> Path:
    assert os.environ.get(NPM), f"{NPM} is not set: tests/interop/README.md says how to install the packages"
    return Path(os.environ[NPM]) / "node_modules"


def grade(*arguments: str) -> tuple[int, dict]:
    """Run a grader. Return its exit code and its report."""
    program = directory() / "@adcp" / "sdk" / "bin" / "adcp.js"
    ran = subprocess.run(  # noqa: S603 - the package that package.json names
        [directory() / ".bin" / "node", program, "grade", *arguments, "--allow-http", "--json"],
        capture_output=True,
        check=False,
        text=True,
        timeout=300,
    )
    assert ran.stdout.strip(), ran.stderr
    return ran.returncode, json.loads(ran.stdout)


def given() -> dict:
    """The options of a middleware that is configured as the grader's contract says."""
    [vectors] = directory().glob("@adcp/sdk/compliance/cache/[0-9].*[0-9]/test-vectors/request-signing")
    published = json.loads((vectors / "keys.json").read_text())
    keys = [{name: value for name, value in key.items() if name[0] not in "$_"} for key in published["keys"]]
    now = time.time()
    profile = profiles.ADCP_3_1.derive(replay=profiles.ADCP_3_1.replay._replace(caps=Caps(per_key=CAP)))
    verifier = Verifier(
        profile,
        keys=KeySet.from_jwks({"keys": keys}).for_tests(),
        replay=MemoryReplayStore(),
        revocations=RevocationList(revoked=frozenset({"test-revoked-2026"}), updated=now, next_update=now + 1800),
    )
    return {
        "verifier": verifier,
        # The port is known when the server runs.
        "origins": lambda authority: f"http://{authority}" if authority.startswith("127.0.0.1:") else None,
        "policy": Policy(required_for=["create_media_buy"]),
    }


def fastapi_service():
    app = FastAPI()

    @app.post("/{path:path}")
    async def run(path: str) -> dict[str, str]:
        return {"ran": path}

    app.add_middleware(SignatureMiddleware, **given())
    return uvicorn_server(app)


def flask_service():
    app = Flask(__name__)

    @app.post("/<path:path>")
    def run(path: str) -> dict[str, str]:
        return {"ran": path}

    Undersigned(app, **given())
    return gunicorn_server(app)


@pytest.mark.parametrize("service", [fastapi_service, flask_service])
def test_verifier_passes_every_vector_that_the_grader_can_grade(service):
    with service() as port:
        code, report = grade(
            "request-signing", f"http://127.0.0.1:{port}", "--allow-live-side-effects", "--covers-content-digest",
            "either", "--rate-abuse-cap", str(CAP),
        )  # fmt: skip
    failed = [vector for vector in (*report["positive"], *report["negative"]) if not vector["passed"]]
    assert (code, failed) == (0, [])
    assert (report["passed_count"], report["failed_count"]) == (34, 0)


@pytest.mark.parametrize("algorithm", ["ed25519", "ecdsa-p256-sha256"])
def test_signing_key_passes_the_grader_as_its_oracle(algorithm):
    pair = KeyPair.generate(algorithm, keyid="buyer-2026")
    key = SigningKey.from_jwk(pair.private)

    async def sign(request):
        asked = await request.json()
        octets = key.sign(base64.b64decode(asked["payload_b64"]))
        return JSONResponse({"signature_b64": base64.b64encode(octets).decode()})

    app = Starlette(routes=[Route("/sign", sign, methods=["POST"]), jwks_route(PublishedKeys(pair.public))])
    with uvicorn_server(app) as port:
        origin = f"http://127.0.0.1:{port}"
        code, report = grade(
            "signer", origin, "--signer-url", f"{origin}/sign", "--kid", "buyer-2026", "--alg", algorithm,
            "--jwks-url", f"{origin}/.well-known/jwks.json",
        )  # fmt: skip
    assert (code, report["passed"], report["step"]["status"]) == (0, True, "pass"), report
