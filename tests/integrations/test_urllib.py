"""urllib: the handler signs every request of an opener, and says what it cannot sign."""

from __future__ import annotations

import contextlib
import io
import json
from http.cookiejar import CookieJar
from urllib.error import HTTPError, URLError
from urllib.request import (
    BaseHandler,
    HTTPBasicAuthHandler,
    HTTPCookieProcessor,
    HTTPPasswordMgrWithDefaultRealm,
    HTTPRedirectHandler,
    HTTPSHandler,
    ProxyHandler,
    Request,
    build_opener,
)

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.integrations.capture import BUSY, DROPPED, capturing, certify, lead, tunnelling
from tests.integrations.seller import CREDENTIALS, KEYID, AsyncKey, is_accepted, make_signer, make_verifier, selling

from undersigned import ConfigurationError, MalformedURL, Signer, SigningError, UndersignedError, canonicalize, profiles
from undersigned_urllib import SignatureHandler

ORIGIN = "http://seller.example.com"
JSON = {"Content-Type": "application/json"}
CONTENT = b"ab\x00\xff" * 20_000
BODY = b'{"a": 1}'


class Stream:
    """A stream that can be read once, as a pipe."""

    def __init__(self, content: bytes) -> None:
        self.read = io.BytesIO(content).read


def opener(origin, *handlers, signer=None, **options):
    origins = origin if isinstance(origin, list) else [origin]
    return build_opener(
        ProxyHandler({}), SignatureHandler(signer or make_signer(), origins=origins, **options), *handlers
    )


def send(url, origin, *handlers, times=1, **parts):
    options = {name: parts.pop(name) for name in ("signer", "follow_unsigned", "max_spooled") if name in parts}
    request = Request(url, **parts)  # noqa: S310 - a loopback URL
    opened = opener(origin, *handlers, **options)
    for _ in range(times):
        with opened.open(request, timeout=10) as response:
            content = response.read()
    return content


def send_once(target="/p", *handlers, **parts):
    with capturing() as capture:
        origin = f"http://127.0.0.1:{capture.port}"
        send(f"{origin}{target}", origin, *handlers, **parts)
    assert is_accepted(capture.only)
    return capture.only


@pytest.mark.parametrize(
    ("typed", "target"),
    [
        ("", "/"),
        ("?", "/?"),
        ("/p?", "/p?"),
        ("/p??", "/p??"),
        ("/p#fragment", "/p"),
        ("/a%2Fb//c?x=a+b&y=%7e", "/a%2Fb//c?x=a+b&y=%7e"),
        ("/%7euser/%c3%a9", "/~user/%C3%A9"),
        ("/a/./b/../c", "/a/c"),
        ("/p[|^]?a[]=1|2^`{}", "/p[|^]?a[]=1|2^`{}"),
        ("//evil.example/p", "//evil.example/p"),
        ("/a:b@c!$&'()*+,;=", "/a:b@c!$&'()*+,;="),
    ],
)
def test_target_on_the_wire_equals_the_signed_target(typed, target):
    sent = send_once(typed)
    assert sent.target == target


@given(typed=st.text(st.characters(codec="utf-8"), max_size=40))
def test_urllib_changes_nothing_of_any_target_that_was_signed(typed):
    handler = SignatureHandler(make_signer(), origins=[ORIGIN])
    try:
        request = handler.http_request(Request(f"{ORIGIN}/{typed}"))  # noqa: S310 - it is not opened
    except UndersignedError:
        return
    assert f"{ORIGIN}{request.selector}" == request.full_url == canonicalize(request.full_url).target_uri


@pytest.mark.parametrize(
    ("typed", "canonical"),
    [
        ("SELLER.Example.COM", "seller.example.com"),
        ("seller.example.com.", "seller.example.com"),
        ("user:secret@seller.example.com", "seller.example.com"),
        ("b\u00fccher.example", "xn--bcher-kva.example"),
    ],
)
def test_host_on_the_wire_is_the_canonical_authority(monkeypatch, typed, canonical):
    with capturing() as capture:
        lead(monkeypatch, canonical, capture.port, capture.port)
        send(f"http://{typed}:0{capture.port}/p", f"http://{canonical}:{capture.port}")
    assert capture.only.lines("host") == [f"{canonical}:{capture.port}"]
    assert b"secret" not in capture.only.head
    assert is_accepted(capture.only)


