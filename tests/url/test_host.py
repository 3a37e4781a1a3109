from __future__ import annotations

import idna
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.url.spellings import RULES, outcome

from undersigned.url import URL, MalformedURL, canonicalize

a_labels = RULES["a-labels"]
as_received = RULES["as-received"]
host_case = RULES["host-case"]
ip_literal = RULES["ip-literal"]
reg_name = RULES["reg-name"]
root_dot = RULES["root-dot"]

RULES = (as_received, ip_literal, a_labels, host_case, root_dot, reg_name)


def with_host(host):
    return URL("https", None, host, None, "/", None, None)


def message_of(rule, host):
    with pytest.raises(MalformedURL) as caught:
        rule.apply(with_host(host))
    assert caught.value.rule == rule.name
    return str(caught.value)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_rule_changes_nothing_when_there_is_no_host(rule):
    url = URL.parse("mailto:ann@pub.test")
    assert rule.apply(url) is url


@pytest.mark.parametrize(
    ("host", "message"),
    [
        ("[::1", "no closing bracket"),
        ("[::1]x", "expected a port or the path"),
        ("[fe80::1%25eth0]", "zone identifier"),
        ("[v1.a]", "IPvFuture"),
        ("[name]", "without an IPv6 address"),
        ("[]", "without an IPv6 address"),
        ("[1:2]", "is not an IPv6 address"),
        ("[::1.2.3]", "is not an IPv6 address"),
    ],
)
def test_message_names_the_fault_of_a_bracketed_host(host, message):
    assert message in message_of(ip_literal, host)


@pytest.mark.parametrize("host", ["[1:2:3:4:5:6:7::]", "[::2:3:4:5:6:7:8]", "[2001:db8:0:0:1:0:0:1]", "[::1.2.3.4]"])
def test_ipv6_address_is_neither_compressed_nor_expanded(host):
    assert ip_literal.apply(with_host(host)).host == host
    assert ip_literal.apply(with_host(host.upper())).host == host


@pytest.mark.parametrize(
    ("host", "message"),
    [
        ("fe80::1", "write an IPv6 address in brackets"),
        ("a%41", r"U+0025"),
        ("a]", r"U+005D"),
        ("a,b", "U+002C"),
        ("a b", "U+0020"),
        ("a.\u00fc", "U+00FC"),
        *((name, "longer than 253") for name in ("a" * 254, "a." * 126 + "bc")),
        *((name, "empty label") for name in ("", ".", "a.", ".a", "a..b")),
        *((name, "label longer than 63") for name in ("a" * 64 + ".b", "a." + "b" * 64)),
    ],
)
def test_message_names_the_fault_of_a_name(host, message):
    assert message in message_of(reg_name, host)


def test_message_quotes_the_reason_of_the_idna_package():
    assert message_of(a_labels, "☕.test").endswith("is not a valid internationalized name: disallowed codepoint")


def test_message_has_a_general_reason_when_the_idna_error_has_no_code(monkeypatch):
    def reject(label):
        raise UnicodeError(label)

    monkeypatch.setattr(idna, "alabel", reject)
    assert message_of(a_labels, "münchen.test").endswith("not a valid internationalized name: invalid or too long")


def test_message_escapes_non_ascii():
    assert message_of(as_received, "mün\ud800").startswith(r"the host 'm\xfcn\ud800' contains non-ASCII")


def test_empty_host_has_no_root_dot():
    assert root_dot.apply(with_host("")).host == ""


@pytest.mark.parametrize("name", ["1", "a.1", "192.0.2.7", "0x", "0Xf", "a.0x7f", "1.2.3.4.5"])
def test_name_ends_in_a_number(name):
    assert "is an IPv4 address with a trailing dot" in message_of(root_dot, f"{name}.")


@pytest.mark.parametrize("name", ["", "a", "1.a", "0xg", "1a", "x0", "1-2", "1."])
def test_name_does_not_end_in_a_number(name):
    assert root_dot.apply(with_host(f"{name}.")).host == name


_LABELS = st.one_of(
    st.text(
        st.sampled_from("abzAZ09-_üÜßςΣ١\u05d0\u0627\uff71\uff41\u200c\u200d\u0308\u00ad☕한日·"),
        min_size=1,
        max_size=8,
    ),
    st.text(st.characters(min_codepoint=0x80, max_codepoint=0x2FFF), min_size=1, max_size=4),
    st.text(st.sampled_from("abz09-üéあ日"), min_size=1, max_size=8).map(lambda label: "xn--" + puny(label)),
    st.sampled_from(["ads", "xn--mnchen-3ya", "xn--4dbc", "a--b", "ab--c"]),
)


def puny(label):
    return label.encode("punycode").decode("ascii")


@given(st.lists(_LABELS, min_size=1, max_size=3), st.sampled_from(".\u3002\uff0e\uff61"))
def test_name_with_a_u_label_is_converted_as_the_idna_package_does(labels, stop):
    host = stop.join(labels)
    if host.isascii():
        return
    try:
        expected = idna.encode(host, uts46=True, std3_rules=True).decode().removesuffix(".")
    except idna.IDNAError:
        expected = None
    actual = outcome(lambda: canonicalize(f"https://{host}/").authority)
    if not isinstance(actual, MalformedURL):
        assert actual == expected
        assert canonicalize(f"https://{expected}/", received=True).authority == expected
    elif expected is not None:
        # The package checks each label alone; UTS 46 applies the Bidi rule to the whole name.
        bidi = "bidi rule" in str(actual) and "bidi rule" in message_of(a_labels, expected)
        assert bidi or (actual.rule == root_dot.name and "IPv4 address" in message_of(root_dot, f"{expected}."))


@given(st.lists(_LABELS, min_size=1, max_size=3).map(".".join).filter(str.isascii))
def test_label_is_valid_when_the_idna_package_accepts_it(host):
    try:
        for label in host.split("."):
            if label[:4] == "xn--":
                idna.ulabel(label)
    except idna.IDNAError:
        message_of(a_labels, host)
        return
    answer = outcome(lambda: a_labels.apply(with_host(host)))
    assert answer == with_host(host) or "bidi rule" in str(answer)


@pytest.mark.parametrize("host", ["a1.אב", "a1.xn--4dbc", "אב", "א1.אב.a", "_a.b.test"])
def test_right_to_left_name_follows_the_bidi_rule(host):
    assert a_labels.apply(with_host(host)).host.isascii()


@pytest.mark.parametrize("host", ["1a.אב", "1a.xn--4dbc", "1A.XN--4DBC", "_a.xn--4dbc", "א-a.test", "1א.test"])
def test_right_to_left_name_is_rejected_when_it_breaks_the_bidi_rule(host):
    assert "bidi rule" in message_of(a_labels, host)


def test_empty_label_of_a_right_to_left_name_is_left_to_the_grammar():
    assert message_of(reg_name, a_labels.apply(with_host("a..xn--4dbc")).host)


@pytest.mark.parametrize(
    ("text", "lower"),
    [("aB.C", "ab.c"), ("ÉÀA\u0130\u212a", "ÉÀa\u0130\u212a"), ("", "")],
)
def test_only_ascii_letters_become_lower_case(text, lower):
    assert host_case.apply(with_host(text)).host == lower


@pytest.mark.parametrize("name", ["a", "AZaz09_-", "a.AZaz09_-", f"{'a' * 63}.{'b' * 63}", f"{'a.' * 126}b"])
def test_name_of_letters_digits_hyphens_and_underscores_is_a_registered_name(name):
    assert reg_name.apply(with_host(name)).host == name
