"""What only requests has: the auth, prepared requests, adapters, retries and pickling."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import pytest
import requests
from requests.adapters import HTTPAdapter
from tests.integrations.capture import BUSY, OK, capturing, redirect
from tests.keys import PRIVATE
from tests.seller import KEYID, is_accepted, make_signer
from urllib3.util import Retry

from undersigned import ConfigurationError, SigningError
from undersigned_requests import SignatureAdapter, SignatureAuth

ORIGIN = "https://seller.example.com"
TEXT = {"Content-Type": "text/plain"}
UNAUTHORIZED = b"HTTP/1.1 401 X\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
FIELDS = {"Signature", "Signature-Input", "Content-Digest"}


@pytest.fixture
def auth(seller):
    return SignatureAuth(make_signer(), origins=[seller.origin])


def test_auth_signs_each_request_of_a_session(seller, auth):
    with requests.Session() as session:
        session.auth = auth
        session.params = {"from": "session"}
        answers = [session.post(f"{seller.origin}/adcp", params={"n": n}, json={"a": n}, timeout=10) for n in range(3)]
    assert [answer.json()["keyid"] for answer in answers] == [KEYID] * 3
    assert seller.arrivals[-1].target == "/adcp?from=session&n=2"


@pytest.mark.parametrize(
    "body",
    [lambda _path: iter([b"ab", b"cd"]), lambda path: path.open("rb"), lambda _path: b"abcd", lambda _path: "abcd"],
)
def test_auth_signs_content_of_every_kind(seller, auth, body, tmp_path):
    (tmp_path / "file").write_bytes(b"abcd")
    content = body(tmp_path / "file")
    assert requests.post(f"{seller.origin}/p", data=content, headers=TEXT, auth=auth, timeout=10).ok
    assert [(one.keyid, one.body) for one in seller.arrivals] == [(KEYID, b"abcd")]
    if hasattr(content, "close"):
        content.close()


def test_response_shows_the_request_that_was_sent_and_a_copy_of_it_has_no_signature(seller, auth):
    with requests.Session() as session:
        session.mount("http://", SignatureAdapter(make_signer(), origins=[seller.origin]))
        answers = [
            requests.post(f"{seller.origin}/adcp", json={"a": 1}, auth=auth, timeout=10),
            session.post(f"{seller.origin}/adcp", json={"a": 1}, timeout=10),
        ]
    for answer, arrival in zip(answers, seller.arrivals, strict=True):
        assert FIELDS.isdisjoint(answer.request.copy().headers)
        for headers in (answer.request.headers, answer.request.headers.copy()):
            assert {name: headers[name] for name in FIELDS} == {name: arrival.fields[name.lower()] for name in FIELDS}


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirect_of_an_adapter_to_an_origin_of_another_adapter_sends_nothing(seller, other, status):
    with requests.Session() as session:
        session.mount(seller.origin, SignatureAdapter(make_signer(), origins=[seller.origin]))
        elsewhere = f"{other.origin}/elsewhere"
        with pytest.raises(SigningError, match="is not listed"):
            session.post(seller.go(status, elsewhere), json={"a": 1}, timeout=10)
        answer = session.post(seller.go(status, elsewhere), json={"a": 1}, timeout=10, allow_redirects=False)
        assert (answer.status_code, other.arrivals) == (status, [])
        session.mount(other.origin, SignatureAdapter(make_signer(), origins=[other.origin]))
        with pytest.raises(SigningError, match="is not listed"):
            session.post(seller.go(status, elsewhere), json={"a": 1}, timeout=10)
        assert other.arrivals == []


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirect_of_an_auth_has_no_signature(seller, other, status):
    both = SignatureAuth(make_signer(), origins=[seller.origin, other.origin])
    chain = seller.go(status, other.go(status, f"{other.origin}/next"))
    answer = requests.post(chain, json={"a": 1}, auth=both, timeout=10)
    assert [one.keyid for one in seller.arrivals] == [KEYID]
    assert [one.bare for one in other.arrivals] == [True, True]
    assert [set(one.request.headers) >= FIELDS for one in (*answer.history, answer)] == [True, False, False]


@pytest.mark.parametrize("status", [302, 307])
def test_redirect_of_an_auth_to_an_origin_that_is_not_listed_sends_nothing(seller, auth, status):
    with capturing() as capture:
        elsewhere = f"{capture.origin}/next"
        for url in (seller.go(status, elsewhere), seller.go(status, seller.go(status, elsewhere))):
            with pytest.raises(SigningError, match=r"origins: \S+ is not listed .* do not follow"):
                requests.post(url, json={"a": 1}, auth=auth, timeout=10)
            answer = requests.post(
                seller.go(status, elsewhere), json={"a": 1}, auth=auth, timeout=10, allow_redirects=False
            )
            assert answer.status_code == status
            with requests.Session() as session, pytest.raises(SigningError, match="is not listed"):
                session.send(answer.next, timeout=10)
    assert capture.sent == []


def test_rejection_that_a_retry_has_provoked_names_it():
    with requests.Session() as session:
        session.mount("http://", HTTPAdapter(max_retries=Retry(1, status_forcelist=[503], allowed_methods=None)))
        for first, answer in ((BUSY, UNAUTHORIZED), (UNAUTHORIZED, OK)):
            with capturing(first=[first], answer=answer) as capture:
                own = SignatureAuth(make_signer(), origins=[capture.origin])
                url = f"{capture.origin}/p"
                if first == UNAUTHORIZED:
                    assert session.get(url, auth=own, timeout=10).status_code == 401
                    continue
                with pytest.raises(SigningError, match=r"^max_retries: the session's adapter has a Retry of urllib3"):
                    session.get(url, auth=own, timeout=10)
                assert len({one.lines("signature")[0] for one in capture.sent}) == 1


@pytest.mark.parametrize("kind", [3, Retry(1, status_forcelist=[503])])
def test_adapter_that_would_repeat_a_signature_is_rejected(kind):
    with pytest.raises(ConfigurationError, match="max_retries: urllib3 would send the same signature again"):
        SignatureAdapter(make_signer(), origins=[ORIGIN], max_retries=kind)
    SignatureAdapter(make_signer(), origins=[ORIGIN], max_retries=0, pool_maxsize=2).close()


def test_prepared_request_is_signed_each_time_an_adapter_sends_it(seller):
    with requests.Session() as session:
        session.mount("http://", SignatureAdapter(make_signer(), origins=[seller.origin]))
        request = session.prepare_request(requests.Request("POST", f"{seller.origin}/adcp", json={"a": 1}))
        assert [session.send(request, timeout=10).json()["keyid"] for _ in range(3)] == [KEYID] * 3
    assert len({one.fields["signature-input"] for one in seller.arrivals}) == 3


def test_one_adapter_signs_for_many_threads(seller):
    adapter = SignatureAdapter(make_signer(), origins=[seller.origin], pool_maxsize=8)

    def order(number):
        return session.post(f"{seller.origin}/adcp", json={"n": number}, timeout=30).json()["keyid"]

    with requests.Session() as session, ThreadPoolExecutor(8) as pool:
        session.mount("http://", adapter)
        assert set(pool.map(order, range(48))) == {KEYID}


def test_adapter_of_an_application_beside_ours_sends_what_is_signed(seller):
    class Noting(HTTPAdapter):
        def send(self, request, *arguments, **options):
            sent.append(request.headers["Signature"])
            return super().send(request, *arguments, **options)

    class Both(SignatureAdapter, Noting):
        pass

    sent = []
    with requests.Session() as session:
        session.mount("http://", Both(make_signer(), origins=[seller.origin]))
        assert session.get(f"{seller.origin}/p", timeout=10).json()["keyid"] == KEYID
    assert sent == [seller.arrivals[-1].fields["signature"]]


def test_header_value_in_bytes_is_signed_as_it_is_sent(seller):
    auth = SignatureAuth(make_signer(components=["x-name"]), origins=[seller.origin])
    assert requests.get(f"{seller.origin}/", headers={"X-Name": b"value"}, auth=auth, timeout=10).ok


def test_proxy_from_the_environment_gets_the_canonical_url(monkeypatch):
    with capturing() as proxy:
        monkeypatch.setenv("http_proxy", proxy.origin)
        with requests.Session() as session:
            session.mount("http://", SignatureAdapter(make_signer(), origins=["http://seller.example.com"]))
            session.get("http://seller.example.com:80/%7ea/./b?q", timeout=10)
    assert (proxy.only.target, proxy.only.lines("host")) == ("http://seller.example.com/~a/b?q", ["seller.example.com"])


def test_url_set_by_hand_is_sent_as_it_is_signed():
    with capturing() as capture:
        origin = capture.origin
        request = requests.Request("GET", origin).prepare()
        request.url = f"{origin}/%7e a?[\u00e9"
        with requests.Session() as session:
            session.mount("http://", SignatureAdapter(make_signer(), origins=[origin]))
            session.send(request, timeout=10)
    assert is_accepted(capture.only)


PICKLED = {
    "pickle": lambda request: pickle.loads(pickle.dumps(request)),  # noqa: S301 - ours
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "its own copy": lambda request: request.copy(),
}


@pytest.mark.parametrize("way", PICKLED)
@pytest.mark.parametrize("by", ["auth", "adapter"])
@pytest.mark.parametrize("is_function", [False, True])
def test_request_that_was_signed_is_guarded_in_every_copy_and_shows_no_key(way, by, is_function):
    with capturing() as elsewhere, requests.Session() as plain, requests.Session() as session:
        to = f"{elsewhere.origin}/next"
        with capturing(answer=redirect(to)) as capture:
            origin = capture.origin
            listed = origin.__eq__ if is_function else [origin]
            auth = SignatureAuth(make_signer(), origins=listed) if by == "auth" else None
            if by == "adapter":
                session.mount("http://", SignatureAdapter(make_signer(), origins=listed))
            answer = session.post(f"{origin}/p", json={"a": 1}, auth=auth, timeout=10, allow_redirects=False)
            for request in (answer.request, answer.next):
                assert str(PRIVATE["d"]).encode() not in pickle.dumps(request)
                copied = PICKLED[way](PICKLED[way](request))
                with pytest.raises(SigningError, match="is not listed"):
                    plain.send(copied, timeout=10)
                copied.url = to
                with pytest.raises(SigningError, match="is not listed"):
                    plain.send(PICKLED[way](copied), timeout=10)
    assert [len(one.lines("signature")) for one in capture.sent] == [1, way != "its own copy"]
    assert elsewhere.sent == []


def test_hooks_of_a_signed_request_can_be_replaced(seller, auth):
    seen = []
    with requests.Session() as session:
        signed = session.prepare_request(requests.Request("GET", f"{seller.origin}/p", auth=auth))
        signed.hooks = {"response": [lambda response, **_options: seen.append(response.status_code)]}
        assert session.send(signed, timeout=10).json()["keyid"] == KEYID
    assert seen == [200]
