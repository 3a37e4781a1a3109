"""The rules of a profile: each rejects a wrong value at construction, and names the option."""

from __future__ import annotations

import pytest

from undersigned import ConfigurationError, Request, SignatureError, profiles
from undersigned.errors import AnswerForm
from undersigned.message.signature_input import parse_signature_input
from undersigned.signature.rules import (
    Answers,
    Caps,
    CoverageRule,
    DigestRule,
    ParameterRule,
    ReplayRule,
    Selection,
    Validity,
)
from undersigned.signature.rules.coverage import covered_member


def made(named, rule):
    """Return a profile of AdCP with another rule, which is checked then."""
    return profiles.ADCP_3_2.derive(**{named.partition(".")[0]: rule})


@pytest.mark.parametrize(
    ("rule", "options", "named"),
    [
        (Selection, {"pick": "some"}, "selection.pick"),
        (Selection, {"pick": ["any"]}, "selection.pick"),
        (Selection, {"tags": "my-app"}, "selection.tags"),
        (Selection, {"tags": ("é",)}, "selection.tags"),
        (Selection, {"tags": ("a\n",)}, "selection.tags"),
        (Selection, {"tags": ("a",), "skipped_tags": ("a",)}, "selection.skipped_tags"),
        (Selection, {"label": "Sig 1"}, "selection.label"),
        (ParameterRule, {"created": "maybe"}, "parameters.created"),
        (ParameterRule, {"tag": None}, "parameters.tag"),
        (ParameterRule, {"nonce_bytes": -1}, "parameters.nonce_bytes"),
        (ParameterRule, {"written": frozenset({"x"})}, "parameters.written"),
        (ParameterRule, {"alg": "forbidden", "written": frozenset({"alg"})}, "parameters.written"),
        (ParameterRule, {"own": {"X": ("required", "string")}}, "parameters.own"),
        (ParameterRule, {"own": {"created": ("required", "string")}}, "parameters.own"),
        (ParameterRule, {"own": {"x": ("required", "text")}}, "parameters.own"),
        (ParameterRule, {"own": {"x": ("always", "string")}}, "parameters.own"),
        (CoverageRule, {"always": "@method"}, "coverage.always"),
        (CoverageRule, {"always": ("@query-param",)}, "coverage.always"),
        (CoverageRule, {"always": ('"@query-param"',)}, "coverage.always"),
        (CoverageRule, {"always": ('"@query-param";req',)}, "coverage.always"),
        (CoverageRule, {"always": ('"@method";REQ',)}, "coverage.always"),
        (CoverageRule, {"with_content": ("Content-Type",)}, "coverage.with_content"),
        (CoverageRule, {"with_query": ("",)}, "coverage.with_query"),
        (CoverageRule, {"if_sent": ("@method",)}, "coverage.if_sent"),
        (CoverageRule, {"if_asked": "x"}, "coverage.if_asked"),
        (CoverageRule, {"sent": ("A",)}, "coverage.sent"),
        (CoverageRule, {"any_of": ["@method"]}, "coverage.any_of"),
        (CoverageRule, {"any_of": ((),)}, "coverage.any_of"),
        (CoverageRule, {"any_of": (("A",),)}, "coverage.any_of"),
        (CoverageRule, {"never": frozenset({"@method"})}, "coverage.never"),
        (CoverageRule, {"member_of": "@method"}, "coverage.member_of"),
        (CoverageRule, {"field_types": {"X-Plan": "item"}}, "coverage.field_types"),
        (CoverageRule, {"field_types": {"x-plan": "text"}}, "coverage.field_types"),
        (CoverageRule, {"always": ('"x-plan";sf',)}, "coverage.field_types"),
        (CoverageRule, {"any_of": (("date", '"x-plan";req;sf'),)}, "coverage.field_types"),
        (DigestRule, {"policy": "sometimes"}, "digest.policy"),
        (DigestRule, {"policy": None}, "digest.policy"),
        (DigestRule, {"encodings": ()}, "digest.encodings"),
        (DigestRule, {"encodings": ("base32",)}, "digest.encodings"),
        (DigestRule, {"algorithms": ()}, "digest.algorithms"),
        (DigestRule, {"algorithms": ("md5",)}, "digest.algorithms"),
        (DigestRule, {"algorithms": "sha-256"}, "digest.algorithms"),
        (ReplayRule, {"remembers": "all"}, "replay.remembers"),
        (ReplayRule, {"remembers": "field"}, "replay.field"),
        (ReplayRule, {"remembers": "nonce", "field": "x"}, "replay.field"),
        (ReplayRule, {"remembers": "field", "field": "X"}, "replay.field"),
        (ReplayRule, {"accepts_repeats": True}, "replay.accepts_repeats"),
        (ReplayRule, {"accepts_repeats": 1}, "replay.accepts_repeats"),
        (Validity, {"signed_for": 301}, "validity.signed_for"),
        (Answers, {"prefix": "a\r\nb"}, "answers.prefix"),
        (ParameterRule, {"audience": "x"}, "parameters.audience"),
        (ParameterRule, {"echo": "x", "own": {"x": ("optional", "boolean")}}, "parameters.echo"),
        (ParameterRule, {"written": frozenset({"x"}), "own": {"x": ("optional", "string")}}, "parameters.written"),
        (Answers, {"member": "Code"}, "answers.member"),
        (Answers, {"text_member": "x y"}, "answers.text_member"),
        (Answers, {"challenge": "basic"}, "answers.challenge"),
        (Answers, {"asks": frozenset({"unsigned"})}, "answers.asks"),
        (Answers, {"codes": {"unknown": "x"}}, "answers.codes"),
        (Answers, {"codes": {"signature_invalid": "A"}}, "answers.codes"),
        (Answers, {"statuses": {"signature_invalid": 200}}, "answers.statuses"),
        (Answers, {"statuses": {"signature_invalid": "401"}}, "answers.statuses"),
        (Answers, {"unknown": frozenset({"x"})}, "answers.unknown"),
        (Answers, {"codes": {"signature_invalid": ""}}, "answers.codes"),
        (Answers, {"statuses": {"signature_invalid": 399}}, "answers.statuses"),
        (Answers, {"statuses": {"signature_invalid": 600}}, "answers.statuses"),
        (CoverageRule, {"sent": ("",)}, "coverage.sent"),
        (CoverageRule, {"member_of": "A"}, "coverage.member_of"),
    ],
)
def test_rule_with_a_wrong_value_is_rejected_by_the_name_of_the_option(rule, options, named):
    with pytest.raises(ConfigurationError, match=f"^{named.replace('.', '[.]')}: "):
        made(named, rule(**options))


