from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from undersigned.explanation.base_difference import BaseDifference, compare_bases

LINES = (
    '"@method": POST',
    '"@target-uri": https://a.test/b%2Fc?',
    '"@query-param";name="x: y": 1: 2',
    '"x-a";key="b;\\"c": v',
    '"@signature-params": ("@method" "@target-uri");created=1',
)
BASE = "\n".join(LINES)


def with_line(number, line):
    return "\n".join((*LINES[:number], line, *LINES[number + 1 :])).encode("latin-1")


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_equal_bases_have_no_difference_with_or_without_a_final_line_end(end):
    assert compare_bases(BASE, f"{BASE}{end}".encode()) is None


def test_difference_is_the_first_differing_byte_with_its_line_and_cause():
    assert compare_bases(BASE, with_line(1, '"@target-uri": https://a.test/b/c?')) == BaseDifference(
        offset=16 + 31,
        line=2,
        column=32,
        component='"@target-uri"',
        rebuilt=LINES[1],
        signers='"@target-uri": https://a.test/b/c?',
        cause="%2F was decoded to / before signing; servers and proxies that decode the path do this",
    )


@given(st.integers(0, len(BASE) - 1), st.sampled_from("\x00\xe9~"))
def test_offset_is_the_position_of_the_first_differing_byte(at, other):
    signers = (BASE[:at] + other + BASE[at + 1 :]).encode("latin-1")
    found = compare_bases(BASE, signers)
    assert found.offset == at
    assert found.line == BASE.count("\n", 0, at) + 1
    assert found.column == at - BASE.rfind("\n", 0, at)
    assert found.cause


def test_base_that_ends_early_differs_at_its_end():
    for cut in range(1, len(BASE)):
        found = compare_bases(BASE, BASE[:cut].encode())
        # An editor adds the line feed at the end.
        assert found.offset == cut - (BASE[cut - 1] == "\n")
        assert found.line <= len(LINES)
        assert found.cause


def test_additional_line_is_a_difference():
    found = compare_bases(BASE, f'{BASE}\n"x": y\n'.encode())
    assert (found.line, found.column, found.component, found.rebuilt) == (6, 1, "", "")
    assert found.cause == 'the signer\'s base has "x", which its Signature-Input does not cover'


@pytest.mark.parametrize(
    ("signers", "cause"),
    [
        (BASE.replace("\n", "\r\n"), "CRLF"),
        (BASE.replace("\n", "\r\n") + "\r\n", "CRLF"),
        ("\n".join((LINES[1], LINES[0], *LINES[2:])), "another order"),
        ("\n".join((LINES[0], *LINES[2:])), 'lacks "@target-uri"'),
        ("\n".join((LINES[0], '"x": 1', *LINES[1:])), 'has "x", which'),
        ("\n".join((LINES[0], LINES[0], *LINES[1:])), "does not have the lines"),
        ("\n".join((*LINES[:2], '"@query-param";name="x: y": 2', *LINES[3:])), "@query-param was rewritten"),
        ("\n".join((*LINES[:3], '"x-a";key="b;\\"c": V', *LINES[4:])), "the case of x-a"),
        ("not a base", 'lacks "@method"'),
        ("", 'lacks "@method"'),
    ],
)
def test_cause_names_missing_additional_or_reordered_lines(signers, cause):
    assert cause in compare_bases(BASE, signers.encode()).cause


@given(st.binary(max_size=80), st.binary(max_size=10))
def test_any_bytes_have_a_difference_with_a_cause(signers, body):
    assert compare_bases(BASE, signers, body=body).cause
