"""The trial: two sellers on real servers that know one buyer's key, and their answers."""

from __future__ import annotations

import logging
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import TYPE_CHECKING

from undersigned import KeySet, MemoryReplayStore, Request, Signer, SigningKey, Verifier, profiles
from undersigned.signature.key_pair import KeyPair

from .attempts import ATTEMPTS
from .sellers import fastapi_seller, flask_seller
from .servers import uvicorn_server, waitress_server

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping, Sequence

    from .attempts import Answer, Attempt, Hand
    from .buyers import Buyer

PROFILE = profiles.ADCP_3_2
HOUR = 3600
TIMED = 31


@dataclass(frozen=True, slots=True)
class Row:
    """The answers of all sellers to one attempt.

    Attributes:
        attempt: the attempt.
        answers: the answers by the seller's name.
    """

    attempt: Attempt
    answers: Mapping[str, Answer]

    @property
    def passed(self) -> bool:
        """Whether every answer is as expected."""
        return all(answer == self.attempt.answer for answer in self.answers.values())

    @property
    def why(self) -> str:
        """The reason of the sellers, or each seller's reason if they differ."""
        reasons = {answer.why for answer in self.answers.values()}
        if len(reasons) == 1:
            return reasons.pop()
        return "\n".join(f"{seller}: {answer.why}" for seller, answer in self.answers.items())


@dataclass(frozen=True, slots=True)
class Trial:
    """Running sellers, and signers.

    Attributes:
        origins: the origins of the sellers by name.
        signers: the signers by name.
    """

    origins: Mapping[str, str]
    signers: Mapping[Hand, Signer]

    def rows(self, attempts: Sequence[Attempt], buyer: Buyer) -> Iterator[Row]:
        """Make every attempt at every seller, and yield the answers."""
        for attempt in attempts:
            yield Row(attempt, {name: self._answer(attempt, buyer, at) for name, at in self.origins.items()})

    def _answer(self, attempt: Attempt, buyer: Buyer, origin: str) -> Answer:
        request = attempt.request(origin)
        if attempt.hand is not None:
            request = buyer.sign(request, self.signers[attempt.hand], origin)
        request = attempt.change(request)
        first = buyer.send(request)
        if attempt.first is None or first != attempt.first:
            return first
        return buyer.send(request)


@contextmanager
def running_trial() -> Generator[Trial]:
    """Start the sellers, and stop them when the block ends."""
    # The tables have the rejections. Without a handler, logging would write them to standard error too.
    logging.getLogger("undersigned").addHandler(logging.NullHandler())
    pair = KeyPair.generate("ed25519")
    keys, key = KeySet.from_jwks(pair.public), SigningKey.from_jwk(pair.private)
    stranger = SigningKey.from_jwk(KeyPair.generate("ed25519").private)
    signers: dict[Hand, Signer] = {
        "buyer": Signer(key, profile=PROFILE),
        "late buyer": Signer(key, profile=PROFILE, clock=lambda: time.time() - HOUR),
        "stranger": Signer(stranger, profile=PROFILE),
    }
    with ExitStack() as servers:
        origins = {
            "FastAPI": servers.enter_context(uvicorn_server(partial(fastapi_seller, _verifier(keys)))),
            "Flask": servers.enter_context(waitress_server(partial(flask_seller, _verifier(keys)))),
        }
        yield Trial(origins, signers)


def seconds_to_verify() -> float:
    """Return the median time of verifying a request in this process, in seconds."""
    pair = KeyPair.generate("ed25519")
    signer = Signer(SigningKey.from_jwk(pair.private), profile=PROFILE)
    verifier = _verifier(KeySet.from_jwks(pair.public))
    return median(_seconds(signer, verifier) for _ in range(TIMED))


def _seconds(signer: Signer, verifier: Verifier) -> float:
    request = ATTEMPTS[0].request("https://seller.example.com")
    signed = Request(request.method, request.url, [*request.fields, *signer.sign(request)], request.body)
    start = time.perf_counter()
    verifier.verify(signed)
    return time.perf_counter() - start


def _verifier(keys: KeySet) -> Verifier:
    return Verifier(PROFILE, keys=keys, replay=MemoryReplayStore())
