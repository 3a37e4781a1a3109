"""Whose key it is, over a long walk of faults, copies and moves: the signer of an accepted request is its owner."""

from __future__ import annotations

import asyncio
import tracemalloc
from random import Random

import pytest

from undersigned import (
    AsyncVerifier,
    KeyPair,
    KeySourceError,
    MemoryReplayStore,
    Request,
    SignatureError,
    Signer,
    VerificationKey,
    VerificationUnavailable,
    Verifier,
    profiles,
)
from undersigned.discovery import KeySources

URL = "https://seller.example.com/buy"
FIELDS = [("Content-Type", "application/json")]
SIGNERS = ("a", "b", "c", "d")
STEPS = 10_000


class Source:
    """What a signer publishes, at a source that keeps nothing."""

    blocking = False

    def __init__(self) -> None:
        self.jwks, self.fails, self.asked = [], False, 0

    def find(self, lookup):
        self.asked += 1
        if self.fails:
            raise KeySourceError("signature_jwks_unavailable", "down")
        return [VerificationKey.from_jwk(jwk) for jwk in self.jwks if jwk["kid"] == lookup.keyid]


class Awaited(Source):
    async def find(self, lookup):
        await asyncio.sleep(0)
        return super().find(lookup)


class Walk:
    """Each of the signers has a key of its own, under one of two keyids, and may copy those of others."""

    def __init__(self, random: Random, runner: asyncio.Runner | None) -> None:
        self.random, self.now, self.runner = random, 1_000_000.0, runner
        self.sources = {name: (Source if runner is None else Awaited)() for name in SIGNERS}
        self.pairs = {name: KeyPair.generate(keyid=f"key-{number % 2}") for number, name in enumerate(SIGNERS)}
        keys = KeySources(self.sources, clock=lambda: self.now)
        make = Verifier if runner is None else AsyncVerifier
        self.verifier = make(profiles.ADCP_3_2, keys=keys, replay=MemoryReplayStore(), clock=lambda: self.now)
        for name, pair in self.pairs.items():
            self.sources[name].jwks = [pair.public["keys"][0]]
        for name in SIGNERS:
            assert self.verdict(self.pairs[name]) == name

    def verdict(self, pair: KeyPair) -> str:
        """The signer of a new request, or why it is rejected."""
        signer = Signer(pair.signing_key(), profile=profiles.ADCP_3_2, clock=lambda: self.now)
        request = Request("POST", URL, [*FIELDS, *signer.sign(Request("POST", URL, FIELDS, b"{}"))], b"{}")
        try:
            answer = self.verifier.verify(request)
            return (answer if self.runner is None else self.runner.run(answer)).signer
        except VerificationUnavailable:
            return "503"
        except SignatureError:
            return "401"

    def step(self) -> None:
        name, other = self.random.sample(SIGNERS, 2)
        source = self.sources[name]
        what = self.random.randrange(12)
        if what == 0:
            source.fails = not source.fails
        elif what == 1:
            # Copy another's key, or stop that.
            own = self.pairs[name].public["keys"][0]
            source.jwks = [own, self.pairs[other].public["keys"][0]] if len(source.jwks) == 1 else [own]
        elif what == 2:
            self.now += self.random.choice([1, 31, 400])
        elif what == 3:
            forged = KeyPair.generate(keyid=self.random.choice(["key-0", "key-1", "nobody's"]))
            assert self.verdict(forged) in {"401", "503"}
        else:
            self.now += 1
            before = sum(one.asked for one in self.sources.values())
            verdict = self.verdict(self.pairs[name])
            # Who was known first keeps the key. While the owner's source fails, nobody else gets the request.
            assert verdict == ("503" if source.fails else name), (name, verdict)
            asked = sum(one.asked for one in self.sources.values()) - before
            assert asked <= 4 * len(SIGNERS)


@pytest.mark.parametrize("is_async", [False, True], ids=["threads", "tasks"])
def test_signer_of_an_accepted_request_is_its_owner_whoever_fails_or_copies(is_async):
    runner = asyncio.Runner() if is_async else None
    walk = Walk(Random(44), runner)  # noqa: S311 - not for security
    try:
        for _ in range(STEPS // 2 - 500):
            walk.step()
        # What is kept does not grow any more. The steps that are measured are slow, so they are few.
        tracemalloc.start()
        for _ in range(500):
            walk.step()
        assert tracemalloc.get_traced_memory()[0] < 800_000
    finally:
        tracemalloc.stop()
        if runner is not None:
            runner.close()
