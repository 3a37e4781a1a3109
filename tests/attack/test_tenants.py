"""A model of several tenants: sources that fail, hang and recover, copied keys and kids, two workers and one store.

No request is accepted twice, attributed to another than its signer, or rejected because of another. If the keyids name
their signers (`signer_of`), this is so without exception. If nothing in a message names its signer, a key that was
copied before it was looked up is rejected, or is the copier's as long as the server of its owner never answered.
"""

from __future__ import annotations

import asyncio
import json
import logging
import math
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.discovery.key_server import response
from tests.keys import NOW, URL

from undersigned import AsyncVerifier, KeyPair, Request, SignatureError, Signer, Verifier, profiles
from undersigned.discovery import KeySources, RemoteJWKS
from undersigned.replay import SqliteReplayStore
from undersigned.testing import FrozenNonceClock

if TYPE_CHECKING:
    from pathlib import Path
    from random import Random

    from tests.discovery.key_server import KeyServer

    from undersigned import KeyLookup

HONEST, MALLORY = ("acme", "bolt", "corp"), "mallory"
TENANTS = (MALLORY, *HONEST)
FIELDS = [("Content-Type", "application/json")]
STEPS = 40
SPREAD = 900
"""Seconds from the publication of a key to its first use, as `undersigned rotate` says."""


def signer_of(lookup: KeyLookup) -> str:
    return lookup.keyid.partition("/")[0]


def keyid_of(pair: KeyPair) -> str:
    return str(pair.public["keys"][0]["kid"])


class Tenant:
    """A tenant with its keys, and a server of its own that publishes them, fails or hangs."""

    def __init__(self, name: str, server: KeyServer, clock: FrozenNonceClock) -> None:
        self.name, self._clock = name, clock
        self.pairs = [KeyPair.generate(keyid=f"{name}/0")]
        self.listed: list[dict[str, object]] = []
        self.state, self.up_since = "up", -math.inf
        self._open = threading.Event()
        self.publish()
        server.answers[f"/{name}"] = self._serve

    def publish(self, *others: dict[str, object]) -> None:
        self.listed = [pair.public["keys"][0] for pair in self.pairs] + list(others)

    def turn(self, state: str) -> None:
        self._open.set()
        self._open = threading.Event()
        if state == "up" and self.state != "up":
            self.up_since = self._clock.now
        self.state = state

    def is_up(self, *, seconds: float = math.inf) -> bool:
        """Whether the server has been there for so long, or always."""
        return self.state == "up" and self._clock.now - self.up_since >= seconds

    def _serve(self, connection, _request: bytes) -> None:
        if self.state == "hangs":
            self._open.wait(5)
        failed = self.state != "up"
        connection.sendall(response(b"", status="500 No") if failed else response({"keys": self.listed}))

    def rotate(self) -> None:
        """Publish a new key; the tenant signs with it from `SPREAD` seconds later on."""
        self.pairs.append(KeyPair.generate(keyid=f"{self.name}/{len(self.pairs)}"))
        self.publish()


@dataclass(eq=False)
class Sent:
    """A request with the tenant that signed it, and where it was accepted."""

    signer: str
    keyid: str
    request: Request
    accepted: list[str] = field(default_factory=list)

    def __repr__(self) -> str:
        return f"{self.signer} by {self.keyid}"


