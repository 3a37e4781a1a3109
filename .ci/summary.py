"""Say what `.ci/run` ran: every step, its tests by their JUnit reports, what was skipped and why."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree as ET


def outcome(case: ET.Element) -> str:
    """Return how one test ended."""
    found = {child.tag for child in case}
    return "failed" if found & {"failure", "error"} else "skipped" if "skipped" in found else "passed"


def cases(report: Path) -> dict[tuple[str, str], ET.Element]:
    """Return the tests of a JUnit report by their class and name; none if the step has no report."""
    # Our own tests wrote it, to a directory of our own.
    found = ET.parse(report).iter("testcase") if report.exists() else ()  # noqa: S314
    return {(case.get("classname", ""), case.get("name", "")): case for case in found}


def main(work: Path) -> int:
    """Write the summary of the steps in `work`; return 1 if anything failed."""
    total: Counter[str] = Counter()
    sys.stdout.write("\n== what ran\n")
    for line in (work / "steps.tsv").read_text().splitlines():
        name, seconds, ended = line.split("\t")
        counts: Counter[str] = Counter()
        reasons: Counter[str] = Counter()
        again = cases(work / f"{name}.again.xml")
        for case in (cases(work / f"{name}.xml") | again).values():
            counts[outcome(case)] += 1
            reasons.update(child.get("message", "") for child in case if child.tag == "skipped")
        if not counts or (ended.startswith("failed") and not counts["failed"]):
            counts[ended.partition(":")[0]] += 1
        total += counts
        told = ", ".join(f"{count} {what}" for what, count in sorted(counts.items()) if count)
        note = "" if ended == "passed" else f" ({ended})"
        sys.stdout.write(f"{name:16} {seconds:>5} s  {told}{note}\n")
        for reason, count in sorted(reasons.items()):
            sys.stdout.write(f"{'':26}skipped {count}: {reason}\n")
        for (where, test), case in again.items():
            sys.stdout.write(f"{'':26}{outcome(case)} when it ran once more: {where} {test}\n")
    sys.stdout.write(f"\n{total['passed']} passed, {total['failed']} failed, {total['skipped']} skipped\n")
    return int(total["failed"] > 0)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
