from __future__ import annotations

from typing import NamedTuple
from urllib.parse import quote, urlencode

import pytest
from http_message_signatures import HTTPMessageSignaturesException, HTTPSignatureComponentResolver
from hypothesis import assume, given, reject
from hypothesis import strategies as st
from tests.properties.strategies import (
    PRINTABLE,
    TOKEN,
    any_text,
    bare_items,
    component_names,
    methods,
    parameter_sets,
    urls,
)
from tests.resolver import CanonicalResolver, Lines, Sent, item

from undersigned import MalformedURL, Request, canonicalize
from undersigned.message import Component, Reading, Response
from undersigned.message.signature_input import parse_signature_input
from undersigned.signature import ComponentValues, UnresolvableComponent

QUERY_NAMES = st.sampled_from(["a", "b", "a b", "~", "ü", ""])
tokens = st.text(TOKEN, min_size=1, max_size=8)
field_lists = st.lists(
    st.tuples(st.sampled_from(["a", "b", "A", "set-cookie"]) | tokens, any_text | st.text(PRINTABLE))
)


@given(
    methods,
    urls(),
    field_lists,
    component_names | tokens | st.sampled_from(["a", "b", "set-cookie", "@scheme"]),
    st.sampled_from(["", ";bs"]),
)
def test_value_equals_that_of_the_resolver(method, url, fields, name, parameter):
    request, target = Request(method, url, fields), canonicalize(url)
    assert_resolver_agrees(request, target, Component(name, f'"{name}"{parameter}', bare=not parameter))


@given(urls(), st.lists(st.tuples(QUERY_NAMES, any_text | st.text(PRINTABLE)), max_size=3), QUERY_NAMES)
def test_query_parameter_equals_the_resolver(url, pairs, name):
    target = canonicalize(f"{url.partition('#')[0].partition('?')[0]}?{urlencode(pairs, errors='replace')}")
    encoded = quote(name, safe="*").replace("~", "%7E")
    component = Component("@query-param", f'"@query-param";name="{encoded}"', bare=False)
    assert_resolver_agrees(Request("GET", url), target, component)


@given(
    st.lists(
        st.sampled_from(["a", "b=1", "b=?0;c", "c=( x  y;a);b", "d=:AA==:", "a=1.50", "e=%", 'f="\\""', "\r\n b", "é"])
    ),
    st.sampled_from(["a", "b", "c", "d", "f", "none", "A", ""]),
)
def test_dictionary_member_equals_the_resolver(members, key):
    request, target = Request("GET", "https://h/", [("x", member) for member in members]), canonicalize("https://h/")
    assert_resolver_agrees(request, target, Component("x", f'"x";key="{key}"', bare=False))


def assert_resolver_agrees(request, target, component):
    # The library unfolds lines and takes any name. Such fields are rejected before a component is resolved.
    assume(request.fields.are_valid)
    try:
        expected = CanonicalResolver(request, target).resolve(item(component))
    except (HTTPMessageSignaturesException, TypeError, ValueError):
        expected = None
    try:
        value = ComponentValues(request, target, reading=Reading(repeated_keys=True)).value(component)
    except UnresolvableComponent:
        assert expected is None or not (expected.isascii() and expected.replace("\t", " ").isprintable())
        return
    assert value == expected


@given(methods, urls(), field_lists)
def test_every_derived_value_comes_from_the_canonical_target(method, url, fields):
    target = canonicalize(url)
    values = ComponentValues(Request(method, url, fields), target)
    canonical = ComponentValues(Request(method, target.target_uri), target)
    for name in ("@method", "@target-uri", "@authority", "@scheme", "@request-target", "@path", "@query"):
        component = Component(name, f'"{name}"', bare=True)
        assert values.value(component) == canonical.value(component)


@given(any_text, urls(), st.lists(st.tuples(any_text, any_text)), component_names, parameter_sets)
def test_value_is_printable_ascii_or_rejected(method, url, fields, name, parameters):
    import http_sf  # noqa: PLC0415 - only the text of one component

    component = Component(name, http_sf.ser((name, parameters)), not parameters)
    try:
        value = ComponentValues(Request(method, url, fields), canonicalize(url)).value(component)
    except UnresolvableComponent:
        return
    assert value.isascii()
    assert value.replace("\t", " ").isprintable()


@given(urls(), st.lists(st.tuples(st.sampled_from(["host", ":authority", "x"]), any_text), max_size=3))
def test_authority_matches_or_is_rejected(url, fields):
    try:
        target = Request("GET", url, fields).received_target()
    except MalformedURL:
        return
    assert target == canonicalize(url)
    assert sum(name == "host" for name, _ in fields) <= 1


@given(urls(), st.sampled_from(["host", ":authority"]))
def test_authority_of_the_url_matches_itself(url, name):
    target = canonicalize(url)
    assert Request("GET", url, [(name, target.authority)]).received_target() == target
    assume(target.port is None)
    port = {"https": 443, "http": 80}[target.scheme]
    assert Request("GET", url, [(name, f"{target.authority.upper()}:{port}")]).received_target() == target


@given(urls(), bare_items)
def test_query_parameter_is_covered_once_in_whatever_encoding(url, name):
    import http_sf  # noqa: PLC0415 - only the text of one component

    values = ComponentValues(Request("GET", url), canonicalize(url))
    component = Component("@query-param", http_sf.ser(("@query-param", {"name": name})), bare=False)
    try:
        values.value(component)
    except UnresolvableComponent:
        return
    assert name.isascii()
    assert " " not in name


class Answered(NamedTuple):
    """A response as http-message-signatures takes it."""

    status_code: int
    headers: Lines
    request: Sent


VALUES = st.sampled_from(["a=1, b=(x y);z", "b", "1", "a, b", 'a="q"', "a=?0;x", " x ", ""])
FIELDS = st.lists(st.tuples(st.sampled_from(["x-a", "x-b", "cache-control", "content-digest"]), VALUES), max_size=4)
IDENTIFIERS = st.lists(
    st.builds(
        lambda name, flags: ";".join([f'"{name}"', *flags]),
        st.sampled_from(["@status", "@method", "@path", "@query", "@authority", "@scheme", "@request-target"])
        | st.sampled_from(["x-a", "x-b", "cache-control", "content-digest"]),
        st.sampled_from(
            [(), ("req",), ("bs",), ("sf",), ('key="a"',), ('key="b"', "req"), ("sf", "req"), ("sf", "bs")]
        ),
    ),
    max_size=4,
    unique=True,
)


@given(FIELDS, FIELDS, urls(), IDENTIFIERS)
def test_base_of_a_response_equals_the_one_of_http_message_signatures(fields, asked, url, identifiers):
    target = canonicalize(url)
    components = parse_signature_input(f"s=({' '.join(identifiers)})")["s"].components
    sent = Sent("POST", target.target_uri, Lines(tuple(asked)))
    try:
        HTTPSignatureComponentResolver(sent)
    except HTTPMessageSignaturesException:
        # It rejects a percent sign that is not part of an escape.
        reject()
    library = HTTPSignatureComponentResolver(Answered(200, Lines(tuple(fields)), sent))
    request = Request("POST", url, asked)
    reading = Reading(repeated_keys=True)
    values = ComponentValues(Response(200, fields, request=request), target, reading=reading)
    for component in components:
        try:
            expected = library.resolve(item(component))
        except (HTTPMessageSignaturesException, TypeError):
            with pytest.raises(UnresolvableComponent):
                values.value(component)
        else:
            assert values.value(component) == expected
