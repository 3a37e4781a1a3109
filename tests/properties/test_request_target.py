from __future__ import annotations

from urllib.parse import unquote_to_bytes

from hypothesis import given
from hypothesis import strategies as st
from tests.properties.strategies import any_text, thorough, urls

from undersigned import ConfigurationError, MalformedURL, canonicalize
from undersigned.origins import Origin, Origins
from undersigned.request_target import RequestTarget, application_path

PREFIXED = Origin("https", "h", "/api")
raw_targets = st.binary(max_size=40) | st.text("/a.%2eEfF?&=;#~ \\", max_size=30).map(lambda text: f"/{text}".encode())


@thorough
@given(raw_targets, st.sampled_from([Origin("https", "h"), PREFIXED]))
def test_any_octets_are_a_target_in_origin_form_or_refused(raw, origin):
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


@thorough
@given(any_text, any_text, any_text)
def test_any_decoded_parts_are_rebuilt_or_refused(script, path, query):
    try:
        target = RequestTarget.reconstruct(script, path, query)
    except MalformedURL:
        return
    assert target.path == script + path
    assert target.query == (query or None)


@thorough
@given(any_text)
def test_any_authority_finds_an_origin_or_none_or_is_refused(authority):
    try:
        found = Origins(["https://h", "http://other:8080"]).match(authority)
    except MalformedURL:
        return
    assert found is None or found.authority in {"h", "other:8080"}


@thorough
@given(urls() | any_text)
def test_any_text_is_an_origin_or_refused(text):
    try:
        origin = Origin.parse(text)
    except ConfigurationError:
        return
    assert Origin.parse(str(origin)) == origin
    assert Origins([text]).match(origin.authority) == origin
