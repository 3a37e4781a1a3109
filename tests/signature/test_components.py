from __future__ import annotations

import pytest
from tests.resolver import CanonicalResolver, item
from tests.work import lines_run

from undersigned import MalformedURL, Request, canonicalize
from undersigned.message import Component, parse_accept_signature
from undersigned.signature import ComponentValues, UnresolvableComponent, signature_base

URL = "https://www.example.com/path?q=1"


def values(*headers, url: str = URL, method: str = "POST") -> ComponentValues:
    request = Request(method, url, headers)
    return ComponentValues(request, canonicalize(url))


def components(listed: str) -> tuple[Component, ...]:
    [read] = parse_accept_signature(f"s=({listed})")
    return read.components


def value(component: str, *headers, **parts) -> str:
    [covered] = components(component)
    return values(*headers, **parts).value(covered)


@pytest.mark.parametrize(
    ("component", "expected"),
    [
        ('"@method"', "POST"),
        ('"@target-uri"', "https://www.example.com/path?q=1"),
        ('"@authority"', "www.example.com"),
        ('"@scheme"', "https"),
        ('"@path"', "/path"),
        ('"@query"', "?q=1"),
        ('"@request-target"', "/path?q=1"),
        ('"@query-param";name="q"', "1"),
    ],
)
def test_derived_components_come_from_the_canonical_target(component, expected):
    assert value(component) == expected
    assert value(component, url="HTTPS://u:p@WWW.example.COM:443/x/../%70ath?q=1#f") == expected


@pytest.mark.parametrize("method", ["POST", "CONNECT", "M-SEARCH"])
@pytest.mark.parametrize("name", ["@method", "@scheme", "@authority", "@path", "@query", "@request-target"])
@pytest.mark.parametrize("target", ["", "/", "/a?", "/a?b=c&d"])
def test_derived_component_has_the_value_of_the_resolver(method, name, target):
    request = Request(method, f"https://h:8443{target}", [])
    [component] = components(f'"{name}"')
    resolved = CanonicalResolver(request, canonicalize(request.url)).resolve(item(component))
    assert ComponentValues(request, canonicalize(request.url)).value(component) == resolved


def test_digest_to_be_added_replaces_the_digest_of_the_request():
    request = Request("POST", URL, [("content-digest", "sha-256=:old:")])
    read = components('"content-digest"')
    made = ComponentValues(request, canonicalize(URL), "sha-256=:new:")
    assert made.value(read[0]) == "sha-256=:new:"
    assert signature_base(made, read, "()") == '"content-digest": sha-256=:new:\n"@signature-params": ()'


@pytest.mark.parametrize(
    ("component", "headers", "expected"),
    [
        ('"x-a"', [("X-A", " a "), ("x-a", ""), ("X-a", "b,c")], "a, , b,c"),
        ('"x-a";bs', [("X-A", "a"), ("x-a", "\xe9")], ":YQ==:, :6Q==:"),
        ('"cache-control";sf', [("cache-control", "max-age=60 ,  b")], "max-age=60, b"),
        ('"x-a";key="b"', [("x-a", "a=1, b=(x  y);z")], "(x y);z"),
        ('"x-a";key="b"', [("x-a", "a=1"), ("x-a", "b")], "?1"),
        ('"x-a";key="b"', [("x-a", "b=01.50;c=?1")], "1.5;c"),
        ('"x-a";key="b";sf', [("x-a", "a=1, b")], "?1"),
        ('"set-cookie"', [("set-cookie", "a=b")], "a=b"),
    ],
)
def test_field_components_have_the_values_of_rfc_9421(component, headers, expected):
    assert value(component, *headers) == expected


