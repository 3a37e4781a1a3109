"""A FastAPI service that shows Prometheus what it decided, through OpenTelemetry.

    pip install 'undersigned[fastapi,opentelemetry]' uvicorn opentelemetry-sdk opentelemetry-exporter-prometheus
    python examples/fastapi_telemetry_app.py --jwks keys/public.jwks.json --port 8000

`GET /metrics` is the page that Prometheus reads. `POST /plans/{plan}` needs a signature; the other routes do not.
"""

import argparse
import json
from pathlib import Path

import uvicorn
from fastapi import FastAPI
from opentelemetry.exporter.prometheus import PrometheusMetricReader
from opentelemetry.sdk.metrics import MeterProvider
from prometheus_client import make_asgi_app

from undersigned import KeySet, MemoryReplayStore, Verifier, profiles
from undersigned_fastapi import Signature, SignatureMiddleware
from undersigned_opentelemetry import Telemetry

app = FastAPI()
app.mount("/metrics", make_asgi_app())


@app.get("/")
async def welcome() -> dict[str, str]:
    return {"service": "plans"}


@app.post("/plans/{plan}")
async def buy(plan: str, signature: Signature) -> dict[str, str]:
    return {"plan": plan, "caller": signature.keyid, "signed": signature.target_uri}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jwks", type=Path, required=True, help="the callers' public keys, a JWK set")
    parser.add_argument("--port", type=int, default=8000)
    options = parser.parse_args()
    telemetry = Telemetry(meter_provider=MeterProvider(metric_readers=[PrometheusMetricReader()]))
    keys = KeySet.from_jwks(json.loads(options.jwks.read_text()))
    verifier = Verifier(profiles.ADCP_3_2, keys=keys, replay=telemetry.replay_store(MemoryReplayStore()))
    app.add_middleware(
        SignatureMiddleware,
        verifier=verifier,
        origins=[f"http://127.0.0.1:{options.port}"],
        mode="optional",
        on_decision=telemetry.on_decision,
    )
    uvicorn.run(app, host="127.0.0.1", port=options.port)


if __name__ == "__main__":
    main()
