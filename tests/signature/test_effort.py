"""Effort: what each part of a message adds, and that a message is rejected for the sum."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.keys import NOW, covering, hostile_request, replace_parts, signer, verifier

from undersigned import Request, Response, SignatureError, SigningError, profiles
from undersigned.limits import MOST_EFFORT, MOST_EFFORT_TWICE
from undersigned.message.signature_input import parse_signature_input
from undersigned.signature.components import ComponentValues, signature_base
from undersigned.signature.effort import BASE_CHARACTERS, effort, effort_if_unusual, required_effort
from undersigned.signature.rules import CoverageRule
from undersigned.url import canonicalize

HOST = "https://seller.example.com"
BARE = '("@method" "@target-uri" "@authority" "content-type" "x")'
PLAIN = '("@method" "@target-uri" "@authority" "content-type")'


def components(text: str):
    return parse_signature_input(f"sig1={text};created=1")["sig1"].coverage.components


def of(path: str = "/", fields=(), covered: str = BARE) -> int:
    return effort(Request("POST", f"{HOST}{path}", fields), components(covered))


@pytest.mark.parametrize(
    ("path", "fields", "covered", "units"),
    [
        ("/", [], PLAIN, 0),
        ("/", [], '("content-digest" "signature-agent" "@method")', 0),
        ("/", [], BARE, 22),
        ("/", [], '("x" "@method" "y")', 25),
        ("/", [], '("x" "y" "z")', 27),
        ("/", [("a", ""), ("b", "")], PLAIN, 2),
        ("/", [("a", "v" * 799)], PLAIN, 1),
        ("/", [("a", "v" * 600), ("b", "v" * 400)], PLAIN, 3),
        ("/", [("signature", "a,b,"), ("content-digest", ","), ("signature-input", ",")], PLAIN, 3 + 2 * 4),
        ("/?" + "q" * (160 - 28), [], PLAIN, 1),
        ("/?" + "q" * (159 - 28), [], PLAIN, 0),
        ("/a" * 5, [], PLAIN, 0),
        ("/a/.", [], PLAIN, 0),
        ("/a/a/.", [], PLAIN, 1),
        ("/?/./././././", [], PLAIN, 0),
        ("/" + "%C3" * 5, [], PLAIN, 0),
        ("/" + "%C3" * 6, [], PLAIN, 1),
        ("/?" + "%c3" * 6, [], PLAIN, 1),
        ("/%c3%C3%e9", [], PLAIN, 0),
        ("/%c3%bC%e9", [], PLAIN, 1),
        ("/%7E%7E%0A", [], PLAIN, 1),
        ("/" + "%c3" * 257, [], PLAIN, 4 + 42 + 1),
        ("/" + "%c3" * 256, [], PLAIN, 4 + 42 + 85 + 1),
        ("/", [("content-type", "a/b" + "v" * 61)], PLAIN, 1),
        ("/", [("content-type", 'a/b;c="' + "v" * 25)], PLAIN, 3),
        ("/", [("content-type", 'a/b;c="' + "v" * 24)], PLAIN, 2),
        ("/", [("host", "seller.example.com")], PLAIN, 1),
        ("/", [("host", "seller.example.com:443")], PLAIN, 31),
        ("/", [], '("@path" "@query" "@scheme" "@request-target" "@status")', 32),
        ("/", [], '("@path";req "@authority";req)', 25),
        ("/", [], '("set-cookie")', 22 + 8 + 8 + 40),
        ("/", [], '("@unknown")', 22 + 8 + 8 + 40),
        ("/", [("x", "!")], '("x";key="a")', 22 + 1 + 8 + 8),
        ("/", [("x", "!")], '("x";sf;key="a")', 22 + 1 + 8 + 8 + 40),
        ("/", [("x", "!" * 20)], '("x";sf)', 22 + 1 + 8 + 8 + 1),
        ("/", [("x", "a, b;c"), ("y", "a=%"), ("z", ",")], '("x";sf "y";key="a")', 25 + 3 + 2 * 16 + 3 * 2 + 2),
        ("/", [("x", "a, b")], '("x";key="a" "x";key="b")', 25 + 1 + 2 * 8 + 8 + 2),
        ("/", [("x", "a, b")], '("x";sf "x";key="b")', 25 + 1 + 2 * 8 + 8 + 3),
        ("/", [("x", "a, b")], '("x";key="b" "x";sf)', 25 + 1 + 2 * 8 + 8 + 3),
        ("/", [("x", ",")] * 5, '("x";bs)', 22 + 5 + 8 + 2),
        ("/?a=b&c", [], '("@query-param";name="a" "@query-param";name="b")', 25 + 2 * 8 + 8 + 2),
        ("/", [("x", "," * 2304)], '("x";key="a")', 22 + 1 + 2 + 8 + 8 + 2 * 2304),
        ("/", [("x", "," * 2305)], '("x";key="a")', 22 + 1 + 2 + 8 + 8),
        ("/?" + "&" * 2304, [], '("@query-param";name="a")', 22 + 14 + 8 + 8 + 2 * 2304),
        ("/?" + "&" * 2305, [], '("@query-param";name="a")', 22 + 14 + 8 + 8),
    ],
)
def test_each_part_of_a_message_adds_its_units(path, fields, covered, units):
    assert of(path, fields, covered) == units


def test_target_of_a_response_is_that_of_its_request():
    covered = components(BARE)
    request = Request("GET", f"{HOST}/?" + "q" * 8000)
    assert effort(Response(200, request=request), covered) == effort(request, covered) == 22 + 50
    assert effort(Response(200, [("a", ""), ("b", "")]), covered) == 22 + 2


@pytest.mark.parametrize(
    ("path", "fields", "required"),
    [
        ("/", [], ("@method", "content-type", '"@authority"')),
        ("/", [], ("@method", "x")),
        ("/", [], ("@path", '"@path";req', "x", "x")),
        ("/?a=b", [], ('"@query-param";name="a"',)),
        ("/?a=b&c=d&e=f", [], ('"@query-param";name="a"', '"@query-param";name="c"', '"@query-param";name="e"')),
        ("/", [("x", "1"), ("y", "2")], ('"x";key="a"', '"x";key="b"', '"y";sf', "set-cookie")),
        ("/", [("x", "1")], ('"x";bs', '"@authority";req')),
    ],
)
def test_required_effort_is_what_the_components_of_a_plain_message_take(path, fields, required):
    texts = [one if one[0] == '"' else f'"{one}"' for one in dict.fromkeys(required)]
    units = of(path, fields, f"({' '.join(texts)})")
    assert required_effort(required) == units - len(fields)


def test_components_that_a_profile_requires_are_not_counted_against_the_sender():
    names = tuple(f'"@query-param";name="p{at}"' for at in range(10))
    profile = profiles.ADCP_3_2.derive(coverage=CoverageRule(always=("@method", "@authority", "@path", *names)))
    url = f"{HOST}/p?{'&'.join(f'p{at}=v' for at in range(10))}"
    request = signer(profile=profile).sign(Request("GET", url))
    sent = Request("GET", url, [*request])
    assert verifier(profile=profile).verify(sent)
    assert effort(sent, components(f"({' '.join(names)})")) > MOST_EFFORT
    assert profiles.ADCP_3_2.most_effort == MOST_EFFORT


COVERED = ("@method", "@target-uri", "@authority")


def sign_with(units: int, url: str, fields=(), covered=COVERED, *, sent: str | None = None, bases: int = 1) -> Request:
    """A signed request whose parts take so many units together: the rest are empty header fields.

    The base counts as often as it is hashed.
    """

    def made(count: int) -> Request:
        given = [*fields, *((f"e{at}", "") for at in range(count))]
        request = hostile_request(Request("GET", sent or url, given), covering(*covered))
        return replace_parts(request, url=url, query_unknown=sent is not None)

    read = parse_signature_input(made(0).fields.combined["signature-input"])["sig1"]
    base = signature_base(ComponentValues(made(0), canonicalize(url)), read.coverage.components, read.text)
    spent = effort(made(0), read.coverage.components) + bases * (len(base) // BASE_CHARACTERS)
    return made(units - spent)


ESCAPES = f"{HOST}/{'%c3%a9' * 80}"
LONG = [("x", "v" * 12_000)]


@pytest.mark.parametrize(("url", "fields", "covered"), [(ESCAPES, (), COVERED), (f"{HOST}/", LONG, (*COVERED, "x"))])
def test_signature_is_rejected_when_its_parts_take_more_work_together_than_allowed(url, fields, covered):
    assert verifier().verify(sign_with(MOST_EFFORT, url, fields, covered))
    with pytest.raises(SignatureError, match="request_signature_invalid") as caught:
        verifier().verify(sign_with(MOST_EFFORT + 1, url, fields, covered))
    assert caught.value.step == 10
    assert "too much work together" in caught.value.detail


def test_message_is_rejected_for_its_work_before_its_target_is_read():
    request = sign_with(70, f"{HOST}/")
    elsewhere = ("host", "other.example")
    for added, code in ((0, "request_target_uri_malformed"), (121, "request_signature_invalid")):
        more = [*request.fields, elsewhere, *((f"m{at}", "") for at in range(added))]
        with pytest.raises(SignatureError) as caught:
            verifier().verify(replace_parts(request, fields=more))
        assert caught.value.code == code


def test_parsing_counts_with_the_other_parts():
    parsed = covering(*COVERED, created=f"0{NOW}")
    many = [(f"e{at}", "") for at in range(42)]
    assert verifier().verify(hostile_request(Request("GET", f"{HOST}/", many), parsed))
    assert verifier().verify(hostile_request(Request("GET", f"{HOST}/{'%c3%a9' * 40}"), parsed))
    assert verifier().verify(hostile_request(Request("GET", f"{HOST}/{'%c3%a9' * 40}", many), covering(*COVERED)))
    with pytest.raises(SignatureError) as caught:
        verifier().verify(hostile_request(Request("GET", f"{HOST}/{'%c3%a9' * 40}", many), parsed))
    assert "too much work together" in caught.value.detail


def test_lone_question_mark_is_only_looked_for_in_a_message_that_takes_little_work():
    asked = {"sent": f"{HOST}/p?", "bases": 2}
    assert verifier().verify(sign_with(MOST_EFFORT_TWICE, f"{HOST}/p", **asked)).target.query == ""
    with pytest.raises(SignatureError, match="request_signature_invalid"):
        verifier().verify(sign_with(MOST_EFFORT_TWICE + 1, f"{HOST}/p", **asked))


@pytest.mark.parametrize(("added", "is_verified"), [(0, True), (2, False)])
def test_lone_question_mark_is_not_tried_if_a_usual_message_takes_too_much_work(added, is_verified):
    url = f"https://a/{'/' * 89}"
    given = [("host", "a:443"), ("content-type", f"a/{'b' * 150}"), *((f"e{at}", "") for at in range(5 + added))]
    request = hostile_request(Request("GET", f"{url}?", given), covering(*COVERED, "content-type"))
    received = replace_parts(request, url=url, query_unknown=True)
    coverage = parse_signature_input(received.fields.combined["signature-input"])["sig1"].coverage
    assert effort_if_unusual(received, coverage, parsing=0) == 0
    if is_verified:
        assert verifier().verify(received).target.query == ""
    else:
        with pytest.raises(SignatureError, match="request_signature_invalid"):
            verifier().verify(received)


def test_signer_rejects_too_much_work_unless_told_otherwise():
    fields = [(f"e{at}", "") for at in range(100)]
    request = Request("GET", ESCAPES, fields)
    with pytest.raises(SigningError, match=r"too much work together.*check_limits=False"):
        signer().sign(request)
    signed = Request("GET", ESCAPES, [*fields, *signer(check_limits=False).sign(request)])
    with pytest.raises(SignatureError, match="request_signature_invalid"):
        verifier().verify(signed)
    within = Request("GET", ESCAPES, fields[:20])
    assert verifier().verify(Request("GET", ESCAPES, [*fields[:20], *signer().sign(within)]))


@pytest.mark.parametrize(
    ("fields", "body", "profile"),
    [
        ((), b"", profiles.ADCP_3_2),
        ((), b"{}", profiles.ADCP_3_2),
        ((("a", "v" * 750),), b"", profiles.ADCP_3_2),
        ((("a", "v" * 300),), b"{}", profiles.ADCP_3_2),
        ((("x", "a, b"),), b"{}", profiles.UCP),
    ],
)
def test_signer_counts_the_fields_that_it_adds(fields, body, profile):
    verified = 0
    for more in range(60, 110):
        given = [*fields, ("Content-Type", "application/json"), *((f"e{at}", "") for at in range(more))]
        request = Request("POST", f"{HOST}/p", given, body)
        try:
            added = signer(profile, components=["e1", "e2"]).sign(request)
        except SigningError:
            break
        verified += bool(verifier(profile).verify(Request("POST", f"{HOST}/p", [*given, *added], body)))
    assert 10 < verified < 50


def test_signer_rejects_too_much_work_for_many_fields_that_a_usual_message_covers():
    names = [f"x{at}" for at in range(22)]

    def request(length: int, *signature: tuple[str, str]) -> Request:
        return Request("GET", f"{HOST}/", [*((name, "v" * length) for name in names), *signature])

    within = signer(components=names).sign(request(50))
    assert verifier().verify(request(50, *within))
    with pytest.raises(SigningError, match=r"too much work together.*check_limits=False"):
        signer(components=names).sign(request(100))
    beyond = signer(components=names, check_limits=False).sign(request(100))
    with pytest.raises(SignatureError, match="request_signature_invalid"):
        verifier().verify(request(100, *beyond))


@pytest.mark.parametrize("profile", [profiles.GNAP_ROTATION, profiles.WIMSE_RESPONSE])
def test_message_with_parts_of_another_message_or_signature_may_take_more_work(profile):
    assert profile.most_effort > profiles.ADCP_3_2.most_effort == MOST_EFFORT


LONGEST_USUAL = 4500
"""No base is longer that has the values of a usual message."""
USUAL = '("@method" "@target-uri" "@authority" "content-type" "content-digest")'


@given(
    st.lists(st.sampled_from(["/", "%", "%c3", "%C3", "a", "?", "a" * 40]), max_size=90).map("".join),
    st.lists(
        st.tuples(
            st.sampled_from(["host", "content-type", "accept", "x-trace"]),
            st.sampled_from(["", HOST[8:], "a", '"', "v" * 700, "v" * 1400, f'"{"v" * 400}']),
        ),
        max_size=26,
    ),
    st.sampled_from([BARE, USUAL, '("@path")']),
    st.sampled_from([0, 1, 30]),
)
def test_effort_is_only_left_out_if_the_base_of_a_usual_message_is_allowed(path, fields, covered, parsing):
    request = Request("POST", f"{HOST}/{path}", fields)
    coverage = parse_signature_input(f"a={covered};b=1")["a"].coverage
    exact = parsing + effort(request, coverage.components)
    counted = effort_if_unusual(request, coverage, parsing=parsing)
    assert counted == exact or (counted == 0 and exact + LONGEST_USUAL // BASE_CHARACTERS <= MOST_EFFORT)


@pytest.mark.parametrize(("path", "units"), [("/.", 9), ("%", 15), ("%c3", 5 + 10), ("%7E", 5 + 10)])
def test_largest_usual_message_and_its_base_take_less_than_what_is_allowed(path, units):
    fields = [("host", "other.example"), *((f"e{at}", "") for at in range(28)), ("x", "v" * (2700 - 13))]
    request = Request("GET", ("http://a/" + path * 100)[:100], fields)
    coverage = parse_signature_input(f"a={USUAL};b=1")["a"].coverage
    assert effort_if_unusual(request, coverage, parsing=0) == 0
    assert effort(request, coverage.components) == 30 + units + 3 + 30
    assert 30 + units + 3 + 30 + LONGEST_USUAL // BASE_CHARACTERS <= MOST_EFFORT
