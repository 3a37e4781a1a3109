from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from tests.url.spellings import identifiers, outcome, respellings

from undersigned.normalization import IRI_LADDER, RFC3986_LADDER, Difference, Equivalence, Rung, compare
from undersigned.url import ADCP, MalformedURL, canonicalize, explain

RUNGS = [rung.name for rung in IRI_LADDER]


def names(found):
    return [rule.name for rule in found.rules]


@pytest.mark.parametrize(
    ("a", "b", "rung", "rules"),
    [
        ("urn:a:b", "urn:a:b", "string", []),
        ("HTTP://A/", "http://a/", "syntax", ["scheme-case", "host-case"]),
        ("HTTP://A/%7e", "HTTP://A/~", "syntax", ["unreserved"]),
        ("HTTP://A", "http://A/", "scheme", ["scheme-case", "empty-path"]),
        ("http://a:80/%7e", "http://a:80", None, []),
        ("http://a/b", "HTTP://a/b/", "protocol", ["scheme-case", "trailing-slash"]),
        ("mailto:Joe@Example.COM", "mailto:Joe@example.com", "scheme", ["mailto-domain"]),
        ("tag:Ann@Example.Com,2004:a", "tag:Ann@example.com,2004:a", None, []),
        ("URN:Example:a", "urn:example:a", "scheme", ["scheme-case", "urn-namespace"]),
        ("file:/a", "file://localhost/a", "scheme", ["default-authority"]),
        ("example:/a/../b", "example:/b", "syntax", ["dot-segments"]),
        ("example://A", "example://a", "syntax", ["host-case"]),
    ],
)
def test_identifiers_are_equal_on_their_first_rung_by_these_rules(a, b, rung, rules):
    found = compare(a, b)
    assert (found.rung, names(found)) == (rung, rules)
    assert (found.a, found.b) == (a, b)


def test_difference_is_the_one_on_the_highest_rung():
    found = compare("HTTP://a:80/b?c", "http://a/b?d")
    assert found == Equivalence(
        a="HTTP://a:80/b?c",
        b="http://a/b?d",
        rung=None,
        rules=(),
        forms=("http://a/b/?c", "http://a/b/?d"),
        preserves=None,
        difference=Difference("query", "c", "d", 12),
    )


@pytest.mark.parametrize(
    ("a", "b", "difference"),
    [
        ("http://a/#", "http://a/", Difference("fragment", "", None, 9)),
        ("http://a/?", "http://a/", Difference("query", "", None, 9)),
        ("urn:a", "tag:a", Difference("scheme", "urn", "tag", 0)),
        ("http://ann@a/", "http://a/", Difference("userinfo", "ann", None, 8)),
    ],
)
def test_difference_names_its_part_and_distinguishes_absent_from_empty(a, b, difference):
    assert compare(a, b).difference == difference


def test_equivalence_is_true_when_all_needed_rules_preserve_the_meaning():
    assert compare("http://a", "http://a/")
    assert compare("http://a", "http://a/").preserves == "always"
    slash = compare("http://a/b", "http://a/b/")
    assert (slash.rung, slash.preserves, slash.equivalent, bool(slash)) == ("protocol", "usually", False, False)
    assert not compare("http://a/", "http://b/")


def test_fragments_are_excluded_for_a_network_action_without_weakening_the_result():
    found = compare("http://a/#b", "http://a/#c", purpose="action")
    assert (found.rung, names(found), found.preserves) == ("string", ["fragment"], "always")
    assert not compare("http://a/#b", "http://a/#c")


def test_identity_tokens_are_compared_as_strings():
    assert compare("a", "a", purpose="token").rung == "string"
    assert compare("HTTP://a/", "http://a/", purpose="token").rung is None


@pytest.mark.parametrize("purpose", ["reference", "action"])
def test_relative_reference_is_rejected(purpose):
    with pytest.raises(MalformedURL) as caught:
        compare("a", "a", purpose=purpose)
    assert caught.value.rule == "absolute"


def test_compare_raises_when_a_rung_rejects_an_identifier():
    assert compare("http://a/\ud800", "http://a/\ud800").rung == "string"
    with pytest.raises(MalformedURL, match="surrogate"):
        compare("http://a/\ud800", "http://a/")


def test_rule_is_needed_when_another_rule_rejects_without_it():
    found = compare("http://a/\u00e9#\ud800", "http://a/%C3%A9", purpose="action")
    assert (found.rung, names(found)) == ("syntax", ["fragment", "iri-to-uri"])


def test_any_rule_set_can_be_a_rung():
    adcp = (Rung("string", ()), Rung("adcp", ADCP))
    assert names(compare("https://a./p#f", "https://a/p", ladder=adcp)) == ["root-dot", "fragment"]
    assert compare("https://a./p", "https://a/p", ladder=adcp).preserves == "usually"
    assert compare("https://a/p#f", "https://a/p", ladder=adcp).preserves == "never"
    with pytest.raises(MalformedURL):
        compare("ftp://a/", "ftp://b/", ladder=adcp)


@pytest.mark.parametrize("ladder", [IRI_LADDER, RFC3986_LADDER], ids=["iri", "rfc3986"])
def test_each_rung_begins_with_the_rules_of_the_rung_below(ladder):
    assert [rung.name for rung in ladder] == ["string", "syntax", "scheme", "protocol"]
    for lower, higher in pairwise(ladder):
        assert higher.rules[: len(lower.rules)] == lower.rules


def test_ladder_of_uris_does_not_convert_iris():
    assert compare("http://a/\u00e9", "http://a/%C3%A9").rung == "syntax"
    assert compare("http://a/\u00e9", "http://a/%C3%A9", ladder=RFC3986_LADDER).rung is None


def rung_of(a, b):
    found = outcome(lambda: compare(a, b))
    return found.rule if isinstance(found, MalformedURL) else found.rung


@given(identifiers, identifiers)
def test_comparison_is_symmetric_and_an_identifier_is_itself(a, b):
    assert rung_of(a, b) == rung_of(b, a) or {rung_of(a, b), rung_of(b, a)} <= {"absolute", "iri-to-uri"}
    assert rung_of(a, a) in {"string", "absolute"}


@given(identifiers)
def test_form_of_a_rung_equals_its_identifier_there_or_below(text):
    for at, rung in enumerate(IRI_LADDER[1:3], start=1):
        if (form := explain(text, rung.rules).result) is not None:
            assert compare(text, form).rung in RUNGS[: at + 1]


@given(respellings())
def test_needed_rules_are_sufficient_and_each_is_necessary(pair):
    ladder = (Rung("string", ()), Rung("adcp", ADCP))
    found = compare(*pair, ladder=ladder)
    assert found.rung == ("string" if pair[0] == pair[1] else "adcp")
    assert canonicalize(pair[1]).target_uri == pair[0]
    assert compare(*pair, ladder=(Rung("just these", found.rules),)).rung == "just these"
    for rule in found.rules:
        others = tuple(other for other in found.rules if other is not rule)
        fewer = outcome(lambda others=others: compare(*pair, ladder=(Rung("fewer", others),)))
        assert isinstance(fewer, MalformedURL) or fewer.rung is None


@pytest.mark.parametrize("value", [None, b"http://a/", 1])
def test_value_raises_a_type_error_when_it_is_not_text(value):
    with pytest.raises(TypeError):
        compare("http://a/", value)
