"""`python -m tests.benchmarks.record FILE [NAME...]` writes the medians of five runs of the benchmarks as JSON.

Each run of a benchmark is a process of its own, by each library of Ed25519 that is installed. The file keeps the
rows of other benchmarks.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from collections import defaultdict
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from tests.benchmarks.__main__ import LIBRARIES, NAMES
from tests.benchmarks.figures import BY_LIBRARY, merge
from tests.benchmarks.load import has_wrk

PUBLISHED = (
    *("verify", "sign", "url", "middleware", "body", "import", "memory"),
    *("peers", "servers", "processor", "shared"),
)
"""The benchmarks that docs/performance.md shows."""
_PACKAGES = (
    *("cryptography", "pynacl", "http-message-signatures", "adcp", "goassay-provider-verify"),
    *("uvicorn", "httptools", "uvloop", "gunicorn", "redis"),
)


def main(arguments: list[str] | None = None) -> int:
    """Measure, and write the file."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.record", description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument(
        "names", nargs="*", metavar="NAME", choices=[[], *NAMES], help=f"by default {', '.join(PUBLISHED)}"
    )
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="few rounds: to see that it runs, not to read it")
    given = parser.parse_args(arguments)
    names = given.names or PUBLISHED
    runs, machine = defaultdict(list), _machine()
    for number in range(given.runs):
        for name in names:
            for library in libraries() if name in BY_LIBRARY else (None,):
                print(f"run {number + 1} of {given.runs}: {name} {library or ''}", file=sys.stderr)  # noqa: T201 - it takes long
                runs[name, library].append(_run(name, library, quick=given.quick))
    kept = json.loads(given.file.read_text("utf-8")) if given.file.exists() else {"rows": [], "functions": []}
    rows = [row for row in kept["rows"] if row["benchmark"] not in names]
    functions = _functions(quick=given.quick) if "processor" in names else kept["functions"]
    for (name, library), measured in runs.items():
        rows += [{"benchmark": name, "library": library, **row} for row in merge(measured)]
    given.file.write_text(
        json.dumps({"machine": machine, "rows": rows, "functions": functions}, indent=1) + "\n", "utf-8"
    )
    return 0


def libraries() -> tuple[str, ...]:
    """Return the libraries of Ed25519 that are installed."""
    return LIBRARIES if find_spec("nacl") else LIBRARIES[:1]


def _run(name: str, library: str | None, *, quick: bool) -> list[dict[str, object]]:
    options = [*(["--library", library] if library else []), *(["--quick"] if quick else [])]
    return _ask("tests.benchmarks", "--json", *options, name)


def _functions(*, quick: bool) -> list[list[object]]:
    """Return the shares, owners and names of the functions that take the most processor time."""
    return _ask("tests.benchmarks.sampling", "--json", *(["--quick"] if quick else [])) if has_wrk() else []


def _ask(module: str, *options: str) -> list:
    command = [sys.executable, "-m", module, *options]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)  # noqa: S603 - our own words


def _machine() -> dict[str, str]:
    processors = [line.partition(": ")[2] for line in _cpuinfo().splitlines() if line.startswith("model name")]
    return {
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "processor": f"{os.cpu_count()} cores of {(processors or [platform.machine()])[0]}",
        "load": f"{os.getloadavg()[0]:.1f}",
        **{package: metadata.version(package) for package in _PACKAGES if _is_installed(package)},
    }


def _cpuinfo() -> str:
    path = Path("/proc/cpuinfo")
    return path.read_text() if path.exists() else ""


def _is_installed(package: str) -> bool:
    return any(metadata.distributions(name=package))


if __name__ == "__main__":
    sys.exit(main())
