"""docs/rejected.md: each output is what `explain` says. `python -m tests.docs.test_rejected` writes them."""

from __future__ import annotations

import re
from pathlib import Path

from tests import keys
from tests.explanation.changes import CHANGED

from undersigned import Request, profiles
from undersigned.explanation import cause, explain_request

PAGE = Path(__file__).parents[2] / "docs/rejected.md"
BLOCK = re.compile(r"```text\n(.*?)```", re.DOTALL)
STRANGER = keys.SigningKey.from_jwk({**keys.OTHER_PRIVATE, "kid": "buyer-ed25519"})


def _of(name: str) -> str:
    one = CHANGED[name]
    return explain_request(one.received, one.profile, one.known, now=one.now, origins=one.origins).summary


def _with_jwk(**changes: object) -> str:
    jwk = {**keys.PUBLIC, **changes}
    return explain_request(keys.signed_request(), profiles.ADCP_3_2, keys.KeySet.from_jwks({"keys": [jwk]})).summary


def _without_a_field() -> str:
    request = keys.hostile_request(Request("GET", keys.URL, [("X-Tenant", "a")]), keys.covering(*keys.BARE, "x-tenant"))
    return explain_request(keys.with_field(request, "x-tenant", None), profiles.ADCP_3_2, keys.KEYS).summary


def _in_milliseconds() -> str:
    claim = keys.covering(*keys.BARE, created=keys.NOW * 1000, expires=(keys.NOW + 300) * 1000)
    return explain_request(keys.hostile_request(Request("GET", keys.URL), claim), None, keys.KEYS).summary


def _of_an_own_profile() -> str:
    claim = keys.covering(*keys.BARE, tag='"internal"')
    return explain_request(keys.hostile_request(Request("GET", keys.URL), claim), None, keys.KEYS).summary


def _with_base(key: keys.SigningKey, url: str, base_of: str) -> str:
    """Return what is said of a request that was sent to another URL, with the base of a request to a third one."""
    signed = keys.signed_request("GET", keys.URL, (), b"", key=key)
    base = explain_request(keys.replace_parts(signed, url=base_of), profiles.ADCP_3_2, keys.KEYS).base
    received = keys.replace_parts(signed, url=url)
    return explain_request(received, profiles.ADCP_3_2, keys.KEYS, signers_base=base.encode()).summary


ELSEWHERE = "https://seller.example.com/elsewhere/7"


def outputs() -> list[str]:
    """Return the outputs in the order of the page."""
    return [
        _of("a decoded slash"),
        _of("host and scheme"),
        _of("a base with a line end after the last line"),
        _of("@target-uri: /a%20b?c=d%2Ce"),
        _of("a hash of the base"),
        _of("a signature in hexadecimal"),
        _of("parameters in another order"),
        _of("content that was written again"),
        _of("a digest in the form of the field Digest"),
        _of("a digest by sha-384"),
        _with_jwk(adcp_use="webhook-signing"),
        _of("another key of the set"),
        _without_a_field(),
        _in_milliseconds(),
        _of_an_own_profile(),
        explain_request(keys.signed_request(key=STRANGER), profiles.ADCP_3_2, keys.KEYS).summary,
        _with_base(keys.KEY, ELSEWHERE, keys.URL),
        _with_base(STRANGER, keys.URL, keys.URL),
        _with_base(keys.KEY, ELSEWHERE, "https://seller.example.com/third"),
    ]


def test_outputs_of_the_page_are_what_is_said(monkeypatch):
    monkeypatch.setattr(cause, "MOST_SECONDS", 60)  # no busy machine changes the result
    assert [block.rstrip("\n") for block in BLOCK.findall(PAGE.read_text("utf-8"))] == outputs()


if __name__ == "__main__":
    written = iter(outputs())
    PAGE.write_text(BLOCK.sub(lambda _: f"```text\n{next(written)}\n```", PAGE.read_text("utf-8")), "utf-8")