@pytest.mark.parametrize(
    ("component", "headers"),
    [
        ('"x-none"', []),
        ('"x-none";bs', []),
        ('""', []),
        ('"x-a b"', [("x-a", "1")]),
        ('"x-a";key="none"', [("x-a", "a=1")]),
        ('"x-a";key="a"', [("x-a", "(")]),
        ('"x-a";key="a"', [("x-a", "\ud800")]),
        ('"x-a";key=a', [("x-a", "a=1")]),
        ('"x-none";key="a"', [("x-a", "a=1")]),
        ('"x-a";key="a"', [("x-a", "")]),
        ('"x-a";key="a"', [("x-a", 'a="\xe9"')]),
        ('"x-a";key=:AAAA:', [("x-a", "a=1")]),
        ('"x-a";sf', [("x-a", "a=1")]),
        ('"cache-control";sf', [("cache-control", "(")]),
        ('"cache-control";sf', [("cache-control", "\ud800")]),
        ('"cache-control";sf=?0', [("cache-control", "a")]),
        ('"x-a";bs', [("x-a", "\u0100")]),
        ('"x-a";bs=1', [("x-a", "a")]),
        ('"x-a";tr', [("x-a", "1")]),
        ('"x-a";req', [("x-a", "1")]),
        ('"x-a";req=?0', [("x-a", "1")]),
        ('"x-a";unknown', [("x-a", "1")]),
        ('"x-a"', [("x-a", "\xe9")]),
        ('"x-a"', [("x-a", "a\x7f")]),
        ('"x-a"', [("x-a", "a\rb")]),
        ('"set-cookie"', [("set-cookie", "a"), ("set-cookie", "b")]),
        ('"@unknown"', []),
        ('"@status"', []),
        ('"@method";req', []),
        ('"@method";x=1', []),
        ('"@method";resolver=1', []),
        ('"@path";sf', []),
        ('"@query-param"', []),
        ('"@query-param";name=q', []),
        ('"@query-param";name=?0', []),
        ('"@query-param";name="q";other', []),
        ('"@query-param";name="none"', []),
        ('"@query-param";resolver="q"', []),
    ],
)
def test_component_without_a_value_is_named_apart_from_the_text_of_its_error(component, headers):
    with pytest.raises(UnresolvableComponent) as caught:
        value(component, *headers)
    assert str(caught.value) in {
        "a covered structured field cannot be read: the field value is not a structured field dictionary",
        "a covered structured field cannot be read: the field value is not ASCII",
        "a covered structured field cannot be read: the field value is empty",
        "a covered structured field cannot be read",
        "a covered field is not in the message",
        "a covered dictionary has no such member",
        "a covered component does not exist for this message, or not with these parameters",
        "a covered query parameter is not in the query, or more than once",
        "the type of a field that is covered with ;sf is not known",
        "a covered query parameter is not named as RFC 9421 section 2.2.8 encodes it",
        "the value of a covered component is not printable ASCII",
        "a covered trailer field is not known: trailers are not read",
    }
    assert caught.value.component == component


@pytest.mark.parametrize("method", ["get", "Get", "", "GE T", "G\nET", "\xc9", "\ud800", "\u017f", "GET\n"])
@pytest.mark.parametrize("component", ['"@method"', '"@path"'])
def test_method_has_no_value_when_it_is_not_an_upper_case_token(component, method):
    with pytest.raises(UnresolvableComponent, match="the method is not an upper-case token"):
        value(component, method=method)


@pytest.mark.parametrize(("name", "query"), [("a", "a=1"), ("a%20b", "a+b=1"), ("%C3%BC", "%c3%bc=1"), ("%7E", "~=1")])
def test_query_parameter_is_found_by_its_canonical_encoding(name, query):
    assert value(f'"@query-param";name="{name}"', url=f"https://h/?{query}") == "1"


@pytest.mark.parametrize(
    ("name", "query"),
    [("%61", "a=1"), ("a b", "a+b=1"), ("%c3%bc", "%c3%bc=1"), ("~", "~=1"), ("%", "%25=1"), ("a%", "a%25=1")],
)
def test_query_parameter_in_another_encoding_has_no_value(name, query):
    # Each other encoding would be another component with the same value, and a base many times as long as the message.
    with pytest.raises(UnresolvableComponent, match="is not named as RFC 9421"):
        value(f'"@query-param";name="{name}"', url=f"https://h/?{query}")


SIXTEEN = " ".join(f'"@query-param";name="p{at}"' for at in range(16))
PARAMETERS = "&".join(f"p{at}=v" for at in range(256))


@pytest.mark.parametrize(
    ("listed", "field", "query", "more", "fault"),
    [
        # What several components read is counted once, and bytes are not looked at.
        (SIXTEEN, "", PARAMETERS, ("", "&"), "the query has 257 parameters, and @query-param reads at most 256"),
        (
            '"x";key="a" "x";key="b" "x";key="c"',
            "a=1, b=2, c=3" + "".join(f", d{n}" for n in range(29)),
            "q",
            (", z", ""),
            "have 65 delimiters, and at most 64 are read",
        ),
        ('"x";key="a"', "a=" + "v" * 4094, "q", ("v", ""), "have 4,097 characters, and at most 4,096 are read"),
    ],
)
def test_text_read_for_components_with_parameters_is_bounded(listed, field, query, more, fault):
    def read(field, query):
        given = values(("x", field), url=f"https://h/?{query}")
        return [given.value(component) for component in components(listed)]

    assert read(field, query)
    with pytest.raises(UnresolvableComponent, match=f"{fault}: cover "):
        read(field + more[0], query + more[1])


