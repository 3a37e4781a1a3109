"""Say what `.ci/run` ran: every session, its tests by their JUnit reports, what was skipped and why."""

from __future__ import annotations

import json
import sys
from collections import Counter
from glob import escape
from pathlib import Path
from xml.etree import ElementTree as ET


def outcome(case: ET.Element) -> str:
    """Return how one test ended."""
    found = {child.tag for child in case}
    return "failed" if found & {"failure", "error"} else "skipped" if "skipped" in found else "passed"


def cases(report: Path) -> dict[tuple[str, str], ET.Element]:
    """Return the tests of a JUnit report by their class and name; none if there is no report."""
    # Our own tests wrote it, to a directory of our own.
    found = ET.parse(report).iter("testcase") if report.exists() else ()  # noqa: S314
    return {(case.get("classname", ""), case.get("name", "")): case for case in found}


def main(work: Path) -> int:
    """Write the summary of the sessions that nox reported into `work`; return 1 if anything failed."""
    total: Counter[str] = Counter()
    sys.stdout.write("\n== what ran\n")
    for report in sorted(work.glob("*.json")):
        for session in json.loads(report.read_text("utf-8"))["sessions"]:
            name, ended = session["signatures"][0], session["result"]
            counts: Counter[str] = Counter()
            reasons: Counter[str] = Counter()
            again: dict[tuple[str, str], ET.Element] = {}
            for first in work.glob(f"{escape(name)}*.xml"):
                if not first.name.endswith(".again.xml"):
                    once_more = cases(first.with_suffix(".again.xml"))
                    again |= once_more
                    for case in (cases(first) | once_more).values():
                        counts[outcome(case)] += 1
                        reasons.update(child.get("message", "") for child in case if child.tag == "skipped")
            if ended == "skipped":
                counts["skipped"] += 1
                reasons[session["reason"] or ended] += 1
            elif not counts or (ended != "success" and not counts["failed"]):
                counts["passed" if ended == "success" else "failed"] += 1
            total += counts
            told = ", ".join(f"{count} {what}" for what, count in sorted(counts.items()))
            sys.stdout.write(
                f"{name:16} {session['duration']:>5.0f} s  {told}{'' if ended == 'success' else f' ({ended})'}\n"
            )
            for reason, count in sorted(reasons.items()):
                sys.stdout.write(f"{'':26}skipped {count}: {reason}\n")
            for (where, test), case in again.items():
                sys.stdout.write(f"{'':26}{outcome(case)} when it ran once more: {where} {test}\n")
    sys.stdout.write(f"\n{total['passed']} passed, {total['failed']} failed, {total['skipped']} skipped\n")
    return int(total["failed"] > 0 or total["passed"] == 0)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
