"""A request that was changed after it was signed is not sent; one that is sent twice is signed twice."""

from __future__ import annotations

import asyncio
import io
import ssl

import pytest
from tests.integrations.capture import BUSY, DROPPED, capturing, certify, tunnelling
from tests.integrations.clients import BY_AUTH, BY_TRANSPORT, HTTP_2, LIBRARIES, MEANS
from tests.integrations.http2 import BUSY as BUSY_HTTP_2
from tests.integrations.http2 import capturing_http2
from tests.integrations.seller import KEYID, AsyncKey, is_accepted, make_signer, make_verifier

from undersigned import Signer, SigningError, profiles

every_means = pytest.mark.parametrize("means", MEANS, ids=str)
by_auth = pytest.mark.parametrize("means", BY_AUTH, ids=str)
by_transport = pytest.mark.parametrize("means", BY_TRANSPORT, ids=str)
both_libraries = pytest.mark.parametrize("library", LIBRARIES)
CHANGED = r"changed after it was signed, .*; change header fields in place"


def hook_options(means, hook):
    """The client options for a request hook."""

    async def asynchronous(request):
        hook(request)

    return {"event_hooks": {"request": [asynchronous if means.asynchronous else hook]}}


class Passing:
    """A transport around another one: it changes each request, and sends it until it is answered with 200."""

    def __init__(self, means, inner, change=lambda request: request, times=1):
        self._means, self._inner, self._change, self._times = means, inner, change, times

    def handle_request(self, request):
        error = LIBRARIES[self._means.library][0].TransportError
        for left in reversed(range(self._times)):
            try:
                answer = self._inner.handle_request(self._change(request))
            except error:
                continue
            if answer.status_code == 200 or not left:
                return answer
            answer.close()
        raise AssertionError("no attempt was answered")

    async def handle_async_request(self, request):
        error = LIBRARIES[self._means.library][0].TransportError
        for left in reversed(range(self._times)):
            try:
                answer = await self._inner.handle_async_request(self._change(request))
            except error:
                continue
            if answer.status_code == 200 or not left:
                return answer
            await answer.aclose()
        raise AssertionError("no attempt was answered")

    def __getattr__(self, name):
        return getattr(self._inner, name)

    def __enter__(self):
        self._inner.__enter__()
        return self

    def __exit__(self, *raised):
        self._inner.__exit__(*raised)

    async def __aenter__(self):
        await self._inner.__aenter__()
        return self

    async def __aexit__(self, *raised):
        await self._inner.__aexit__(*raised)


def copying(means):
    """Copy a request with its header fields, as transports do that add to them."""
    plain = LIBRARIES[means.library][0]

    def copied(request):
        return plain.Request(
            request.method,
            request.url,
            headers=plain.Headers(request.headers),
            stream=request.stream,
            extensions=request.extensions,
        )

    return copied


def replacing(**changes):
    def change(request):
        for name, value in changes.items():
            if name == "fields":
                request.headers.update(value)
            else:
                setattr(request, name, value)
        return request

    return change


def put(means, capture, **options):
    origin = f"http://127.0.0.1:{capture.port}"
    options = {"json": {"a": 1}, "signer": make_signer(), "origins": [origin], **options}
    return means.send("PUT", f"{origin}/p?q", **options)


def verify_sent(capture):
    verifier = make_verifier()
    return [verifier.verify(sent.request()).keyid for sent in capture.sent]


# Hooks


@by_auth
def test_request_hook_that_copies_header_fields_is_rejected_before_sending(means):
    def copy(request):
        request.headers = LIBRARIES[means.library][0].Headers(request.headers)

    with capturing() as capture, pytest.raises(SigningError, match=CHANGED):
        put(means, capture, options=hook_options(means, copy))
    assert capture.sent == []


@pytest.mark.parametrize(
    "change",
    [
        replacing(method="POST"),
        replacing(url="http://127.0.0.1/other"),
        replacing(fields={"Host": "other.example.com"}),
        replacing(fields={"Content-Type": "text/plain"}),
        replacing(fields={"Signature": "sig1=:AAAA:"}),
        replacing(fields={"Content-Digest": "sha-256=:AAAA:"}),
    ],
)
@by_auth
def test_request_hook_that_changes_what_is_covered_is_rejected_before_sending(means, change):
    def hook(request):
        plain = LIBRARIES[means.library][0]
        port = request.url.port
        change(request)
        request.url = plain.URL(request.url).copy_with(port=port)

    with capturing() as capture, pytest.raises(SigningError, match=CHANGED):
        put(means, capture, options=hook_options(means, hook))
    assert capture.sent == []


