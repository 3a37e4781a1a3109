"""Where a server spends its processor time, by function: a sample of its stack at each tick of its processor time.

Unlike `cProfile`, sampling does not make a call of Python slower than a call of C. A sampler in another process would
also count the time for which the worker waits for a processor, as it does after each `send` next to wrk.
`python -m tests.benchmarks.sampling` prints the functions of a server with the middleware.
"""

from __future__ import annotations

import argparse
import dis
import json
import signal
import sys
import sysconfig
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import undersigned

if TYPE_CHECKING:
    from types import FrameType

_INTERVAL: Final = 0.001
_SHOWN: Final = 20
SOURCE: Final = Path(undersigned.__file__).parent
_STANDARD: Final = sysconfig.get_path("stdlib")
_CHECK: Final = ("signature/ed25519.py", "Ed25519.verify")
"""The method that calls OpenSSL."""
_BEGINS: Final = dis.opmap["RESUME"]


class Function(NamedTuple):
    """A function of Python that ran when a sample was taken, or that called the standard library or a method of C."""

    file: str
    name: str

    @property
    def room(self) -> str:
        """The package of this library that it is in, or ""."""
        path = Path(self.file)
        return path.relative_to(SOURCE).parts[0].removesuffix(".py") if path.is_relative_to(SOURCE) else ""

    @property
    def place(self) -> str:
        """The file, from the package of this library on, and the name."""
        path = Path(self.file)
        return f"{path.relative_to(SOURCE.parent) if self.room else path.name}: {self.name}"

    @property
    def owner(self) -> str:
        """Whose time it is."""
        if "/nacl/" in self.file or (self.file.endswith(_CHECK[0]) and self.name == _CHECK[1]):
            return "signature check"
        if self.room:
            return "undersigned"
        return "json" if "/json/" in self.file else "server"


class Sampler:
    """A counter of samples in the main thread of this process."""

    def __init__(self) -> None:
        self._seen: Counter[Function] = Counter()

    def start(self) -> None:
        signal.signal(signal.SIGPROF, self._sample)
        signal.setitimer(signal.ITIMER_PROF, _INTERVAL, _INTERVAL)

    def write(self, path: Path) -> None:
        """Stop, and write what was counted."""
        signal.setitimer(signal.ITIMER_PROF, 0)
        path.write_text(json.dumps([[*function, count] for function, count in self._seen.items()]))

    def _sample(self, _number: int, frame: FrameType | None) -> None:
        if frame is not None and frame.f_code.co_code[frame.f_lasti] == _BEGINS:
            # Python handles a signal after a call of C, before a jump back, and when a function begins or continues.
            # Then its caller had the time, such as the scanner of `json` that calls a hook.
            frame = frame.f_back
        while frame is not None and _is_on_behalf(frame.f_code.co_filename):
            frame = frame.f_back
        if frame is not None:
            self._seen[Function(frame.f_code.co_filename, frame.f_code.co_qualname)] += 1


def _is_on_behalf(file: str) -> bool:
    """Return whether the time of code counts for its caller: of the standard library but `json`, or generated."""
    if file.startswith("<"):
        return True
    return file.startswith(_STANDARD) and "site-packages" not in file and "/json/" not in file


def read(path: Path) -> Counter[Function]:
    """Return what a sampler has written."""
    return Counter({Function(file, name): count for file, name, count in json.loads(path.read_text())})


def main(arguments: list[str] | None = None) -> int:
    """Print the functions that take the most time, and their shares."""
    from tests.benchmarks.bench_processor import SERVERS, sampled  # noqa: PLC0415 - it imports this module
    from tests.benchmarks.sides import QUICK, Size  # noqa: PLC0415

    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.sampling", description=__doc__)
    parser.add_argument("server", nargs="?", choices=SERVERS, default="uvicorn")
    parser.add_argument("--json", action="store_true", help="print one JSON array")
    parser.add_argument("--quick", action="store_true", help="few requests: to see that it runs, not to read it")
    given = parser.parse_args(arguments)
    seen = sampled(given.server, QUICK if given.quick else Size())
    shares = [[count / seen.total(), each.owner, each.place] for each, count in seen.most_common(_SHOWN)]
    lines = [f"{share:6.1%}  {owner:15}  {place}" for share, owner, place in shares]
    print(json.dumps(shares) if given.json else "\n".join(lines))  # noqa: T201 - the output
    return 0


if __name__ == "__main__":
    sys.exit(main())