def coverage(names):
    return parse_signature_input(f"s=({names})")["s"].coverage


@pytest.mark.parametrize(
    ("rule", "names", "fault"),
    [
        (CoverageRule(always=("@method", "@path")), '"@method"', "@path must be covered"),
        (CoverageRule(always=("date",)), '"date";sf', "date must be covered"),
        (CoverageRule(always=('"date";sf',), field_types={"date": "item"}), '"date"', '"date";sf must be covered'),
        (CoverageRule(always=(), any_of=(("@authority", "@target-uri"),)), '"@path"', "@authority or @target-uri must"),
        (CoverageRule(always=('"date";req',)), r'"\"date\";req"', '"date";req must be covered'),
        (CoverageRule(always=(), any_of=(('"date";req', "date"),)), r'"\"date\";req"', '"date";req or date must'),
        (CoverageRule(always=(), with_query=("@query",)), '"@path"', "@query must be covered"),
        (CoverageRule(always=('"@query-param";name="a"',)), '"@query-param";name="b"', '"@query-param";name="a" must'),
        (CoverageRule(always=(), if_sent=("date",)), '"@path"', "date must be covered"),
        (CoverageRule(always=(), with_content=("content-type",)), '"@path"', "content-type must be covered"),
        (CoverageRule(always=(), member_of="signature-agent"), '"signature-agent"', "one member of signature-agent"),
        (
            CoverageRule(always=(), member_of="signature-agent"),
            '"signature-agent";key="a" "signature-agent";key="b"',
            "one member of signature-agent must be covered",
        ),
        (CoverageRule(always=(), member_of="signature-agent"), '"other";key="a"', "one member of signature-agent"),
    ],
)
def test_coverage_says_what_must_be_covered(rule, names, fault):
    request = Request("POST", "https://a.example/p?q", [("Date", "now")], b"x")
    assert any(fault in found for found in rule.faults(coverage(names), request, "sig1"))


