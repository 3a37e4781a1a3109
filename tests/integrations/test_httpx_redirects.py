"""A redirect carries a signature for its own URL, or none; never one for another URL."""

from __future__ import annotations

import asyncio

import pytest
from tests.integrations.capture import capturing
from tests.integrations.clients import BY_AUTH, BY_TRANSPORT, LIBRARIES, MEANS
from tests.integrations.seller import CREDENTIALS, KEYID, make_signer, selling

from undersigned import MalformedURL, SigningError

STATUSES = [301, 302, 303, 307, 308]
FOLLOWING = {"follow_redirects": True}
every_means = pytest.mark.parametrize("means", MEANS, ids=str)
by_auth = pytest.mark.parametrize("means", BY_AUTH, ids=str)
by_transport = pytest.mark.parametrize("means", BY_TRANSPORT, ids=str)
both_libraries = pytest.mark.parametrize("library", LIBRARIES)


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


def follow(means, method, url, seller, *, origins=None, signer=None, unsigned=False, **parts):
    origins, signing = origins or [seller.origin], {"follow_unsigned": unsigned}
    options = {"signer": signer or make_signer(), "origins": origins, "options": FOLLOWING, "signing": signing}
    return means.send(method, url, **options, **parts)


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("status", STATUSES)
@by_transport
def test_redirect_within_the_origin_is_signed_by_the_transport(seller, means, status, method):
    parts = {"json": {"a": 1}} if method == "POST" else {}
    answer = follow(means, method, seller.go(status, "/next"), seller, **parts)
    first, second = seller.arrivals
    assert answer.status_code == second.status == 200
    assert [arrival.keyid for arrival in seller.arrivals] == [KEYID, KEYID]
    assert first.fields["signature-input"] != second.fields["signature-input"]
    assert ("content-digest" in second.fields) == bool(second.body)
    assert second.body in {first.body, b""}


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("status", STATUSES)
@by_auth
def test_redirect_is_not_followed_by_the_auth_unless_unsigned(seller, means, status, method):
    parts = {"json": {"a": 1}} if method == "POST" else {}
    url = seller.go(status, "/next")
    with pytest.raises(SigningError, match="a redirect is followed, which SignatureAuth cannot sign"):
        follow(means, method, url, seller, **parts)
    assert [arrival.keyid for arrival in seller.arrivals] == [KEYID]
    answer = follow(means, method, url, seller, unsigned=True, **parts)
    assert [arrival.keyid for arrival in seller.arrivals] == [KEYID, KEYID, None]
    assert answer.json() == {"keyid": None}
    assert seller.arrivals[-1].bare


@pytest.mark.parametrize("unsigned", [False, True])
@pytest.mark.parametrize("status", [302, 307])
@by_transport
def test_redirect_to_another_listed_origin_is_signed_for_its_own_target(seller, other, means, status, unsigned):
    given = {"headers": {**CREDENTIALS, "Host": f"127.0.0.1:{seller.port}"}, "json": {"a": 1}, "unsigned": unsigned}
    origins, url = [seller.origin, other.origin], seller.go(status, f"{other.origin}/%7enext?a=b")
    answer = follow(means, "POST", url, seller, origins=origins, **given)
    (first,), (second,) = seller.arrivals, other.arrivals
    assert answer.json() == {"keyid": KEYID}
    assert (second.method, second.target) == ("GET" if status == 302 else "POST", "/~next?a=b")
    assert second.body == (b"" if status == 302 else first.body)
    assert (first.has_credentials, second.has_credentials) == (True, False)


@pytest.mark.parametrize("status", [302, 307])
@every_means
def test_redirect_to_an_origin_that_is_not_listed_is_not_followed_unless_unsigned(seller, other, means, status):
    url = seller.go(status, f"{other.origin}/next")
    with pytest.raises(SigningError, match=r"redirect.*pass follow_unsigned=True to follow"):
        follow(means, "POST", url, seller, json={"a": 1})
    assert other.arrivals == []
    given = {**CREDENTIALS, "Host": f"127.0.0.1:{seller.port}"}
    answer = follow(means, "POST", url, seller, json={"a": 1}, headers=given, unsigned=True)
    (arrival,) = other.arrivals
    assert (arrival.bare, arrival.has_credentials) == (True, False)
    assert arrival.fields["host"] == f"127.0.0.1:{other.port}"
    assert answer.json() == {"keyid": None}


@every_means
def test_redirect_from_an_unsigned_origin_is_not_signed(seller, other, means):
    url = seller.go(307, f"{other.origin}/go/307?to={seller.origin}/order")
    follow(means, "POST", url, seller, json={"a": 1}, unsigned=True)
    assert other.arrivals[0].bare
    assert seller.arrivals[1].target == "/order"
    assert seller.arrivals[1].bare


