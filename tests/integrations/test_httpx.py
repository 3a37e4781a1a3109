"""A verifying seller accepts what the auth and the transports sign; they reject what they cannot sign."""

from __future__ import annotations

import asyncio
import io
import json
import sys
from concurrent.futures import ThreadPoolExecutor

import httpx
import httpx2
import pytest
from tests.integrations.capture import capturing
from tests.integrations.clients import LIBRARIES, MEANS, TRUST
from tests.integrations.seller import KEYID, AsyncKey, make_signer, make_verifier, selling
from tests.serving import waitress_server

import undersigned_httpx
from undersigned import ConfigurationError, MalformedURL, Signer, SigningError, profiles, wsgi

ORIGIN = "https://seller.example.com"
TEXT = {"Content-Type": "text/plain"}
every_means = pytest.mark.parametrize("means", MEANS, ids=str)
both_libraries = pytest.mark.parametrize("library", LIBRARIES)


@pytest.fixture(scope="module")
def seller():
    with selling() as seller:
        yield seller


def sign(means, url, *, method="GET", origins=(ORIGIN,), signer=None, **parts):
    """Sign a request that is never to be sent."""
    return means.send(method, url, signer=signer or make_signer(), origins=list(origins), **parts)


@pytest.mark.parametrize(
    ("method", "parts", "body"),
    [
        ("GET", {}, b""),
        ("POST", {}, b""),
        ("POST", {"content": b""}, b""),
        ("POST", {"json": {"plan": "m"}}, None),
        ("PUT", {"content": "gr\u00fc\u00dfe", "headers": TEXT}, "gr\u00fc\u00dfe".encode()),
        ("PATCH", {"content": b"\x00\xff", "headers": TEXT}, b"\x00\xff"),
        ("POST", {"data": {"a": "1", "b": ["2", "\u00fc"]}}, b"a=1&b=2&b=%C3%BC"),
        ("DELETE", {}, b""),
    ],
)
@every_means
def test_seller_accepts_every_kind_of_content(seller, means, method, parts, body):
    url = f"{seller.origin}/adcp?x=1"
    answer = means.send(method, url, signer=make_signer(), origins=[seller.origin], **parts)
    assert (answer.status_code, answer.json()) == (200, {"keyid": KEYID})
    assert seller.arrivals[-1].body == (answer.request.content if body is None else body)


@every_means
def test_seller_accepts_multipart_content(seller, means):
    parts = {"data": {"id": "1"}, "files": {"file": ("plan.txt", io.BytesIO(b"a plan"), "text/plain")}}
    answer = means.send("POST", f"{seller.origin}/", signer=make_signer(), origins=[seller.origin], **parts)
    assert answer.status_code == 200
    assert b"a plan" in seller.arrivals[-1].body


@pytest.mark.parametrize("chunks", [[b"two ", b"chunks"], []])
@every_means
def test_stream_is_read_and_signed_as_a_whole(seller, means, chunks):
    async def asynchronous():
        for chunk in chunks:
            yield chunk

    content = asynchronous() if means.asynchronous else iter(chunks)
    parts = {"content": content, "headers": TEXT}
    answer = means.send("POST", f"{seller.origin}/", signer=make_signer(), origins=[seller.origin], **parts)
    assert answer.status_code == 200
    assert seller.arrivals[-1].body == b"".join(chunks)


@every_means
def test_wsgi_seller_accepts_the_request(means):
    late = {}

    def front(environ, start_response):
        return late["app"](environ, start_response)

    def hello(environ, start_response):
        content = environ["wsgi.input"].read() + environ["undersigned.signature"].keyid.encode()
        start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(content)))])
        return [content]

    with waitress_server(front) as port:
        origin = f"http://127.0.0.1:{port}"
        late["app"] = wsgi.SignatureMiddleware(hello, verifier=make_verifier(), origins=[origin])
        parts = {"content": b"{}", "headers": {"Content-Type": "application/json"}}
        answer = means.send("POST", f"{origin}/a%2Fb?", signer=make_signer(), origins=[origin], **parts)
    assert (answer.status_code, answer.text) == (200, f"{{}}{KEYID}")