def test_host_in_another_spelling_is_sent_in_canonical_form():
    with capturing() as capture:
        origin = f"http://127.0.0.1:{capture.port}"
        send(origin, origin, headers={"Host": f"127.0.0.1:0{capture.port}"})
    assert capture.only.lines("host") == [f"127.0.0.1:{capture.port}"]


def test_host_of_another_authority_is_rejected():
    with pytest.raises(SigningError, match="Host is not the URL's authority"):
        send(ORIGIN, ORIGIN, headers={"Host": "other.example.com"})


@pytest.mark.parametrize(
    ("body", "content"),
    [
        (BODY, BODY),
        (b"", b""),
        (bytearray(CONTENT), CONTENT),
        (memoryview(CONTENT), CONTENT),
        (io.BytesIO(CONTENT), CONTENT),
        (io.BytesIO(), b""),
        (Stream(CONTENT), CONTENT),
        ([CONTENT[:9], CONTENT[9:]], CONTENT),
        ((chunk for chunk in [CONTENT]), CONTENT),
    ],
    ids=["bytes", "empty", "bytearray", "memoryview", "file", "empty file", "pipe", "list", "generator"],
)
def test_content_on_the_wire_is_the_signed_content(body, content):
    sent = send_once(data=body, headers=JSON)
    assert (sent.body, sent.method, sent.lines("content-type")) == (content, "POST", ["application/json"])
    assert sent.lines("transfer-encoding") == []


def test_content_that_is_sent_in_chunks_is_signed():
    sent = send_once(data=BODY, headers={**JSON, "Transfer-Encoding": "chunked"})
    assert (sent.body, sent.lines("transfer-encoding")) == (BODY, ["chunked"])


def test_default_content_type_is_signed():
    assert send_once(data=b"a=1").lines("content-type") == ["application/x-www-form-urlencoded"]


def test_file_is_sent_from_where_it_was_each_time(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"skipped" + CONTENT)
    with capturing() as capture, path.open("rb") as file:
        file.seek(7)
        origin = f"http://127.0.0.1:{capture.port}"
        send(origin, origin, data=file, headers=JSON, times=2, max_spooled=0)
    assert [sent.body for sent in capture.sent] == [CONTENT] * 2
    assert_each_is_fresh(capture.sent, 2)


def test_file_that_changed_is_not_sent_to_its_end():
    class Changing(io.BytesIO):
        def seek(self, offset, whence=0):
            self.getbuffer()[0:1] = b"x"
            return super().seek(offset, whence)

    with capturing() as capture:
        origin = f"http://127.0.0.1:{capture.port}"
        with pytest.raises(SigningError, match="content: the file changed after it was signed"):
            send(origin, origin, data=Changing(CONTENT), headers=JSON)
    assert capture.sent == []


def test_stream_above_the_limit_is_rejected():
    with pytest.raises(SigningError, match="content: the stream has more than 3 bytes"):
        send(ORIGIN, ORIGIN, data=[b"four"], headers=JSON, max_spooled=3)


def test_given_signature_fields_are_replaced():
    sent = send_once(headers={"Signature": "x", "SIGNATURE-INPUT": "y", "Content-Digest": "z", "X-Kept": b"1"})
    assert [len(sent.lines(name)) for name in ("signature", "signature-input", "content-digest")] == [1, 1, 0]
    assert sent.lines("x-kept") == ["1"]


def test_cookies_and_the_fields_of_the_opener_are_signed():
    jar = HTTPCookieProcessor(CookieJar())
    setting = b"HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    with capturing(first=[setting]) as capture:
        origin = f"http://127.0.0.1:{capture.port}"
        send(origin, origin, jar)
        send(origin, origin, jar, signer=make_signer(components=["cookie", "user-agent", "host"]))
    assert capture.sent[1].lines("cookie") == ["a=1"]
    assert_each_is_fresh(capture.sent, 2)


