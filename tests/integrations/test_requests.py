"""A verifying seller accepts what `SignatureAuth` signs; it rejects what it cannot sign."""

from __future__ import annotations

import io
import json
import pickle
from concurrent.futures import ThreadPoolExecutor

import pytest
import requests
from requests.adapters import HTTPAdapter
from tests.integrations.capture import BUSY, capturing
from tests.integrations.seller import KEYID, AsyncKey, make_signer, make_verifier, selling
from tests.keys import PRIVATE
from tests.serving import waitress_server
from urllib3.util import Retry

from undersigned import ConfigurationError, MalformedURL, Signer, SigningError, profiles, wsgi
from undersigned_requests import SignatureAuth

ORIGIN = "https://seller.example.com"
TEXT = {"Content-Type": "text/plain; charset=utf-8"}


@pytest.fixture(scope="module")
def seller():
    with selling() as seller:
        yield seller


@pytest.fixture
def auth(seller):
    return SignatureAuth(make_signer(), origins=[seller.origin])


def prepare(method="GET", url=f"{ORIGIN}/adcp", *, origins=(ORIGIN,), **parts):
    return requests.Request(method, url, auth=SignatureAuth(make_signer(), origins=origins), **parts).prepare()


@pytest.mark.parametrize(
    ("method", "parts", "body"),
    [
        ("GET", {}, b""),
        ("DELETE", {}, b""),
        ("POST", {}, b""),
        ("POST", {"data": b""}, b""),
        ("POST", {"json": {"plan": "münchen"}}, json.dumps({"plan": "münchen"}).encode()),
        ("POST", {"data": b"\x00\xff", "headers": {"Content-Type": "application/octet-stream"}}, b"\x00\xff"),
        ("PUT", {"data": "grüße", "headers": TEXT}, "grüße".encode()),
        ("PATCH", {"data": "plain", "headers": {"content-type": b"text/plain"}}, b"plain"),
        ("POST", {"data": {"a": "1", "b": ["2", "ü"]}}, b"a=1&b=2&b=%C3%BC"),
        ("POST", {"data": [("a", "1"), ("a", "2")]}, b"a=1&a=2"),
        ("GET", {"json": {"in": "a GET"}}, b'{"in": "a GET"}'),
    ],
)
def test_seller_accepts_every_kind_of_content(seller, auth, method, parts, body):
    answer = requests.request(method, f"{seller.origin}/adcp?x=1", auth=auth, timeout=10, **parts)
    assert (answer.status_code, answer.json()) == (200, {"keyid": KEYID})
    assert seller.arrivals[-1].body == body


def test_seller_accepts_multipart_content(seller, auth):
    files = {"file": ("plan.txt", io.BytesIO(b"a plan"), "text/plain")}
    answer = requests.post(f"{seller.origin}/adcp", data={"id": "1"}, files=files, auth=auth, timeout=10)
    assert answer.status_code == 200
    assert b"a plan" in seller.arrivals[-1].body


def test_wsgi_seller_accepts_the_request():
    late = {}

    def hello(environ, start_response):
        content = environ["wsgi.input"].read() + environ["undersigned.signature"].keyid.encode()
        start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(content)))])
        return [content]

    def front(environ, start_response):
        return late["app"](environ, start_response)

    with waitress_server(front) as port:
        origin = f"http://127.0.0.1:{port}"
        late["app"] = wsgi.SignatureMiddleware(hello, verifier=make_verifier(), origins=[origin])
        auth = SignatureAuth(make_signer(), origins=[origin])
        answer = requests.post(f"{origin}/a%2Fb?x", json={"a": 1}, auth=auth, timeout=10)
    assert (answer.status_code, answer.text) == (200, f'{{"a": 1}}{KEYID}')


def test_session_signs_every_request_with_its_cookies_and_parameters(seller, auth):
    with requests.Session() as session:
        session.auth = auth
        session.params = {"from": "session"}
        session.cookies.set("c", "1")
        answers = [session.get(f"{seller.origin}/adcp", params={"n": n}, timeout=10) for n in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 200]
    assert seller.arrivals[-1].target == "/adcp?from=session&n=2"


def test_one_auth_signs_for_many_threads(seller, auth):
    def order(number):
        return requests.post(f"{seller.origin}/adcp", json={"n": number}, auth=auth, timeout=30).status_code

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(order, range(48))) == {200}


def test_prepared_request_is_accepted_each_time_it_is_sent(seller, auth):
    with requests.Session() as session:
        request = session.prepare_request(requests.Request("POST", f"{seller.origin}/adcp", json={"a": 1}, auth=auth))
        answers = [session.send(request, timeout=10) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 200]
    inputs = [answer.request.headers["Signature-Input"] for answer in answers]
    assert inputs == [arrival.fields["signature-input"] for arrival in seller.arrivals[-3:]]
    assert len(set(inputs)) == 3


