"""niquests: the adapters sign every attempt of a session, sync and async, and say what they cannot sign."""

from __future__ import annotations

import asyncio
import io
from dataclasses import dataclass

import pytest
from tests.integrations.capture import BUSY, DROPPED, capturing, lead
from tests.integrations.http2 import BUSY as BUSY_HTTP_2
from tests.integrations.http2 import MOVED, capturing_http2
from tests.integrations.seller import CREDENTIALS, KEYID, AsyncKey, is_accepted, make_signer, make_verifier, selling

from undersigned import ConfigurationError, MalformedURL, Signer, SigningError, canonicalize, profiles

pytestmark = pytest.mark.niquests
niquests = pytest.importorskip("niquests", reason="pip install 'undersigned[niquests]'")

from urllib3_future.util import Retry  # noqa: E402 - it comes with niquests

from undersigned_niquests import AsyncSignatureAdapter, SignatureAdapter  # noqa: E402

ORIGIN = "http://seller.example.com"
TEXT = {"Content-Type": "text/plain"}
JSON = {"json": {"a": 1}}
HTTP_2 = {"disable_http1": True}
CONTENT = b"ab\x00\xff" * 20_000


@dataclass(frozen=True)
class Means:
    """A session, sync or async: `send` sends one request, `times` times over, and returns the last response, read."""

    asynchronous: bool

    def __str__(self) -> str:
        return "async" if self.asynchronous else "sync"

    def send(self, method, url, origin, *, signer=None, signing=None, session=None, times=1, **parts):
        origins = origin if isinstance(origin, list) else [origin]
        kind = AsyncSignatureAdapter if self.asynchronous else SignatureAdapter
        adapter = kind(signer or make_signer(), origins=origins, **(signing or {}))
        if self.asynchronous:
            return asyncio.run(self._awaited(adapter, method, url, session or {}, times, parts))
        with niquests.Session(**(session or {})) as client:
            client.mount("http://", adapter)
            for _ in range(times):
                response = client.request(method, url, timeout=10, **parts)
            return response

    async def _awaited(self, adapter, method, url, session, times, parts):
        async with niquests.AsyncSession(**session) as client:
            client.mount("http://", adapter)
            for _ in range(times):
                response = await client.request(method, url, timeout=10, **parts)
            return response


MEANS = [Means(asynchronous=False), Means(asynchronous=True)]


@pytest.fixture(params=MEANS, ids=str)
def means(request):
    return request.param


def send_once(means, method="POST", target="/p", **parts):
    with capturing() as capture:
        origin = f"http://127.0.0.1:{capture.port}"
        means.send(method, f"{origin}{target}", origin, **parts)
    assert is_accepted(capture.only)
    return capture.only


def assert_each_is_fresh(sent, attempts):
    verifier = make_verifier()
    assert [verifier.verify(one.request()).keyid for one in sent] == [KEYID] * attempts


@pytest.mark.parametrize(
    ("typed", "target"),
    [
        ("", "/"),
        ("?q", "/?q"),
        ("/p??", "/p??"),
        ("/p#fragment", "/p"),
        ("/a%2Fb//c?x=a+b&y=%7e", "/a%2Fb//c?x=a+b&y=~"),
        ("/%7euser/%c3%a9", "/~user/%C3%A9"),
        ("/a/./b/../c", "/a/c"),
        ("/caf\u00e9?q=\u00e9", "/caf%C3%A9?q=%C3%A9"),
        ("/a b?c d", "/a%20b?c%20d"),
        ("/p?%7e&%c3%a9&%2f", "/p?%7E&%C3%A9&%2F"),
        ("/p[|^]?a[]=1|2^`{}", "/p%5B%7C%5E%5D?a%5B%5D=1%7C2%5E%60%7B%7D"),
        ("/a:b@c!$&'()*+,;=", "/a:b@c!$&'()*+,;="),
    ],
)
def test_target_on_the_wire_equals_the_signed_target(means, typed, target):
    sent = send_once(means, "GET", typed)
    assert sent.target == target
    assert canonicalize(f"{ORIGIN}{target}").target_uri == f"{ORIGIN}{target}"


def test_empty_query_is_rejected_as_niquests_does_not_send_it(means):
    with pytest.raises(SigningError, match="url: niquests does not send a question mark without a query"):
        means.send("GET", f"{ORIGIN}/p?", ORIGIN)


