"""A FastAPI service that shows Prometheus what it decided, through OpenTelemetry.

    pip install 'undersigned[fastapi,opentelemetry]' uvicorn opentelemetry-sdk opentelemetry-exporter-prometheus
    python examples/fastapi_telemetry_app.py

`GET /metrics` is the page that Prometheus reads. `POST /plans/{plan}` needs a signature; the other routes do not.
"""

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
    return {"plan": plan, "caller": signature.signer, "signed": signature.target_uri}


def main() -> None:
    telemetry = Telemetry(meter_provider=MeterProvider(metric_readers=[PrometheusMetricReader()]))
    keys = KeySet.from_file("keys/public.jwks.json", owner="acme")
    verifier = Verifier(profiles.ADCP_3_2, keys=keys, replay=telemetry.replay_store(MemoryReplayStore()))
    app.add_middleware(
        SignatureMiddleware,
        verifier=verifier,
        origins=["http://127.0.0.1:8000"],
        mode="optional",
        on_decision=telemetry.on_decision,
    )
    uvicorn.run(app, host="127.0.0.1", port=8000)


if __name__ == "__main__":
    main()
