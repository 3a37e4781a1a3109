from __future__ import annotations

import itertools
import re
from string import hexdigits
from urllib.parse import unquote_to_bytes

from hypothesis import given
from hypothesis import strategies as st
from tests.properties.strategies import any_text, urls

from undersigned import ConfigurationError, MalformedURL, canonicalize
from undersigned.message.request_target import RequestTarget, application_path, percent_decode
from undersigned.url.origin import Origin, Origins

ENCODED = re.compile("(?:[^%]|%[0-9A-Fa-f]{2})*")
PREFIXED = Origin("https", "h", "/api")
raw_targets = st.binary(max_size=40) | st.text("/a.%2eEfF?&=;#~ \\[]|^`{", max_size=30).map(
    lambda text: f"/{text}".encode()
)


@given(st.text(st.characters(codec="utf-8"), max_size=20) | st.text("a=%2eEfFcC3\n _\xe9", max_size=20))
def test_escapes_are_decoded_as_the_standard_library_decodes_them(text):
    assert percent_decode(text) == unquote_to_bytes(text)


def test_target_has_a_percent_sign_only_where_an_escape_begins():
    for characters in itertools.chain.from_iterable(itertools.product("%=4gA", repeat=length) for length in range(6)):
        target = f"/{''.join(characters)}"
        try:
            RequestTarget.parse(target.encode())
        except MalformedURL:
            assert ENCODED.fullmatch(target) is None
        else:
            assert ENCODED.fullmatch(target) is not None


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


def test_every_octet_is_read_as_the_grammar_reads_it():
    for octet in range(256):
        for before in (b"/p", b"/p?", b"/p?a=1&b=", b"/%2", b"/p?%2"):
            raw = before + bytes([octet])
            try:
                target = RequestTarget.parse(raw)
            except MalformedURL:
                assert by_the_grammar(raw) is None, raw
            else:
                assert (target.path, target.query) == by_the_grammar(raw), raw


@given(raw_targets | st.text("/?%aF0", max_size=12).map(lambda text: f"/{text}".encode()))
def test_pattern_reads_what_the_grammar_reads(raw):
    try:
        target = RequestTarget.parse(raw)
    except MalformedURL:
        assert by_the_grammar(raw) is None
    else:
        assert (target.path, target.query) == by_the_grammar(raw)


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


tenant_labels = st.sampled_from(
    [
        "a",
        "A",
        "xn--mnchen-3ya",
        "XN--",
        "",
        "-",
        "_",
        "*",
        "%61",
        "\xe9",
        "\u3002",
        ".",
        "..",
        ":",
        "@",
        "#",
        "1",
        "[::1]",
    ]
)


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
