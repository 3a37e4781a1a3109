from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from undersigned.cli.report import Report, SetGrades
from undersigned.conformance import Difference, Grade, SetAside

PASSED = Grade("positive/001", None)
REJECTED = Grade(
    "negative/[red]002", Difference("outcome", "rejected with a", "rejected with b", "rejected at step 3: no")
)
BROKEN = Grade("negative/\x1b[2J", Difference("not a vector", "", "the file is not JSON"))
BASE = Grade("positive/003", Difference("signature base", "a\nb", "a\nc"))
RIGHT = Report([SetGrades("own", [PASSED, PASSED]), SetGrades("other", [PASSED])], [])
WRONG = Report(
    [SetGrades("own/request-signing", [PASSED, REJECTED]), SetGrades("own/a2a", [BROKEN, BASE])],
    [SetAside("rfc9421", 7, "responses: not signed")],
)


def print_report(report: Report, *, terminal: bool = False, width: int = 100) -> str:
    console = Console(
        file=io.StringIO(),
        force_terminal=terminal,
        width=width,
        highlight=False,
        color_system="standard" if terminal else None,
    )
    report.show(console)
    return console.file.getvalue()


def test_last_line_is_the_summary():
    assert print_report(RIGHT).splitlines()[-1] == "3 passed, 0 failed"
    assert print_report(WRONG).splitlines()[-1] == "1 passed, 3 failed"
    assert "\n3 passed, 0 failed\n" in print_report(RIGHT, terminal=True)


def test_table_has_one_row_per_set():
    rows = [line.split() for line in print_report(WRONG).splitlines()[:3]]
    assert rows == [
        ["set", "passed", "failed", "total"],
        ["own/request-signing", "1", "1", "2"],
        ["own/a2a", "0", "2", "2"],
    ]


def test_vectors_not_run_are_listed_separately():
    assert "\nnot run and not counted:\n  rfc9421: 7 responses: not signed\n" in print_report(WRONG)
    assert "not run" not in print_report(RIGHT)


def test_failure_has_its_name_difference_and_note():
    assert (
        "\nFAILED own/request-signing: negative/[red]002: outcome\n"
        "  expected: rejected with a\n"
        "  found:    rejected with b\n"
        "                          ^\n"
        "  first differing byte: 14\n"
        "  rejected at step 3: no\n"
    ) in print_report(WRONG)


def test_unreadable_vector_is_shown_with_its_fault_only():
    assert "\nFAILED own/a2a: negative/\\x1b[2J: not a vector\n  the file is not JSON\n\n" in print_report(WRONG)


def test_bases_are_shown_in_two_columns_of_the_available_width():
    for width in (40, 100):
        lines = print_report(WRONG, width=width).splitlines()
        assert ["b", "c"] in [line.split() for line in lines]


@pytest.mark.parametrize("terminal", [False, True])
def test_text_of_a_file_is_escaped_for_a_terminal(terminal):
    output = print_report(WRONG, terminal=terminal)
    assert "\x1b[2J" not in output
    assert ("\x1b[" in output) == terminal
    assert re.sub(r"\x1b\[[0-9;]*m", "", output).replace("\n", "").isprintable()


def test_terminal_gets_the_same_words():
    plain = re.sub(r"\x1b\[[0-9;]*m", "", print_report(WRONG, terminal=True))
    assert plain.split("\n\n", 1)[1] == print_report(WRONG).split("\n\n", 1)[1]
    assert plain.split()[:4] == ["set", "passed", "failed", "total"]


def test_json_contains_the_whole_report():
    assert WRONG.json() == {
        "passed": 1,
        "failed": 3,
        "sets": [
            {"name": "own/request-signing", "passed": 1, "failed": 1, "total": 2},
            {"name": "own/a2a", "passed": 0, "failed": 2, "total": 2},
        ],
        "not_run": [{"set": "rfc9421", "vectors": 7, "reason": "responses: not signed"}],
        "failures": [
            {
                "set": "own/request-signing",
                "vector": "negative/[red]002",
                "subject": "outcome",
                "expected": "rejected with a",
                "found": "rejected with b",
                "first_differing_byte": 14,
                "note": "rejected at step 3: no",
            },
            {
                "set": "own/a2a",
                "vector": "negative/\x1b[2J",
                "subject": "not a vector",
                "expected": "",
                "found": "the file is not JSON",
                "first_differing_byte": 0,
                "note": "",
            },
            {
                "set": "own/a2a",
                "vector": "positive/003",
                "subject": "signature base",
                "expected": "a\nb",
                "found": "a\nc",
                "first_differing_byte": 2,
                "note": "",
            },
        ],
    }