class Model:
    """Two workers, one for threads and one for tasks, and what the tenants do. `named`: a keyid names its signer."""

    def __init__(self, random: Random, folder: Path, server: KeyServer, runner: asyncio.Runner, *, named: bool) -> None:
        self._random, self._runner, self._named = random, runner, named
        self._clock, self._wall = FrozenNonceClock(0.0), lambda: NOW + self._clock.now
        self.tenants = {name: Tenant(name, server, self._clock) for name in TENANTS}
        self.told: list[str] = []
        self.sent: list[Sent] = []
        self._known: set[tuple[str, str]] = set()
        self._settled: set[tuple[str, str]] = set()
        self._shared: set[tuple[str, str]] = set()
        self._folder, self._server = folder, server
        network = server.network(wait_timeout=3.0, total_timeout=4.0)
        self._ask, self._sources = {}, {}
        for kind in (Verifier, AsyncVerifier):
            sources = {name: RemoteJWKS(server.url(f"/{name}"), network=network, clock=self._clock) for name in TENANTS}
            self._sources[kind.__name__], keys = sources, KeySources(sources, signer_of=signer_of if named else None)
            store = SqliteReplayStore(folder / "replay.sqlite")
            judge = kind(profiles.ADCP_3_2, keys=keys, replay=store, clock=self._wall)
            self._ask[kind.__name__] = judge

    def judge(self, worker: str, request: Request) -> str | SignatureError:
        """The signer of a request that a worker accepts, or why it rejects it."""
        try:
            answer = self._ask[worker].verify(request)
            return (self._runner.run(answer) if worker == "AsyncVerifier" else answer).signer
        except SignatureError as error:
            return error

    def step(self) -> str | None:
        """Let something happen. Return what is wrong with it, or None."""
        rare = (self._pass_time, self._break, self._copy, self._rotate, self._forge)
        return self._random.choice([*rare, *[self._send] * 6, *[self._repeat] * 3])()

    def tell(self, *words: object) -> None:
        self.told.append(" ".join(map(str, words)))

    def _pass_time(self) -> None:
        seconds = self._random.choice([1, 20, 31, 60, 290, 1000])
        self._clock.now += seconds
        self.tell("wait", seconds)

    def _break(self) -> None:
        tenant = self.tenants[self._random.choice(TENANTS)]
        tenant.turn(self._random.choice(["up"] * 4 + ["fails"] * 3 + ["hangs"]))
        self.tell(tenant.name, tenant.state)

    def _rotate(self) -> None:
        tenant = self.tenants[self._random.choice(HONEST)]
        if tenant.state == "up" and len(tenant.pairs) < 4:
            tenant.rotate()
            self._clock.now += SPREAD
            self.tell(tenant.name, "rotates")

    def _copy(self) -> None:
        """Mallory publishes another's key, or keys of its own under another's keyid."""
        victim = self.tenants[self._random.choice(HONEST)]
        mallory, pair = self.tenants[MALLORY], victim.pairs[-1]
        if self._random.random() < 0.5:
            mallory.publish(pair.public["keys"][0])
            self.tell("mallory copies", keyid_of(pair))
        else:
            own = [KeyPair.generate(keyid=keyid_of(pair)).public["keys"][0] for _ in range(4)]
            mallory.publish(*own)
            self.tell("mallory names its keys", keyid_of(pair))

    def _sign(self, pair: KeyPair) -> Request:
        signer = Signer(pair.signing_key(), profile=profiles.ADCP_3_2, clock=self._wall)
        return Request("POST", URL, [*FIELDS, *signer.sign(Request("POST", URL, FIELDS, b"{}"))], b"{}")

    def _send(self) -> str | None:
        tenant = self.tenants[self._random.choice(TENANTS)]
        pair = tenant.pairs[-1]
        sent = Sent(tenant.name, keyid_of(pair), self._sign(pair))
        self.sent.append(sent)
        return self._pass(sent, is_new=True)

    def _repeat(self) -> str | None:
        return self._pass(self._random.choice(self.sent)) if self.sent else None

    def _forge(self) -> str | None:
        """Mallory signs with a key of its own that has another's keyid, or that nobody has."""
        keyid = self._random.choice([*(keyid_of(tenant.pairs[-1]) for tenant in self.tenants.values()), "nobody's"])
        return self._pass(Sent(MALLORY, keyid, self._sign(KeyPair.generate(keyid=keyid))))

    def _pass(self, sent: Sent, *, is_new: bool = False) -> str | None:
        worker = self._random.choice(list(self._ask))
        before = self._had(worker, MALLORY, sent)
        answer = self.judge(worker, sent.request)
        self.tell(worker, sent, "->", answer, getattr(answer, "detail", ""))
        if isinstance(answer, str):
            sent.accepted.append(worker)
            if answer != sent.signer and not self._is_unseen(worker, sent):
                return f"attributed to {answer}"
            if answer == sent.signer:
                self._known.add((worker, sent.keyid))
                if self.tenants[MALLORY].is_up():
                    self._settled.add((worker, sent.keyid))
            return "accepted twice" if len(sent.accepted) > 1 else None
        copied = (before | self._had(worker, MALLORY, sent)) & self._had(worker, sent.signer, sent)
        is_honest = sent.signer in HONEST and is_new
        if is_honest and self._is_wanted(worker, sent) and not (copied and self._is_shared(worker, sent, answer)):
            return "rejected because of another"
        return None

    def _is_unseen(self, worker: str, sent: Sent) -> bool:
        """Whether a worker never saw a key at its owner, whose server was down until now: it knows of the copy alone.

        Thirty seconds later it asks the owner, and if that is too early, all of them after thirty more.
        """
        is_up = self.tenants[sent.signer].is_up(seconds=60)
        return not self._named and not is_up and not self._had(worker, sent.signer, sent)

    def _had(self, worker: str, name: str, sent: Sent) -> set[str]:
        """Return the thumbprints of the keys with a keyid in the last document of a tenant that a worker has read."""
        return {key.thumbprint for key in self._sources[worker][name].had(sent.keyid)}

    def _is_wanted(self, worker: str, sent: Sent) -> bool:
        """Whether the worker must accept a new request: it knows the key, or its owner's server was always there."""
        return (worker, sent.keyid) in self._known or self.tenants[sent.signer].is_up()

    def _is_shared(self, worker: str, sent: Sent, error: SignatureError) -> bool:
        """Whether nobody can tell whose a copied key is.

        Mallory's document had it too when the worker looked it up first, or could not be had then.
        """
        place = (worker, sent.keyid)
        if self._named or place in self._settled:
            return False
        if "two signers publish this key" in str(error.detail):
            self._shared.add(place)
        return place in self._shared or place not in self._known


def test_tenants_do_not_interfere(search, server, tmp_path, caplog):
    caplog.set_level(logging.CRITICAL, "undersigned")
    with asyncio.Runner() as runner:
        for named in search.of([False, True], lambda random: random.random() < 0.5):
            folder = tmp_path / f"{search.tried}"
            folder.mkdir()
            model = Model(search.random, folder, server, runner, named=named)
            for _ in range(STEPS):
                if fault := model.step():
                    search.find(f"{fault}, {named=}", json.dumps(model.told, indent=1))
                    break
            if sum(bool(sent.accepted) for sent in model.sent) >= 4:
                search.reach()
            for tenant in model.tenants.values():
                tenant.turn("up")
    search.finish(reached=1)
