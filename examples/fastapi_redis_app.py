r"""A FastAPI service of several worker processes, on one host or many, which share a replay store in Redis or Valkey.

Run it with a JWK set of the callers' public keys, as `undersigned keygen --out keys` writes one, and with a server
that keeps its data (`redis-server --appendonly yes --appendfsync always`):

    JWKS=keys/public.jwks.json REPLAY=redis://127.0.0.1:6379 \
        uvicorn --app-dir examples --factory fastapi_redis_app:app --workers 4 --port 8000

`POST /plans/{plan}` needs a signature, and takes each only once, whichever worker it reaches. While Redis is
unavailable, it answers 503.
"""

import os

from fastapi import FastAPI
from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from undersigned import AsyncVerifier, KeySet, profiles
from undersigned_fastapi import Signature, SignatureMiddleware
from undersigned_redis import AsyncRedisReplayStore


def app() -> FastAPI:
    service = FastAPI()

    @service.post("/plans/{plan}")
    async def buy(plan: str, signature: Signature) -> dict[str, str | int]:
        return {"plan": plan, "caller": signature.signer, "worker": os.getpid()}

    keys = KeySet.from_file(os.environ["JWKS"], owner="acme")
    # No retries: a claim that the client sends a second time would find its own nonce.
    options = {"socket_timeout": 1, "retry": Retry(NoBackoff(), 0)}
    # A pool that waits for a free connection: the usual one raises an error instead.
    pool = BlockingConnectionPool.from_url(os.environ["REPLAY"], max_connections=50, timeout=1, **options)
    client = Redis.from_pool(pool)
    verifier = AsyncVerifier(profiles.ADCP_3_2, keys=keys, replay=AsyncRedisReplayStore(client))
    # Give the public origin: if a proxy ends TLS, that is https and the name that callers use.
    origin = os.environ.get("ORIGIN", "http://127.0.0.1:8000")
    service.add_middleware(SignatureMiddleware, verifier=verifier, origins=[origin])
    return service