@every_means
def test_request_hook_may_add_a_field_that_is_not_covered(means):
    def add(request):
        request.headers["X-Added"] = "1"
        request.headers.update({"X-Also": "2"})

    with capturing() as capture:
        put(means, capture, options=hook_options(means, add))
    assert (capture.only.lines("x-added"), capture.only.lines("x-also")) == (["1"], ["2"])
    assert verify_sent(capture) == [KEYID]


@by_transport
def test_request_hook_that_copies_header_fields_is_signed_by_the_transport(means):
    def copy(request):
        request.headers = LIBRARIES[means.library][0].Headers(request.headers)

    with capturing() as capture:
        put(means, capture, options=hook_options(means, copy))
    assert verify_sent(capture) == [KEYID]


# Transports around the one that sends


@by_auth
def test_transport_that_copies_what_the_auth_signed_is_rejected_before_sending(means):
    with capturing() as capture, pytest.raises(SigningError, match=CHANGED):
        put(means, capture, sending=lambda inner: Passing(means, inner, copying(means)))
    assert capture.sent == []


@by_transport
def test_transport_that_copies_inside_the_signing_one_sends_the_signature(means):
    with capturing() as capture:
        put(means, capture, sending=lambda inner: Passing(means, inner, copying(means)))
    assert verify_sent(capture) == [KEYID]


@by_transport
def test_transport_that_drops_the_signature_inside_the_signing_one_is_rejected_before_sending(means):
    def drop(request):
        del request.headers["Signature"]
        return request

    with capturing() as capture, pytest.raises(SigningError, match=CHANGED):
        put(means, capture, sending=lambda inner: Passing(means, inner, drop))
    assert capture.sent == []


# Retries


@every_means
def test_transport_that_retries_below_the_signature_sends_a_new_one_each_time(means):
    content = io.BytesIO(b"ab\x00\xff" * 20_000)
    for parts in ({"json": {"a": 1}}, {"json": None, "files": {"f": content}}, {"json": None}):
        with capturing(first=[BUSY, DROPPED]) as capture:
            put(means, capture, sending=lambda inner: Passing(means, inner, times=3), **parts)
        assert verify_sent(capture) == [KEYID] * 3
        assert len({tuple(sent.lines("signature-input")) for sent in capture.sent}) == 3
        assert len({sent.body for sent in capture.sent}) == 1


@every_means
def test_transport_that_changes_each_attempt_sends_a_new_signature_for_it(means):
    def change(request):
        if "X-Attempt" in request.headers:
            request.headers["Content-Type"] = "text/plain"
        request.headers["X-Attempt"] = "1"
        return request

    with capturing(first=[BUSY]) as capture:
        put(means, capture, sending=lambda inner: Passing(means, inner, change, times=2))
    assert verify_sent(capture) == [KEYID] * 2
    assert capture.sent[1].lines("content-type") == ["text/plain"]


@pytest.mark.parametrize("headers", [{}, {"Transfer-Encoding": "chunked"}], ids=["a length", "chunked"])
@every_means
def test_transport_that_retries_with_content_of_its_own_is_rejected(means, headers):
    plain, attempts = LIBRARIES[means.library][0], []

    def copied(request):
        attempts.append(request)
        if len(attempts) == 1:
            return request
        kept = [
            (name, value) for name, value in request.headers.multi_items() if not headers or name != "content-length"
        ]
        parts = {"headers": [*kept, *headers.items()], "extensions": request.extensions}
        return plain.Request(request.method, request.url, stream=plain.ByteStream(b'{"a":2}'), **parts)

    with (
        capturing(first=[BUSY]) as capture,
        pytest.raises(SigningError, match="content: a transport sends the request"),
    ):
        put(means, capture, sending=lambda inner: Passing(means, inner, copied, times=2))
    assert verify_sent(capture) == [KEYID]


@pytest.mark.parametrize("http2", [False, True])
@pytest.mark.parametrize("means", [means for means in MEANS if means.asynchronous], ids=str)
def test_retry_below_the_signature_awaits_the_key_over_http_1_1_only(means, http2):
    signer = Signer(AsyncKey(), profile=profiles.ADCP_3_2)
    options = {"signer": signer, "sending": lambda inner: Passing(means, inner, times=2)}
    if not http2:
        with capturing(first=[BUSY]) as capture:
            put(means, capture, **options)
        assert verify_sent(capture) == [KEYID] * 2
        return
    with (
        capturing_http2([BUSY_HTTP_2]) as capture,
        pytest.raises(SigningError, match="a redirect or a retry over HTTP/2 cannot await the key"),
    ):
        put(means, capture, options=HTTP_2, **options)
    assert capture.signers() == [KEYID]


