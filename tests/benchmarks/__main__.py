"""`python -m tests.benchmarks [NAME...]` prints every row, or the rows of some benchmarks."""

from __future__ import annotations

import argparse
import json
import sys
from importlib import import_module

from tests.benchmarks.row import table

NAMES = ("verify", "sign", "url", "middleware", "body", "import", "memory", "cost", "operations", "peers")

LIBRARIES = ("OpenSSL", "libsodium")


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmarks that are named, or all; return 1 only if `--check` is given and a row is over its goal."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"some of {', '.join(NAMES)}; all unless given")
    parser.add_argument("--json", action="store_true", help="print one JSON array")
    parser.add_argument("--quick", action="store_true", help="few rounds: to see that they run, not to read them")
    parser.add_argument("--check", action="store_true", help="exit 1 if a row is over its goal")
    parser.add_argument("--library", choices=LIBRARIES, help="do Ed25519 by it; by libsodium if it is installed")
    given = parser.parse_args(arguments)
    unknown = set(given.names) - set(NAMES)
    if unknown:
        parser.error(f"no benchmark {', '.join(sorted(unknown))}")
    if given.library == "OpenSSL":
        # Python then finds no PyNaCl.
        sys.modules["nacl"] = None
    rows = [
        row
        for name in (given.names or NAMES)
        for row in import_module(f"tests.benchmarks.bench_{name}").rows(quick=given.quick)
    ]
    print(json.dumps([row.as_json() for row in rows], indent=1) if given.json else table(rows))  # noqa: T201 - the output
    return int(given.check and not all(row.holds for row in rows))


if __name__ == "__main__":
    sys.exit(main())
