"""Every key source keeps what it knew while its neighbour fails, as the table of `undersigned.testing` says."""

from __future__ import annotations

import asyncio
import json
import math
import threading
import time

import pytest
from hypothesis import settings
from tests.discovery.activitypub.test_sources import pem
from tests.discovery.adcp.agent_server import Operator
from tests.discovery.key_server import network_of, response
from tests.discovery.test_revocation_sources import ISSUER, NOW, PINNED, publish, sign
from tests.discovery.test_ucp import PROFILE
from tests.discovery.test_ucp import ask_about as ask_about_ucp
from tests.discovery.web_bot_auth.test_sources import NAME, SET, directory
from tests.discovery.web_bot_auth.test_sources import ask_about as ask_about_bot
from tests.keys import EC_PUBLIC, OTHER_PUBLIC, PUBLIC, lookup
from tests.tokens.issuing import issue

from undersigned import KeyPair, KeySourceError, VerificationKey
from undersigned.discovery import (
    Freshness,
    JWKSFile,
    KeySources,
    RemoteJWKS,
    RemoteRevocationList,
    RevocationFile,
)
from undersigned.discovery.activitypub import ActorKeys
from undersigned.discovery.adcp import AdCPAgent, AdCPDirectory
from undersigned.discovery.ucp import UCPKeys
from undersigned.discovery.web_bot_auth import WebBotAuthKeys
from undersigned.message import HeaderFields
from undersigned.testing import FAULTS, Neighbour, check_async_faults, check_faults
from undersigned.tokens import WorkloadTokenKeys
from undersigned.verification.blocking_calls import awaited

ACTIVITY = "Content-Type: application/activity+json"
JSON = "Content-Type: application/json"


def hang(connection, _request) -> None:
    connection.recv(1)


def reset(_connection, _request) -> None:
    raise ConnectionResetError


class Served(Neighbour):
    """The neighbour of a source that fetches: a key server."""

    faults = tuple(fault for fault in FAULTS if fault not in {"timeout", "slow drip"})
    keyid = PUBLIC["kid"]
    fresh, stale, logger = 60.0, 600.0, "undersigned.discovery"
    path, seconds = "/jwks.json", 20.0
    good, without = response({"keys": [PUBLIC]}), response({"keys": [OTHER_PUBLIC]})
    wrong = response({"error": "busy"}, JSON)

    def __init__(self, server, pem_file) -> None:
        self.server, self.now, self.reports, self.address = server, 1000.0, [], "127.0.0.1"
        self.network = network_of(
            pem_file,
            wait_timeout=60,
            total_timeout=self.seconds,
            resolve=lambda *_: [self.address],
            on_fetch=self.reports.append,
        )
        self.options = {"network": self.network, "clock": self.clock, "freshness": Freshness(default=60, stale=600)}
        self.answer("")

    def clock(self) -> float:
        return self.now

    def source(self):
        return RemoteJWKS(self.server.url(), **self.options)

    def answer(self, fault: str) -> None:
        self.address = "127.0.0.7" if fault == "refused" else "127.0.0.1"
        self.server.answers[self.path] = {
            "": self.good,
            "refused": self.good,
            "withdrawn": self.without,
            "reset": reset,
            "timeout": hang,
            "slow drip": self.server.slowly(response(b"{}" * 99), seconds=0.1),
            "4xx": response(b"", status="403 No"),
            "429": response(b"", "Retry-After: 1", status="429 Later"),
            "5xx": response(b"", status="503 Down"),
            "HTML": response(b"<html>", "Content-Type: text/html"),
            "empty": response(b""),
            "cut": Served.good[:-9],
            "too large": response(b" " * 1_100_000),
            "protocol error": b"SSH-2.0\r\n",
            "wrong type": self.wrong,
            "old answer": response(b"", status="304 Not Modified"),
        }[fault]

    def advance(self, seconds: float) -> None:
        while any("undersigned" in thread.name for thread in threading.enumerate()):
            time.sleep(0.001)
        self.now += seconds

    def asked(self) -> int:
        return len(self.reports)