@every_means
def test_retry_below_the_signature_is_signed_over_http_2(means):
    with capturing_http2([BUSY_HTTP_2]) as capture:
        put(means, capture, options=HTTP_2, sending=lambda inner: Passing(means, inner, times=2))
    assert capture.signers() == [KEYID] * 2


@both_libraries
def test_transport_that_retries_around_the_signing_one_signs_each_attempt(library):
    plain, signed = LIBRARIES[library]
    means = BY_TRANSPORT[0] if library == "httpx" else BY_TRANSPORT[-1]
    with capturing(first=[BUSY, DROPPED]) as capture:
        origin = f"http://127.0.0.1:{capture.port}"
        signing = signed.SignatureTransport(plain.HTTPTransport(), make_signer(), origins=[origin])
        with plain.Client(transport=Passing(means, signing, times=3)) as client:
            assert client.post(f"{origin}/p", json={"a": 1}).status_code == 200
    assert verify_sent(capture) == [KEYID] * 3
    assert len({sent.body for sent in capture.sent}) == 1


# What is checked where


@pytest.mark.parametrize("means", [means for means in MEANS if not means.asynchronous], ids=str)
def test_request_through_a_tunnel_is_checked_as_it_is_sent(tmp_path, means):
    tls, trusted = certify(tmp_path, "seller.example.com")
    with capturing(tls=tls) as capture, tunnelling(capture.port) as proxy:
        verify = ssl.create_default_context(cafile=trusted)
        options = {"verify": verify, "proxy": f"http://127.0.0.1:{proxy}"}
        origin = "https://seller.example.com"
        means.send("POST", f"{origin}/p", signer=make_signer(), origins=[origin], options=options, json={"a": 1})
    assert is_accepted(capture.only, "https")


@every_means
def test_trace_extension_of_the_caller_is_called_each_time_the_request_is_sent(means):
    events = []

    def trace(event, info):
        events.append((event, sorted(info)))

    async def asynchronous(event, info):
        trace(event, info)

    with capturing() as capture:
        extensions = {"trace": asynchronous if means.asynchronous else trace}
        put(means, capture, times=2, extensions=extensions)
    assert events.count(("http11.send_request_headers.started", ["request"])) == 2
    assert verify_sent(capture) == [KEYID] * 2


@both_libraries
def test_auth_checks_a_transport_without_httpcore_after_sending(library):
    plain, signed = LIBRARIES[library]
    origin, sent = "https://seller.example.com", []

    def answer(request):
        sent.append(request)
        location = {"Location": "/next"} if request.url.path == "/go" else {}
        return plain.Response(302 if location else 200, headers=location)

    def ask(path, hook=None, **signing):
        auth = signed.SignatureAuth(make_signer(), origins=[origin], **signing)
        options = {"transport": plain.MockTransport(answer), "event_hooks": {"request": [hook] if hook else []}}
        with plain.Client(auth=auth, follow_redirects=True, **options) as client:
            return client.get(f"{origin}{path}")

    def copy(request):
        request.headers = plain.Headers(request.headers)

    assert ask("/p").status_code == 200
    assert sent[-1].headers["Signature"]
    with pytest.raises(SigningError, match=CHANGED):
        ask("/p", copy)
    with pytest.raises(SigningError, match="a redirect is followed"):
        ask("/go")
    assert ask("/go", follow_unsigned=True).status_code == 200
    assert "Signature" not in sent[-1].headers


@both_libraries
def test_auth_checks_an_async_transport_without_httpcore_after_sending(library):
    plain, signed = LIBRARIES[library]
    origin = "https://seller.example.com"

    async def copy(request):
        request.headers = plain.Headers(request.headers)

    async def ask():
        auth = signed.SignatureAuth(make_signer(), origins=[origin])
        transport = plain.MockTransport(lambda _: plain.Response(200))
        async with plain.AsyncClient(auth=auth, transport=transport, event_hooks={"request": [copy]}) as client:
            await client.get(origin)

    with pytest.raises(SigningError, match=CHANGED):
        asyncio.run(ask())
