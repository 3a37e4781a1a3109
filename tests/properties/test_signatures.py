"""What was signed is what is verified, and nothing else is."""

from __future__ import annotations

import contextlib

from hypothesis import assume, given
from hypothesis import strategies as st
from tests.keys import (
    EC_KEY,
    FULL,
    JSON_FIELD,
    KEY,
    NOW,
    b64url,
    covering,
    digest_of,
    hostile_request,
    replace_parts,
    signer,
    verifier,
    with_field,
)
from tests.properties.strategies import (
    PRINTABLE,
    any_text,
    bodies,
    component_names,
    fields,
    media_types,
    methods,
    nonces,
    parameter_sets,
    urls,
)
from tests.verification.stages import screen_request

from undersigned import MalformedURL, Request, SignatureError, VerifiedSignature, canonicalize, profiles
from undersigned.signature import UnresolvableComponent

all_profiles = st.sampled_from([profiles.ADCP_3_2, profiles.ADCP_3_1, profiles.ADCP_WEBHOOK])
signing_keys = st.sampled_from([KEY, EC_KEY])


@st.composite
def signed_requests(draw, profile=all_profiles):
    """A request signed by one of the profiles, some of its own fields covered, and the profile."""
    chosen = draw(profile)
    given_fields = [*draw(fields), ("Content-Type", draw(media_types))]
    covered = draw(st.lists(st.sampled_from([name for name, _ in given_fields[:-1]] or ["content-type"]), unique=True))
    unsigned = Request(draw(methods), draw(urls()), given_fields, draw(bodies))
    added = signer(chosen, key=draw(signing_keys), components=["content-digest", "content-type", *covered]).sign(
        unsigned,
        nonce=b64url(draw(nonces)),
        created=NOW - draw(st.integers(0, 360)),
        label=draw(st.sampled_from(["sig1", "other"])),
    )
    return Request(unsigned.method, unsigned.url, [*given_fields, *added], unsigned.body), chosen


@given(signed_requests())
def test_signed_request_verifies(drawn):
    request, profile = drawn
    verified = verifier(profile).verify(request)
    target = canonicalize(request.url)
    assert (verified.method, verified.target_uri, verified.authority) == (
        request.method,
        target.target_uri,
        target.authority,
    )


def replace_character(text: str, position: int, char: str) -> str:
    position %= max(len(text), 1)
    return text[:position] + char + text[position + 1 :]


@given(signed_requests(), st.data())
def test_covered_byte_cannot_be_changed(drawn, data):
    request, profile = drawn
    position, char = data.draw(st.integers(0, 2000)), data.draw(st.sampled_from(PRINTABLE))
    part = data.draw(st.sampled_from(["method", "url", "body", *dict.fromkeys(name for name, _ in request.fields)]))
    covered = screen_request(request, profile, now=NOW).coverage.components
    if part == "body":
        octet = data.draw(st.binary(min_size=1, max_size=1))
        place = position % (len(request.body) + 1)
        body = request.body[:place] + octet + request.body[place + data.draw(st.integers(0, 1)) :]
        assume(body != request.body)
        other = replace_parts(request, body=body)
    elif part == "method":
        other = replace_parts(request, method=replace_character(request.method, position, char))
        assume(other.method != request.method)
    elif part == "url":
        other = replace_parts(request, url=replace_character(request.url, position, char))
        with contextlib.suppress(MalformedURL):
            assume(canonicalize(other.url) != canonicalize(request.url))
    else:
        assume(part in {"signature", "signature-input"} or part in {component.name for component in covered})
        place = data.draw(st.sampled_from([at for at, (name, _) in enumerate(request.fields) if name == part]))
        lines = list(request.fields)
        lines[place] = (part, replace_character(lines[place][1], position, char))
        other = replace_parts(request, fields=lines)
        assume(other.fields.combined.get(part) != request.fields.combined.get(part))
    try:
        verified = verifier(profile).verify(other)
    except SignatureError:
        return
    raise AssertionError((part, verified))


@given(signed_requests(), st.data())
def test_covered_field_line_cannot_be_added_or_removed(drawn, data):
    request, profile = drawn
    covered = [component.name for component in screen_request(request, profile, now=NOW).coverage.components]
    names = [name for name in covered if not name.startswith("@")] + ["signature", "signature-input", "host"]
    name = data.draw(st.sampled_from(names))
    if data.draw(st.booleans()) and name != "host":
        other = with_field(request, name, None)
    else:
        other = replace_parts(request, fields=[*request.fields, (name, data.draw(st.text(PRINTABLE, max_size=5)))])
    try:
        verified = verifier(profile).verify(other)
    except SignatureError:
        return
    # A Host that names the URL's authority in other words is the one line that adds nothing.
    assert name == "host"
    assert verified.authority == canonicalize(request.url).authority


# Any request at all


def outcome(request: Request, profile) -> VerifiedSignature | SignatureError:
    try:
        return verifier(profile).verify(request)
    except SignatureError as error:
        rejection = error
    assert rejection.code.startswith(profile.answers.prefix)
    assert rejection.explain().isascii()
    return rejection


hostile_fields = st.lists(
    st.tuples(
        st.sampled_from(["Signature", "Signature-Input", "Content-Type", "Content-Digest", "Host", ":authority"])
        | any_text,
        any_text,
    ),
    max_size=6,
)


@given(any_text, any_text, hostile_fields, bodies, all_profiles)
def test_any_unsigned_request_is_rejected_with_our_error(method, url, headers, body, profile):
    assert isinstance(outcome(Request(method, url, headers, body), profile), SignatureError)


@given(signed_requests(), st.data())
def test_signed_request_with_hostile_text_is_rejected_or_unchanged(drawn, data):
    request, profile = drawn
    before = screen_request(request, profile, now=NOW)
    base = verifier(profile).verify(request).signature_base
    lines = list(request.fields)
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(lines) - 1))
        name, value = lines[place]
        start, end = sorted([data.draw(st.integers(0, len(value))), data.draw(st.integers(0, len(value)))])
        lines[place] = (name, value[:start] + data.draw(any_text) + value[end:])
    lines += data.draw(hostile_fields)
    result = outcome(replace_parts(request, fields=lines), profile)
    if isinstance(result, VerifiedSignature):
        assert result.signature_base == base
        assert result.nonce == before.nonce


@given(
    st.lists(st.tuples(component_names, parameter_sets), max_size=4),
    parameter_sets,
    hostile_fields,
    bodies,
    st.sampled_from([profiles.ADCP_3_2, profiles.ADCP_3_1]),
    urls(),
)
def test_signed_input_is_accepted_or_rejected_with_our_error(components, extra, headers, body, profile, url):
    import http_sf  # noqa: PLC0415 - only to write what a client could write

    listed = [f'"{name}"' for name in FULL] + [http_sf.ser(item) for item in components]
    claim = covering(*listed) + http_sf.ser((1, extra))[1:]
    given_fields = [JSON_FIELD, ("content-digest", digest_of(body, encoding=profile.digest.encodings[-1])), *headers]
    try:
        request = hostile_request(Request("POST", url, given_fields, body), claim, encoding=profile.encoding)
    except (UnresolvableComponent, ValueError):
        request = Request("POST", url, [*given_fields, ("signature-input", claim), ("signature", "sig1=:AAAA:")], body)
    result = outcome(request, profile)
    if isinstance(result, VerifiedSignature):
        assert result.components[:5] == tuple(f'"{name}"' for name in FULL)
