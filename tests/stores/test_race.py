from __future__ import annotations

import asyncio
import multiprocessing
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.stores.kinds import KINDS, kind_of

from undersigned import Caps

# A process with threads had better not fork.
SPAWN = multiprocessing.get_context("spawn")
PROCESSES, THREADS, TASKS = 4, 16, 8
NONCES = [f"nonce {number}" for number in range(200)]
TIMES = {"now": 1_776_520_800.0, "until": 1_776_521_160.0}
ROOMY = [("buyer", nonce, Caps(per_key=1_000_000)) for nonce in NONCES]
OF_A_KEY = [("busy buyer", nonce, Caps(per_key=40)) for nonce in NONCES[:50]]
OF_ALL_KEYS = [("buyer", nonce, Caps(per_key=1000, total=40)) for nonce in NONCES[:50]]


def in_process(kind, started, answers, claims) -> None:
    """The claims of one process's threads."""

    def claim_all(store) -> Counter:
        return Counter((keyid, nonce, store.claim(keyid, nonce, caps=caps, **TIMES)) for keyid, nonce, caps in claims)

    with kind.opened() as store, ThreadPoolExecutor(THREADS) as pool:
        started.wait()
        answers.put(sum(pool.map(claim_all, [store] * THREADS), Counter()))


async def in_tasks(kind, claims) -> Counter:
    """The claims of asyncio clients that each have a store of their own."""

    async def claim_all() -> Counter:
        async with kind.opened_async() as store:
            return Counter(
                [(keyid, nonce, await store.claim(keyid, nonce, caps=caps, **TIMES)) for keyid, nonce, caps in claims]
            )

    return sum(await asyncio.gather(*(claim_all() for _ in range(TASKS))), Counter())


def race(kind, claims) -> Counter:
    """What 64 threads in 4 processes and 8 asyncio clients were answered, all together."""
    started, answers = SPAWN.Barrier(PROCESSES + 1), SPAWN.SimpleQueue()
    processes = [SPAWN.Process(target=in_process, args=(kind, started, answers, claims)) for _ in range(PROCESSES)]
    for process in processes:
        process.start()
    started.wait()
    total = asyncio.run(in_tasks(kind, claims))
    for _ in processes:
        total += answers.get()
    for process in processes:
        process.join(60)
        assert process.exitcode == 0
    assert threading.active_count() < THREADS
    return total


@pytest.mark.parametrize("name", KINDS)
def test_each_nonce_goes_to_one_of_64_threads_and_8_tasks_and_no_cap_is_exceeded(name, request):
    total = race(kind_of(name, request), ROOMY + OF_A_KEY)
    fresh = {nonce: count for (keyid, nonce, answer), count in total.items() if (keyid, answer) == ("buyer", "fresh")}
    assert fresh == dict.fromkeys(NONCES, 1)
    assert total.total() == len(ROOMY + OF_A_KEY) * (PROCESSES * THREADS + TASKS)
    assert {answer for keyid, _, answer in total if keyid == "buyer"} == {"fresh", "seen"}
    assert sum(count for (keyid, _, answer), count in total.items() if (keyid, answer) == ("busy buyer", "fresh")) == 40


@pytest.mark.parametrize("name", ["sqlite", "redis", "postgres"])  # the others run the script of Redis
def test_cap_of_all_keys_is_not_exceeded_by_64_threads_and_8_tasks(name, request):
    total = race(kind_of(name, request), OF_ALL_KEYS)
    assert sum(count for (_, _, answer), count in total.items() if answer == "fresh") == 40