@every_means
def test_request_is_accepted_each_time_it_is_sent(seller, means):
    before = len(seller.arrivals)
    parts = {"json": {"a": 1}, "times": 3}
    means.send("POST", f"{seller.origin}/", signer=make_signer(), origins=[seller.origin], **parts)
    arrived = seller.arrivals[before:]
    assert [arrival.keyid for arrival in arrived] == [KEYID] * 3
    assert len({arrival.fields["signature-input"] for arrival in arrived}) == 3


@every_means
def test_existing_signature_is_replaced(seller, means):
    old = {"Signature": "x=:AAAA:", "Signature-Input": "x=()", "Content-Digest": "sha-256=:AAAA:"}
    answer = means.send("GET", f"{seller.origin}/", signer=make_signer(), origins=[seller.origin], headers=old)
    assert answer.status_code == 200
    assert "content-digest" not in seller.arrivals[-1].fields


@both_libraries
def test_one_auth_signs_for_many_threads(seller, library):
    plain, signed = LIBRARIES[library]
    auth = signed.SignatureAuth(make_signer(), origins=[seller.origin])
    with plain.Client(auth=auth, timeout=30, verify=TRUST) as client, ThreadPoolExecutor(8) as pool:
        answers = pool.map(lambda number: client.post(f"{seller.origin}/", json={"n": number}), range(48))
        assert {answer.status_code for answer in answers} == {200}


@both_libraries
def test_one_transport_signs_for_many_tasks(seller, library):
    plain, signed = LIBRARIES[library]

    async def orders():
        sending = plain.AsyncHTTPTransport(verify=TRUST)
        transport = signed.AsyncSignatureTransport(sending, make_signer(), origins=[seller.origin])
        async with plain.AsyncClient(transport=transport, timeout=30) as client:
            return await asyncio.gather(*[client.post(f"{seller.origin}/", json={"n": n}) for n in range(48)])

    assert {answer.status_code for answer in asyncio.run(orders())} == {200}


@both_libraries
def test_mounted_transport_signs_only_for_its_origin(seller, library):
    plain, signed = LIBRARIES[library]
    transport = signed.SignatureTransport(plain.HTTPTransport(verify=TRUST), make_signer(), origins=[seller.origin])
    with capturing() as capture, plain.Client(mounts={seller.origin: transport}) as client:
        assert client.get(f"{seller.origin}/").status_code == 200
        client.get(f"http://127.0.0.1:{capture.port}/")
    assert capture.only.lines("signature") == []


@pytest.mark.parametrize(
    "url",
    [
        "https://other.example.com/adcp",
        "http://seller.example.com/adcp",
        "https://seller.example.com:8443/adcp",
        "https://seller.example.com.evil.example/adcp",
        "https://seller.example.com@evil.example/adcp",
        "https://xseller.example.com/",
    ],
)
@every_means
def test_origin_that_is_not_listed_is_rejected_with_the_fix(means, url):
    with pytest.raises(SigningError, match=r"origins: https?://\S+ is not listed .* add it to origins="):
        sign(means, url)


@every_means
def test_request_to_an_unlisted_origin_is_not_sent(means):
    with capturing() as capture, pytest.raises(SigningError):
        sign(means, f"http://127.0.0.1:{capture.port}/")
    assert capture.sent == []


@every_means
def test_path_in_an_origin_limits_what_is_signed(seller, means):
    origins = [f"{seller.origin}/api/"]
    answer = means.send("GET", f"{seller.origin}/api/x", signer=make_signer(), origins=origins)
    assert answer.status_code == 200
    for path in ("/", "/api", "/apis/x", "/api/../x"):
        with pytest.raises(SigningError, match="not listed for this path"):
            means.send("GET", f"{seller.origin}{path}", signer=make_signer(), origins=origins)