def test_field_may_have_any_length_when_no_component_with_parameters_reads_it():
    given = values(("x", "," * 20_000), ("y", "v"), url=f"https://h/?{'&' * 20_000}")
    covered = components('"x" "y";bs "@query" "@path"')
    assert [len(given.value(component)) for component in covered] == [20_000, 6, 20_001, 1]


def test_eight_times_the_covered_fields_are_at_most_nine_times_the_work():
    def resolved(count: int) -> list[str]:
        fields = values(*((f"x{number}", str(number)) for number in range(count)))
        listed = [Component(f"x{number}", f'"x{number}"', bare=True) for number in range(count)]
        return [fields.value(component) for component in listed]

    assert resolved(800) == [str(number) for number in range(800)]
    assert lines_run(lambda: resolved(800)) <= 9 * lines_run(lambda: resolved(100))


PLAIN, A_LABELS = "https://www.example.com/path", "https://xn--mnchen-3ya.example/"
LONGEST = "https://seller.example.com/?" + "a" * (9000 - 28)


@pytest.mark.parametrize(
    ("url", "headers"),
    [
        (PLAIN, []),
        (PLAIN, [("host", "WWW.Example.COM")]),
        (PLAIN, [("host", " www.example.com. ")]),
        (PLAIN, [(":authority", "www.example.com:443"), ("host", "WWW.example.com")]),
        (PLAIN, [("x-forwarded-host", "evil.example"), ("forwarded", "host=evil.example")]),
        (A_LABELS, [("host", "XN--Mnchen-3ya.example.")]),
        (A_LABELS, [("host", "xn--mnchen-3ya.example:443")]),
        (LONGEST, []),
    ],
)
def test_authority_is_accepted_when_it_matches_the_url(url, headers):
    target = Request("GET", url, headers).received_target()
    assert (target.target_uri, target.authority) == (url, url.split("/")[2])


OTHERS = (
    "evil.example", "www.example.com, www.example.com", "www.example.com:80", "www.example.com:0443x", "",
    "user@www.example.com", "www.example.com/", "www.example.com?", "www.example.com#", "https://www.example.com",
    "www.example.com..", "www.ex\u00e4mple.com", "www%2Eexample.com", "[::1", "\ud800", "www.example.com\x00",
)  # fmt: skip


@pytest.mark.parametrize(
    ("url", "headers", "rule"),
    [
        *((PLAIN, [("host", other)], "") for other in OTHERS),
        (PLAIN, [(":authority", "evil.example")], ""),
        (PLAIN, [(":authority", "www.example.com"), ("host", "evil.example")], ""),
        (PLAIN, [(":authority", "evil.example"), ("host", "www.example.com")], ""),
        (PLAIN, [("host", "www.example.com"), ("host", "www.example.com")], ""),
        (PLAIN, [(":authority", "www.example.com"), (":authority", "www.example.com")], ""),
        (A_LABELS, [("host", "xn--mnchen-3ya.example:8443")], ""),
        (A_LABELS, [("host", "xn--bcher-kva.example")], ""),
        (A_LABELS, [("host", ".".join(["xn--mxaa4acd6f7abb3at2bg2de4bzal2a"] * 7))], ""),
        (f"{LONGEST}a", [], "length"),
        (PLAIN, [("host", "a" * 1025)], "authority-length"),
        *((url, [], "") for url in ("", "/", "https://", "ftp://h/", "https://b\xfccher.example/", "https://h/\n")),
    ],
)
def test_authority_or_url_is_rejected_when_it_differs_or_is_malformed(url, headers, rule):
    with pytest.raises(MalformedURL) as caught:
        Request("GET", url, headers).received_target()
    assert caught.value.rule == (rule or caught.value.rule)


@pytest.mark.parametrize(
    ("name", "query"), [("q", "q=%e9"), ("q", "q=%FF"), ("%E9", "%e9=%ED%A0%80"), ("q", "q=%EF%BF%BD"), ("q", "q=%00")]
)
def test_query_parameter_is_octets_which_need_not_be_utf_8(name, query):
    _, _, encoded = query.upper().partition("=")
    assert value(f'"@query-param";name="{name}"', url=f"https://h/?{query}") == encoded
