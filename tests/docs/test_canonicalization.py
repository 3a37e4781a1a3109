from __future__ import annotations

import doctest
import json
from pathlib import Path

import pytest
from tests.docs import canonicalization

from undersigned.normalization import CATALOGUE, RULE_SETS

DOCUMENTS = Path(__file__).parents[1] / "normalization" / "documents"


@pytest.fixture(scope="module")
def page() -> str:
    return canonicalization.PAGE.read_text(encoding="utf-8")


def test_table_on_the_page_is_up_to_date(page):
    assert canonicalization.update_page(page) == page, "run `python -m tests.docs.canonicalization`"


def test_table_has_each_rule_and_its_position_in_each_rule_set():
    rows = canonicalization.table().splitlines()[2:]
    assert [row.split("`")[1] for row in rows] == [entry.name for entry in CATALOGUE]
    names = list(canonicalization.COLUMNS)
    for column, name in enumerate(names, start=4):
        places = [row.replace("\\|", "").split("|")[column].strip() for row in rows]
        assert sorted(int(place) for place in places if place.isdigit()) == list(range(1, len(RULE_SETS[name]) + 1))


def test_stale_table_is_replaced(page):
    assert canonicalization.update_page(page.replace("| `hex-case` |", "| `hexcase` |")) == page


def test_examples_on_the_page_are_correct(page):
    examples = doctest.DocTestParser().get_doctest(page.replace("```", "\n"), {}, "canonicalization.md", None, 0)
    assert len(examples.examples) > 8
    assert doctest.DocTestRunner().run(examples).failed == 0


def test_page_has_a_paragraph_on_each_document(page):
    for path in DOCUMENTS.glob("*.json"):
        assert f"**{json.loads(path.read_text())['about']}.**" in page
