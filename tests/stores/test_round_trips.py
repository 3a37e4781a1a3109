"""How often requests reach a real server: strangers never, an accepted request once."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from tests.keys import KEYS, NOW, renamed, replace_parts, signed_request
from tests.stores.kinds import redis_kind

from undersigned import AsyncVerifier, Caps, Request, SignatureError, profiles

if TYPE_CHECKING:
    from collections.abc import Iterator

_SCRIPTS = {"cmdstat_evalsha", "cmdstat_eval"}


def fresh(number: int) -> Request:
    return signed_request(nonce=f"{number:022}")


def strangers() -> Iterator[Request]:
    """Requests with an invalid signature or another content by a known keyid, and with unknown keyids."""
    for number in range(60):
        yield replace_parts(fresh(number), method="PUT")
        yield replace_parts(fresh(number), body=b"{}")
        yield renamed(fresh(number), f"stranger {number}")


async def scripts_run(server, verifier: AsyncVerifier, requests: list[Request]) -> tuple[int, set[str]]:
    """How many scripts the server runs for requests that come at once, and the reasons of their rejections."""
    with server.client() as client:
        client.config_resetstat()
        results = await asyncio.gather(*[verifier.verify(request) for request in requests], return_exceptions=True)
        commands = client.info("commandstats")
    errors = [result for result in results if isinstance(result, BaseException)]
    assert all(isinstance(error, SignatureError) for error in errors), errors
    return sum(commands[name]["calls"] for name in _SCRIPTS & commands.keys()), {error.reason for error in errors}


def test_strangers_do_not_reach_the_server_and_an_accepted_request_reaches_it_once(redis_server, request):
    async def flooded() -> None:
        async with redis_kind(redis_server, request.node.name).opened_async() as store:
            # The server gets each script once. That is not counted here.
            await store.full("k", now=NOW, caps=Caps(1))
            await store.claim("k", "n", now=NOW, until=NOW, caps=Caps(1))
            verifier = AsyncVerifier(profiles.ADCP_3_2, keys=KEYS, replay=store, clock=lambda: NOW)
            rejected = {"signature_invalid", "signature_digest_mismatch", "signature_key_unknown"}
            # A worker asks once about the cap of a key that it has not seen. Later it learns that from its claims.
            assert await scripts_run(redis_server, verifier, list(strangers())) == (1, rejected)
            assert await scripts_run(redis_server, verifier, list(strangers())) == (0, rejected)
            honest = [fresh(number) for number in range(100, 140)]
            assert await scripts_run(redis_server, verifier, [*honest, *strangers()]) == (40, rejected)

    asyncio.run(flooded())