class Slow(Served):
    """One whose faults take their time. A good answer has as much of it as a busy machine needs."""

    faults = ("timeout", "slow drip")

    def answer(self, fault: str) -> None:
        super().answer(fault)
        object.__setattr__(self.network, "total_timeout", 0.25 if fault in self.faults else self.seconds)


class Several(Served):
    def source(self):
        return KeySources({"buyer.example.com": super().source()}, clock=self.clock)


class Agent(Served):
    path = "/mcp"
    fresh = 60.0
    kind = AdCPAgent

    def __init__(self, *arguments) -> None:
        self.operator = Operator(arguments[0])
        self.without = self.say_no_keys
        super().__init__(*arguments)
        publish = self.operator.server.answers
        publish["/brand.json"] = response(self.operator.brand, "Cache-Control: max-age=60")

    def good(self, connection, request) -> None:
        self.operator.server.answers["/brand.json"] = response(self.operator.brand, "Cache-Control: max-age=60")
        self.operator.speak(connection, request)

    def say_no_keys(self, connection, request) -> None:
        self.operator.server.answers["/brand.json"] = response({"agents": []})
        self.operator.speak(connection, request)

    def source(self):
        return AdCPAgent(self.operator.url, **self.options)


class Directory(Agent):
    def source(self):
        return AdCPDirectory([super().source()])


class Bot(Served):
    keyid, good, without = NAME, directory(SET), directory({"keys": [OTHER_PUBLIC | {"kid": "x"}]})
    wrong = directory({"error": "busy"})

    def source(self):
        return WebBotAuthKeys(form="jwks", **self.options)

    def lookup(self, keyid):
        return ask_about_bot(f'sig1="{self.server.url()}"', keyid)


class Platform(Served):
    path = "/.well-known/ucp"
    keyid = EC_PUBLIC["kid"]
    good, without = response(PROFILE), response({**PROFILE, "keys": [{**EC_PUBLIC, "kid": "x"}]})

    def source(self):
        return UCPKeys(**self.options)

    def lookup(self, keyid):
        return ask_about_ucp(f'profile="{self.server.url(self.path)}"', keyid)


class Actor(Served):
    path = "/users/bob"
    wrong = response({"error": "busy"}, ACTIVITY)

    def __init__(self, *arguments) -> None:
        actor = arguments[0].url(self.path)
        self.keyid = f"{actor}#main-key"
        key = {"id": self.keyid, "owner": actor, "publicKeyPem": PEM}
        self.good = response({"id": actor, "publicKey": key}, ACTIVITY)
        self.without = response({"id": actor, "publicKey": []}, ACTIVITY)
        super().__init__(*arguments)

    def source(self):
        return ActorKeys(**self.options)

    def lookup(self, keyid):
        return lookup(keyid if keyid == self.keyid else f"{self.keyid}-of-nobody")


PEM = pem()


class TokenIssuer(Served):
    """The issuer of tokens that requests bring along."""

    pair = KeyPair.generate(keyid="issuer")
    good = response(pair.public)

    def source(self):
        return WorkloadTokenKeys({"a.example": super().source()}, clock=lambda: 1000)

    def lookup(self, keyid):
        header = {"alg": "EdDSA", "kid": "issuer" if keyid == self.keyid else keyid, "typ": "wit+jwt"}
        token = issue(header, {"sub": "wimse://a.example/b", "exp": 2000, "cnf": {"jwk": PUBLIC}}, self.pair)
        field = "workload-identity-token"
        covered = {"components": frozenset({field}), "identifiers": (f'"{field}"',), "label": "sig"}
        return lookup(keyid, fields=HeaderFields([(field, token)]), **covered)


class Revoking:
    """A source of a key that a list of revocations takes away."""

    def __init__(self, lists, clock) -> None:
        self.lists, self.clock, self.blocking = lists, clock, lists.blocking
        if hasattr(lists, "async_current"):
            self.async_find = self._async_find

    def find(self, asked):
        return self._keys(self.lists.current(""), asked)

    async def _async_find(self, asked):
        return self._keys(await awaited(self.lists.async_current("")), asked)

    def _keys(self, current, asked):
        if not current.is_ready(NOW + self.clock()):
            raise KeySourceError("signature_revocation_stale", "the list is stale")
        has_key = asked.keyid == PUBLIC["kid"] and asked.keyid not in current.revoked
        return [VerificationKey.from_jwk(PUBLIC)] if has_key else []


