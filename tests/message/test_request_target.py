from __future__ import annotations

from urllib.parse import unquote_to_bytes

import pytest
from tests.work import lines_run

from undersigned import KeyPair, MalformedURL, MemoryReplayStore, Request, Signer, Verifier, canonicalize
from undersigned.message.request_target import RequestTarget, application_path
from undersigned.profiles import ADCP_3_2
from undersigned.url import Origin

PLAIN = Origin("https", "h")
PREFIXED = Origin("https", "h:8443", "/api")


@pytest.mark.parametrize(
    ("raw", "path", "query"),
    [
        (b"/", "/", None),
        (b"/?", "/", ""),
        (b"/a//b/../%2F%7e;v=1", "/a//b/../%2F%7e;v=1", None),
        (b"/p?a=1?b=/&c=%20", "/p", "a=1?b=/&c=%20"),
        (b"//evil.example/p", "//evil.example/p", None),
        (b"/:@!$&'()*+,;=-._~", "/:@!$&'()*+,;=-._~", None),
        (b"/a[]|^?a[]=1|2^`{}", "/a[]|^", "a[]=1|2^`{}"),
    ],
)
def test_origin_form_is_read_into_path_and_query(raw, path, query):
    target = RequestTarget.parse(raw)
    assert (target.path, target.query) == (path, query)


@pytest.mark.parametrize(
    "raw",
    [
        *(b"", b"*", b"p", b"?a", b"https://h/p", b"h:443", b"/a#b", b"/a?b#", b"/a b", b"/a\\b", b"/\x00", b"/a\n"),
        *(b"\n/a", b"/\x7f", b"/\xc3\xbc", b"/%", b"/%4", b"/%zz", b"/?%", b'/"', b"/<", b"/>", b"/`", b"/{", b"/}"),
        *(b'/?"', b"/?<", b"/?>", b"/?\\"),
    ],
)
def test_target_in_any_other_form_is_rejected(raw):
    with pytest.raises(MalformedURL) as caught:
        RequestTarget.parse(raw)
    assert caught.value.rule == "request target"


@pytest.mark.parametrize(
    ("raw", "origin", "url"),
    [
        (b"/p", PLAIN, "https://h/p"),
        (b"/p?", PLAIN, "https://h/p?"),
        (b"//evil.example/p?q", PLAIN, "https://h//evil.example/p?q"),
        (b"/p?q", PREFIXED, "https://h:8443/api/p?q"),
    ],
)
def test_url_is_the_configured_origin_followed_by_the_target(raw, origin, url):
    assert RequestTarget.parse(raw).url(origin) == url


@pytest.mark.parametrize(
    ("script", "path", "query", "url"),
    [
        ("", "/p", "", "https://h/p"),
        ("/app", "/p", "a=1", "https://h/app/p?a=1"),
        ("/app", "", "", "https://h/app"),
        ("", "/", "%20?", "https://h/?%20?"),
        ("", "/AMZamz059._~/-", "", "https://h/AMZamz059._~/-"),
    ],
)
def test_target_is_rebuilt_when_decoding_cannot_have_changed_it(script, path, query, url):
    assert RequestTarget.reconstruct(script, path, query).url(PLAIN) == url


@pytest.mark.parametrize(
    ("script", "path", "query"),
    [
        *(("", path, "") for path in ("", "p", "/a b", "/a%2Fb", "/ü", "/p\n", "/\ud800")),
        *(("", "/p", query) for query in ("a b", "\xff", "€", "\ud800")),
        ("/;", "/p", ""),
    ],
)
def test_target_that_decoding_may_have_changed_is_not_rebuilt(script, path, query):
    with pytest.raises(MalformedURL):
        RequestTarget.reconstruct(script, path, query)


@pytest.mark.parametrize(
    ("raw", "decoded"),
    [
        (b"/a/b", b"/a/b"),
        (b"/a%2Fb", b"/a/b"),
        (b"/a%2Fb", b"/a%2Fb"),
        (b"/%C3%BC", "/ü".encode()),
        (b"/%FF", b"/\xff"),
        (b"/%FF", "/\ufffd".encode()),
        (b"//a///b", b"/a/b"),
        (b"/a/./b/../c", b"/a/c"),
        (b"/a/..", b"/"),
        (b"/a/.", b"/a/"),
        (b"/../../a", b"/a"),
    ],
)
def test_decoded_path_matches_the_raw_path_it_comes_from(raw, decoded):
    assert RequestTarget.parse(raw).is_path(decoded)
    assert RequestTarget.parse(raw).is_path(b"/other", decoded)


@pytest.mark.parametrize(
    ("raw", "decoded"),
    [*((b"/a", other) for other in (b"/b", b"/A", b"/a/", b"")), (b"/a/", b"/a"), (b"/a/../b", b"/a/b"), (b"/", b"")],
)
def test_decoded_path_does_not_match_when_something_rewrote_it(raw, decoded):
    assert not RequestTarget.parse(raw).is_path(decoded)


def test_decoded_path_matches_nothing_without_a_raw_path():
    assert not RequestTarget.parse(b"/").is_path()


def test_eight_times_the_dot_segments_are_at_most_nine_times_the_work():
    def deep(count: int) -> RequestTarget:
        return RequestTarget("/a" * count + "/.." * count + "/b", None)

    assert deep(800).is_path(b"/b")
    assert lines_run(lambda: deep(800).is_path(b"/b")) <= 9 * lines_run(lambda: deep(100).is_path(b"/b"))


@pytest.mark.parametrize(
    "target",
    [
        *("/" + "a" * 8191, "/a" * 4096, "/%7e" * 2048, "/" + "%e2%82%ac" * 910, "/?" + "%7e" * 2730, "//" * 4096),
        "/a/.." * 1638,
    ],
    ids=lambda target: target[:8],
)
def test_target_of_8192_characters_may_have_anything_in_its_path(target):
    read = RequestTarget.parse(target.encode())
    path, _, query = target.partition("?")
    assert read == RequestTarget(path, query or None)
    assert read.is_path(unquote_to_bytes(path))
    pair = KeyPair.generate(keyid="key")
    request = Request("GET", f"https://h{target}")
    fields = Signer(pair.signing_key(), profile=ADCP_3_2).sign(request)
    verifier = Verifier(ADCP_3_2, keys=pair.key_set(), replay=MemoryReplayStore())
    assert verifier.verify(Request("GET", f"https://h{target}", dict(fields))).keyid == "key"


def test_target_over_the_length_limit_is_rejected():
    assert RequestTarget.parse(b"/" + b"a" * 8999)
    with pytest.raises(MalformedURL, match="the target has 9,001 characters, and at most 9,000 are read") as caught:
        RequestTarget.parse(b"/" + b"a" * 9000)
    assert caught.value.rule == "length"


@pytest.mark.parametrize(
    ("url", "origin", "path"),
    [
        ("https://h/p", PLAIN, "/p"),
        ("https://h:8443/api/p", PREFIXED, "/p"),
        ("https://h:8443/api/", PREFIXED, "/"),
    ],
)
def test_application_sees_its_path_without_the_prefix(url, origin, path):
    assert application_path(canonicalize(url), origin) == path


@pytest.mark.parametrize("path", ["/api", "/apix/p", "/x", "/api/../x", "/"])
def test_path_outside_the_prefix_is_rejected(path):
    with pytest.raises(MalformedURL, match="outside the origin's prefix"):
        application_path(canonicalize(f"https://h:8443{path}"), PREFIXED)
