"""Components of responses, of the request that a response answers, and of trailers (RFC 9421 sections 2.1.4 to 2.4)."""

from __future__ import annotations

import pytest

from undersigned import Request, canonicalize
from undersigned.message import LENIENT, HeaderFields, Reading, Response, parse_accept_signature
from undersigned.signature import ComponentValues, UnresolvableComponent, signature_base

URL = "https://www.example.com/path?q=1&Pet=dog"
REQUEST = Request("POST", URL, [("X-A", "1"), ("X-A", "2"), ("Content-Digest", "sha-256=:AAAA:")])
FIELDS = [("Content-Type", "text/plain"), ("X-Dict", "a=1, b=2;x"), ("Set-Cookie", "a=b"), ("Set-Cookie", "c=d")]


def component(text: str):
    [read] = parse_accept_signature(f"s=({text})")
    return read.components[0]


def of_response(*, request=REQUEST, trailers=None, reading=LENIENT, digest=None) -> ComponentValues:
    response = Response(503, FIELDS, request=request, trailers=trailers)
    return ComponentValues(response, canonicalize(URL), digest, reading=reading)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"@status"', "503"),
        ('"content-type"', "text/plain"),
        ('"x-dict";key="b"', "2;x"),
        ('"set-cookie";bs', ":YT1i:, :Yz1k:"),
        ('"@method";req', "POST"),
        ('"@target-uri";req', URL),
        ('"@authority";req', "www.example.com"),
        ('"@scheme";req', "https"),
        ('"@path";req', "/path"),
        ('"@query";req', "?q=1&Pet=dog"),
        ('"@request-target";req', "/path?q=1&Pet=dog"),
        ('"@query-param";name="Pet";req', "dog"),
        ('"@query-param";req;name="Pet"', "dog"),
        ('"x-a";req', "1, 2"),
        ('"x-a";req;bs', ":MQ==:, :Mg==:"),
        ('"content-digest";req;key="sha-256"', ":AAAA:"),
        ('"content-digest";sf;req', "sha-256=:AAAA:"),
        ('"expires";tr', "never"),
        ('"x-t";tr;key="a"', "1"),
        ('"x-t";tr;bs', ":YT0x:, :Yj0y:"),
    ],
)
def test_component_of_a_response_has_its_value(text, expected):
    trailers = [("Expires", "never"), ("X-T", "a=1"), ("X-T", "b=2")]
    assert of_response(trailers=trailers).value(component(text)) == expected


@pytest.mark.parametrize(
    "text",
    [
        '"@method"',
        '"@path"',
        '"@query-param";name="q"',
        '"@status";req',
        '"@status";tr',
        '"@method";req=?0',
        '"@method";req;tr',
        '"x-a"',
        '"x-a";tr',
        '"expires"',
        '"expires";tr=?0',
        '"content-type";req',
        '"content-type";tr',
        '"set-cookie"',
        '"x-dict";sf',
        '"@unknown";req',
    ],
)
def test_component_that_a_response_does_not_have_is_rejected(text):
    with pytest.raises(UnresolvableComponent):
        of_response(trailers=[("Expires", "never")]).value(component(text))


def test_request_components_need_the_request():
    with pytest.raises(UnresolvableComponent, match="the request that this response answers is not known"):
        of_response(request=None).value(component('"@method";req'))
    assert of_response(request=None).value(component('"x-dict";key="a"')) == "1"


def test_trailers_are_covered_only_when_they_are_known():
    with pytest.raises(UnresolvableComponent, match="trailers are not read"):
        of_response().value(component('"expires";tr'))
    target = canonicalize(URL)
    with pytest.raises(UnresolvableComponent, match="trailers are not read"):
        ComponentValues(REQUEST, target).value(component('"x-a";tr'))
    shown = ComponentValues(REQUEST, target, trailers=HeaderFields([("x-a", "3")]))
    assert shown.value(component('"x-a";tr')) == "3"
    assert shown.value(component('"x-a"')) == "1, 2"
    answer = ComponentValues(Response(200, request=REQUEST), target)
    answer.requested = shown
    assert answer.value(component('"x-a";req;tr')) == "3"


