from __future__ import annotations

import pytest

from undersigned import Request, canonicalize
from undersigned.message import Component, Reading
from undersigned.signature import ComponentValues, UnresolvableComponent

URL = "https://seller.example.com/p"


def value(name: str, line: str, **types: str) -> str:
    """Return the value of a field with `sf`, which needs the type of the field."""
    own = {name.replace("_", "-"): kind for name, kind in types.items()}
    values = ComponentValues(Request("GET", URL, {name: line}), canonicalize(URL), reading=Reading(field_types=own))
    return values.value(Component(name, f'"{name}";sf', bare=False))


@pytest.mark.parametrize(
    ("name", "line", "expected"),
    [
        ("content-digest", "a=1,b", "a=1, b"),
        ("signature-input", 's=( "a"   "b" )', 's=("a" "b")'),
        ("accept-query", "a,b", "a, b"),
        ("client-cert", ":AAAA:;  x", ":AAAA:;x"),
        ("cache-control", "no-store,max-age=1", "no-store, max-age=1"),
        ("priority", "u=1,i", "u=1, i"),
    ],
)
def test_type_of_a_field_is_the_registered_one(name, line, expected):
    assert value(name, line) == expected


def test_field_without_a_type_has_no_serialization():
    with pytest.raises(UnresolvableComponent, match="the type of a field"):
        value("x-unknown", "a")


@pytest.mark.parametrize("name", ["accept-query", "content-digest", "client-cert"])
def test_empty_field_has_no_serialization(name):
    with pytest.raises(UnresolvableComponent, match="cannot be read: the field value is"):
        value(name, "")


def test_type_that_the_application_gives_comes_first():
    assert value("x-own", "a,b", x_own="list") == "a, b"
    assert value("client-cert", ":AAAA:,a", client_cert="list") == ":AAAA:, a"