def test_response_shows_the_request_that_was_sent(seller, auth):
    answer = requests.post(f"{seller.origin}/adcp", json={"a": 1}, auth=auth, timeout=10)
    arrived = seller.arrivals[-1].fields
    for name in ("Signature", "Signature-Input", "Content-Digest"):
        assert answer.request.headers[name] == arrived[name.lower()]
    assert (answer.request.method, answer.request.url, answer.request.body) == ("POST", answer.url, b'{"a": 1}')


def test_request_signed_again_has_one_signature_and_one_hook(seller, auth):
    request = requests.Request("POST", f"{seller.origin}/adcp", json={"a": 1}, auth=auth).prepare()
    first = request.headers["Signature"]
    request.body = b'{"a": 2}'
    request.prepare_auth(auth)
    assert request.headers["Signature"] != first
    assert request.headers["Signature-Input"].count("sig1=") == 1
    assert len(request.hooks["response"]) == 1
    with requests.Session() as session:
        assert session.send(request, timeout=10).status_code == 200


def test_existing_signature_is_replaced(seller, auth):
    old = {"Signature": "x=:AAAA:", "Signature-Input": "x=()", "Content-Digest": "sha-256=:AAAA:"}
    assert requests.get(f"{seller.origin}/adcp", headers=old, auth=auth, timeout=10).status_code == 200
    assert "content-digest" not in seller.arrivals[-1].fields


def test_copy_of_a_signed_request_is_signed_when_it_is_sent(auth, seller):
    request = requests.Request("POST", f"{seller.origin}/adcp", json={"a": 1}, auth=auth).prepare()
    for copied in (request.copy(), request.copy().copy()):
        assert not {"Signature", "Signature-Input", "Content-Digest"} & set(copied.headers)
        assert (copied.method, copied.url, copied.body) == (request.method, request.url, request.body)
        with requests.Session() as session:
            assert session.send(copied, timeout=10).json() == {"keyid": KEYID}


def test_copy_of_the_request_in_a_response_has_no_signature(auth, seller):
    sent = requests.post(f"{seller.origin}/adcp", json={"a": 1}, auth=auth, timeout=10).request
    assert not {"Signature", "Signature-Input", "Content-Digest"} & set(sent.copy().headers)
    assert "Signature" in sent.headers


def test_repr_of_signed_header_fields_shows_the_signature(auth, seller):
    request = requests.Request("GET", f"{seller.origin}/", auth=auth).prepare()
    shown = repr(request.headers)
    assert request.headers["Signature"] in shown
    assert repr(request.headers) == shown


@pytest.mark.parametrize(
    ("attribute", "value"),
    [("body", b"other"), ("body", "text"), ("body", io.BytesIO(b"x")), ("method", "PATCH"), ("url", "{origin}/%61dcp")],
)
def test_request_changed_after_signing_is_never_sent_with_a_new_signature(auth, seller, attribute, value):
    before = len(seller.arrivals)
    request = requests.Request("PUT", f"{seller.origin}/adcp", data=b"first", headers=TEXT, auth=auth).prepare()
    setattr(request, attribute, value.format(origin=seller.origin) if isinstance(value, str) else value)
    with requests.Session() as session:
        if attribute == "method" or value == b"other":
            assert session.send(request, timeout=10).json() == {"keyid": KEYID}
        else:
            with pytest.raises(SigningError, match=f"{attribute}: it was changed after it was signed; prepare the"):
                session.send(request, timeout=10)
            assert len(seller.arrivals) == before


def test_request_that_was_changed_to_another_origin_is_not_sent(auth, seller):
    request = requests.Request("GET", f"{seller.origin}/adcp", auth=auth).prepare()
    with capturing() as capture, requests.Session() as session:
        request.url = f"http://127.0.0.1:{capture.port}/"
        with pytest.raises(SigningError, match="which is not listed"):
            session.send(request, timeout=10)
    assert capture.sent == []


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
def test_origin_that_is_not_listed_is_rejected_with_the_fix(url):
    with pytest.raises(SigningError, match=r"origins: https?://\S+ is not listed .* add it to origins="):
        prepare(url=url)


@pytest.mark.parametrize("url", ["HTTPS://SELLER.example.com/", "https://seller.example.com:443/", f"{ORIGIN}./x"])
def test_listed_origin_is_known_in_every_spelling(url):
    assert prepare(url=url).url.startswith(f"{ORIGIN}/")


def test_path_in_an_origin_limits_what_is_signed():
    origins = [f"{ORIGIN}/api/"]
    assert prepare(url=f"{ORIGIN}/api/orders", origins=origins).headers["Signature"]
    for path in ("/", "/api", "/apis/x", "/api/../orders"):
        with pytest.raises(SigningError, match="not listed for this path"):
            prepare(url=f"{ORIGIN}{path}", origins=origins)


