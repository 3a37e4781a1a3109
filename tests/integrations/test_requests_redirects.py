"""A redirect carries a signature for its own URL, or none; never one for another URL."""

from __future__ import annotations

import pytest
import requests
from tests.integrations.capture import capturing
from tests.integrations.seller import CREDENTIALS, KEYID, make_signer, selling

from undersigned import MalformedURL, SigningError
from undersigned_requests import SignatureAuth

STATUSES = [301, 302, 303, 307, 308]


@pytest.fixture(scope="module")
def seller():
    with selling("optional") as seller:
        yield seller


@pytest.fixture(scope="module")
def other():
    with selling("optional") as other:
        yield other


@pytest.fixture(autouse=True)
def empty(seller, other):
    seller.arrivals.clear()
    other.arrivals.clear()


@pytest.fixture
def auth(seller):
    return SignatureAuth(make_signer(), origins=[seller.origin])


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "HEAD"])
@pytest.mark.parametrize("status", STATUSES)
def test_redirect_within_the_origin_gets_a_new_signature(seller, auth, status, method):
    parts = {"json": {"a": 1}} if method in {"POST", "PUT"} else {}
    url = seller.go(status, "/next")
    answer = requests.request(method, url, auth=auth, timeout=10, allow_redirects=True, **parts)
    first, second = seller.arrivals
    assert answer.status_code == second.status == 200
    assert [arrival.keyid for arrival in seller.arrivals] == [KEYID, KEYID]
    assert first.fields["signature-input"] != second.fields["signature-input"]
    assert ("content-digest" in second.fields) == bool(second.body)
    assert second.body in {first.body, b""}


@pytest.mark.parametrize("status", [307, 308])
def test_content_of_a_redirected_request_is_signed_again(seller, auth, status):
    requests.post(seller.go(status, "/next"), json={"a": 1}, auth=auth, timeout=10)
    first, second = seller.arrivals
    assert (second.method, second.body) == ("POST", first.body)
    assert second.fields["content-digest"] == first.fields["content-digest"]


def follow_unsigned(*origins):
    return SignatureAuth(make_signer(), origins=origins, follow_unsigned=True)


@pytest.mark.parametrize("follow_unsigned", [False, True])
@pytest.mark.parametrize("status", STATUSES)
def test_redirect_to_another_listed_origin_gets_a_signature_of_its_own(seller, other, status, follow_unsigned):
    auth = SignatureAuth(make_signer(), origins=[seller.origin, other.origin], follow_unsigned=follow_unsigned)
    url, given = seller.go(status, f"{other.origin}/%7enext?a=b"), {**CREDENTIALS, "Host": f"127.0.0.1:{seller.port}"}
    answer = requests.post(url, json={"a": 1}, headers=given, auth=auth, timeout=10)
    (first,), (second,) = seller.arrivals, other.arrivals
    assert answer.json() == {"keyid": KEYID}
    assert (second.method, second.target) == ("POST" if status in {307, 308} else "GET", "/~next?a=b")
    assert second.body == (first.body if status in {307, 308} else b"")
    assert (first.has_credentials, second.has_credentials) == (True, False)


@pytest.mark.parametrize("status", STATUSES)
def test_redirect_to_an_origin_that_is_not_listed_is_not_followed_unless_unsigned(seller, other, auth, status):
    url, given = seller.go(status, f"{other.origin}/next"), {**CREDENTIALS, "Host": f"127.0.0.1:{seller.port}"}
    with pytest.raises(
        SigningError, match=r"redirect: it leads to http://\S+, which is not listed .* pass follow_unsigned=True"
    ):
        requests.post(url, json={"a": 1}, auth=auth, timeout=10)
    assert other.arrivals == []
    answer = requests.post(url, json={"a": 1}, headers=given, auth=follow_unsigned(seller.origin), timeout=10)
    (arrival,) = other.arrivals
    assert (arrival.bare, arrival.has_credentials) == (True, False)
    assert arrival.fields["host"] == f"127.0.0.1:{other.port}"
    assert answer.json() == {"keyid": None}


def test_redirect_from_an_unsigned_origin_is_not_signed(seller, other):
    back = f"{other.origin}/go/307?to={seller.origin}/order"
    requests.post(seller.go(307, back), json={"a": 1}, auth=follow_unsigned(seller.origin), timeout=10)
    assert other.arrivals[0].bare
    assert seller.arrivals[1].target == "/order"
    assert seller.arrivals[1].bare


def test_chain_of_redirects_is_signed_until_it_leaves_the_listed_origins(seller, other):
    auth = follow_unsigned(seller.origin)
    back = seller.go(307, "/order")
    requests.post(seller.go(307, seller.go(307, other.go(307, back))), json={"a": 1}, auth=auth, timeout=10)
    assert [arrival.keyid for arrival in seller.arrivals] == [KEYID, KEYID, None, None]
    assert all(arrival.bare for arrival in (*other.arrivals, *seller.arrivals[2:]))