@pytest.mark.parametrize(
    ("names", "label", "member"),
    [
        ('"a";key="sig1" "a";key="b"', "sig1", "sig1"),
        ('"a";key="b"', "sig1", "b"),
        ('"a";key="b" "a";key="c"', "sig1", None),
        ('"a" "b";key="sig1"', "sig1", None),
    ],
)
def test_covered_member_is_the_own_one_or_the_only_one(names, label, member):
    assert covered_member(coverage(names).texts, "a", label) == member


@pytest.mark.parametrize(
    ("validity", "created", "expires", "end"),
    [
        (Validity(), 100, 200, 200),
        (Validity(), 100, None, None),
        (Validity(default=50), 100, None, 150),
        (Validity(default=50), 100, 200, 200),
        (Validity(longest_age=30), 100, 200, 130),
        (Validity(longest_age=30), None, 200, 200),
        (Validity(default=50), None, None, None),
    ],
)
def test_signature_ends_when_the_first_of_its_bounds_does(validity, created, expires, end):
    assert validity.end(created, expires) == end
    if end is not None:
        assert validity.window(created, expires, now=end + 60) == (end + 60, "")
        assert validity.window(created, expires, now=end + 61) == (end + 60, "the signature has expired")


def test_caps_are_a_value():
    assert Caps(1) == Caps(1, None)


def test_a_million_nonces_of_a_key_may_be_live_if_nothing_is_given():
    assert ReplayRule().caps == Caps(per_key=1_000_000)


def test_query_parameter_can_be_forbidden():
    rule = CoverageRule(never=frozenset({"@query-param"}))
    assert made("coverage", rule).coverage == rule


@pytest.mark.parametrize(
    ("rule", "named", "least", "is_optional"),
    [
        (Validity, "validity.longest", 1, True),
        (Validity, "validity.ahead", 0, False),
        (Validity, "validity.behind", 0, False),
        (Validity, "validity.default", 1, True),
        (Validity, "validity.longest_age", 1, True),
        (Validity, "validity.signed_for", 1, False),
        (ReplayRule, "replay.keeps_for", 1, True),
    ],
)
def test_seconds_of_a_rule_have_a_least_value(rule, named, least, is_optional):
    option = named.partition(".")[2]
    others = {"signed_for": 1} if rule is Validity else {}
    made(named, rule(**{**others, option: least}))
    with pytest.raises(ConfigurationError) as caught:
        made(named, rule(**{**others, option: least - 1}))
    assert str(caught.value).startswith(f"{named}: give whole seconds, at least {least}")
    if is_optional:
        made(named, rule(**{**others, option: None}))


def test_statuses_of_errors_are_accepted():
    statuses = {"signature_invalid": 400, "signature_replayed": 599}
    assert Answers(statuses=statuses).statuses == statuses


@pytest.mark.parametrize(
    "options",
    [
        {"statuses": {"signature_invalid": 403}},
        {"member": "code"},
        {"text_member": "message"},
        {"challenge": "none"},
        {"rpc_codes": {"signature_invalid": -32000}},
    ],
)
def test_answer_has_a_form_of_its_own_if_one_option_differs(options):
    error = SignatureError("signature_invalid", reason="signature_invalid")
    usual = Answers().form(error, lambda: "sig1=()")
    assert usual == AnswerForm(
        401, (("error", "signature_invalid"),), (("WWW-Authenticate", 'Signature error="signature_invalid"'),)
    )
    assert Answers(**options).form(error, lambda: "sig1=()") != usual