def test_proxy_from_the_environment_gets_the_canonical_url(monkeypatch):
    with capturing() as proxy:
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{proxy.port}")
        opened = build_opener(SignatureHandler(make_signer(), origins=[ORIGIN]))
        opened.open(f"{ORIGIN}:80/%7ea/./b?q", timeout=10).close()
    assert (proxy.only.target, proxy.only.lines("host")) == (f"{ORIGIN}/~a/b?q", ["seller.example.com"])


def test_request_that_is_opened_again_for_its_proxy_is_signed_once_more():
    class Reopening(BaseHandler):
        """As a proxy of another type makes urllib do."""

        handler_order = 100

        def http_open(self, req):
            if req.has_proxy():
                return None
            req.set_proxy(f"127.0.0.1:{proxy.port}", "http")
            return self.parent.open(req, timeout=10)

    with capturing() as proxy:
        send(f"{ORIGIN}/%7ea", ORIGIN, Reopening())
    assert (proxy.only.target, proxy.only.lines("host")) == (f"{ORIGIN}/~a", ["seller.example.com"])


def test_request_through_a_tunnel_is_signed(tmp_path):
    import ssl  # noqa: PLC0415

    tls, trusted = certify(tmp_path, "seller.example.com")
    handler = HTTPSHandler(context=ssl.create_default_context(cafile=trusted))
    origin = "https://seller.example.com"
    with capturing(tls=tls) as capture, tunnelling(capture.port) as proxy:
        proxied = ProxyHandler({"https": f"http://127.0.0.1:{proxy}"})
        signing = SignatureHandler(make_signer(), origins=[origin])
        build_opener(signing, proxied, handler).open(f"{origin}/%7ep", timeout=10).close()
    assert (capture.only.target, capture.only.lines("host")) == ("/~p", ["seller.example.com"])
    assert is_accepted(capture.only, "https")


@pytest.fixture(scope="module")
def sellers():
    with selling("optional") as seller, selling("optional") as other:
        yield seller, other


@pytest.mark.parametrize(
    ("method", "status"),
    [*[("GET", status) for status in (301, 302, 303, 307, 308)], *[("POST", status) for status in (301, 302, 303)]],
)
def test_redirect_within_the_origin_is_signed_for_its_own_target_and_method(seller, status, method):
    parts = {"data": BODY, "headers": JSON} if method == "POST" else {}
    assert json.loads(send(seller.go(status, "/next"), seller.origin, **parts)) == {"keyid": KEYID}
    first, second = seller.arrivals
    assert [first.keyid, second.keyid, second.method, second.target] == [KEYID, KEYID, "GET", "/next"]
    assert first.fields["signature-input"] != second.fields["signature-input"]
    assert "content-digest" not in second.fields


def test_redirect_that_urllib_does_not_follow_is_its_error(seller):
    with pytest.raises(HTTPError) as caught:
        send(seller.go(307, "/next"), seller.origin, data=BODY, headers=JSON)
    caught.value.close()
    assert caught.value.code == 307


@pytest.mark.parametrize("unsigned", [False, True])
@pytest.mark.parametrize("data", [None, BODY], ids=["GET", "POST"])
def test_redirect_to_another_listed_origin_is_signed_for_its_own_target_and_method(seller, other, data, unsigned):
    url, origins = seller.go(302, f"{other.origin}/%7enext?a=b"), [seller.origin, other.origin]
    given = {**JSON, **CREDENTIALS, "Host": f"127.0.0.1:{seller.port}"}
    answer = send(url, origins, data=data, headers=given, follow_unsigned=unsigned)
    (first,), (second,) = seller.arrivals, other.arrivals
    assert json.loads(answer) == {"keyid": KEYID}
    assert (second.method, second.target, second.body) == ("GET", "/~next?a=b", b"")
    assert (first.has_credentials, second.has_credentials) == (True, False)


