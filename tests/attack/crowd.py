"""`python -m tests.attack.crowd [--seconds S] [SERVER...]`: what a crowd of strangers costs the honest.

A known bot asks a real server, alone and then beside strangers, who name silent hosts, key sets of 256 keys, unknown
keyids, and a new URL in every request. It prints the median and the 99th percentile of both, and the ratios.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, NamedTuple

from tests.certificate import certificate
from tests.discovery.key_server import HOSTS, KeyServer, network_of, response
from tests.wire import exchange, raw_request
from tests.workers import free_port, workers

from undersigned import KeyPair, MemoryReplayStore, Request, Signer, Verifier, asgi, profiles, wsgi
from undersigned.discovery.web_bot_auth import WebBotAuthKeys
from undersigned.message import write_signature_agent

if TYPE_CHECKING:
    from collections.abc import Iterator

PROFILE = profiles.WEB_BOT_AUTH_JWKS
ORIGIN, HOST = "https://shop.example", "shop.example"
_GUNICORN = ("--log-level", "critical", "--no-control-socket", "--bind", "127.0.0.1:{port}")
SERVERS = {
    "uvicorn": ("uvicorn", "tests.attack.crowd:asgi_app", "--log-level", "critical", "--port", "{port}"),
    "gunicorn": ("gunicorn", *_GUNICORN, "-k", "gthread", "--threads", "8", "tests.attack.crowd:wsgi_app"),
    "gunicorn-gevent": ("gunicorn", *_GUNICORN, "-k", "gevent", "tests.attack.crowd:wsgi_app"),
    "pywsgi": ("tests.servers.serve", "gevent", "{port}", "tests.attack.crowd"),
}
_STRANGERS, _HANGING = 12, 4
_SILENT = HOSTS[5:8]


class Answered(NamedTuple):
    """What the honest bot got: the statuses, and how long it waited for each, in order of length."""

    statuses: set[int]
    seconds: list[float]

    def percentile(self, share: float) -> float:
        """The time that so many of a hundred requests took at most."""
        return self.seconds[min(len(self.seconds) - 1, int(len(self.seconds) * share))]


class Sender:
    """A sender with a key, which signs each request anew."""

    def __init__(self) -> None:
        self.pair = KeyPair.generate()
        self._signer = Signer(self.pair.signing_key(), profile=PROFILE)

    def send(self, port: int, agent: str) -> int:
        """Send a request that names the URL of a key set. Return the status."""
        fields = [("Signature-Agent", write_signature_agent(agent, form="jwks"))]
        signed = self._signer.sign(Request("GET", f"{ORIGIN}/", fields))
        return int(exchange(port, raw_request("GET", "/", [("Host", HOST), *fields, *signed]), timeout=60)[9:12])


@contextmanager
def site(name: str, folder: Path, timeouts: dict[str, float]) -> Iterator[tuple[int, KeyServer]]:
    """Run a server whose middleware asks a key server of this process for keys. Yield its port, and the key server."""
    pem = certificate(folder / "server.pem", *HOSTS)
    keys, port = KeyServer(pem), free_port()
    module, *arguments = (part.format(port=port) for part in SERVERS[name])
    try:
        environment = {"CROWD_CA": str(pem), "CROWD_TIMEOUTS": json.dumps(timeouts)}
        with workers(module, *arguments, port=port, log=folder / "log", count=0, **environment):
            yield port, keys
    finally:
        keys.close()


def honest(bot: Sender, port: int, agent: str, *, seconds: float, least: int) -> Answered:
    """Send one honest request after another, for so many seconds, and at least so many."""
    statuses, taken, end = set(), [], time.monotonic() + seconds
    while time.monotonic() < end or len(taken) < least:
        began = time.perf_counter()
        statuses.add(bot.send(port, agent))
        taken.append(time.perf_counter() - began)
        time.sleep(0.01)
    return Answered(statuses, sorted(taken))


def measure(
    name: str, folder: Path, *, seconds: float = 0, least: int = 0, **timeouts: float
) -> tuple[Answered, Answered]:
    """Return what the bot got alone, and beside strangers whose silent hosts stay silent until it has it."""
    with site(name, folder, timeouts) as (port, keys):
        bot, over = Sender(), threading.Event()
        keys.answers["/bot"] = response(bot.pair.public)
        many = response({"keys": [KeyPair.generate().public["keys"][0] for _ in range(256)]})
        keys.answers |= {f"/many/{number}": many for number in range(1000)}
        asked = threading.Semaphore(0)

        def hang(*_) -> None:
            asked.release()
            over.wait()

        keys.answers |= {f"/silent/{number}": hang for number in range(1000)}
        agent = keys.url("/bot")
        assert bot.send(port, agent) == 200
        alone = honest(bot, port, agent, seconds=seconds, least=least)
        numbers = itertools.count()
        threads = [
            threading.Thread(target=_crowd, args=(port, keys, over, numbers, Random(at)), daemon=True)  # noqa: S311
            for at in range(_STRANGERS)
        ]
        for thread in threads:
            thread.start()
        try:
            for _ in range(_HANGING):
                assert asked.acquire(timeout=60)
            beside = honest(bot, port, agent, seconds=seconds, least=least)
        finally:
            over.set()
            for thread in threads:
                thread.join(60)
    return alone, beside


def _crowd(port: int, keys: KeyServer, over: threading.Event, numbers: Iterator[int], random: Random) -> None:
    stranger = Sender()
    while not over.wait(0.4):
        number = next(numbers) % 1000
        silent = keys.url(f"/silent/{number}", random.choice(_SILENT))
        urls = [keys.url(f"/many/{number}"), keys.url("/many/0"), keys.url(f"/none/{number}")]
        url = random.choice([*urls, *[silent] * 5])
        assert stranger.send(port, url) != 200


def _verifier() -> Verifier:
    timeouts = json.loads(os.environ["CROWD_TIMEOUTS"])
    keys = WebBotAuthKeys(form="jwks", network=network_of(Path(os.environ["CROWD_CA"]), **timeouts))
    return Verifier(PROFILE, keys=keys, replay=MemoryReplayStore())


async def _asgi(_scope, _receive, send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
    await send({"type": "http.response.body", "body": b""})


def _wsgi(_environ, start_response) -> list[bytes]:
    start_response("200 OK", [("Content-Length", "0")])
    return []


if "CROWD_CA" in os.environ:
    asgi_app = asgi.SignatureMiddleware(_asgi, verifier=_verifier(), origins=[ORIGIN])
    wsgi_app = wsgi.SignatureMiddleware(_wsgi, verifier=_verifier(), origins=[ORIGIN])


def main() -> int:
    """Measure the servers one after the other."""
    parser = argparse.ArgumentParser(prog="python -m tests.attack.crowd", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="SERVER", help=f"some of {', '.join(SERVERS)}; all unless given")
    parser.add_argument("--seconds", type=float, default=20, metavar="S", help="how long each of the two loads lasts")
    given = parser.parse_args()
    for name in given.names or SERVERS:
        with tempfile.TemporaryDirectory() as folder:
            alone, beside = measure(name, Path(folder), seconds=given.seconds)
        shown = [
            f"{what} {1000 * alone.percentile(share):.1f} to {1000 * beside.percentile(share):.1f} ms "
            f"({beside.percentile(share) / alone.percentile(share):.2f})"
            for what, share in (("median", 0.5), ("p99", 0.99))
        ]
        longest = 1000 * beside.seconds[-1]
        print(f"{name}: {', '.join(shown)}, longest {longest:.0f} ms, {beside.statuses}", flush=True)  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())
