"""Other implementations of RFC 9421 over real sockets, both ways: do they give each component the same value?"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest
from tests.interop import ours
from tests.interop.packages import PACKAGES
from tests.interop.peer import Order
from tests.interop.wire import keep

from undersigned import SigningError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True)
class Case:
    """One component of a request, and what becomes of a signature that covers it, by the standard: see `OTHER`."""

    component: str
    target: str = "/orders"
    fields: Mapping[str, str | Sequence[str]] = field(default_factory=dict)
    outcomes: tuple[str, str] = ("verified", "verified")


PLAN = '"@query-param";name="plan"'
CASES = {
    "method": Case("@method"),
    "scheme": Case("@scheme"),
    "authority": Case("@authority"),
    "request target": Case("@request-target", "/a%2Fb/%7e/~?x=1&y=%20"),
    "target URI": Case("@target-uri", "/a%2fb/%7e/~?x=1&y=%20"),
    "target URI with an empty query": Case("@target-uri", "/a?"),
    "path": Case("@path", "/a%2fb/%7e/~"),
    "path of the root": Case("@path", "/"),
    "query": Case("@query", "/a?x=1&y=%20%7e+a"),
    "query that is empty": Case("@query", "/a?"),
    "query that is absent": Case("@query", "/a"),
    "query parameter": Case(PLAN, "/a?plan=gold&y=2"),
    "query parameter without a value": Case(PLAN, "/a?plan=&y=2"),
    "query parameter with a plus": Case(PLAN, "/a?plan=with%20plus+space"),
    "query parameter with marks": Case(PLAN, "/a?plan=a~b!c'd(e)f*g"),
    "query parameter with an encoded name": Case(
        '"@query-param";name="fa%C3%A7ade%22%3A%20"', "/a?fa%C3%A7ade%22%3A+=x"
    ),
    "query parameter twice": Case(PLAN, "/a?plan=gold&plan=lead", outcomes=("not made", "not made")),
    "field on two lines": Case("x-plan", fields={"X-Plan": ["gold", "lead"]}),
    "field that is empty": Case("x-plan", fields={"X-Plan": ""}),
    "field with spaces inside": Case("x-plan", fields={"X-Plan": "a   b"}),
    "sf of a dictionary": Case('"priority";sf', fields={"Priority": "u=1,i"}),
    "sf of a list": Case('"accept";sf', fields={"Accept": "a/b;q=0.50,   c/d"}),
    "key": Case('"priority";key="u"', fields={"Priority": "u=1,    i"}),
    "key of true": Case('"priority";key="i"', fields={"Priority": "u=1,    i"}),
    "key of an inner list": Case('"x-plans";key="a"', fields={"X-Plans": "b=2,  a=(1   2);x;y=1"}),
    "bs": Case('"x-plan";bs', fields={"X-Plan": ["gold, silver", "lead"]}),
}
NAMES = [name for name, package in PACKAGES.items() if package.covers_any]
EVERY = pytest.mark.parametrize(
    ("name", "case"), [pytest.param(name, case, id=f"{name}-{case}") for name in NAMES for case in CASES]
)
QUERY = ("query", "query that is empty", "query that is absent")
QUERY_PARAMETERS = [case for case in CASES if case.startswith("query parameter") and case != "query parameter twice"]
STRICT = ("sf of a dictionary", "sf of a list")
MEMBERS = ("key", "key of true", "key of an inner list")
UNSUPPORTED, WRONG = ("not made", "rejected"), ("rejected", "rejected")
OTHER: dict[str, dict[str, tuple[str, str]]] = {
    "http-message-signatures": {"query parameter with marks": WRONG, "query parameter twice": ("rejected", "not made")},
    "http-message-sig": dict.fromkeys([*QUERY_PARAMETERS, *STRICT, "bs"], UNSUPPORTED),
    "web-bot-auth": {
        **dict.fromkeys(QUERY_PARAMETERS, UNSUPPORTED),
        **dict.fromkeys([*QUERY[1:], "field with spaces inside", *STRICT, *MEMBERS, "bs"], WRONG),
    },
    "hellocoop-httpsig": {
        **dict.fromkeys(["scheme", "target URI", "target URI with an empty query"], ("verified", "rejected")),
        **dict.fromkeys(QUERY, WRONG),
        **dict.fromkeys([*QUERY_PARAMETERS, *STRICT, *MEMBERS, "bs"], UNSUPPORTED),
    },
    "pypi-requests-http-signature": {"bs": ("verified", "rejected")},
}
"""Where a package and the standard differ: what becomes of its signature, and of ours.

`not made`: its signer does not make the signature. `rejected`: its receiver does not verify the signature.
docs/interop.md has the reasons.
"""


def order(name: str, case: str) -> Order:
    """A GET request without content, with what the package always has, and the component."""
    package, asked = PACKAGES[name], CASES[case]
    always = [one for one in package.components if one in {"signature-agent", "signature-key", "date"}]
    return Order(
        tuple(dict.fromkeys(["@method", *always, asked.component])),
        ours.keyid("ed25519"),
        method="GET",
        target=asked.target,
        fields={**package.fields("ed25519"), **asked.fields},
        body="",
    )


def outcomes(name: str, case: str) -> tuple[str, str]:
    return OTHER.get(name, {}).get(case, CASES[case].outcomes)


@EVERY
def test_we_give_a_component_the_value_that_a_peer_signs(name, case, peers, wire):
    asked = order(name, case)
    wire.change = keep
    with ours.server(wire, PACKAGES[name].profile("ed25519", asked.components)):
        got = peers(name).send(asked, wire)
    outcome = "not made" if "error" in got else "verified" if got["status"] == 200 else "rejected"
    assert outcome == outcomes(name, case)[0], got


@EVERY
def test_peer_gives_a_component_the_value_that_we_sign(name, case, peers, wire, client):
    asked = order(name, case)
    wire.change = keep
    wire.server = peers(name).port
    try:
        got = ours.send(asked, wire, PACKAGES[name].profile("ed25519", asked.components), client)
        outcome = "verified" if got.json()["verified"] else "rejected"
    except SigningError:
        outcome = "not made"
    assert outcome == outcomes(name, case)[1]
