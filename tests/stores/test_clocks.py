"""Verifiers that share a store and whose clocks are wrong: a replay must never be accepted."""

from __future__ import annotations

import time

import pytest
from tests.keys import KEY, KEYS, NOW
from tests.stores.kinds import KINDS, kind_of

from undersigned import MemoryReplayStore, Request, SignatureRejected, Signer, SqliteReplayStore, Verifier, profiles

URL = "https://seller.example.com/adcp/get_products"
HOUR, MINUTE = 3600, 60
SKEW = profiles.ADCP_3_2.validity.behind


class Clock:
    """A clock that tests set."""

    def __init__(self, ahead: float = 0, now: float = NOW) -> None:
        self.ahead = ahead
        self.now = float(now)

    def __call__(self) -> float:
        return self.now + self.ahead


def sign_request(at: float, seconds: int = 300) -> Request:
    """A request signed at that time, for so many seconds."""
    profile = profiles.ADCP_3_2.derive(validity=profiles.ADCP_3_2.validity._replace(signed_for=seconds))
    signer = Signer(KEY, profile=profile, clock=lambda: at)
    return Request("GET", URL, signer.sign(Request("GET", URL)))


def answer(verifier: Verifier, request: Request) -> str:
    try:
        verifier.verify(request)
    except SignatureRejected as rejected:
        return rejected.code.removeprefix("request_signature_")
    return "accepted"


def verifier(store, clock: Clock) -> Verifier:
    return Verifier(profiles.ADCP_3_2, keys=KEYS, replay=store, clock=clock)


@pytest.fixture(params=["memory", *KINDS])
def store(request, tmp_path):
    match request.param:
        case "memory":
            yield MemoryReplayStore()
        case "sqlite":
            # What is tested here does not depend on the disk.
            with SqliteReplayStore(tmp_path / "replay.sqlite", survives_power_loss=False) as opened:
                yield opened
        case name:
            with kind_of(name, request).opened() as opened:
                yield opened


def test_clock_that_steps_an_hour_either_way_admits_no_replay(store):
    """Set a verifier's clock an hour off and right again, in both directions, with traffic at each time."""
    clock = Clock()
    verifying, sent = verifier(store, clock), []
    for step, until in ((HOUR, -HOUR), (-HOUR, 2 * HOUR)):
        for ahead in (0, step, 0, step, 0):
            clock.ahead = ahead
            # What ends within the half minute of something that was forgotten may count as seen.
            clock.now += 60
            for _ in range(20):
                # More than a store forgets with one claim.
                clock.now += 1
                sent.append(sign_request(clock()))
                assert answer(verifying, sent[-1]) == "accepted"
            assert {answer(verifying, request) for request in sent} <= {"replayed", "window_invalid"}
        for ahead in range(step, until, -300 if step > until else 300):
            clock.ahead = ahead
            assert {answer(verifying, request) for request in sent[::4]} <= {"replayed", "window_invalid"}
        clock.ahead = 0
        clock.now += 4 * HOUR


def test_clocks_that_differ_by_the_skew_admit_no_replay_and_every_new_request(store):
    """Let two verifiers whose clocks differ by the skew take turns; every valid request is accepted once."""
    fast, slow = Clock(SKEW), Clock()
    verifiers, sent = (verifier(store, fast), verifier(store, slow)), []
    for turn in range(60):
        fast.now = slow.now = NOW + 20 * turn
        request = sign_request(slow.now)
        assert answer(verifiers[turn % 2], request) == "accepted"
        sent.append(request)
        for verifying in verifiers:
            assert {answer(verifying, request) for request in sent[-25:]} <= {"replayed", "window_invalid"}


@pytest.mark.parametrize("start", [lambda: NOW, time.time], ids=["far", "near"])
def test_clocks_that_were_ten_minutes_ahead_reject_no_fresh_request_when_they_are_right(store, start):
    """At once, every fresh signature is accepted, whatever its validity is, and no old one ever is."""
    clock = Clock(now=start())
    verifying, sent = verifier(store, clock), []

    def send(count: int) -> None:
        for number in range(count):
            clock.now += 1
            sent.append(sign_request(clock(), seconds=(1, 60, 300)[number % 3]))
            assert answer(verifying, sent[-1]) == "accepted"

    send(60)
    clock.ahead = 10 * MINUTE
    send(120)
    clock.ahead = 0
    send(60)
    for turn in range(30):
        assert {answer(verifying, request) for request in sent[turn % 4 :: 4]} <= {"replayed", "window_invalid"}
        clock.now += 30
        send(3)
