"""Signed requests: what they show, and what a response to them is bound to."""

from __future__ import annotations

import pytest
from tests.client.test_signer import ORIGIN, client
from tests.keys import BODY, JSON_FIELD

from undersigned import Request


def test_repr_shows_neither_target_nor_fields():
    shown = repr(client().sign("GET", f"{ORIGIN}/?token=s3cret", [("Authorization", "s3cret")], b""))
    assert "s3cret" not in shown


@pytest.mark.parametrize("fields", [[], [("host", "Seller.example.com:443")]])
def test_request_of_a_response_is_the_request_as_it_is_sent_without_content(fields):
    signed = client().sign("POST", f"{ORIGIN}/p", [JSON_FIELD, *fields], BODY)
    sent = signed.request
    host = [] if fields else [("Host", signed.authority)]
    assert sent == Request("POST", f"{ORIGIN}/p", [*host, *signed.fields, *signed.signature])
    assert (sent.fields.combined["host"], sent.body) == ("seller.example.com", b"")


def test_covered_header_fields_are_named_without_derived_components():
    assert client().sign("GET", f"{ORIGIN}/", [], b"").covered == frozenset()
    assert client().sign("POST", f"{ORIGIN}/", [JSON_FIELD], BODY).covered == {"content-type", "content-digest"}
    assert client(components=["!a"]).sign("GET", f"{ORIGIN}/", [("!a", "1")], b"").covered == {"!a"}
