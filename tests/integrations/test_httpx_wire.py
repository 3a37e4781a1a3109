"""The bytes on the wire are the bytes that were signed."""

from __future__ import annotations

import ssl

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.integrations.capture import capturing, certify, lead
from tests.integrations.clients import HTTP_2, LIBRARIES, MEANS, TRUST
from tests.integrations.http2 import MOVED, capturing_http2
from tests.integrations.seller import KEYID, is_accepted, make_signer, make_verifier

from undersigned import Request, SigningError, UndersignedError, canonicalize

every_means = pytest.mark.parametrize("means", MEANS, ids=str)
sync_means = pytest.mark.parametrize("means", [means for means in MEANS if not means.asynchronous], ids=str)


@pytest.mark.parametrize(
    ("typed", "target"),
    [
        ("", "/"),
        ("?", "/?"),
        ("?q", "/?q"),
        ("/p?", "/p?"),
        ("/p??", "/p??"),
        ("/p#fragment", "/p"),
        ("/a%2Fb//c?x=a+b&y=%7e", "/a%2Fb//c?x=a+b&y=%7e"),
        ("/%7euser/%c3%a9", "/~user/%C3%A9"),
        ("/a/./b/../c", "/a/c"),
        ("/caf\u00e9?q=\u00e9", "/caf%C3%A9?q=%C3%A9"),
        ("/a b?c d", "/a%20b?c%20d"),
        ("/100%25?50%25", "/100%25?50%25"),
        ("//evil.example/p", "//evil.example/p"),
        ("/a;b=c;?d;e", "/a;b=c;?d;e"),
        ("/a:b@c!$&'()*+,;=", "/a:b@c!$&'()*+,;="),
    ],
)
@every_means
def test_target_on_the_wire_equals_the_signed_target(means, typed, target):
    with capturing() as capture:
        origin = f"http://127.0.0.1:{capture.port}"
        means.send("GET", f"{origin}{typed}", signer=make_signer(), origins=[origin])
    assert capture.only.target == target
    assert capture.only.lines("host") == [f"127.0.0.1:{capture.port}"]
    assert canonicalize(f"{origin}{target}").target_uri == f"{origin}{target}"
    assert is_accepted(capture.only)


CHARACTERS = '/[x]{y}|^`"<>?[x]{y}|^`"<>&50%'


@every_means
def test_characters_that_no_url_may_have_are_not_signed_by_default(means):
    origin = "http://seller.example.com"
    with pytest.raises(SigningError, match="url: it would be rejected: "):
        means.send("GET", f"{origin}{CHARACTERS}", signer=make_signer(), origins=[origin])


@every_means
def test_characters_that_no_url_may_have_are_signed_as_httpx_sends_them(means):
    with capturing() as capture:
        origin = f"http://127.0.0.1:{capture.port}"
        means.send("GET", f"{origin}{CHARACTERS}", signer=make_signer(check_limits=False), origins=[origin])
    target = f"{origin}{capture.only.target}"
    assert canonicalize(target).target_uri == target
    assert is_accepted(capture.only)


@pytest.mark.parametrize(
    ("typed", "canonical"),
    [
        ("seller.example.com", "seller.example.com"),
        ("SELLER.Example.COM", "seller.example.com"),
        ("seller.example.com.", "seller.example.com"),
        ("user:secret@seller.example.com", "seller.example.com"),
        ("b\u00fccher.example", "xn--bcher-kva.example"),
        ("B\u00dcCHER.example", "xn--bcher-kva.example"),
        ("xn--bcher-kva.EXAMPLE", "xn--bcher-kva.example"),
    ],
)
@every_means
def test_host_on_the_wire_is_the_canonical_authority(monkeypatch, means, typed, canonical):
    with capturing() as capture:
        lead(monkeypatch, canonical, capture.port, capture.port)
        origin = f"http://{canonical}:{capture.port}"
        means.send("GET", f"http://{typed}:0{capture.port}/p", signer=make_signer(), origins=[origin])
    assert capture.only.lines("host") == [f"{canonical}:{capture.port}"]
    assert b"secret" not in capture.only.head
    assert is_accepted(capture.only)


@pytest.mark.parametrize("port", [":80", "", ":080", ":"])
@sync_means
def test_default_port_is_left_out(monkeypatch, means, port):
    with capturing() as capture:
        lead(monkeypatch, "seller.example.com", 80, capture.port)
        origins = ["http://seller.example.com"]
        means.send("GET", f"http://seller.example.com{port}/p", signer=make_signer(), origins=origins)
    assert capture.only.lines("host") == ["seller.example.com"]
    assert is_accepted(capture.only)


