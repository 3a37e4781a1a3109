"""Attempts: a request, what is changed once it is signed, and what a server must answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from undersigned import Request

if TYPE_CHECKING:
    from collections.abc import Callable

    from undersigned.message.header_fields import Headers

Hand: TypeAlias = Literal["buyer", "late buyer", "stranger"]
"""Who signs: the buyer, the buyer by the clock of an hour ago, or somebody whose key no server knows."""

BODY = b'{"budget": 1000}'
TARGET = "/orders?b=2&a=1"


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server answered, or must answer.

    Attributes:
        status: the HTTP status code.
        why: the code of a refusal; for an accepted request `verified` and the request target the application was told.
    """

    status: int
    why: str


ACCEPTED = Answer(200, f"verified {TARGET}")


def _as_signed(request: Request) -> Request:
    return request


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One row of the table.

    Attributes:
        name: what the row is about.
        answer: what every server must answer.
        method: the method that is signed.
        target: the request target that is signed.
        body: the content that is signed.
        hand: who signs, or None for nobody.
        change: what is changed once the request is signed.
        first: what every server must answer when the same request was sent before, or None where it was not.
    """

    name: str
    answer: Answer
    method: str = "POST"
    target: str = TARGET
    body: bytes = BODY
    hand: Hand | None = "buyer"
    change: Callable[[Request], Request] = _as_signed
    first: Answer | None = None

    def request(self, origin: str) -> Request:
        """Return the request to a server at `origin`, before it is signed."""
        fields = [("Content-Type", "application/json")] if self.body else []
        return Request(self.method, origin + self.target, fields, self.body)


def refused(code: str) -> Answer:
    """Return the answer that refuses a request with `code`."""
    return Answer(401, f"request_{code}")


def changed(
    request: Request,
    *,
    method: str | None = None,
    url: str | None = None,
    fields: Headers | None = None,
    body: bytes | None = None,
) -> Request:
    """Return `request` with the parts that are given in place of its own."""
    return Request(
        request.method if method is None else method,
        request.url if url is None else url,
        request.fields if fields is None else fields,
        request.body if body is None else body,
    )


def _other_path(request: Request) -> Request:
    return changed(request, url=request.url.replace("/orders", "/refunds"))


def _other_query(request: Request) -> Request:
    return changed(request, url=request.url.replace("a=1", "a=2"))


def _other_body(request: Request) -> Request:
    return changed(request, body=request.body.replace(b"1", b"9"))


def _other_method(request: Request) -> Request:
    return changed(request, method="PUT")


def _other_host(request: Request) -> Request:
    own = [(name, value) for name, value in request.fields if name != "host"]
    return changed(request, fields=[*own, ("host", "other.example")])


ATTEMPTS = (
    Attempt(name="as signed", answer=ACCEPTED),
    Attempt(name="as signed, /a%2Fb", answer=Answer(200, "verified /a%2Fb"), method="GET", target="/a%2Fb", body=b""),
    Attempt(name="another path", answer=refused("signature_invalid"), change=_other_path),
    Attempt(name="another query", answer=refused("signature_invalid"), change=_other_query),
    Attempt(name="another body", answer=refused("signature_digest_mismatch"), change=_other_body),
    Attempt(name="another method", answer=refused("signature_invalid"), change=_other_method),
    Attempt(name="another Host", answer=refused("target_uri_malformed"), change=_other_host),
    Attempt(name="a replay", answer=refused("signature_replayed"), first=ACCEPTED),
    Attempt(name="an expired one", answer=refused("signature_window_invalid"), hand="late buyer"),
    Attempt(name="an unknown key", answer=refused("signature_key_unknown"), hand="stranger"),
    Attempt(name="no signature", answer=refused("signature_required"), hand=None),
)
"""What is shown: requests as they were signed, then requests with one thing changed at a time."""
