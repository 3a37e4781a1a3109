"""Attempts: a request, the change to it after signing, and the answer that a server must give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from undersigned import Request

if TYPE_CHECKING:
    from collections.abc import Callable

    from undersigned.message.header_fields import Headers

Hand: TypeAlias = Literal["buyer", "late buyer", "stranger"]
"""The signer: the buyer, the buyer with a clock that is one hour slow, or a stranger whose key no server knows."""

BODY = b'{"budget": 1000}'
TARGET = "/orders?b=2&a=1"


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer of a server, real or expected.

    Attributes:
        status: the HTTP status code.
        why: the code of a rejection. For an accepted request, `verified` and the target that the application received.
    """

    status: int
    why: str


ACCEPTED = Answer(200, f"verified {TARGET}")


def _keep(request: Request) -> Request:
    return request


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """A row of the table.

    Attributes:
        name: the description of the change.
        answer: the answer that every server must give.
        method: the method that is signed.
        target: the request target that is signed.
        body: the content that is signed.
        hand: the signer, or None for an unsigned request.
        change: the change to the request after signing.
        first: the answer to the same request sent before, or None if it is sent once.
    """

    name: str
    answer: Answer
    method: str = "POST"
    target: str = TARGET
    body: bytes = BODY
    hand: Hand | None = "buyer"
    change: Callable[[Request], Request] = _keep
    first: Answer | None = None

    def request(self, origin: str) -> Request:
        """Return the unsigned request to a server at `origin`."""
        fields = [("Content-Type", "application/json")] if self.body else []
        return Request(self.method, origin + self.target, fields, self.body)


def rejection(code: str) -> Answer:
    """Return the answer that rejects a request with `code`."""
    return Answer(401, f"request_{code}")


def change(
    request: Request,
    *,
    method: str | None = None,
    url: str | None = None,
    fields: Headers | None = None,
    body: bytes | None = None,
) -> Request:
    """Return `request` with the given parts replaced."""
    return Request(
        request.method if method is None else method,
        request.url if url is None else url,
        request.fields if fields is None else fields,
        request.body if body is None else body,
    )


def _other_path(request: Request) -> Request:
    return change(request, url=request.url.replace("/orders", "/refunds"))


def _other_query(request: Request) -> Request:
    return change(request, url=request.url.replace("a=1", "a=2"))


def _other_body(request: Request) -> Request:
    return change(request, body=request.body.replace(b"1", b"9"))


def _other_method(request: Request) -> Request:
    return change(request, method="PUT")


def _other_host(request: Request) -> Request:
    own = [(name, value) for name, value in request.fields if name != "host"]
    return change(request, fields=[*own, ("host", "other.example")])


ATTEMPTS = (
    Attempt(name="as signed", answer=ACCEPTED),
    Attempt(name="as signed, /a%2Fb", answer=Answer(200, "verified /a%2Fb"), method="GET", target="/a%2Fb", body=b""),
    Attempt(name="another path", answer=rejection("signature_invalid"), change=_other_path),
    Attempt(name="another query", answer=rejection("signature_invalid"), change=_other_query),
    Attempt(name="another body", answer=rejection("signature_digest_mismatch"), change=_other_body),
    Attempt(name="another method", answer=rejection("signature_invalid"), change=_other_method),
    Attempt(name="another Host", answer=rejection("target_uri_malformed"), change=_other_host),
    Attempt(name="a replay", answer=rejection("signature_replayed"), first=ACCEPTED),
    Attempt(name="an expired one", answer=rejection("signature_window_invalid"), hand="late buyer"),
    Attempt(name="an unknown key", answer=rejection("signature_key_unknown"), hand="stranger"),
    Attempt(name="no signature", answer=rejection("signature_required"), hand=None),
)
"""The rows of the table: requests as signed, then requests with one change each."""