@pytest.mark.parametrize("port", [":443", ""])
@sync_means
def test_https_leaves_out_its_port(monkeypatch, tmp_path, means, port):
    tls, trusted = certify(tmp_path, "seller.example.com")
    options = {"verify": ssl.create_default_context(cafile=trusted)}
    with capturing(tls=tls) as capture:
        lead(monkeypatch, "seller.example.com", 443, capture.port)
        url = f"https://Seller.example.com{port}/a%2Fb//c?x"
        origins = ["https://seller.example.com:443"]
        means.send("POST", url, signer=make_signer(), origins=origins, options=options, json={"a": 1})
    assert (capture.only.target, capture.only.lines("host")) == ("/a%2Fb//c?x", ["seller.example.com"])
    assert is_accepted(capture.only, "https")


@every_means
def test_host_in_another_spelling_is_sent_in_canonical_form(means):
    with capturing() as capture:
        origin = f"http://127.0.0.1:{capture.port}"
        headers = {"Host": f"127.0.0.1:0{capture.port}"}
        means.send("GET", origin, signer=make_signer(), origins=[origin], headers=headers)
    assert capture.only.lines("host") == [f"127.0.0.1:{capture.port}"]


@every_means
def test_ipv6_address_keeps_its_brackets(means):
    with capturing(host="::1") as capture:
        origin = f"http://[::1]:{capture.port}"
        means.send("GET", f"{origin}/p", signer=make_signer(), origins=[origin])
    assert capture.only.lines("host") == [f"[::1]:{capture.port}"]
    assert is_accepted(capture.only)


@every_means
def test_proxy_gets_the_canonical_url(means):
    with capturing() as capture:
        options = {"proxy": f"http://127.0.0.1:{capture.port}"}
        url = "http://Seller.example.com:80/%7ea/./b?q=+"
        means.send("GET", url, signer=make_signer(), origins=["http://seller.example.com"], options=options)
    assert capture.only.target == "http://seller.example.com/~a/b?q=+"
    assert capture.only.lines("host") == ["seller.example.com"]


@every_means
def test_http_2_sends_the_authority_without_a_host_field(means):
    with capturing_http2() as capture:
        options = {"signer": make_signer(), "origins": [capture.origin], "options": HTTP_2}
        means.send("POST", f"{capture.origin}/%7ea?", json={"a": 1}, **options)
    named = capture.sent[0].named
    assert (named[":authority"], named[":path"]) == (f"127.0.0.1:{capture.port}", "/~a?")
    assert "host" not in named
    assert capture.signers() == [KEYID]


@every_means
def test_http_2_signs_a_redirect_for_its_own_target(means):
    with capturing_http2([MOVED]) as capture:
        options = {
            "signer": make_signer(),
            "origins": [capture.origin],
            "options": {**HTTP_2, "follow_redirects": True},
        }
        means.send("POST", f"{capture.origin}/p", json={"a": 1}, **options)
    assert [sent.named[":path"] for sent in capture.sent] == ["/p", "/n"]
    assert capture.signers() == [KEYID, KEYID]


@pytest.mark.parametrize("library", LIBRARIES)
@given(typed=st.text(st.characters(codec="utf-8"), max_size=40))
def test_sending_changes_nothing_of_any_target_that_was_signed(library, typed):
    plain, signed = LIBRARIES[library]
    origin = "http://seller.example.com"
    auth = signed.SignatureAuth(make_signer(), origins=[origin])
    try:
        request = plain.Request("GET", f"{origin}/{typed}")
        next(auth.auth_flow(request))
    except (UndersignedError, plain.InvalidURL):
        return
    written = f"{origin}{request.url.raw_path.decode('ascii')}"
    assert written == str(request.url) == canonicalize(written).target_uri
    assert make_verifier().verify(Request("GET", written, request.headers.multi_items())).keyid == KEYID


@pytest.mark.parametrize("library", LIBRARIES)
def test_proxy_from_the_environment_gets_the_canonical_url(monkeypatch, library):
    plain, signed = LIBRARIES[library]
    with capturing() as capture:
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{capture.port}")
        auth = signed.SignatureAuth(make_signer(), origins=["http://seller.example.com"])
        with plain.Client(auth=auth, verify=TRUST) as client:
            client.get("http://Seller.example.com:80/%7ea/./b?q")
    assert capture.only.target == "http://seller.example.com/~a/b?q"
    assert capture.only.lines("host") == ["seller.example.com"]


@every_means
def test_cookies_and_content_type_are_signed_as_they_are_sent(means):
    with capturing() as capture:
        origin = f"http://127.0.0.1:{capture.port}"
        signer = make_signer(components=["cookie"])
        options = {"cookies": {"b": "2"}}
        means.send("POST", origin, signer=signer, origins=[origin], options=options, data={"a": "1"})
    assert capture.only.lines("cookie") == ["b=2"]
    assert capture.only.lines("content-type") == ["application/x-www-form-urlencoded"]
    assert is_accepted(capture.only)
