"""Each attempt to send a request has its own signature."""

from __future__ import annotations

import re

import pytest
import requests
from requests.adapters import HTTPAdapter
from tests.integrations.capture import BUSY, DROPPED, capturing, certify, tunnelling
from tests.integrations.seller import KEYID, make_signer, make_verifier
from urllib3.util import Retry

from undersigned_requests import SignatureAuth


def retrying(attempts):
    session = requests.Session()
    retry = Retry(attempts - 1, status_forcelist=[503], allowed_methods=None, backoff_factor=0)
    for scheme in ("http://", "https://"):
        session.mount(scheme, HTTPAdapter(max_retries=retry))
    return session


def assert_each_is_fresh(sent, attempts, scheme="http"):
    verifier = make_verifier()
    assert [verifier.verify(one.request(scheme)).keyid for one in sent] == [KEYID] * attempts
    nonces = {re.search('nonce="([^"]*)"', one.lines("signature-input")[0])[1] for one in sent}
    assert len(nonces) == attempts


@pytest.mark.parametrize("first", [[BUSY, BUSY], [DROPPED, DROPPED], [BUSY, DROPPED]])
def test_each_retry_has_its_own_signature(first):
    with capturing(first=first) as capture, retrying(3) as session:
        origin = f"http://127.0.0.1:{capture.port}"
        auth = SignatureAuth(make_signer(), origins=[origin])
        answer = session.put(f"{origin}/p?q", json={"a": 1}, auth=auth, timeout=10)
    assert_each_is_fresh(capture.sent, 3)
    assert answer.request.headers["Signature"] == capture.sent[-1].lines("signature")[0]


def test_each_retry_through_a_proxy_has_its_own_signature():
    with capturing(first=[BUSY, DROPPED]) as capture, retrying(3) as session:
        session.proxies = {"http": f"http://127.0.0.1:{capture.port}"}
        auth = SignatureAuth(make_signer(), origins=["http://seller.example.com"])
        session.post("http://seller.example.com/p", json={"a": 1}, auth=auth, timeout=10)
    assert len({sent.lines("signature-input")[0] for sent in capture.sent}) == 3


def test_each_retry_through_a_tunnel_has_its_own_signature(tmp_path):
    tls, trusted = certify(tmp_path, "seller.example.com")
    with (
        capturing(tls=tls, first=[BUSY]) as capture,
        tunnelling(capture.port, times=2) as proxy,
        retrying(2) as session,
    ):
        session.proxies = {"https": f"http://127.0.0.1:{proxy}"}
        auth = SignatureAuth(make_signer(), origins=["https://seller.example.com"])
        session.post("https://seller.example.com/p", json={"a": 1}, auth=auth, verify=str(trusted), timeout=10)
    assert_each_is_fresh(capture.sent, 2, "https")


def test_request_sent_again_without_an_answer_has_its_own_signature():
    with capturing(first=[DROPPED]) as capture, requests.Session() as session:
        origin = f"http://127.0.0.1:{capture.port}"
        auth = SignatureAuth(make_signer(), origins=[origin])
        request = requests.Request("POST", f"{origin}/p", json={"a": 1}, auth=auth).prepare()
        with pytest.raises(requests.ConnectionError):
            session.send(request, timeout=10)
        session.send(request, timeout=10)
    assert_each_is_fresh(capture.sent, 2)
