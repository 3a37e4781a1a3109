from __future__ import annotations

import http_sf
import pytest

from undersigned.message.reading import FIELD_TYPES, field_type


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("content-digest", "dictionary"),
        ("signature-input", "dictionary"),
        ("accept-query", "list"),
        ("client-cert", "item"),
        ("cache-control", "dictionary"),
        ("priority", "dictionary"),
        ("x-unknown", None),
        ("Content-Digest", None),
    ],
)
def test_type_of_a_field_is_the_registered_one(name, expected):
    assert field_type(name, {}) == expected


def test_type_that_the_application_gives_comes_first():
    assert field_type("x-own", {"x-own": "list"}) == "list"
    assert field_type("client-cert", {"client-cert": "list"}) == "list"


def test_every_registered_type_can_be_parsed():
    values = {"dictionary": b"a=1", "list": b"a, b", "item": b"a"}
    for tltype in FIELD_TYPES.values():
        assert http_sf.parse(values[tltype], tltype=tltype)