@pytest.mark.parametrize(
    ("typed", "canonical"),
    [
        ("SELLER.Example.COM", "seller.example.com"),
        ("user:secret@seller.example.com", "seller.example.com"),
        ("b\u00fccher.example", "xn--bcher-kva.example"),
    ],
)
def test_host_on_the_wire_is_the_canonical_authority(monkeypatch, means, typed, canonical):
    with capturing() as capture:
        lead(monkeypatch, canonical, capture.port, capture.port)
        means.send("GET", f"http://{typed}:{capture.port}/p", f"http://{canonical}:{capture.port}")
    assert capture.only.lines("host") == [f"{canonical}:{capture.port}"]
    assert b"secret" not in capture.only.head
    assert is_accepted(capture.only)


def test_host_in_another_spelling_is_sent_in_canonical_form(means):
    with capturing() as capture:
        origin = f"http://127.0.0.1:{capture.port}"
        means.send("GET", origin, origin, headers={"Host": f"127.0.0.1:0{capture.port}"})
    assert capture.only.lines("host") == [f"127.0.0.1:{capture.port}"]


def test_ipv6_address_keeps_its_brackets(means):
    with capturing(host="::1") as capture:
        origin = f"http://[::1]:{capture.port}"
        means.send("GET", f"{origin}/p", origin)
    assert capture.only.lines("host") == [f"[::1]:{capture.port}"]
    assert is_accepted(capture.only)


def test_host_of_another_authority_is_rejected(means):
    with pytest.raises(SigningError, match="Host is not the URL's authority"):
        means.send("GET", ORIGIN, ORIGIN, headers={"Host": "other.example.com"})


@pytest.mark.parametrize(
    ("parts", "content_type", "content"),
    [
        (lambda: {"json": {"a": 1}}, "application/json;charset=utf-8", b'{"a": 1}'),
        (lambda: {"data": {"a": "1"}}, "application/x-www-form-urlencoded", b"a=1"),
        (lambda: {"data": CONTENT, "headers": TEXT}, "text/plain", CONTENT),
        (lambda: {"data": "caf\u00e9", "headers": TEXT}, "text/plain", "caf\u00e9".encode()),
        (lambda: {"data": io.BytesIO(CONTENT), "headers": TEXT}, "text/plain", CONTENT),
        (lambda: {"data": iter([CONTENT[:9], CONTENT[9:]]), "headers": TEXT}, "text/plain", CONTENT),
        (lambda: {"data": iter([]), "headers": TEXT}, "text/plain", b""),
        (dict, None, b""),
    ],
    ids=["json", "form", "bytes", "text", "file", "generator", "empty", "none"],
)
def test_content_on_the_wire_is_the_signed_content(means, parts, content_type, content):
    sent = send_once(means, **parts())
    assert sent.body == content
    assert sent.lines("content-type") == ([content_type] if content_type else [])
    assert bool(sent.lines("content-digest")) == bool(content)


def test_multipart_on_the_wire_is_the_signed_content(means):
    sent = send_once(means, files={"f": ("f", io.BytesIO(CONTENT))})
    assert CONTENT in sent.body


def test_async_generator_is_kept():
    async def chunks():
        yield CONTENT[:9]
        yield CONTENT[9:]

    assert send_once(Means(asynchronous=True), data=chunks(), headers=TEXT).body == CONTENT


def test_stream_above_the_limit_is_rejected(means):
    with pytest.raises(SigningError, match="content: the stream has more than 3 bytes"):
        means.send("POST", ORIGIN, ORIGIN, data=iter([b"four"]), headers=TEXT, signing={"max_spooled": 3})


def test_file_is_sent_from_where_it_was_in_each_attempt(means, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"skipped" + CONTENT)
    with capturing(first=[BUSY]) as capture, path.open("rb") as file:
        file.seek(7)
        origin = f"http://127.0.0.1:{capture.port}"
        signing = {"max_retries": retries(), "max_spooled": 0}
        means.send("POST", origin, origin, signing=signing, data=file, headers=TEXT)
    assert [sent.body for sent in capture.sent] == [CONTENT] * 2
    assert_each_is_fresh(capture.sent, 2)


def test_cookies_of_the_session_are_signed(means):
    sent = send_once(means, "GET", signer=make_signer(components=["cookie"]), cookies={"a": "1"})
    assert sent.lines("cookie") == ["a=1"]


