"""The service of examples/deploy: FastAPI in two workers, behind nginx, with a replay store in Redis.

The settings come from the environment (plans.env). docs/production.md says what each file is for.
"""

import os
from socket import gethostname

from fastapi import FastAPI
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from undersigned import AsyncVerifier, profiles
from undersigned.asgi import ReadyRoute
from undersigned.discovery import JWKSFile
from undersigned_fastapi import Signature, SignatureMiddleware
from undersigned_opentelemetry import Telemetry
from undersigned_redis import AsyncRedisReplayStore


def app() -> FastAPI:
    service = FastAPI()

    @service.post("/plans/{plan}")
    async def buy(plan: str, signature: Signature) -> dict[str, str | int]:
        return {"plan": plan, "caller": signature.signer, "worker": os.getpid()}

    # No retries: a claim that the client sends a second time would find its own nonce.
    options = {"socket_timeout": 1, "retry": Retry(NoBackoff(), 0)}
    pool = BlockingConnectionPool.from_url(os.environ["REPLAY"], max_connections=50, timeout=1, **options)
    telemetry = measure()
    replay = telemetry.async_replay_store(AsyncRedisReplayStore(Redis.from_pool(pool)))
    # For keys that their owner publishes: RemoteJWKS(url, network=Network(on_fetch=telemetry.on_fetch)).
    keys = JWKSFile(os.environ["JWKS"], owner="buyer.example.com")
    verifier = AsyncVerifier(profiles.ADCP_3_2, keys=keys, replay=replay)
    service.add_middleware(
        SignatureMiddleware, verifier=verifier, origins=[os.environ["ORIGIN"]], on_decision=telemetry.on_decision
    )
    service.add_middleware(ReadyRoute, verifier=verifier)
    return service


def measure() -> Telemetry:
    """Send metrics by OTLP, if OTEL_EXPORTER_OTLP_ENDPOINT says where. Each worker is an instance."""
    if "OTEL_EXPORTER_OTLP_ENDPOINT" not in os.environ:
        return Telemetry()
    resource = Resource.create({"service.name": "plans", "service.instance.id": f"{gethostname()}:{os.getpid()}"})
    reader = PeriodicExportingMetricReader(OTLPMetricExporter())
    return Telemetry(meter_provider=MeterProvider(metric_readers=[reader], resource=resource))