@every_means
def test_content_without_a_content_type_is_rejected_with_the_fix(means):
    with pytest.raises(SigningError, match="Content-Type; add exactly one"):
        sign(means, f"{ORIGIN}/", method="POST", content=b"bytes")


@every_means
def test_host_is_rejected_when_it_differs_from_the_url(means):
    with pytest.raises(SigningError, match="Host is not the URL's authority"):
        sign(means, f"{ORIGIN}/", headers={"Host": "other.example.com"})


@every_means
def test_target_is_rejected_when_it_differs_from_the_url(means):
    with pytest.raises(SigningError, match="extensions: target"):
        sign(means, f"{ORIGIN}/", extensions={"target": b"/other"})


@pytest.mark.parametrize("url", [f"{ORIGIN}/%2e%2e/x", "https://seller..example.com/", "ftp://seller.example.com/"])
@every_means
def test_url_without_canonical_form_raises_malformed_url(means, url):
    with pytest.raises(MalformedURL) as rejected:
        sign(means, url)
    assert rejected.value.code == "target_uri_malformed"


@pytest.mark.parametrize(
    ("signer", "origins", "named"),
    [
        ("a signer", [ORIGIN], "signer: pass a Signer"),
        (make_signer(), ORIGIN, "origins: pass a list"),
        (make_signer(), [], "origins: list"),
        (make_signer(), ["seller.example.com"], "origins: "),
    ],
)
@both_libraries
def test_wrong_option_is_rejected_at_construction(library, signer, origins, named):
    plain, signed = LIBRARIES[library]
    for make in (
        lambda: signed.SignatureAuth(signer, origins=origins),
        lambda: signed.SignatureTransport(plain.HTTPTransport(verify=TRUST), signer, origins=origins),
        lambda: signed.AsyncSignatureTransport(plain.AsyncHTTPTransport(verify=TRUST), signer, origins=origins),
    ):
        with pytest.raises(ConfigurationError, match=named):
            make()


@both_libraries
def test_transport_opens_and_closes_the_inner_transport(library):
    plain, signed = LIBRARIES[library]
    events = []

    class Sending(plain.BaseTransport):
        def __enter__(self):
            events.append("enter")
            return self

        def close(self):
            events.append("close")

    class AsyncSending(plain.AsyncBaseTransport):
        async def __aenter__(self):
            events.append("enter")
            return self

        async def aclose(self):
            events.append("close")

    async def asynchronous():
        async with signed.AsyncSignatureTransport(AsyncSending(), make_signer(), origins=[ORIGIN]) as transport:
            await transport.aclose()

    with signed.SignatureTransport(Sending(), make_signer(), origins=[ORIGIN]) as transport:
        transport.close()
    asyncio.run(asynchronous())
    assert events == ["enter", "close", "close"] * 2


@both_libraries
def test_request_shows_its_signature(seller, library):
    plain, signed = LIBRARIES[library]
    with plain.Client(auth=signed.SignatureAuth(make_signer(), origins=[seller.origin]), verify=TRUST) as client:
        fields = client.post(f"{seller.origin}/", json={"a": 1}).request.headers
    arrived = seller.arrivals[-1].fields
    for name in ("Signature", "signature-input", "Content-Digest"):
        assert fields[name] == fields.get(name) == arrived[name.lower()]
        assert fields.get_list(name) == [arrived[name.lower()]]
        assert name in fields
    assert dict(fields) == dict(fields.items()) == arrived
    assert list(fields) == list(fields.keys()) == list(arrived)
    assert list(fields.values()) == list(arrived.values())
    assert sorted(fields.multi_items()) == sorted(arrived.items())
    assert len(fields) == len(fields.raw) == len(arrived)
    assert arrived["signature"] in repr(fields)


