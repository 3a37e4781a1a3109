"""No private key is in the repr or an error of a signer or a client."""

from __future__ import annotations

import traceback

import httpx
import httpx2
import pytest
import requests
from tests.keys import EC_KEY, EC_PRIVATE, KEY, PRIVATE, key_pair
from tests.seller import make_signer

import undersigned_httpx.httpx2
from undersigned import Request, Signer, SigningError
from undersigned.client import ClientSigner
from undersigned_aiohttp import SigningMiddleware
from undersigned_httpx import AsyncSignatureTransport, SignatureTransport
from undersigned_requests import SignatureAdapter
from undersigned_requests import SignatureAuth as RequestsAuth

ORIGIN = "https://seller.example.com"
SECRETS = [str(PRIVATE["d"]), str(EC_PRIVATE["d"]), bytes([1] * 8).hex(), repr(bytes([1] * 8))[2:-1]]
SIGNING = {"signer": make_signer(), "origins": [ORIGIN]}

HOLDERS = {
    "key": KEY,
    "P-256 key": EC_KEY,
    "pair": key_pair("ed25519"),
    "signer": make_signer(),
    "P-256 signer": Signer(EC_KEY),
    "prepared": make_signer().prepare(Request("GET", ORIGIN)),
    "client signer": ClientSigner(make_signer(), [ORIGIN]),
    "requests": RequestsAuth(**SIGNING),
    "requests adapter": SignatureAdapter(**SIGNING),
    "httpx transport": SignatureTransport(httpx.HTTPTransport(verify=False), **SIGNING),
    "httpx async transport": AsyncSignatureTransport(httpx.AsyncHTTPTransport(verify=False), **SIGNING),
    "httpx2 transport": undersigned_httpx.httpx2.SignatureTransport(httpx2.HTTPTransport(verify=False), **SIGNING),
    "aiohttp": SigningMiddleware(**SIGNING),
}


@pytest.mark.parametrize("holder", HOLDERS)
def test_repr_shows_no_private_key(holder):
    shown = f"{HOLDERS[holder]!r} {HOLDERS[holder]!s}"
    assert not [secret for secret in [*SECRETS, key_pair("ed25519").private["d"]] if secret in shown]


def test_traceback_with_its_local_variables_shows_no_private_key():
    try:
        requests.Request("GET", "https://other.example.com", auth=HOLDERS["requests"]).prepare()
    except SigningError as error:
        shown = "".join(traceback.TracebackException.from_exception(error, capture_locals=True).format())
    assert "origins: https://other.example.com is not listed" in shown
    assert not [secret for secret in SECRETS if secret in shown]