def test_given_signature_fields_are_replaced(means):
    given = {"Signature": "x", "SIGNATURE-INPUT": "y", "Content-Digest": "z", "X-A": b"1"}
    sent = send_once(means, "GET", headers=given)
    assert [len(sent.lines(name)) for name in ("signature", "signature-input", "content-digest", "x-a")] == [1, 1, 0, 1]


def forget_the_environment() -> None:
    """niquests reads the proxies of the environment once."""
    niquests.utils.getproxies.cache_clear()
    niquests.utils.getproxies_environment.cache_clear()


@pytest.fixture
def environment(monkeypatch):
    forget_the_environment()
    yield monkeypatch
    monkeypatch.undo()
    forget_the_environment()


def test_proxy_from_the_environment_gets_the_canonical_url(environment, means):
    with capturing() as proxy:
        environment.setenv("http_proxy", f"http://127.0.0.1:{proxy.port}")
        means.send("GET", f"{ORIGIN}:80/%7ea/./b?q", ORIGIN)
    assert (proxy.only.target, proxy.only.lines("host")) == (f"{ORIGIN}/~a/b?q", ["seller.example.com"])


def retries():
    return Retry(3, status_forcelist=[503], allowed_methods=None, backoff_factor=0)


@pytest.mark.parametrize("first", [[BUSY, BUSY], [DROPPED, DROPPED], [BUSY, DROPPED]], ids=["503", "dropped", "both"])
def test_each_retry_has_its_own_signature(means, first):
    with capturing(first=first) as capture:
        origin = f"http://127.0.0.1:{capture.port}"
        means.send("PUT", f"{origin}/p?q", origin, signing={"max_retries": retries()}, **JSON)
    assert_each_is_fresh(capture.sent, 3)


def test_request_that_is_sent_again_has_its_own_signature(means):
    with capturing() as capture:
        origin = f"http://127.0.0.1:{capture.port}"
        means.send("PUT", f"{origin}/p?q", origin, times=2, **JSON)
    assert_each_is_fresh(capture.sent, 2)


def test_prepared_request_that_is_sent_again_has_its_own_signature():
    with capturing() as capture, niquests.Session() as session:
        origin = f"http://127.0.0.1:{capture.port}"
        session.mount("http://", SignatureAdapter(make_signer(), origins=[origin]))
        request = session.prepare_request(niquests.Request("POST", f"{origin}/p", **JSON))
        for _ in range(2):
            assert "Signature" not in session.send(request).request.headers
    assert_each_is_fresh(capture.sent, 2)


@pytest.fixture(scope="module")
def sellers():
    with selling("optional") as seller, selling("optional") as other:
        yield seller, other


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirect_within_the_origin_is_signed_for_its_own_target_and_method(means, seller, status, method):
    answer = means.send(method, seller.go(status, "/next"), seller.origin, **(JSON if method == "POST" else {}))
    first, second = seller.arrivals
    assert answer.json() == {"keyid": KEYID}
    assert [first.keyid, second.keyid, second.target] == [KEYID, KEYID, "/next"]
    assert first.fields["signature-input"] != second.fields["signature-input"]
    assert ("content-digest" in second.fields) == bool(second.body)


@pytest.mark.parametrize(
    "body", [lambda: io.BytesIO(CONTENT), lambda: iter([CONTENT]), io.BytesIO], ids=["file", "iterator", "empty file"]
)
def test_stream_is_sent_again_after_a_redirect(means, seller, body):
    means.send("POST", seller.go(307, "/next"), seller.origin, data=body(), headers=TEXT)
    first, second = seller.arrivals
    assert first.body == second.body
    assert [first.keyid, second.keyid] == [KEYID, KEYID]


@pytest.mark.parametrize("unsigned", [False, True])
@pytest.mark.parametrize("status", [303, 307])
def test_redirect_to_another_listed_origin_is_signed_for_its_own_target_and_method(
    means, seller, other, status, unsigned
):
    url, origins = seller.go(status, f"{other.origin}/%7enext?a=b"), [seller.origin, other.origin]
    given = {**CREDENTIALS, "Host": f"127.0.0.1:{seller.port}"}
    answer = means.send("POST", url, origins, signing={"follow_unsigned": unsigned}, headers=given, **JSON)
    (first,), (second,) = seller.arrivals, other.arrivals
    assert answer.json() == {"keyid": KEYID}
    assert (second.method, second.target) == ("GET" if status == 303 else "POST", "/~next?a=b")
    assert second.body == (b"" if status == 303 else first.body)
    assert (first.has_credentials, second.has_credentials) == (True, False)