@both_libraries
def test_signed_header_fields_can_be_replaced_and_removed(library):
    plain, signed = LIBRARIES[library]
    request = plain.Request("POST", f"{ORIGIN}/", json={"a": 1})
    next(signed.SignatureAuth(make_signer(), origins=[ORIGIN]).auth_flow(request))
    request.headers["X-Added"] = "1"
    request.headers["Signature"] = "sig1=:AAAA:"
    del request.headers["Content-Digest"]
    with pytest.raises(KeyError):
        del request.headers["X-Absent"]
    assert (request.headers["x-added"], request.headers["signature"]) == ("1", "sig1=:AAAA:")
    assert "content-digest" not in request.headers


def test_package_signs_for_httpx_and_httpx2():
    assert undersigned_httpx.SignatureAuth is undersigned_httpx.httpx.SignatureAuth
    assert issubclass(undersigned_httpx.SignatureTransport, httpx.BaseTransport)
    assert issubclass(undersigned_httpx.AsyncSignatureTransport, httpx.AsyncBaseTransport)
    with pytest.raises(AttributeError, match="no attribute 'Signature'"):
        _ = undersigned_httpx.Signature


def test_package_needs_only_one_of_the_libraries(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("undersigned_httpx")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "httpx", None)
    from undersigned_httpx.httpx2 import SignatureAuth  # noqa: PLC0415 - the import is what is tested

    assert issubclass(SignatureAuth, httpx2.Auth)
    with pytest.raises(ImportError, match=r"install 'undersigned\[httpx\]', or import SignatureAuth from"):
        from undersigned_httpx import SignatureAuth  # noqa: PLC0415 - the same


def test_digest_matches_the_bytes_on_the_wire():
    with capturing() as capture:
        origin = f"http://127.0.0.1:{capture.port}"
        for means in MEANS:
            means.send("POST", origin, signer=make_signer(), origins=[origin], json={"a": "\u00fc"})
    assert {json.loads(sent.body)["a"] for sent in capture.sent} == {"\u00fc"}
    assert {make_verifier().verify(sent.request()).keyid for sent in capture.sent} == {KEYID}


@every_means
def test_async_key_is_awaited_by_async_clients_only(seller, means):
    remote = Signer(AsyncKey(), profile=profiles.ADCP_3_2)
    if means.asynchronous:
        answer = means.send("POST", f"{seller.origin}/p", signer=remote, origins=[seller.origin], json={"a": 1})
        assert answer.json() == {"keyid": KEYID}
        return
    with pytest.raises(ConfigurationError, match="its sign method is async; use a client for asyncio"):
        sign(means, ORIGIN, signer=remote)


@every_means
def test_signer_is_asked_for_before_each_request(seller, means):
    asked = []

    def current():
        asked.append(1)
        return make_signer()

    means.send("GET", f"{seller.origin}/p", signer=current, origins=[seller.origin], times=2)
    assert len(asked) == 2


@pytest.mark.parametrize("most", [6, 5])
@every_means
def test_generator_is_kept_up_to_the_limit(seller, means, most):
    async def async_chunks():
        yield b"abc"
        yield b"def"

    content = async_chunks() if means.asynchronous else iter([b"abc", b"def"])
    parts = {"content": content, "headers": TEXT, "signing": {"max_spooled": most}}
    if most == 5:
        with pytest.raises(SigningError, match="content: the stream has more than 5 bytes"):
            sign(means, ORIGIN, method="POST", **parts)
        return
    means.send("POST", f"{seller.origin}/p", signer=make_signer(), origins=[seller.origin], **parts)
    assert seller.arrivals[-1].body == b"abcdef"


@every_means
def test_content_of_known_length_has_no_limit(seller, means):
    parts = {"json": {"a": 1}, "signing": {"max_spooled": 0}}
    means.send("POST", f"{seller.origin}/p", signer=make_signer(), origins=[seller.origin], **parts)
    assert seller.arrivals[-1].keyid == KEYID
