"""Every server: a covered field reaches the application in one line, as it was signed, or the request is rejected."""

from __future__ import annotations

from functools import cache

from tests.keys import KEY
from tests.servers.requests_http1 import HOST, ORIGIN
from tests.servers.spellings import SPELLINGS
from tests.wire import exchange

from undersigned import Request, Signer, profiles


@cache
def signer(field: str) -> Signer:
    return Signer(KEY, profile=profiles.ADCP_3_2, components=[field.lower()])


def test_covered_field_is_seen_as_it_was_signed_or_the_request_is_rejected(served):
    seen = {}
    for name, (field, value, lines) in SPELLINGS.items():
        signed = signer(field).sign(Request("GET", f"{ORIGIN}/p", [(field, value)]))
        sent = [*(tuple(line.split(":", 1)) for line in lines), *signed]
        raw = b"\r\n".join(
            [
                b"GET /p HTTP/1.1",
                f"Host: {HOST}".encode(),
                *(f"{n}:{v}".encode("latin-1") for n, v in sent),
                b"Connection: close",
            ]
        )
        answer = exchange(served.port, raw + b"\r\n\r\n")
        for call in served.calls():
            assert b" 200 " in answer.partition(b"\r\n")[0]
            seen[name] = [got for asked, got in call["fields"] if asked.lower() == field.lower()]
            assert seen[name] == [value], name
    plain = [
        f"{field} {side} {blank}"
        for field in ("X-Order", "Idempotency-Key")
        for side in ("after", "before")
        for blank in ("none", "a space")
    ]
    assert not set(plain) - seen.keys()