def test_redirect_to_an_origin_that_is_not_listed_is_not_followed_unless_unsigned(means, seller, other):
    url = seller.go(307, other.go(307, "/next"))
    with pytest.raises(SigningError, match=r"redirect.*pass follow_unsigned=True to follow"):
        means.send("POST", url, seller.origin, **JSON)
    assert other.arrivals == []
    given = {"Signature": "a=:AAAA:", "Content-Digest": "x", "X-Kept": "1", "Host": f"127.0.0.1:{seller.port}"}
    unsigned = {"follow_unsigned": True}
    means.send("POST", url, seller.origin, signing=unsigned, headers={**given, **CREDENTIALS}, **JSON)
    assert [(arrival.bare, arrival.has_credentials) for arrival in other.arrivals] == [(True, False)] * 2
    assert [arrival.fields["host"] for arrival in other.arrivals] == [f"127.0.0.1:{other.port}"] * 2
    assert other.arrivals[0].fields["x-kept"] == "1"


def test_redirect_from_an_unsigned_origin_is_not_signed(means, seller, other):
    url = seller.go(307, f"{other.origin}/go/307?to={seller.origin}/order")
    means.send("POST", url, seller.origin, signing={"follow_unsigned": True}, **JSON)
    assert [arrival.bare for arrival in (*seller.arrivals, *other.arrivals)] == [False, True, True]


def test_async_key_is_awaited_by_the_async_adapter_only(means, seller):
    remote = Signer(AsyncKey(), profile=profiles.ADCP_3_2)
    if means.asynchronous:
        assert means.send("POST", f"{seller.origin}/p", seller.origin, signer=remote, **JSON).json() == {"keyid": KEYID}
        return
    with pytest.raises(ConfigurationError, match="its sign method is async; use a client for asyncio"):
        means.send("GET", ORIGIN, ORIGIN, signer=remote)


def test_retry_that_cannot_await_the_key_is_rejected():
    remote = Signer(AsyncKey(), profile=profiles.ADCP_3_2)
    with capturing(first=[BUSY]) as capture:
        origin = f"http://127.0.0.1:{capture.port}"
        with pytest.raises(SigningError, match="retry: niquests repeats a request without awaiting the key"):
            Means(asynchronous=True).send("GET", origin, origin, signer=remote, signing={"max_retries": retries()})
    assert_each_is_fresh(capture.sent, 1)


def test_origin_that_is_not_listed_is_rejected(means):
    with pytest.raises(SigningError, match=r"origins: http://seller\.example\.com is not listed"):
        means.send("GET", ORIGIN, "https://seller.example.com")
    with pytest.raises(MalformedURL):
        means.send("GET", "http://a..b/", ORIGIN)


def test_wrong_option_is_rejected_at_construction(means):
    with pytest.raises(ConfigurationError, match="signer: pass a Signer"):
        means.send("GET", ORIGIN, ORIGIN, signer="a signer")


def test_repr_of_fields_to_write_does_not_sign_them():
    from undersigned_niquests.fields import WireFields  # noqa: PLC0415

    fields = WireFields([("X-A", "1"), (b"X-B", b"2")], lambda: [("Signature", "x")])
    assert repr(fields) == "{'X-A': '1', 'X-B': b'2'}"
    assert dict(fields.copy().items()) == {"X-A": "1", "X-B": b"2", "Signature": "x"}


def test_http_2_sends_what_was_signed(means):
    with capturing_http2() as capture:
        means.send("POST", f"{capture.origin}/%7ea?q", capture.origin, signing=HTTP_2, **JSON)
    named = capture.sent[0].named
    assert (named[":authority"], named[":path"]) == (f"127.0.0.1:{capture.port}", "/~a?q")
    assert "host" not in named
    assert capture.signers() == [KEYID]


def test_http_2_signs_a_redirect_and_a_retry_for_their_own_targets(means):
    with capturing_http2([MOVED, BUSY_HTTP_2]) as capture:
        signing = {**HTTP_2, "max_retries": retries()}
        means.send("POST", f"{capture.origin}/p", capture.origin, signing=signing, **JSON)
    assert [sent.named[":path"] for sent in capture.sent] == ["/p", "/n", "/n"]
    assert capture.signers() == [KEYID] * 3