@pytest.mark.parametrize(
    "text",
    [
        "x",
        "@query",
        '"x"',
        '"x";sf',
        '"x";key=""',
        '"x";key="!#AZ[]az09~"',
        '"@query-param";name="a"',
        '"@query-param";req;name=""',
    ],
)
def test_component_may_be_a_name_or_an_identifier(text):
    CoverageRule(always=(text,), field_types={"x": "item"}).check()


@pytest.mark.parametrize(
    "text", ["", '""', '"x"; sf', '"x";', '"x";="a"', '"x";key=a', '"x";key=" "', '"x";key="\\"', '"@query-param";name']
)
def test_other_text_is_not_a_component(text):
    with pytest.raises(ConfigurationError, match=r"^coverage\.always: "):
        CoverageRule(always=(text,)).check()


def test_first_component_that_is_required_and_forbidden_is_named():
    with pytest.raises(ConfigurationError, match="@authority is required"):
        made("coverage", CoverageRule(never=frozenset({"@method", "@authority"})))


def test_nonce_of_no_bytes_may_be_empty():
    pattern = made("parameters", ParameterRule(nonce_bytes=0)).nonce_pattern
    assert [text for text in ("", "A", "AA", "AAA", "AAAA", "AAAAA") if pattern.fullmatch(text)] == [
        *("", "AA", "AAA", "AAAA"),
    ]
    pattern = made("parameters", ParameterRule(nonce_bytes=1)).nonce_pattern
    assert [text for text in ("", "A", "AA", "AAA") if pattern.fullmatch(text)] == ["AA", "AAA"]


@pytest.mark.parametrize(
    "option",
    [
        *({"any_of": (("date",),)}, {"with_query": ("@query",)}, {"if_sent": ("date",)}, {"if_asked": ("date",)}),
        *({"sent": ("date",)}, {"member_of": "signature-agent"}, {"never": frozenset({"date"})}),
        *({"always": ('"@method";req',)}, {"with_content": ('"date";bs',)}),
    ],
    ids=lambda option: next(iter(option)),
)
def test_rule_is_conditional_if_it_asks_for_more_than_names(option):
    assert CoverageRule(**option).is_conditional
    assert not CoverageRule(always=("date",), with_content=("content-digest",)).is_conditional


def test_rule_without_a_component_could_cover_nothing():
    with pytest.raises(ConfigurationError, match="could cover nothing"):
        made("coverage", CoverageRule(always=(), with_content=("date",)))
    made("coverage", CoverageRule(always=(), any_of=(("date",),)))


def test_validity_is_that_of_adcp_if_nothing_is_given():
    assert Validity() == Validity(longest=300, ahead=60, behind=60, default=None, longest_age=None, signed_for=300)


@pytest.mark.parametrize(
    ("option", "example"),
    [
        ("always", '("@method", "date")'),
        ("with_query", '("@method", "date")'),
        ("if_sent", '("content-type",)'),
        ("sent", '("content-type",)'),
        ("any_of", '("@authority", "@target-uri")'),
    ],
)
def test_wrong_list_of_components_is_rejected_with_an_example(option, example):
    with pytest.raises(ConfigurationError) as caught:
        made("coverage", CoverageRule(**{option: (("",) if option == "any_of" else "",)}))
    assert str(caught.value) == f"coverage.{option}: give a tuple of valid names, such as {example}"


@pytest.mark.parametrize("names", ['"date"', '"date";req', '"@path" "date"'])
@pytest.mark.parametrize("group", [("date", '"date";req'), ("@path", "date", '"date";req')])
def test_group_is_covered_by_each_of_its_components(group, names):
    request = Request("POST", "https://a.example/p")
    assert CoverageRule(always=(), any_of=(group,)).faults(coverage(names), request, "sig1") == []


def test_digest_by_either_algorithm_is_required_if_nothing_is_given():
    assert DigestRule() == DigestRule(policy="required", encodings=("base64",), algorithms=("sha-256", "sha-512"))


def test_first_signature_by_its_label_is_preferred_if_nothing_is_given():
    assert Selection() == Selection(tags=(), skipped_tags=(), label="sig1", pick="preferred")
