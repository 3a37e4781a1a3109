"""`python -m tests.fuzz HARNESS [--runs N] [--seed S] [--found DIRECTORY]`: fuzz one harness, guided by coverage.

It starts from the kept corpus, and from the extremes of each type. An input that fails is written to the current
directory, and the exit code is not 0.
Install atheris first: `pip install -e '.[test]' --group fuzz`.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import tempfile
from pathlib import Path

import atheris

CORPUS = Path(__file__).parent / "corpus"
_LONGEST, _SECONDS, _COUNTED = 4096, 20, 256


def main() -> None:
    """Fuzz until the runs are over or an input fails; both end the process."""
    names = sorted(path.name for path in CORPUS.iterdir())
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("harness", choices=names)
    parser.add_argument("--runs", type=int, default=100_000, metavar="N", help="how many inputs to try")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="another seed tries other inputs")
    parser.add_argument("--found", type=Path, metavar="DIRECTORY", help="keep inputs that reach new code here")
    given = parser.parse_args()
    with atheris.instrument_imports(include=["undersigned", "http_sf"]):
        from tests.fuzz.harnesses import HARNESSES, check_work, seeds  # noqa: PLC0415 - what is imported here is instrumented

    harness, turns = HARNESSES[given.harness], itertools.count()

    def one(data: bytes) -> None:
        # Counting lines takes ten times as long.
        if next(turns) % _COUNTED:
            harness(data)
        else:
            check_work(harness, data)

    kept = [str(given.found)] if given.found else []
    extremes = Path(tempfile.mkdtemp(prefix="undersigned-seeds-"))
    for at, seed in enumerate(seeds(given.harness)):
        (extremes / str(at)).write_bytes(seed)
    options = [f"-runs={given.runs}", f"-seed={given.seed}", f"-max_len={_LONGEST}", f"-timeout={_SECONDS}"]
    atheris.Setup([sys.argv[0], *options, *kept, str(CORPUS / given.harness), str(extremes)], one)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
