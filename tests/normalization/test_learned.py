from __future__ import annotations

import re
from collections import Counter
from itertools import combinations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from undersigned.normalization import LearnedRule, learn_rules
from undersigned.normalization.learned import LONGEST_SUBSTRING, LONGEST_URL, MOST_ALTERNATIVES
from undersigned.url import URL, explain


def site(*forms, ids=("ann", "bob", "cy")):
    return [f"http://a.test/{form.format(one)}" for one in ids for form in forms]


def learn(urls, **options):
    return [(rule.found, rule.replacement, rule.support) for rule in learn_rules(urls, **options)]


def apply(rule, url):
    return str(rule.rule.apply(URL.parse(url)))


def test_two_spellings_of_a_story_give_one_rule_with_context():
    [rule] = learn_rules(site("story?id={}", "story_{}"))
    assert rule == LearnedRule("story", "?id=", "_", None, 3)
    assert apply(rule, "http://a.test/story?id=dora") == "http://a.test/story_dora"
    assert apply(rule, "http://a.test/history?id=dora") == "http://a.test/history?id=dora"
    assert apply(rule, "http://a.test/news?id=dora") == "http://a.test/news?id=dora"


@pytest.mark.parametrize(
    ("urls", "found", "replacement", "before", "after"),
    [
        (site("{}", "{}/"), "/", "", None, ""),
        (site("{}/", "{}/index.html"), "index.html", "", "/", ""),
        ([f"http://{www}{one}.test/" for one in ("a", "b", "c") for www in ("", "www.")], "www.", "", "/", None),
        ([f"http{s}://{one}.test/" for one in ("a", "b", "c") for s in ("", "s")], "https", "http", "", ":"),
        (site("{}?s=1", "{}"), "?s=1", "", None, ""),
        (site("{}/de/x", "{}/en/x"), "en", "de", "/", "/"),
    ],
)
def test_rule_keeps_the_neighbours_that_all_pairs_share(urls, found, replacement, before, after):
    assert learn_rules(urls) == (LearnedRule(before, found, replacement, after, 3),)


@pytest.mark.parametrize(
    ("rule", "url", "expected"),
    [
        (LearnedRule(None, "/", "", "", 3), "http://a//b/", "http://a//b"),
        (LearnedRule("", "https", "http", ":", 3), "https://https:1/", "http://https:1/"),
        (LearnedRule(None, "en", "de", None, 3), "http://a/en/men/end/en", "http://a/de/men/end/de"),
        (LearnedRule(None, "-", "_", None, 3), "http://a/b-c-d", "http://a/b_c_d"),
        (LearnedRule("b", "-", "_", "c", 3), "http://a/b-c/ab-c/b-cd", "http://a/b_c/ab-c/b-cd"),
        (LearnedRule("/", "x", "", "/", 3), "http://a/x/y", "http://a//y"),
        (LearnedRule(None, "%", "\\1", None, 3), "http://a/%", "http://a/\\1"),
    ],
)
def test_rule_replaces_whole_words_between_its_neighbours(rule, url, expected):
    assert apply(rule, url) == expected


def test_rule_returns_the_same_object_when_it_finds_nothing():
    url = URL.parse("http://a/")
    assert LearnedRule(None, "x", "y", None, 3).rule.apply(url) is url


def test_rule_has_a_summary_and_the_class_never():
    rule = LearnedRule("story", "?id=", "_", None, 3).rule
    assert (rule.name, rule.preserves) == ("learned", "never")
    assert rule.summary == "Replace '?id=' by '_', as 3 pairs of URLs do."


def test_rule_is_applied_only_when_a_rule_set_includes_it():
    [rule] = learn_rules(site("story?id={}", "story_{}"))
    assert explain("http://a.test/story?id=x").result == "http://a.test/story?id=x"
    assert explain("http://a.test/story?id=x", (rule.rule,)).result == "http://a.test/story_x"


def test_rule_is_not_learned_below_the_minimal_support():
    urls = site("story?id={}", "story_{}")
    assert learn(urls, min_support=4) == []
    assert learn(urls[:2], min_support=1) == [("?id=", "_", 1)]


def test_nothing_is_learned_from_a_place_with_many_texts():
    many = [f"http://a.test/{chr(97 + number)}/story" for number in range(MOST_ALTERNATIVES + 1)]
    assert learn(many, min_support=1) == []
    assert learn(many[1:], min_support=1) != []


def test_repeated_url_counts_once():
    urls = site("story?id={}", "story_{}")
    assert learn_rules(urls * 5) == learn_rules(urls)


def test_giant_url_is_ignored():
    assert learn(["http://a/" + "x/" * LONGEST_URL, "http://a/" + "x/" * LONGEST_URL + "/"], min_support=1) == []


def test_rule_with_the_most_support_comes_first():
    urls = site("story?id={}", "story_{}") + [f"http://b.test/{n}{end}" for n in "abcd" for end in ("", "/")]
    assert [rule.support for rule in learn_rules(urls)] == [4, 3]


def test_nothing_is_learned_from_an_empty_list():
    assert learn_rules([]) == learn_rules(["http://a/"]) == learn_rules([""]) == ()


def count_support(urls):
    """Return the rules of a short list by comparing every pair of URLs."""
    support: Counter[tuple[str, str]] = Counter()
    for one, other in combinations([re.findall(r"[0-9A-Za-z]+|.", url) for url in dict.fromkeys(urls)], 2):
        shorter = min(len(one), len(other))
        start = next((at for at in range(shorter) if one[at] != other[at]), shorter)
        end = next((at for at in range(shorter - start) if one[-1 - at] != other[-1 - at]), shorter - start)
        texts = one[start : len(one) - end], other[start : len(other) - end]
        if max(map(len, texts)) <= LONGEST_SUBSTRING:
            replacement, found = sorted(map("".join, texts), key=lambda text: (len(text), text))
            support[found, replacement] += 1
    return dict(support)


_URLS = st.lists(st.sampled_from(["a", "b", "cd", "/", "?", "="]), max_size=10).map("".join)


@given(st.lists(_URLS, max_size=MOST_ALTERNATIVES))
@example(urls=["/", "//"])
def test_evidence_equals_a_comparison_of_every_pair(urls):
    found = {(rule.found, rule.replacement): rule.support for rule in learn_rules(urls, min_support=1)}
    assert found == count_support(urls)


@given(st.lists(_URLS, max_size=MOST_ALTERNATIVES))
def test_rule_makes_the_urls_of_its_only_pair_equal(urls):
    for rule in learn_rules(urls, min_support=1):
        if rule.support == 1 and len(dict.fromkeys(urls)) == 2:
            one, other = dict.fromkeys(urls)
            assert apply(rule, one) == apply(rule, other) or one.count(rule.found) + other.count(rule.found) > 1