def test_request_to_an_unlisted_origin_is_not_sent():
    with capturing() as capture:
        auth = SignatureAuth(make_signer(), origins=[ORIGIN])
        with pytest.raises(SigningError):
            requests.get(f"http://127.0.0.1:{capture.port}/", auth=auth, timeout=10)
    assert capture.sent == []


CONTENT = b"ab\x00\xff" * 20_000


@pytest.mark.parametrize(
    ("body", "content"),
    [
        (lambda: io.BytesIO(CONTENT), CONTENT),
        (lambda: (chunk for chunk in [CONTENT[:9], CONTENT[9:]]), CONTENT),
        (lambda: bytearray(b"x"), b"x"),
        (lambda: iter([]), b""),
        (io.BytesIO, b""),
    ],
    ids=["file", "generator", "bytearray", "empty", "empty file"],
)
@pytest.mark.parametrize("status", [0, 307])
def test_stream_is_signed_and_sent_again_after_a_redirect(auth, seller, body, content, status):
    before = len(seller.arrivals)
    url = seller.go(status, "/next") if status else f"{seller.origin}/adcp"
    assert requests.post(url, data=body(), headers=TEXT, auth=auth, timeout=10).json() == {"keyid": KEYID}
    arrivals = seller.arrivals[before:]
    assert [arrival.body for arrival in arrivals] == [content] * (2 if status else 1)
    assert all(arrival.fields.get("content-length") == str(len(content)) for arrival in arrivals if content)


def test_file_is_sent_from_where_it_was_in_each_attempt(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"skipped" + CONTENT)
    retry = Retry(1, status_forcelist=[503], allowed_methods=None, backoff_factor=0)
    with capturing(first=[BUSY]) as capture, requests.Session() as session, path.open("rb") as file:
        session.mount("http://", HTTPAdapter(max_retries=retry))
        file.seek(7)
        origin = f"http://127.0.0.1:{capture.port}"
        auth = SignatureAuth(make_signer(), origins=[origin], max_spooled=0)
        session.post(origin, data=file, headers=TEXT, auth=auth, timeout=10)
    assert [sent.body for sent in capture.sent] == [CONTENT] * 2
    assert [make_verifier().verify(sent.request()).keyid for sent in capture.sent] == [KEYID] * 2


def test_stream_above_the_limit_is_rejected():
    auth = SignatureAuth(make_signer(), origins=[ORIGIN], max_spooled=3)
    with pytest.raises(SigningError, match="content: the stream has more than 3 bytes"):
        requests.Request("POST", ORIGIN, data=iter([b"four"]), headers=TEXT, auth=auth).prepare()


def test_async_key_is_rejected():
    auth = SignatureAuth(Signer(AsyncKey(), profile=profiles.ADCP_3_2), origins=[ORIGIN])
    with pytest.raises(ConfigurationError, match="its sign method is async; use a client for asyncio"):
        requests.Request("GET", ORIGIN, auth=auth).prepare()


def test_content_without_a_content_type_is_rejected_with_the_fix():
    with pytest.raises(SigningError, match="Content-Type; add exactly one"):
        prepare("POST", data=b"bytes")


def test_host_is_rejected_when_it_differs_from_the_url():
    with pytest.raises(SigningError, match="Host is not the URL's authority"):
        prepare(headers={"Host": "other.example.com"})


@pytest.mark.parametrize("url", ["https://seller..example.com/", "ftp://seller.example.com/"])
def test_url_without_canonical_form_raises_malformed_url(url):
    with pytest.raises(MalformedURL) as rejected:
        prepare(url=url)
    assert rejected.value.code == "target_uri_malformed"


def test_header_value_in_bytes_is_signed_as_it_is_sent(seller):
    auth = SignatureAuth(make_signer(components=["x-name"]), origins=[seller.origin])
    answer = requests.get(f"{seller.origin}/", headers={"X-Name": b"value"}, auth=auth, timeout=10)
    assert answer.status_code == 200


@pytest.mark.parametrize(
    ("signer", "origins", "named"),
    [
        ("a signer", [ORIGIN], "signer: pass a Signer"),
        (make_signer(), ORIGIN, "origins: pass a list"),
        (make_signer(), [], "origins: list"),
        (make_signer(), ["seller.example.com"], "origins: "),
    ],
)
def test_wrong_option_is_rejected_at_construction(signer, origins, named):
    with pytest.raises(ConfigurationError, match=named):
        SignatureAuth(signer, origins=origins)


def test_pickled_response_has_the_signature_and_not_the_key(seller, auth):
    answer = requests.get(seller.go(302, "/next"), auth=auth, timeout=10)
    pickled = pickle.dumps(answer)
    assert str(PRIVATE["d"]).encode() not in pickled
    for kept in (pickle.loads(pickled), pickle.loads(pickled).history[0]):  # noqa: S301 - ours
        assert kept.request.headers["Signature"].startswith("sig1=:")
