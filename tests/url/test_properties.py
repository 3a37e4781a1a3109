"""Properties of every URL."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.url.spellings import hostile, outcome, respellings

from undersigned.url import URL, MalformedURL, canonicalize, canonicalize_authority, same_url


def attempt(url, *, received=False):
    answer = outcome(lambda: canonicalize(url, received=received))
    if not isinstance(answer, MalformedURL):
        return answer
    message = str(answer)
    assert message.isascii()
    assert message.isprintable()
    assert len(message) < 160
    return None


@given(hostile, st.booleans())
@example(url="https://a/\ud800", received=False)
@example(url="https://\ud800/", received=True)
@example(url="\x00", received=False)
def test_any_text_has_a_canonical_form_or_is_malformed(url, received):
    attempt(url, received=received)


@given(hostile)
def test_result_is_a_fixed_point_in_ascii_without_white_space(url):
    canonical = attempt(url)
    if canonical is None:
        return
    target = canonical.target_uri
    assert canonicalize(target) == canonical
    assert canonicalize(target, received=True) == canonical
    assert target.isascii()
    assert target.isprintable()
    assert " " not in target
    assert target.startswith(f"{canonical.scheme}://{canonical.authority}/")
    assert canonicalize_authority(canonical.authority, canonical.scheme) == canonical.authority


@given(hostile)
def test_received_url_has_the_same_form_or_is_rejected(url):
    canonical, received = attempt(url), attempt(url, received=True)
    assert received in {canonical, None}
    if url.isascii():
        assert received == canonical


@given(respellings())
def test_spellings_have_one_form_when_they_differ_only_as_the_rules_allow(pair):
    canonical, other = pair
    assert canonicalize(other).target_uri == canonicalize(canonical).target_uri == canonical
    assert same_url(canonical, other)


AUTHORITIES = st.one_of(
    respellings().map(lambda pair: URL.parse(pair[1]).authority or ""),
    hostile.map(lambda url: url.removeprefix("https://").partition("/")[0]),
    hostile,
    st.text(st.sampled_from("aA0.-_:@/?#%[]\\ ~2eEfF47ghxn\t\x7fé"), max_size=12),
)


@given(AUTHORITIES, st.sampled_from(["https", "http", "HTTPS", "ftp", "", "https://a/"]), st.booleans())
def test_authority_has_the_form_that_it_has_in_a_url_or_is_malformed_as_there(authority, scheme, received):
    found = outcome(lambda: canonicalize_authority(authority, scheme, received=received))
    if scheme == "https://a/" or set("/?#@") & set(authority):
        assert isinstance(found, MalformedURL)
        return
    in_url = outcome(lambda: canonicalize(f"{scheme}://{authority}/", received=received).authority)
    assert found == in_url or type(found) is type(in_url) is MalformedURL


@pytest.mark.parametrize(
    "text",
    [
        *("a" * 100_000, "https://" + "a" * 1_000_000, "https://" + "a." * 500_000, "https://" + "@" * 500_000),
        *("https://" + ":" * 500_000, "https://" + "[" * 500_000, "https://[" + ":" * 500_000 + "]"),
        *("https://ü" + "a" * 500_000, "https://" + "ü." * 300_000, "https://" + "xn--a" * 200_000),
        *("https://a:" + "9" * 500_000, "https://a/" + "%" * 500_000, "https://a/" + "\ud800" * 100_000),
        *("https://" + "xn--mnchen-3ya." * 20_000, "https://[" + "%25" * 100_000 + "]/", "://" * 200_000),
    ],
    ids=lambda text: ascii(text[:16]),
)
def test_giant_malformed_text_raises_only_malformed_url(text):
    with pytest.raises(MalformedURL) as caught:
        canonicalize(text)
    assert len(str(caught.value)) < 160


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/a" * 200_000, "/a" * 200_000),
        ("/" * 500_000, "/" * 500_000),
        ("/a/.." * 100_000, "/"),
        ("/." * 200_000, "/"),
        ("/a" * 100_000 + "/.." * 100_000, "/"),
        ("/" + "%41" * 100_000, "/" + "A" * 100_000),
        ("/" + "%2f" * 100_000, "/" + "%2F" * 100_000),
        ("/?" + "/../" * 100_000, "/?" + "/../" * 100_000),
    ],
    ids=lambda path: path[:8],
)
def test_giant_path_has_a_canonical_form(path, expected):
    assert canonicalize("https://ads.pub.test" + path).target_uri == "https://ads.pub.test" + expected


def test_port_of_a_million_zeros_is_a_number():
    assert canonicalize("https://a:" + "0" * 1_000_000 + "443/").target_uri == "https://a/"
