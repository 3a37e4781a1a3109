"""What only httpx and httpx2 have: transports of other kinds, mounts, forms, and the request that was sent."""

from __future__ import annotations

import asyncio
import io
import sys

import anyio
import httpx
import httpx2
import pytest
from tests.integrations.capture import capturing
from tests.integrations.clients import LIBRARIES, MEANS, TRUST
from tests.seller import KEYID, make_signer, selling

import undersigned_httpx
from undersigned import SigningError

ORIGIN = "https://seller.example.com"
every_means = pytest.mark.parametrize("means", MEANS, ids=str)
both_libraries = pytest.mark.parametrize("library", LIBRARIES)


@pytest.fixture(scope="module")
def seller():
    with selling() as seller:
        yield seller


@every_means
def test_request_that_was_sent_is_on_the_response(seller, means):
    url = f"{seller.origin}/p"
    answer = means.send("POST", url, signer=make_signer(), origins=[seller.origin], json={"a": 1})
    signed = answer.extensions["signed_request"]
    assert "signature" not in answer.request.headers
    assert (signed.url, {name.lower(): value for name, value in signed.headers}) == (url, seller.arrivals[-1].fields)


@every_means
def test_form_with_files_is_read_to_sign_it_and_again_to_send_it(seller, means):
    parts = {"data": {"id": "1"}, "files": {"file": ("plan.txt", io.BytesIO(b"a plan" * 9999), "text/plain")}}
    options = {"signing": {"max_spooled": 0}, "options": {"follow_redirects": True}}
    url = seller.go(307, "/next")
    before = len(seller.arrivals)
    answer = means.send("POST", url, signer=make_signer(), origins=[seller.origin], **options, **parts)
    first, second = seller.arrivals[before:]
    assert (answer.status_code, first.keyid, second.body) == (200, KEYID, first.body)
    assert b"a plan" * 9999 in second.body


@every_means
def test_form_with_a_pipe_is_kept(seller, means):
    class Pipe(io.BytesIO):
        def seekable(self):
            return False

    parts = {"files": {"file": ("plan.txt", Pipe(b"a plan"), "text/plain")}}
    answer = means.send("POST", f"{seller.origin}/p", signer=make_signer(), origins=[seller.origin], **parts)
    assert (answer.status_code, b"a plan" in seller.arrivals[-1].body) == (200, True)


@both_libraries
def test_file_of_anyio_is_kept(seller, library, tmp_path):
    plain, signed = LIBRARIES[library]
    (tmp_path / "file").write_bytes(b"a plan")

    async def send():
        inner = plain.AsyncHTTPTransport(verify=TRUST)
        transport = signed.AsyncSignatureTransport(inner, make_signer(), origins=[seller.origin])
        async with (
            plain.AsyncClient(transport=transport) as client,
            await anyio.open_file(tmp_path / "file", "rb") as file,
        ):
            return await client.post(f"{seller.origin}/p", content=file, headers={"Content-Type": "text/plain"})

    assert (asyncio.run(send()).status_code, seller.arrivals[-1].body) == (200, b"a plan")


@every_means
def test_target_is_rejected_when_it_differs_from_the_url(means):
    with pytest.raises(SigningError, match="extensions: target"):
        means.send("GET", ORIGIN, signer=make_signer(), origins=[ORIGIN], extensions={"target": b"/other"})


@both_libraries
def test_mounted_transport_signs_only_for_its_origin(seller, library):
    plain, signed = LIBRARIES[library]
    transport = signed.SignatureTransport(plain.HTTPTransport(verify=TRUST), make_signer(), origins=[seller.origin])
    with capturing() as capture, plain.Client(mounts={seller.origin: transport}, verify=TRUST) as client:
        assert client.get(f"{seller.origin}/").status_code == 200
        client.get(f"{capture.origin}/")
    assert capture.only.lines("signature") == []


@every_means
@pytest.mark.parametrize("way", ["transport", "mounts"])
def test_request_is_signed_through_a_proxy_that_the_inner_transport_has(caplog, means, way):
    plain, signed = LIBRARIES[means.library]
    kind, origin = "Async" if means.asynchronous else "", "http://seller.example.com"
    with capturing() as proxy:
        inner = getattr(plain, f"{kind}HTTPTransport")(proxy=proxy.origin, verify=TRUST)
        transport = getattr(signed, f"{kind}SignatureTransport")(inner, make_signer(), origins=[origin])
        options = {"transport": transport} if way == "transport" else {"mounts": {origin: transport}, "verify": TRUST}
        means.request(options, "POST", f"{origin}:80/%7ea/./b", json={})
    assert (proxy.only.target, len(proxy.only.lines("signature"))) == (f"{origin}/~a/b", 1)
    assert not caplog.records


