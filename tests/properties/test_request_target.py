from __future__ import annotations

import itertools
import re
from string import hexdigits
from typing import TYPE_CHECKING
from urllib.parse import unquote_to_bytes

from hypothesis import given
from hypothesis import strategies as st
from tests.properties.strategies import any_text, urls

from undersigned import ConfigurationError, MalformedURL, Request, canonicalize
from undersigned.message import HeaderFields
from undersigned.message.request_target import RequestTarget, application_path
from undersigned.url import ADCP_RECEIVED, URL, CanonicalURL, Origin, Origins

if TYPE_CHECKING:
    from collections.abc import Callable

PREFIXED = Origin("https", "h", "/api")
raw_targets = st.binary(max_size=40) | st.text("/a.%2eEfF?&=;#~ \\[]|^`{", max_size=30).map(
    lambda text: f"/{text}".encode()
)


@given(raw_targets, st.sampled_from([Origin("https", "h"), PREFIXED]))
def test_any_octets_are_a_target_in_origin_form_or_rejected(raw, origin):
    try:
        target = RequestTarget.parse(raw)
    except MalformedURL:
        return
    query = "" if target.query is None else f"?{target.query}"
    assert f"{target.path}{query}".encode() == raw
    assert target.is_path(unquote_to_bytes(target.path))
    try:
        canonical = canonicalize(target.url(origin), received=True)
        path = application_path(canonical, origin)
    except MalformedURL:
        return
    assert canonical.authority == "h"
    assert canonical.query == target.query
    assert origin.prefix + path == canonical.path


def by_the_rules(url: str) -> CanonicalURL:
    value = URL.parse(url)
    for rule in ADCP_RECEIVED:
        value = rule.apply(value)
    return CanonicalURL(str(value), value.authority or "")


def canonical_or_error(url: Callable[[], CanonicalURL]) -> CanonicalURL | tuple[str, str]:
    try:
        return url()
    except MalformedURL as malformed:
        return malformed.rule, str(malformed)


ORIGINS = [
    *("https://h", "https://h/api", "http://h:8443/a/%C3%A9", "http://[2001:db8::1]:80"),
    "https://bücher.example",
]
escapes = st.sampled_from([*(f"%{code:02X}" for code in range(256)), *(f"%{code:02x}" for code in range(256))])
segments = st.lists(st.text("ab.:;=@[]|", max_size=4) | escapes | st.sampled_from([".", "..", "", "%2e"]), max_size=3)


@given(
    st.lists(segments.map("".join), max_size=6).map("/".join),
    st.none() | st.lists(st.text("ab/?.{}`=&", max_size=4) | escapes, max_size=4).map("".join),
    st.sampled_from(ORIGINS),
)
def test_request_at_an_origin_has_the_canonical_form_of_its_url(path, query, at):
    origin = Origin.parse(at)
    target = RequestTarget.parse(f"/{path}{'' if query is None else f'?{query}'}".encode())
    request = Request.unread("GET", target, origin, HeaderFields(), has_body=False, query_unknown=False)
    expected = canonical_or_error(lambda: canonicalize(target.url(origin), received=True))
    assert request.url == target.url(origin)
    assert canonical_or_error(request.canonical_url) == expected
    assert canonical_or_error(lambda: by_the_rules(request.url)) == expected


def test_request_at_an_origin_has_the_canonical_form_of_each_escape():
    for first, second in itertools.product(hexdigits, repeat=2):
        target = RequestTarget.parse(f"/a%{first}{second}b".encode())
        request = Request.unread("GET", target, PREFIXED, HeaderFields(), has_body=False, query_unknown=False)
        assert request.canonical_url() == by_the_rules(request.url)


UNRESERVED = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
PCHAR = {*UNRESERVED, *"!$&'()*+,;=", ":", "@", *"[]^|"}
"""The characters of a path by RFC 3986, and those that clients send raw and servers hand over unchanged."""


def by_the_grammar(raw: bytes) -> tuple[str, str | None] | None:
    """The path and query of `raw`, a character at a time (RFC 3986 sections 3.3 and 3.4, widened), or None."""
    path, mark, query = raw.decode("latin-1").partition("?")
    for part, also in ((path, "/"), (query, "/?`{}")):
        at = 0
        while at < len(part):
            if part[at] == "%" and len(part) > at + 2 and set(part[at + 1 : at + 3]) <= set(hexdigits):
                at += 3
            elif part[at] in PCHAR or part[at] in also:
                at += 1
            else:
                return None
    return (path, query if mark else None) if path[:1] == "/" else None


def assert_read_by_the_grammar(raw: bytes) -> None:
    try:
        target = RequestTarget.parse(raw)
    except MalformedURL:
        assert by_the_grammar(raw) is None, raw
    else:
        assert (target.path, target.query) == by_the_grammar(raw), raw


def test_every_octet_is_read_as_the_grammar_reads_it():
    for octet in range(256):
        for before in (b"/p", b"/p?", b"/p?a=1&b=", b"/%2", b"/p?%2"):
            assert_read_by_the_grammar(before + bytes([octet]))


@given(raw_targets | st.text("/?%aF0", max_size=12).map(lambda text: f"/{text}".encode()))
def test_pattern_reads_what_the_grammar_reads(raw):
    assert_read_by_the_grammar(raw)


@given(any_text, any_text, any_text)
def test_any_decoded_parts_are_rebuilt_or_rejected(script, path, query):
    try:
        target = RequestTarget.reconstruct(script, path, query)
    except MalformedURL:
        return
    assert target.path == script + path
    assert target.query == (query or None)


@given(any_text)
def test_any_authority_matches_an_origin_or_none_or_is_rejected(authority):
    try:
        found = Origins(["https://h", "http://other:8080"]).match(authority)
    except MalformedURL:
        return
    assert found is None or found.authority in {"h", "other:8080"}


tenant_labels = st.sampled_from([
    "a", "A", "xn--mnchen-3ya", "XN--", "", "-", "_", "*", "%61", "\xe9", "\u3002", ".", "..", ":", "@", "#", "1",
    "[::1]",
])  # fmt: skip


@given(st.lists(tenant_labels, max_size=4), st.sampled_from(["", ".", ":443", ":80", ".:443", ":", ":0443", "\n"]))
def test_any_authority_of_a_tenant_has_exactly_one_label_before_the_pattern(labels, end):
    authority = ".".join([*labels, "Example.com"]) + end
    try:
        found = Origins(["https://*.example.com"]).match(authority)
    except MalformedURL:
        return
    if found is not None:
        label, _, base = found.authority.partition(".")
        assert base == "example.com"
        assert label == authority.lower().partition(".")[0]
        assert re.fullmatch("[a-z0-9_-]{1,63}", label)


@given(urls() | any_text)
def test_any_text_is_an_origin_or_rejected(text):
    try:
        origin = Origin.parse(text)
    except ConfigurationError:
        return
    assert Origin.parse(str(origin)) == origin
    assert Origins([text]).match(origin.authority) == origin
