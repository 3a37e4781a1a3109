from __future__ import annotations

import pytest

from undersigned.normalization.heuristics import default_parameters, empty_query, sorted_query, unused_parameters
from undersigned.url import URL

EXPECTED = unused_parameters({"id", ""})
DEFAULTS = default_parameters({"id": "", "sort": "ascending"})


@pytest.mark.parametrize(
    ("rule", "query", "expected"),
    [
        (sorted_query, "b=2&a=1", "a=1&b=2"),
        (sorted_query, "b&a-b=1&a=2&a=1", "a=2&a=1&a-b=1&b"),
        (EXPECTED, "id=1&x=2&ID=3&id=4", "id=1&id=4"),
        (EXPECTED, "x=2", None),
        (DEFAULTS, "id=&sort=ascending", None),
        (DEFAULTS, "id=1&sort=ascending&id", "id=1&id"),
        (empty_query, "", None),
    ],
)
def test_rule_changes_the_query(rule, query, expected):
    url = URL.parse("http://a/p#f")
    assert rule.apply(url._replace(query=query)) == url._replace(query=expected)


@pytest.mark.parametrize("rule", [sorted_query, EXPECTED, DEFAULTS, empty_query])
@pytest.mark.parametrize("text", ["http://a/", "http://a/?id=1", "http://a/?id=1&id=0"])
def test_rule_returns_the_same_object_when_the_query_stays(rule, text):
    url = URL.parse(text)
    assert rule.apply(url) is url


@pytest.mark.parametrize("rule", [sorted_query, EXPECTED, DEFAULTS])
def test_lone_question_mark_is_left_to_the_empty_query_rule(rule):
    url = URL.parse("http://a/?")
    assert rule.apply(url) is url
