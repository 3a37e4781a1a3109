"""Whose key it is, over a long walk of faults, copies and moves: the signer of an accepted request is its owner."""

from __future__ import annotations

import asyncio
from random import Random

import pytest
from tests.keys import Awaited, signed_request
from tests.work import most_memory

from undersigned import (
    AsyncVerifier,
    KeyPair,
    KeySourceError,
    MemoryReplayStore,
    SignatureError,
    VerificationKey,
    VerificationUnavailable,
    Verifier,
    profiles,
)
from undersigned.discovery import KeySources

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


class Walk:
    """Each of the signers has a key of its own, under one of two keyids, and may copy those of others."""

    def __init__(self, random: Random, runner: asyncio.Runner | None) -> None:
        self.random, self.now, self.runner = random, 1_000_000.0, runner
        self.sources = {name: Source() for name in SIGNERS}
        self.pairs = {name: KeyPair.generate(keyid=f"key-{number % 2}") for number, name in enumerate(SIGNERS)}
        make, wrap = (Verifier, lambda source: source) if runner is None else (AsyncVerifier, Awaited)
        keys = KeySources({name: wrap(source) for name, source in self.sources.items()}, clock=lambda: self.now)
        self.verifier = make(profiles.ADCP_3_2, keys=keys, replay=MemoryReplayStore(), clock=lambda: self.now)
        for name, pair in self.pairs.items():
            self.sources[name].jwks = [pair.public["keys"][0]]
        for name in SIGNERS:
            assert self.verdict(self.pairs[name]) == name

    def verdict(self, pair: KeyPair) -> str:
        """The signer of a new request, or why it is rejected."""
        try:
            answer = self.verifier.verify(signed_request(key=pair.signing_key(), created=int(self.now), nonce=None))
            return (answer if self.runner is None else self.runner.run(answer)).signer
        except VerificationUnavailable:
            return "503"
        except SignatureError:
            return "401"

    def step(self) -> None:
        name, other = self.random.sample(SIGNERS, 2)
        source = self.sources[name]
        match self.random.randrange(12):
            case 0:
                source.fails = not source.fails
            case 1:
                # Copy another's key, or stop that.
                own = self.pairs[name].public["keys"][0]
                source.jwks = [own, self.pairs[other].public["keys"][0]] if len(source.jwks) == 1 else [own]
            case 2:
                self.now += self.random.choice([1, 31, 400])
            case 3:
                forged = KeyPair.generate(keyid=self.random.choice(["key-0", "key-1", "nobody's"]))
                assert self.verdict(forged) in {"401", "503"}
            case _:
                self.now += 1
                before = sum(one.asked for one in self.sources.values())
                # Who was known first keeps the key. While the owner's source fails, nobody else gets the request.
                assert self.verdict(self.pairs[name]) == ("503" if source.fails else name)
                assert sum(one.asked for one in self.sources.values()) - before <= 4 * len(SIGNERS)


@pytest.mark.parametrize("is_async", [False, True], ids=["threads", "tasks"])
def test_signer_of_an_accepted_request_is_its_owner_whoever_fails_or_copies(is_async):
    with asyncio.Runner() as runner:
        walk = Walk(Random(44), runner if is_async else None)  # noqa: S311 - not for security
        for _ in range(STEPS // 2 - 500):
            walk.step()
        # What is kept does not grow any more. The steps that are measured are slow, so they are few.
        assert most_memory(lambda: [walk.step() for _ in range(500)]) < 800_000
