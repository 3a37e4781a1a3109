from __future__ import annotations

import pytest
from tests.mutation.__main__ import NEAR, ROOT, draw_sample, modules
from tests.mutation.mutants import mutants_of, place

# They read every module again and guard no behaviour of the library.
pytestmark = pytest.mark.slow

SOURCE = b'''\
import re

LIMITS = frozenset({"a", "b"})
NAME = re.compile(r"[a-z]{1,3}+")
QUOTED = r"\\"[ab]*"


def first(values, most):
    """Prose is left alone."""
    if not values and most > 1:
        raise ValueError("prose is left alone")
    return cast("prose", values[0])
'''


def test_mutants_change_operators_constants_members_patterns_conditions_and_statements():
    changed = {(mutant.code, mutant.becomes) for mutant in mutants_of("m.py", SOURCE)}
    assert {
        ('LIMITS = frozenset({"a", "b"})', 'LIMITS = frozenset({"b"})'),
        ('LIMITS = frozenset({"a", "b"})', "LIMITS = frozenset({\"a\", ('b!')})"),
        ('NAME = re.compile(r"[a-z]{1,3}+")', 'NAME = re.compile(r"[a-z]{1,4}+")'),
        (r'QUOTED = r"\"[ab]*"', r'QUOTED = r"\"[a]*"'),
        (r'QUOTED = r"\"[ab]*"', r'QUOTED = r"\"[ab]+"'),
        ("if not values and most > 1:", "if not values or most > 1:"),
        ("if not values and most > 1:", "if (values) and most > 1:"),
        ("if not values and most > 1:", "if not values and most >= 1:"),
        ("if not values and most > 1:", "if not values and most > 2:"),
        ("if not values and most > 1:", "if not (not values and most > 1):"),
        ('raise ValueError("prose is left alone")', "pass"),
        ('return cast("prose", values[0])', "return None"),
        ('return cast("prose", values[0])', 'return cast("prose", values[1])'),
    } <= changed
    assert not any("prose!" in becomes for _, becomes in changed)


def test_sample_is_drawn_from_packages_and_from_integrations_and_is_the_same_for_the_same_seed():
    drawn = modules(ROOT)
    assert draw_sample(ROOT, "url/path", count=5, seed="1") == draw_sample(ROOT, "url/path", count=5, seed="1")
    assert {"url/path.py", "signature/rules/parameters.py", "undersigned_flask/routes.py"} < {*drawn}
    assert [module for module in drawn if not (ROOT / place(module)).is_file()] == []


def test_every_room_near_a_package_exists():
    rooms = {room for near in NEAR.values() for room in near}
    assert [room for room in rooms if not any((ROOT / "tests" / room).glob("**/test_*.py"))] == []