def test_digest_to_be_added_replaces_the_digest_of_the_response():
    assert of_response(digest="sha-256=:new:").value(component('"content-digest"')) == "sha-256=:new:"
    assert of_response(digest="sha-256=:new:").value(component('"content-digest";req')) == "sha-256=:AAAA:"


def test_base_of_a_response_is_the_one_of_rfc_9421_section_2_4():
    covered = '("@status" "@method";req "x-a";req);created=1'
    [read] = parse_accept_signature(f"s={covered}")
    assert signature_base(of_response(), read.components, covered) == (
        '"@status": 503\n"@method";req: POST\n"x-a";req: 1, 2\n'
        '"@signature-params": ("@status" "@method";req "x-a";req);created=1'
    )


@pytest.mark.parametrize("method", ["get", "Get", "GET", "M-SEARCH"])
def test_method_keeps_its_case_when_the_reading_says_so(method):
    target = canonicalize(URL)
    assert ComponentValues(Request(method, URL), target, reading=LENIENT).value(component('"@method"')) == method
    for bad in ("", "GE T", "G\nT", "\xc9"):
        with pytest.raises(UnresolvableComponent, match="the method is not a token"):
            ComponentValues(Request(bad, URL), target, reading=LENIENT).value(component('"@method"'))


@pytest.mark.parametrize("target", ["*", URL, "www.example.com:80"])
def test_request_target_in_another_form_is_the_one_that_was_sent(target):
    values = ComponentValues(Request("OPTIONS", URL), canonicalize(URL), request_target=target)
    assert values.value(component('"@request-target"')) == target
    answer = ComponentValues(Response(200), canonicalize(URL))
    answer.requested = values
    assert answer.value(component('"@request-target";req')) == target


def test_structured_field_of_the_application_has_the_type_it_names():
    fields = [("x-own", "a=1,  b"), ("x-list", "a,b"), ("x-item", "a;b"), ("x-bad", "(")]
    types = {"x-own": "dictionary", "x-list": "list", "x-item": "item", "x-bad": "list", "x-absent": "item"}
    values = ComponentValues(Request("GET", URL, fields), canonicalize(URL), reading=Reading(field_types=types))
    found = [values.value(component(f'"{name}";sf')) for name in ("x-own", "x-list", "x-item")]
    assert found == ["a=1, b", "a, b", "a;b"]
    for name in ("x-bad", "x-absent"):
        with pytest.raises(UnresolvableComponent):
            values.value(component(f'"{name}";sf'))


def test_what_is_parsed_of_request_response_and_trailers_counts_together():
    long = "a=" + "v" * 1400
    request = Request("GET", URL, [("x", long)])
    response = Response(200, [("x", long)], request=request, trailers=[("x", long)])
    values = ComponentValues(response, canonicalize(URL))
    for text in ('"x";key="a";req', '"x";key="a"', '"x";req;key="a"'):
        assert len(values.value(component(text))) == 1400
    with pytest.raises(UnresolvableComponent, match="have 4,206 characters"):
        values.value(component('"x";tr;key="a"'))


@pytest.mark.parametrize("flag", ["", ";req", ";tr"])
def test_number_of_components_with_parameters_is_bounded_in_every_section(flag):
    request = Request("GET", URL, [("x", "a")])
    response = Response(200, [("x", "a")], request=request, trailers=[("x", "a")])
    values = ComponentValues(response, canonicalize(URL))
    read = [component(f'"x"{flag};key="a"') for _ in range(16)]
    assert [values.value(one) for one in read] == ["?1"] * 16
    with pytest.raises(UnresolvableComponent, match="more than 16 covered components have parameters"):
        [values.value(one) for one in read]
