"""The bytes on the wire are the bytes that were signed."""

from __future__ import annotations

import pytest
import requests
import urllib3.util.url
from hypothesis import given
from hypothesis import strategies as st
from tests.integrations.capture import capturing, certify, lead
from tests.integrations.seller import KEYID, is_accepted, make_signer, make_verifier

from undersigned import Request, UndersignedError, canonicalize
from undersigned_requests import SignatureAuth


@pytest.mark.parametrize(
    ("typed", "target"),
    [
        ("", "/"),
        ("/", "/"),
        ("?", "/"),
        ("?q", "/?q"),
        # requests drops a lone question mark before any auth sees the URL: it is neither sent nor signed.
        ("/p?", "/p"),
        ("/p??", "/p??"),
        ("/p#fragment", "/p"),
        # requests decodes the unreserved characters of a query as well.
        ("/a%2Fb//c?x=a+b&y=%7e", "/a%2Fb//c?x=a+b&y=~"),
        ("/%7euser/%c3%a9", "/~user/%C3%A9"),
        ("/a/./b/../c", "/a/c"),
        ("/a/%2e%2e/c", "/c"),
        ("/a/..", "/"),
        ("/caf\u00e9?q=\u00e9", "/caf%C3%A9?q=%C3%A9"),
        ("/a b?c d", "/a%20b?c%20d"),
        ('/[x]|{y}^`"<>?[x]|{y}', "/%5Bx%5D%7C%7By%7D%5E%60%22%3C%3E?%5Bx%5D%7C%7By%7D"),
        ("/100%?50%", "/100%25?50%25"),
        ("//evil.example/p", "//evil.example/p"),
        ("/a;b=c;?d;e", "/a;b=c;?d;e"),
        ("/a:b@c!$&'()*+,;=", "/a:b@c!$&'()*+,;="),
    ],
)
def test_target_on_the_wire_equals_the_signed_target(typed, target):
    with capturing() as capture:
        origin = f"http://127.0.0.1:{capture.port}"
        requests.get(f"{origin}{typed}", auth=SignatureAuth(make_signer(), origins=[origin]), timeout=10)
    assert capture.only.target == target
    assert capture.only.lines("host") == [f"127.0.0.1:{capture.port}"]
    assert canonicalize(f"{origin}{target}").target_uri == f"{origin}{target}"
    assert is_accepted(capture.only)


@pytest.mark.parametrize("typed", ["/p?", "/a/./b", "/%7Eb", "/[x]", "/%zz", "/p#f"])
def test_url_set_by_hand_is_signed_as_it_is_sent(typed):
    with capturing() as capture, requests.Session() as session:
        origin = f"http://127.0.0.1:{capture.port}"
        request = requests.Request("GET", origin).prepare()
        request.url = f"{origin}{typed}"
        session.send(SignatureAuth(make_signer(), origins=[origin])(request), timeout=10)
    assert f"{origin}{capture.only.target}" == request.url
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
        ("stra\u00dfe.example", "xn--strae-oqa.example"),
    ],
)
@pytest.mark.parametrize("port", [":80", "", ":080", ":"])
def test_host_on_the_wire_is_the_canonical_authority(monkeypatch, typed, canonical, port):
    with capturing() as capture:
        lead(monkeypatch, canonical, 80, capture.port)
        auth = SignatureAuth(make_signer(), origins=[f"http://{canonical}"])
        requests.get(f"http://{typed}{port}/p", auth=auth, timeout=10)
    assert capture.only.lines("host") == [canonical]
    assert capture.only.lines("authorization") == []
    assert is_accepted(capture.only)


def test_host_in_another_spelling_is_sent_in_canonical_form(monkeypatch):
    with capturing() as capture:
        lead(monkeypatch, "seller.example.com", 80, capture.port)
        auth = SignatureAuth(make_signer(), origins=["http://seller.example.com"])
        requests.get("http://seller.example.com/", headers={"Host": "Seller.Example.com:80"}, auth=auth, timeout=10)
    assert capture.only.lines("host") == ["seller.example.com"]