PAST = {
    "proxy": lambda _plain, _signing: {"proxy": "http://127.0.0.1:9"},
    "mount of everything": lambda plain, _signing: {"mounts": {"all://": plain}},
    "mount of the origin": lambda plain, _signing: {"mounts": {ORIGIN: plain}},
}
BESIDE = {
    "nothing": lambda _plain, _signing: {},
    "another origin": lambda plain, _signing: {"mounts": {"https://other.example.com": plain}},
    "a transport that signs": lambda _plain, signing: {"proxy": "http://127.0.0.1:9", "mounts": {ORIGIN: signing}},
    "one around it": lambda _plain, signing: {"mounts": {ORIGIN: Around(signing)}},
}


class Around(httpx.BaseTransport, httpx2.BaseTransport, httpx.AsyncBaseTransport, httpx2.AsyncBaseTransport):
    """A transport that sends by another one, as those that retry do."""

    def __init__(self, inner):
        self.inner = [inner]
        self.own = self

    def handle_request(self, request):
        return self.inner[0].handle_request(request)

    async def handle_async_request(self, request):
        return await self.inner[0].handle_async_request(request)


@every_means
@pytest.mark.parametrize("origins", [[ORIGIN], lambda origin: origin in {ORIGIN, "https://any.example"}])
@pytest.mark.parametrize("way", ["with", "close", "send"])
@pytest.mark.parametrize("given", [*PAST, *BESIDE])
def test_client_that_sends_past_the_transport_is_named_once(means, caplog, origins, way, given):
    plain, signed = LIBRARIES[means.library]
    answering = plain.MockTransport(lambda _request: plain.Response(200))
    transport = signed.AsyncSignatureTransport if means.asynchronous else signed.SignatureTransport
    signing = transport(answering, make_signer(), origins=origins)
    options = {"transport": signing, "verify": TRUST, **{**PAST, **BESIDE}[given](answering, signing)}

    def send():
        client = plain.Client(**options)
        if way == "with":
            with client:
                pass
        if way == "send" and given != "proxy":
            client.get(ORIGIN)
        client.close()

    async def send_async():
        client = plain.AsyncClient(**options)
        if way == "with":
            async with client:
                pass
        if way == "send" and given != "proxy":
            await client.get(ORIGIN)
        await client.aclose()

    asyncio.run(send_async()) if means.asynchronous else send()
    lines = [record.getMessage() for record in caplog.records if record.name == "undersigned"]
    is_left_out = callable(origins) and given == "a transport that signs"  # for any.example
    assert len(lines) == (given in PAST or is_left_out)
    assert all("past the transport that signs, because of proxy= or mounts=" in line for line in lines)


@every_means
@pytest.mark.parametrize("file", [False, True])
def test_content_does_not_leave_by_a_transport_that_does_not_sign(seller, means, file):
    plain, signed = LIBRARIES[means.library]
    came = []

    def elsewhere(request):
        came.append(request.read())

    parts = {"files": {"file": ("a.txt", io.BytesIO(b"secret"))}} if file else {"json": {"a": "secret"}}
    to = seller.go(307, "http://other.example.com/")
    kind = "Async" if means.asynchronous else ""
    sending = getattr(plain, f"{kind or ''}HTTPTransport")(verify=TRUST)
    signing = getattr(signed, f"{kind}SignatureTransport")(sending, make_signer(), origins=[seller.origin])
    other = plain.MockTransport(elsewhere)
    options = {"transport": other, "mounts": {seller.origin: signing}, "follow_redirects": True, "verify": TRUST}

    with pytest.raises(SigningError, match="content: a redirect leads to a transport of the client that does not sign"):
        means.request(options, "POST", to, **parts)
    assert came == []


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
def test_transport_opens_and_closes_the_inner_transport(library):
    plain, signed = LIBRARIES[library]
    events = []

    class Sending(plain.BaseTransport, plain.AsyncBaseTransport):
        def __enter__(self):
            events.append("enter")

        def close(self):
            events.append("close")

        async def __aenter__(self):
            events.append("enter")

        async def aclose(self):
            events.append("close")

    async def asynchronous():
        async with signed.AsyncSignatureTransport(Sending(), make_signer(), origins=[ORIGIN]) as transport:
            await transport.aclose()

    with signed.SignatureTransport(Sending(), make_signer(), origins=[ORIGIN]) as transport:
        transport.close()
    asyncio.run(asynchronous())
    assert events == ["enter", "close", "close"] * 2


def test_package_signs_for_httpx_and_httpx2():
    assert issubclass(undersigned_httpx.SignatureTransport, httpx.BaseTransport)
    assert issubclass(undersigned_httpx.AsyncSignatureTransport, httpx.AsyncBaseTransport)
    with pytest.raises(AttributeError, match="no attribute 'Signature'"):
        _ = undersigned_httpx.Signature


def test_package_needs_only_one_of_the_libraries(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("undersigned_httpx")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "httpx", None)
    from undersigned_httpx.httpx2 import SignatureTransport  # noqa: PLC0415 - the import is what is tested

    assert issubclass(SignatureTransport, httpx2.BaseTransport)
    with pytest.raises(ImportError, match=r"httpx is not installed: pip install 'undersigned\[httpx\]'"):
        from undersigned_httpx import SignatureTransport  # noqa: PLC0415 - the same
