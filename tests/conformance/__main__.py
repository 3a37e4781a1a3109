"""Run the vectors in a directory: `python -m tests.conformance DIR [--json]`.

The exit code is 1 if a vector fails, 2 if there is none. With `--json`, the report is one object: `passed`, `failed`,
`sets`, `not_run`, `failures`.
"""

from __future__ import annotations

import argparse
import json
import logging
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.conformance.case import Difference
from tests.conformance.corpus import find, read

if TYPE_CHECKING:
    from tests.conformance.case import Case
    from tests.conformance.corpus import Corpus


def main(*arguments: str) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.conformance", description=__doc__)
    parser.add_argument("directory", metavar="DIR", type=Path)
    parser.add_argument("--json", action="store_true", help="write one JSON object only")
    options = parser.parse_args(arguments)
    if not options.directory.is_dir():
        parser.error(f"{options.directory} is not a directory")
    # The report is all that is written: many vectors are rejected, as they must be.
    logging.getLogger("undersigned").addHandler(logging.NullHandler())
    corpus = find(read(options.directory), options.directory.name)
    if not corpus.cases:
        parser.error(f"{options.directory} contains no vectors: give one such as tests/vectors/published")
    report = run(corpus)
    sys.stdout.write(json.dumps(report) + "\n" if options.json else _text(report))
    return int(report["failed"] > 0)


def run(corpus: Corpus) -> dict[str, Any]:
    """Run every case, and return the report."""
    failures = [(case, failure) for case in corpus.cases if (failure := _failure(case)) is not None]
    totals = Counter(case.set for case in corpus.cases)
    failed = Counter(case.set for case, _ in failures)
    return {
        "passed": len(corpus.cases) - len(failures),
        "failed": len(failures),
        "sets": [
            {"name": name, "passed": total - failed[name], "failed": failed[name], "total": total}
            for name, total in totals.items()
        ],
        "not_run": [
            {"set": name, "vectors": count, "reason": reason} for (name, reason), count in corpus.not_run.items()
        ],
        "failures": [
            {
                "set": case.set,
                "vector": case.name,
                "subject": failure.subject,
                "expected": failure.expected,
                "found": failure.found,
                "first_differing_byte": _first_difference(failure.expected, failure.found),
                "note": failure.note,
            }
            for case, failure in failures
        ],
    }


def _first_difference(expected: str, found: str) -> int:
    """Return the index of the first differing byte."""
    pairs = zip(expected, found, strict=False)
    same = next((at for at, (left, right) in enumerate(pairs) if left != right), min(len(expected), len(found)))
    return len(expected[:same].encode(errors="replace"))


def _failure(case: Case) -> Difference | None:
    try:
        case.check()
    except Difference as difference:
        return difference
    except Exception as raised:  # noqa: BLE001 - of a vector that is malformed, or of a fault in the library
        return Difference("raised", "", f"{type(raised).__name__}: {raised}")
    return None


def _text(report: dict[str, Any]) -> str:
    lines = [f"{one['passed']:6} of {one['total']:4}  {one['name']}" for one in report["sets"]]
    lines += [f"not run: {one['vectors']} in {one['set']}: {one['reason']}" for one in report["not_run"]]
    for one in report["failures"]:
        lines += [
            f"\nFAILED {one['set']}: {one['vector']}: {one['subject']}, from byte {one['first_differing_byte']}",
            f"  expected {one['expected']!r}",
            f"  found    {one['found']!r}",
            f"  {one['note']}",
        ]
    return "\n".join([*lines, "", f"{report['passed']} passed, {report['failed']} failed", ""])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
