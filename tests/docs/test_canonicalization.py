from __future__ import annotations

import doctest
import json
from pathlib import Path

import pytest
from tests.docs import canonicalization

DOCUMENTS = Path(__file__).parents[1] / "normalization" / "documents"


@pytest.fixture(scope="module")
def page() -> str:
    return canonicalization.PAGE.read_text(encoding="utf-8")


def test_table_on_the_page_is_up_to_date(page):
    assert canonicalization.update_page(page) == page, "run `python -m tests.docs.canonicalization`"


def test_stale_table_is_replaced(page):
    assert canonicalization.update_page(page.replace("| `hex-case` |", "| `hexcase` |")) == page


def test_examples_on_the_page_are_correct(page):
    examples = doctest.DocTestParser().get_doctest(page.replace("```", "\n"), {}, "canonicalization.md", None, 0)
    assert len(examples.examples) > 8
    assert doctest.DocTestRunner().run(examples).failed == 0


def test_page_has_a_paragraph_on_each_document(page):
    for path in DOCUMENTS.glob("*.json"):
        assert f"**{json.loads(path.read_text())['about']}.**" in page
