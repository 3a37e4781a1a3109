from __future__ import annotations

import pytest
from tests.mutation.__main__ import NEAR, ROOT, draw_sample, modules
from tests.mutation.argued import ArguedTable, arguments, is_argued, tables
from tests.mutation.mutants import mutants_of, place

# They read every module again and guard no behaviour of the library.
pytestmark = pytest.mark.slow

SOURCE = b'''\
import re

LIMITS = frozenset({"a", "b"})
NAME = re.compile(r"[a-z]{1,3}+")


def first(values, most):
    """Prose is left alone."""
    if not values and most > 1:
        raise ValueError("prose is left alone")
    return values[0]
'''


@pytest.mark.parametrize("argued", arguments(), ids=lambda argued: argued.module)
def test_argued_mutant_is_still_made_of_the_code(argued):
    source = (ROOT / place(argued.module)).read_bytes()
    made = {(mutant.code, mutant.becomes) for mutant in mutants_of(argued.module, source)}
    assert (argued.code, argued.becomes) in made


@pytest.mark.parametrize("table", tables(), ids=lambda table: f"{table.module} {table.name}")
def test_every_mutant_of_an_argued_table_is_argued(table):
    source = (ROOT / place(table.module)).read_bytes()
    lines = table.lines(source)
    made = [mutant for mutant in mutants_of(table.module, source) if mutant.line in lines]
    assert made
    assert all(map(is_argued, made))


def test_table_has_the_lines_of_its_assignment():
    source = b'A = 1\nNAMES: tuple[str, ...] = (\n    "a",\n)\nB = 2\n'
    lines = [[*ArguedTable("m.py", name, "").lines(source)] for name in ("A", "NAMES", "B", "C")]
    assert lines == [[1], [2, 3, 4], [5], []]


def test_every_argument_gives_a_reason_and_is_given_once():
    listed = [*(argued[:3] for argued in arguments()), *(table[:2] for table in tables())]
    assert len(set(listed)) == len(listed)
    assert all(len(argued.why) > len(argued.module) for argued in (*arguments(), *tables()))


def test_mutants_change_operators_constants_members_patterns_conditions_and_statements():
    changed = {(mutant.code, mutant.becomes) for mutant in mutants_of("m.py", SOURCE)}
    assert {
        ('LIMITS = frozenset({"a", "b"})', 'LIMITS = frozenset({"b"})'),
        ('LIMITS = frozenset({"a", "b"})', "LIMITS = frozenset({\"a\", ('b!')})"),
        ('NAME = re.compile(r"[a-z]{1,3}+")', 'NAME = re.compile(r"[a-z]{1,4}+")'),
        ("if not values and most > 1:", "if not values or most > 1:"),
        ("if not values and most > 1:", "if (values) and most > 1:"),
        ("if not values and most > 1:", "if not values and most >= 1:"),
        ("if not values and most > 1:", "if not values and most > 2:"),
        ("if not values and most > 1:", "if not (not values and most > 1):"),
        ('raise ValueError("prose is left alone")', "pass"),
        ("return values[0]", "return None"),
        ("return values[0]", "return values[1]"),
    } <= changed
    assert not any("prose" in becomes for _, becomes in changed)


def test_pattern_is_changed_up_to_its_end_also_after_an_escaped_quote():
    changed = {mutant.becomes for mutant in mutants_of("m.py", rb'NAME = r"\"[ab]*"' + b"\n")}
    assert {r'NAME = r"\"[a]*"', r'NAME = r"\"[b]*"', r'NAME = r"\"[ab]+"'} <= changed


def test_sample_is_drawn_from_packages_within_packages_and_from_integrations():
    drawn = modules(ROOT)
    assert {"url/path.py", "signature/rules/coverage.py", "undersigned_flask/routes.py"} < {*drawn}
    assert [module for module in drawn if not (ROOT / place(module)).is_file()] == []


def test_sample_is_the_same_for_the_same_seed():
    assert draw_sample(ROOT, "url/path", count=5, seed="1") == draw_sample(ROOT, "url/path", count=5, seed="1")
    assert draw_sample(ROOT, "url/path", count=5, seed="1") != draw_sample(ROOT, "url/path", count=5, seed="2")


def test_every_room_near_a_package_exists():
    rooms = {room for near in NEAR.values() for room in near}
    assert [room for room in rooms if not any((ROOT / "tests" / room).glob("**/test_*.py"))] == []
