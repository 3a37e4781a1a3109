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
CAPS = Caps(per_key=1_000_000)
TIMES = {"now": 1_776_520_800.0, "until": 1_776_521_160.0}


def claims(store, nonces, caps=CAPS, keyid="buyer") -> Counter:
    return Counter((nonce, store.claim(keyid, nonce, caps=caps, **TIMES)) for nonce in nonces)


def in_process(kind, started, answers, nonces, caps) -> None:
    """The claims of one process's threads."""
    with kind.opened() as store, ThreadPoolExecutor(THREADS) as pool:
        started.wait()
        answers.put(sum(pool.map(lambda _: claims(store, nonces, caps), range(THREADS)), Counter()))


async def in_tasks(kind, nonces, caps) -> Counter:
    """The claims of asyncio clients that each have a store of their own."""

    async def claim_all() -> Counter:
        async with kind.opened_async() as store:
            return Counter([(nonce, await store.claim("buyer", nonce, caps=caps, **TIMES)) for nonce in nonces])

    return sum(await asyncio.gather(*(claim_all() for _ in range(TASKS))), Counter())


def race(kind, nonces, caps=CAPS) -> Counter:
    """What 64 threads in 4 processes and 8 asyncio clients were answered, all together."""
    started, answers = SPAWN.Barrier(PROCESSES + 1), SPAWN.SimpleQueue()
    processes = [
        SPAWN.Process(target=in_process, args=(kind, started, answers, nonces, caps)) for _ in range(PROCESSES)
    ]
    for process in processes:
        process.start()
    started.wait()
    total = asyncio.run(in_tasks(kind, nonces, caps))
    for _ in processes:
        total += answers.get()
    for process in processes:
        process.join(60)
        assert process.exitcode == 0
    assert threading.active_count() < THREADS
    return total


@pytest.mark.parametrize("name", KINDS)
def test_each_nonce_goes_to_one_of_64_threads_and_8_tasks(name, request):
    total = race(kind_of(name, request), NONCES)
    fresh = {nonce: count for (nonce, answer), count in total.items() if answer == "fresh"}
    assert fresh == dict.fromkeys(NONCES, 1)
    assert total.total() == len(NONCES) * (PROCESSES * THREADS + TASKS)
    assert {answer for _, answer in total} == {"fresh", "seen"}


@pytest.mark.parametrize("caps", [Caps(per_key=40), Caps(per_key=1000, total=40)], ids=["of a key", "of all keys"])
@pytest.mark.parametrize("name", ["sqlite", "redis", "postgres"])  # the others run the script of Redis
def test_cap_is_not_exceeded_by_64_threads_and_8_tasks(name, caps, request):
    total = race(kind_of(name, request), NONCES[:50], caps)
    assert sum(count for (_, answer), count in total.items() if answer == "fresh") == 40
