"""Forks while threads hold every lock of an object, and ask it: `python -m tests.forks CERTIFICATE FOLDER`."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import signal
import sys
import threading
from pathlib import Path
from types import FunctionType, ModuleType

from opentelemetry.sdk.metrics import MeterProvider
from tests.discovery import test_faults
from tests.discovery.key_server import KeyServer, network_of, response
from tests.discovery.test_revocation_sources import ISSUER, NOW, PINNED, publish, sign
from tests.keys import JWKS, KEYS, lookup

from undersigned import AsyncVerifier, Caps, MemoryReplayStore, SqliteReplayStore, fork_safety, profiles
from undersigned.discovery import JWKSFile, RemoteRevocationList, RevocationFile
from undersigned.middleware.readiness import Readiness
from undersigned.verification.blocking_calls import from_tasks
from undersigned_inspector import Inspector
from undersigned_opentelemetry.replay import Claims, CountedReplayStore

LOCKS = (type(threading.Lock()), type(threading.RLock()))


class Blocking:
    def find(self, asked):
        return KEYS.find(asked)


def fetching(name):
    def make(server, certificate, _folder):
        neighbour = getattr(test_faults, name)(server, certificate)
        source = neighbour.source()
        return source, lambda: source.find(neighbour.lookup(neighbour.keyid))

    return make


def revocations(server, certificate, _folder):
    server.answers["/list"] = response(sign())
    network = network_of(certificate, wait_timeout=60)
    source = RemoteRevocationList(server.url("/list"), issuer=ISSUER, keys=PINNED, network=network, now=lambda: NOW)
    return source, lambda: source.current("")


def file(kind, content, ask):
    def make(_server, _certificate, folder):
        (folder / "file.json").write_bytes(content)
        source = kind(folder / "file.json")
        return source, lambda: ask(source)

    return make


def store(make):
    def claiming(_server, _certificate, folder):
        one, nonces = make(folder), iter(range(99))
        caps = Caps(per_key=9, total=9)
        return one, lambda: one.claim("k", f"{os.getpid()} {next(nonces)}", now=1, until=9e9, caps=caps) == "fresh"

    return claiming


def executor(*_):
    find = from_tasks(Blocking(), "find")
    return find, lambda: asyncio.run(find(lookup()))


def readiness(*_):
    ready = Readiness(AsyncVerifier(profiles.ADCP_3_2, keys=KEYS, replay=MemoryReplayStore()), "/ready")
    return ready, lambda: asyncio.run(ready.answer("GET", "/ready")).status == 200


def inspector(*_):
    page = Inspector()
    return page, lambda: page.page("", {})


FETCHING = {
    **{name: fetching(name) for name in ("Served", "Several", "Agent", "Directory", "Bot", "Platform", "Actor")},
    "RemoteRevocationList": revocations,
}
KINDS = {
    **FETCHING,
    "JWKSFile": file(JWKSFile, json.dumps(JWKS).encode(), lambda source: source.find(lookup())),
    "RevocationFile": file(RevocationFile, publish(), lambda source: source.current("")),
    "memory": store(lambda _folder: MemoryReplayStore()),
    "sqlite": store(lambda folder: SqliteReplayStore(folder / "nonces.sqlite")),
    "counted": store(lambda _: CountedReplayStore(MemoryReplayStore(), Claims(MeterProvider().get_meter("test")))),
    "executor": executor,
    "readiness": readiness,
    "inspector": inspector,
}


def locks_of(thing: object) -> list:
    """Every lock that can be reached from an object, without what belongs to modules, classes and tests."""
    seen, left, found = set[int](), [thing], []
    while left:
        one = left.pop()
        is_of_test = type(one).__module__.startswith("tests.")
        if id(one) in seen or is_of_test or isinstance(one, (ModuleType, type, threading.Thread)):
            continue
        seen.add(id(one))
        found += [one] if isinstance(one, LOCKS) else []
        left += (one.__closure__ or ()) if isinstance(one, FunctionType) else gc.get_referents(one)
    return found


def answers_after_a_fork(kind: str, certificate: Path, folder: Path) -> bool:
    """Whether a child and its parent get an answer, though locks were held and a fetch was under way at the fork."""
    server = KeyServer(certificate)
    thing, ask = KINDS[kind](server, certificate, folder)
    server.hold.clear()
    asking = threading.Thread(target=ask)
    asking.start()
    if kind in FETCHING:
        server.wait_for(1)
    else:
        asking.join()
    held, over = threading.Event(), threading.Event()

    def hold() -> None:
        taken = [lock for lock in locks_of(thing) if lock.acquire(timeout=0.1)]
        held.set()
        over.wait()
        for lock in taken:
            lock.release()

    holding = threading.Thread(target=hold)
    holding.start()
    held.wait()
    child = os.fork()
    if not child:
        signal.alarm(10)
        os._exit(not ask())
    server.hold.set()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    over.set()
    holding.join()
    asking.join()
    is_answered = bool(ask())
    server.close()
    return is_answered and not status


if __name__ == "__main__":
    fork_safety._WAIT = 0.1  # noqa: SLF001 - 16 forks
    found = {kind: answers_after_a_fork(kind, *map(Path, sys.argv[1:])) for kind in KINDS}
    sys.stdout.write(json.dumps(found))