@by_transport
def test_unsigned_redirect_carries_no_signature_field(seller, other, means):
    given = {"Content-Digest": "sha-256=:AAAA:", "Signature": "a=:AAAA:", "X-Kept": "1"}
    follow(means, "GET", seller.go(302, f"{other.origin}/next"), seller, headers=given, unsigned=True)
    (arrival,) = other.arrivals
    assert arrival.bare
    assert arrival.fields["x-kept"] == "1"


@by_transport
def test_every_hop_of_a_chain_is_signed_by_the_transport(seller, means):
    chain = seller.go(302, f"/go/307?to={seller.origin}/go/301?to=/end")
    follow(means, "GET", chain, seller)
    assert [hop.keyid for hop in seller.arrivals] == [KEYID] * 4
    assert len({hop.fields["signature-input"] for hop in seller.arrivals}) == 4


@pytest.mark.parametrize(
    ("location", "target"),
    [
        ("/a/../%257eb", "/~b"),
        ("/p%3F", "/p"),  # ASGI does not show the lone question mark; the signature that holds covers it
        ("//127.0.0.1:{port}/p", "/p"),
        ("HTTP://127.0.0.1:0{port}/p%23f", "/p"),
        ("http://user@127.0.0.1:{port}/p", "/p"),
    ],
)
@by_transport
def test_location_is_sent_as_it_is_signed(seller, means, location, target):
    follow(means, "GET", seller.go(302, location.format(port=seller.port)), seller)
    assert (seller.arrivals[1].target, seller.arrivals[1].keyid) == (target, KEYID)


@pytest.mark.parametrize("unsigned", [False, True])
@by_transport
def test_location_without_canonical_form_is_not_followed(seller, means, unsigned):
    with pytest.raises(MalformedURL):
        follow(means, "GET", seller.go(302, "/%252e%252e/next"), seller, unsigned=unsigned)
    assert len(seller.arrivals) == 1


@by_transport
def test_redirect_out_of_the_listed_path_is_not_followed_unless_unsigned(seller, means):
    origins = [f"{seller.origin}/go"]
    with pytest.raises(SigningError, match="redirect: "):
        follow(means, "GET", seller.go(302, "/elsewhere"), seller, origins=origins)
    follow(means, "GET", seller.go(302, "/elsewhere"), seller, origins=origins, unsigned=True)
    assert [arrival.bare for arrival in seller.arrivals] == [False, False, True]


@by_transport
def test_redirect_that_cannot_be_signed_raises_the_error_of_the_signer(means):
    with capturing(
        answer=b"HTTP/1.1 302 Found\r\nLocation: /n\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    ) as to:
        origin = f"http://127.0.0.1:{to.port}"
        signer = make_signer(components=["content-length"])
        with pytest.raises(SigningError, match="content-length"):
            means.send("POST", origin, signer=signer, origins=[origin], options=FOLLOWING, json={"a": 1})
    assert len(to.sent) == 1


@both_libraries
def test_redirect_that_is_not_followed_is_signed_when_it_is_sent(seller, library):
    plain, signed = LIBRARIES[library]
    with plain.Client(auth=signed.SignatureAuth(make_signer(), origins=[seller.origin])) as client:
        answer = client.post(seller.go(307, "/next"), json={"a": 1})
        assert "signature" not in answer.next_request.headers
        assert client.send(answer.next_request).json() == {"keyid": KEYID}


@both_libraries
def test_redirect_from_a_mounted_transport_leaves_without_a_signature(seller, other, library):
    plain, signed = LIBRARIES[library]

    async def redirected():
        sending = plain.AsyncHTTPTransport()
        transport = signed.AsyncSignatureTransport(sending, make_signer(), origins=[seller.origin])
        async with plain.AsyncClient(mounts={seller.origin: transport}, follow_redirects=True) as client:
            return await client.post(seller.go(307, f"{other.origin}/next"), json={"a": 1})

    answer = asyncio.run(redirected())
    assert answer.json() == {"keyid": None}
    assert other.arrivals[0].bare


@both_libraries
def test_redirect_is_signed_by_the_transport_when_there_is_an_auth_too(seller, library):
    plain, signed = LIBRARIES[library]
    transport = signed.SignatureTransport(plain.HTTPTransport(), make_signer(), origins=[seller.origin])
    auth = signed.SignatureAuth(make_signer(), origins=[seller.origin])
    with plain.Client(transport=transport, auth=auth, follow_redirects=True) as client:
        client.get(seller.go(302, "/next"))
    assert [hop.keyid for hop in seller.arrivals] == [KEYID, KEYID]