def test_chain_of_redirects_between_listed_origins_is_signed_at_every_hop(seller, other):
    auth = SignatureAuth(make_signer(), origins=[seller.origin, other.origin])
    there = other.go(307, seller.go(307, f"{other.origin}/order"))
    answer = requests.post(seller.go(307, there), json={"a": 1}, auth=auth, timeout=10)
    arrivals = [*seller.arrivals, *other.arrivals]
    assert [arrival.keyid for arrival in arrivals] == [KEYID] * 4
    assert len({arrival.fields["signature-input"] for arrival in arrivals}) == 4
    sent = {hop.request.headers["Signature-Input"] for hop in (*answer.history, answer)}
    assert sent == {arrival.fields["signature-input"] for arrival in arrivals}


def test_every_hop_of_a_chain_is_signed(seller, auth):
    chain = seller.go(302, f"/go/307?to={seller.origin}/go/301?to=/end")
    answer = requests.get(chain, auth=auth, timeout=10)
    assert [hop.keyid for hop in seller.arrivals] == [KEYID] * 4
    assert len({hop.fields["signature-input"] for hop in seller.arrivals}) == 4
    sent = [hop.request.headers["Signature-Input"] for hop in [*answer.history, answer]]
    assert sent == [hop.fields["signature-input"] for hop in seller.arrivals]


@pytest.mark.parametrize(
    ("location", "target"),
    [
        ("/a%252e/../%257eb", "/~b"),
        ("/x[1]", "/x%5B1%5D"),
        ("/p%3F", "/p"),
        ("?q", "/go/302?q"),
        ("//127.0.0.1:{port}/p", "/p"),
        ("HTTP://127.0.0.1:{port}/p%23f", "/p"),
        ("http://user@127.0.0.1:{port}/p", "/p"),
    ],
)
def test_location_is_sent_as_it_is_signed(seller, auth, location, target):
    requests.get(seller.go(302, location.format(port=seller.port)), auth=auth, timeout=10)
    assert (seller.arrivals[1].target, seller.arrivals[1].keyid) == (target, KEYID)


def test_redirect_out_of_the_listed_path_is_not_followed_unless_unsigned(seller):
    url = seller.go(302, "/elsewhere")
    with pytest.raises(SigningError, match="redirect: "):
        requests.get(url, auth=SignatureAuth(make_signer(), origins=[f"{seller.origin}/go"]), timeout=10)
    requests.get(url, auth=follow_unsigned(f"{seller.origin}/go"), timeout=10)
    assert [arrival.bare for arrival in seller.arrivals] == [False, False, True]


def test_location_without_canonical_form_is_not_followed(seller, auth):
    url = seller.go(302, f"http://two@ats@127.0.0.1:{seller.port}/next")
    for signing in (auth, follow_unsigned(seller.origin)):
        with pytest.raises(MalformedURL):
            requests.get(url, auth=signing, timeout=10)
    assert len(seller.arrivals) == 2


def test_redirect_that_is_not_followed_is_checked_when_it_is_followed_by_hand(seller, other, auth):
    with requests.Session() as session:
        within, away = [
            session.get(seller.go(302, to), auth=auth, allow_redirects=False, timeout=10).next
            for to in ("/next", f"{other.origin}/next")
        ]
        assert session.send(within, timeout=10).json() == {"keyid": KEYID}
        with pytest.raises(SigningError, match="redirect: "):
            session.send(away, timeout=10)
    assert other.arrivals == []


def test_request_sent_again_after_a_redirect_is_signed_for_its_own_url(seller, auth):
    with requests.Session() as session:
        request = requests.Request("POST", seller.go(307, "/next"), json={"a": 1}, auth=auth).prepare()
        answers = [session.send(request, timeout=10) for _ in range(2)]
    assert [answer.json() for answer in answers] == [{"keyid": KEYID}] * 2
    assert [arrival.keyid for arrival in seller.arrivals] == [KEYID] * 4


def test_request_of_a_response_carries_no_signature_elsewhere(seller, other, auth):
    with requests.Session() as session:
        answer = session.get(seller.go(302, f"{other.origin}/next"), auth=auth, allow_redirects=False, timeout=10)
        again = session.send(answer.request, timeout=10)
    assert again.status_code == 401
    assert other.arrivals == []


def test_redirect_that_cannot_be_signed_raises_the_error_of_the_signer():
    with capturing(
        answer=b"HTTP/1.1 302 Found\r\nLocation: /n\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    ) as to:
        origin = f"http://127.0.0.1:{to.port}"
        auth = SignatureAuth(make_signer(components=["content-length"]), origins=[origin])
        with pytest.raises(SigningError, match="content-length"):
            requests.post(origin, json={"a": 1}, auth=auth, timeout=10)
    assert len(to.sent) == 1