class Issuer(Served):
    """The issuer of a list of revocations, which makes one of every second."""

    path = "/list"
    fresh, stale = 900.0, 3600.0

    def good(self, connection, _request) -> None:
        connection.sendall(response(sign(updated=NOW + self.now)))

    def without(self, connection, _request) -> None:
        connection.sendall(response(sign(PUBLIC["kid"], updated=NOW + self.now)))

    def source(self):
        clocks = {"clock": self.clock, "now": lambda: NOW + self.now}
        url = self.server.url(self.path)
        lists = RemoteRevocationList(url, issuer=ISSUER, keys=PINNED, network=self.network, **clocks)
        return Revoking(lists, self.clock)


class File(Neighbour):
    """A JWK set in a file."""

    keyid = PUBLIC["kid"]
    fresh, stale, interval = 1.0, math.inf, 1.0
    faults = ("refused", "HTML", "empty", "cut", "too large", "wrong type")

    def __init__(self, _server, certificate) -> None:
        self.path, self.now = certificate.with_name(f"{type(self).__name__}.json"), 0.0
        self.answer("")

    def text(self, kids=()) -> bytes:
        return json.dumps({"keys": [OTHER_PUBLIC if kids else PUBLIC]}).encode()

    def source(self):
        return JWKSFile(self.path, clock=lambda: self.now)

    def answer(self, fault: str) -> None:
        good = self.text()
        said = {"": good, "withdrawn": self.text([self.keyid]), "HTML": b"<html>", "cut": good[:-9]}
        said |= {"empty": b"", "too large": b" " * 9_000_000, "wrong type": b"[]"}
        self.path.unlink(missing_ok=True)
        if fault in said:
            self.path.write_bytes(said[fault])

    def advance(self, seconds: float) -> None:
        self.now += max(seconds, 1.0)

    def asked(self) -> int:
        return 0


class RevokedFile(File):
    """A list of revocations in a file."""

    def text(self, kids=()) -> bytes:
        return publish(*kids, updated=NOW + self.now)

    def source(self):
        return Revoking(RevocationFile(self.path, clock=lambda: self.now), lambda: self.now)


class Database(Neighbour):
    """An application's own source, which keeps nothing and says when it cannot ask."""

    keyid = PUBLIC["kid"]
    blocking = False
    faults = FAULTS

    def __init__(self, *_) -> None:
        self.fault = ""

    def source(self):
        return self

    def find(self, asked):
        if self.fault not in {"", "withdrawn"}:
            raise KeySourceError("signature_jwks_unavailable", self.fault)
        return [VerificationKey.from_jwk(PUBLIC)] if not self.fault and asked.keyid == self.keyid else []

    def answer(self, fault: str) -> None:
        self.fault = fault

    def advance(self, seconds: float) -> None:
        """It keeps nothing."""

    def asked(self) -> int:
        return 0


KINDS = [
    *(Served, Slow, Several, Agent, Directory, Bot, Platform, Actor, TokenIssuer),
    *(Issuer, File, RevokedFile, Database),
]


@pytest.mark.parametrize("is_async", [False, True], ids=["threads", "tasks"])
@pytest.mark.parametrize("kind", KINDS)
def test_source_keeps_the_contract_while_its_neighbour_fails(kind, is_async, server, key_server_certificate):
    def make() -> Neighbour:
        return kind(server, key_server_certificate)

    # All that fetch do so in one way. Each has its share of the faults; with the profile `thorough`, all of them. What
    # is no answer differs from source to source.
    is_thorough = settings.get_current_profile_name() == "thorough" or not issubclass(kind, Served)
    shares = 1 if is_thorough else min(6, len(kind.faults))
    at = (2 * KINDS.index(kind) + is_async) % shares
    faults = [one for number, one in enumerate(kind.faults) if number % shares == at or one == "wrong type"]
    if is_async:
        asyncio.run(check_async_faults(make, faults=faults))
    else:
        check_faults(make, faults=faults)