@pytest.mark.parametrize("port", [":443", ""])
def test_https_leaves_out_its_port(monkeypatch, tmp_path, port):
    tls, trusted = certify(tmp_path, "seller.example.com")
    with capturing(tls=tls) as capture:
        lead(monkeypatch, "seller.example.com", 443, capture.port)
        auth = SignatureAuth(make_signer(), origins=["https://seller.example.com:443"])
        url = f"https://Seller.example.com{port}/a%2Fb//c?x"
        requests.post(url, json={"a": 1}, auth=auth, verify=str(trusted), timeout=10)
    assert (capture.only.target, capture.only.lines("host")) == ("/a%2Fb//c?x", ["seller.example.com"])
    assert is_accepted(capture.only, "https")


def test_ipv6_address_keeps_its_brackets():
    with capturing(host="::1") as capture:
        origin = f"http://[::1]:{capture.port}"
        auth = SignatureAuth(make_signer(), origins=[origin])
        requests.get(f"{origin}/p", auth=auth, timeout=10)
    assert capture.only.lines("host") == [f"[::1]:{capture.port}"]
    assert is_accepted(capture.only)


def test_proxy_gets_the_canonical_url():
    with capturing() as capture:
        auth = SignatureAuth(make_signer(), origins=["http://seller.example.com"])
        proxies = {"http": f"http://127.0.0.1:{capture.port}"}
        requests.get("http://Seller.example.com:80/%7ea/./b?q=+", auth=auth, proxies=proxies, timeout=10)
    assert capture.only.target == "http://seller.example.com/~a/b?q=+"
    assert capture.only.lines("host") == ["seller.example.com"]


def test_digest_matches_the_bytes_on_the_wire():
    with capturing() as capture:
        origin = f"http://127.0.0.1:{capture.port}"
        auth = SignatureAuth(make_signer(), origins=[origin])
        requests.post(origin, data="\u00fc", headers={"Content-Type": "text/plain"}, auth=auth, timeout=10)
    assert capture.only.body == b"\xc3\xbc"
    assert capture.only.lines("content-length") == ["2"]
    assert is_accepted(capture.only)


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("body", ["", b""])
def test_empty_body_set_by_hand_is_sent_without_content(method, body):
    with capturing() as capture, requests.Session() as session:
        origin = f"http://127.0.0.1:{capture.port}"
        request = requests.Request(method, origin).prepare()
        request.body = body
        request.prepare_auth(SignatureAuth(make_signer(), origins=[origin]))
        session.send(request, timeout=10)
    assert capture.only.lines("transfer-encoding") == []
    assert is_accepted(capture.only)


@given(st.text(st.characters(codec="utf-8"), max_size=40))
def test_sending_changes_nothing_of_any_target_that_was_signed(typed):
    origin = "http://seller.example.com"
    auth = SignatureAuth(make_signer(), origins=[origin])
    try:
        request = requests.Request("GET", f"{origin}/{typed}", auth=auth).prepare()
    except (UndersignedError, requests.RequestException):
        return
    # What urllib3's urlopen does to a target before it writes it. In public that is only seen on the wire.
    written = urllib3.util.url._encode_target(request.path_url)  # noqa: SLF001
    assert f"{origin}{written}" == request.url == canonicalize(request.url).target_uri
    received = Request("GET", request.url, [*request.headers.items(), ("Host", "seller.example.com")])
    assert make_verifier().verify(received).keyid == KEYID


def test_proxy_from_the_environment_gets_the_canonical_url(monkeypatch):
    with capturing() as capture:
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{capture.port}")
        auth = SignatureAuth(make_signer(), origins=["http://seller.example.com"])
        requests.get("http://Seller.example.com:80/%7ea/./b?q", auth=auth, timeout=10)
    assert capture.only.target == "http://seller.example.com/~a/b?q"
    assert capture.only.lines("host") == ["seller.example.com"]


def test_cookies_and_content_type_are_signed_as_they_are_sent():
    with capturing() as capture:
        origin = f"http://127.0.0.1:{capture.port}"
        auth = SignatureAuth(make_signer(components=["cookie"]), origins=[origin])
        requests.post(origin, data={"a": "1"}, cookies={"b": "2"}, auth=auth, timeout=10)
    assert capture.only.lines("cookie") == ["b=2"]
    assert capture.only.lines("content-type") == ["application/x-www-form-urlencoded"]
    assert is_accepted(capture.only)
