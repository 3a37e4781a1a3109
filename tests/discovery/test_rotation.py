"""An hour in which two parties change their keys while requests go both ways, in steps of a shared clock."""

from __future__ import annotations

import asyncio
import json
from contextlib import closing
from typing import TYPE_CHECKING
from unittest.mock import patch

import pytest
from tests.cli.command import invoke
from tests.keys import JSON_FIELD, NOW

from undersigned import (
    AsyncVerifier,
    MemoryReplayStore,
    Request,
    SignatureRejected,
    Signer,
    SigningKey,
    Verifier,
    profiles,
)
from undersigned.discovery import JWKSFile, RemoteJWKS
from undersigned.publishing import PublishedKeys
from undersigned.verification import awaited

if TYPE_CHECKING:
    from pathlib import Path

    from tests.discovery.key_server import KeyServer

    from undersigned.testing import FrozenNonceClock

STEP, OVERLAP = 15, 3600
URL = "https://seller.example.com/adcp/create_media_buy"


SPREAD, LAST_SIGNATURE = 900, 360
"""The seconds that `undersigned rotate` tells its user to wait."""


class Party:
    """A party with a folder of keys, which it publishes; several of its hosts may sign, each with a key of its own."""

    def __init__(self, name: str, folder: Path, server: KeyServer, clock: FrozenNonceClock) -> None:
        self.name, self.folder, self._clock, self._start = name, folder / name, clock, clock.now
        self._run("keygen", "--kid", f"{name}-old", "--out", str(self.folder))
        self.public = self.folder / "public.jwks.json"
        self.hosts = [self._signer("private.jwk.json")]
        self._published = PublishedKeys(self.public, clock=clock)
        server.answers[f"/{name}"] = self._serve

    def _serve(self, connection, _request: bytes) -> None:
        response = self._published.response("GET")
        fields = "".join(f"{name}: {value}\r\n" for name, value in response.fields)
        connection.sendall(f"HTTP/1.1 200 OK\r\n{fields}\r\n".encode() + response.body)

    def _run(self, *command: str) -> None:
        with patch("time.time", self.now):
            result = invoke(*command)
        assert result.exit_code == 0, result.output

    def now(self) -> float:
        return NOW + self._clock.now - self._start

    def _signer(self, file: str) -> Signer:
        key = SigningKey.from_jwk(json.loads((self.folder / file).read_text()))
        return Signer(key, profile=profiles.ADCP_3_2, clock=self.now)

    def rotate(self, *options: str) -> None:
        self._run("rotate", "--jwks", str(self.public), *options)

    def begin(self) -> None:
        self.rotate("--kid", f"{self.name}-new", "--overlap", str(OVERLAP))

    def switch_one(self) -> None:
        """Let one host sign with the new key; the other one still has the old one."""
        self.hosts.append(self._signer("private.next.jwk.json"))

    def switch_all(self) -> None:
        del self.hosts[0]

    def finish(self) -> None:
        self.rotate("--finish")

    def sent(self) -> list[Request]:
        """A request of each host."""
        unsigned = Request("POST", URL, [JSON_FIELD], b"{}")
        return [Request("POST", URL, [JSON_FIELD, *host.sign(unsigned)], b"{}") for host in self.hosts]


class Receivers:
    """Every kind of receiver of what two parties sign."""

    def __init__(self, parties: list[Party], server: KeyServer, clock: FrozenNonceClock) -> None:
        self.accepted, self.rejected, self._loop = 0, [], asyncio.Runner()
        options = {"network": server.network(), "clock": clock}
        self._verifying = []
        for party in parties:
            url = server.url(f"/{party.name}")
            sources = (JWKSFile(party.public, clock=clock), RemoteJWKS(url, **options), RemoteJWKS(url, **options))
            for kind, keys in zip((Verifier, Verifier, AsyncVerifier), sources, strict=True):
                judge = kind(profiles.ADCP_3_2, keys=keys, replay=MemoryReplayStore(), clock=party.now)
                self._verifying.append((party, judge))

    def step(self) -> None:
        """Let each receiver verify a request of each host."""
        for party, judge in self._verifying:
            for request in party.sent():
                try:
                    self._loop.run(awaited(judge.verify(request)))
                except SignatureRejected as rejected:
                    self.rejected.append((party.name, rejected.code))
                else:
                    self.accepted += 1

    def close(self) -> None:
        self._loop.close()


@pytest.mark.parametrize("waits", [SPREAD, 0], ids=["as the command says", "at once"])
def test_both_parties_rotate_in_an_hour_of_traffic_and_nothing_honest_is_rejected(tmp_path, server, clock, waits):
    buyer, seller = (Party(name, tmp_path, server, clock) for name in ("buyer", "seller"))
    events = {}
    for party, began in ((buyer, 300), (seller, 900)):
        events |= {
            began: party.begin,
            began + max(waits, STEP): party.switch_one,
            began + OVERLAP - LAST_SIGNATURE: party.switch_all,
            began + OVERLAP: party.finish,
        }
    old = {party: party.hosts[0] for party in (buyer, seller)}
    start, steps = clock.now, (900 + OVERLAP) // STEP + 2
    with closing(Receivers([buyer, seller], server, clock)) as receivers:
        for step in range(steps):
            clock.now = start + STEP * step
            events.pop(STEP * step, lambda: None)()
            receivers.step()
        assert events == {}
        assert receivers.rejected == []
        assert receivers.accepted > 6 * steps
        clock.now += SPREAD
        for party, host in old.items():
            party.hosts = [host]
        receivers.step()
    assert sorted(receivers.rejected) == [
        *[("buyer", "request_signature_key_unknown")] * 3,
        *[("seller", "request_signature_key_unknown")] * 3,
    ]