def test_redirect_to_an_origin_that_is_not_listed_is_not_followed_unless_unsigned(seller, other):
    url = seller.go(302, other.go(302, "/next"))
    with pytest.raises(SigningError, match=r"redirect.*pass follow_unsigned=True to follow"):
        send(url, seller.origin)
    assert other.arrivals == []
    given = {"Signature": "a=:AAAA:", "X-Kept": "1", "Host": f"127.0.0.1:{seller.port}", **CREDENTIALS}
    send(url, seller.origin, headers=given, follow_unsigned=True)
    assert [(arrival.bare, arrival.has_credentials) for arrival in other.arrivals] == [(True, False)] * 2
    assert [arrival.fields["host"] for arrival in other.arrivals] == [f"127.0.0.1:{other.port}"] * 2
    assert other.arrivals[0].fields["x-kept"] == "1"


def test_redirect_within_the_origin_keeps_the_credentials(seller):
    send(seller.go(302, "/next"), seller.origin, headers=CREDENTIALS)
    assert [arrival.has_credentials for arrival in seller.arrivals] == [True, True]


def test_redirect_from_an_unsigned_origin_is_not_signed(seller, other):
    url = seller.go(302, f"{other.origin}/go/302?to={seller.origin}/order")
    send(url, seller.origin, follow_unsigned=True)
    assert [arrival.bare for arrival in (*seller.arrivals, *other.arrivals)] == [False, True, True]


@pytest.mark.parametrize("unsigned", [False, True])
def test_redirect_to_another_scheme_is_not_followed(seller, unsigned):
    with pytest.raises(MalformedURL):
        send(seller.go(302, "ftp://127.0.0.1/"), seller.origin, follow_unsigned=unsigned)


def test_redirect_without_a_request_to_follow_is_left_to_other_handlers():
    class Declining(HTTPRedirectHandler):
        def redirect_request(self, *_):
            return None

    class Staying(SignatureHandler, Declining):
        pass

    answer = b"HTTP/1.1 302 Found\r\nLocation: /n\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    with capturing(answer=answer) as capture:
        origin = f"http://127.0.0.1:{capture.port}"
        opened = build_opener(Staying(make_signer(), origins=[origin]))
        with pytest.raises(HTTPError) as caught:
            opened.open(origin, timeout=10)
        caught.value.close()


def test_request_that_is_opened_again_has_a_signature_of_its_own():
    with capturing(first=[DROPPED, BUSY]) as capture:
        origin = f"http://127.0.0.1:{capture.port}"
        request = Request(f"{origin}/p", BODY, JSON)  # noqa: S310 - a loopback URL
        opened = opener(origin)
        for failure in (OSError, HTTPError):
            with pytest.raises(failure) as caught:
                opened.open(request, timeout=10)
            with contextlib.suppress(AttributeError):
                assert caught.value.headers["Retry-After"] == "0"
                caught.value.close()
        opened.open(request, timeout=10).close()
    assert_each_is_fresh(capture.sent, 3)


def test_request_that_another_handler_repeats_has_a_signature_of_its_own():
    asking = b'HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm="r"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n'
    with capturing(first=[asking]) as capture:
        origin = f"http://127.0.0.1:{capture.port}"
        passwords = HTTPPasswordMgrWithDefaultRealm()
        passwords.add_password(None, origin, "user", "secret")
        send(f"{origin}/p", origin, HTTPBasicAuthHandler(passwords), data=BODY, headers=JSON)
    assert [bool(sent.lines("authorization")) for sent in capture.sent] == [False, True]
    assert_each_is_fresh(capture.sent, 2)


def assert_each_is_fresh(sent, attempts):
    verifier = make_verifier()
    assert [verifier.verify(one.request()).keyid for one in sent] == [KEYID] * attempts


def test_origin_that_is_not_listed_is_rejected():
    with pytest.raises(SigningError, match=r"origins: http://seller\.example\.com is not listed"):
        send(ORIGIN, "https://seller.example.com")


def test_url_that_urllib_rejects_is_not_signed():
    with pytest.raises((MalformedURL, URLError)):
        send("http:///p", ORIGIN)


def test_async_key_is_rejected():
    with pytest.raises(ConfigurationError, match="its sign method is async; use a client for asyncio"):
        send(ORIGIN, ORIGIN, signer=Signer(AsyncKey(), profile=profiles.ADCP_3_2))


def test_wrong_option_is_rejected_at_construction():
    with pytest.raises(ConfigurationError, match="signer: pass a Signer"):
        SignatureHandler("a signer", origins=[ORIGIN])
