"""`python -m tests.stores.flood [--seconds S]`: what 500 connections of strangers leave to the honest.

The workers are those of `tests.stores.throughput`. Honest clients send over 16 connections, alone and then
beside 500 connections of strangers. Everybody sends again as soon as the answer is there. Print the share of their rate
that the honest keep, and the share that their processor time is worth: what is left if each connection gets its turn,
and a stranger's request takes as long as it does alone. An answer to the honest that is not 200 is an error.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.keys import KEY
from tests.stores.throughput import MOST_A_SECOND, environment_of, send, sign, started

from undersigned import KeyPair

_HONEST, _STRANGERS = 16, 500
_SHOWN = "{}: the honest keep {:.3f} of their rate, a fair share is {:.3f}"


def main() -> int:
    """Measure the honest alone, each kind of stranger alone, and then both."""
    parser = argparse.ArgumentParser(prog="python -m tests.stores.flood", description=__doc__)
    parser.add_argument("--seconds", type=int, default=10, metavar="S", help="how long each load lasts")
    seconds = parser.parse_args().seconds
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        with environment_of(folder) as environment:
            for name in ("memory", "redis"):
                with started(name, folder, environment) as subject:
                    _measure(name, subject.port, folder, seconds)
    return 0


def _measure(name: str, port: int, folder: Path, seconds: int) -> None:
    strangers = {
        "invalid signatures": KeyPair.generate(keyid=KEY.keyid).signing_key(),
        "unknown keyids": KeyPair.generate(keyid="stranger").signing_key(),
    }
    honest, strange = folder / "honest", folder / "strange"
    for _ in range(2):  # the first run fetches, connects and fills caches
        sign(MOST_A_SECOND * seconds, honest)
        _, alone = send(honest, port, _HONEST, seconds)
    for what, key in strangers.items():
        sign(1000, strange, key)
        _, rate = send(strange, port, _STRANGERS, seconds, accepted=False)
        sign(MOST_A_SECOND * seconds, honest)
        with ThreadPoolExecutor(1) as pool:
            flood = pool.submit(send, strange, port, _STRANGERS, seconds + 4, accepted=False)
            _, beside = send(honest, port, _HONEST, seconds)
            flood.result()
        fair = (_HONEST / alone) / (_HONEST / alone + _STRANGERS / rate)
        print(_SHOWN.format(f"{name}, {what}", beside / alone, fair), flush=True)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main())
