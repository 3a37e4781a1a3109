"""Error responses: what the caller of a rejected request gets."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from undersigned.errors import AnswerForm, ConfigurationError, MalformedSignature
from undersigned.message.header_fields import HeaderFields
from undersigned.reasons import UNREAD

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from undersigned.errors import SignatureError

logger = logging.getLogger("undersigned")

_UNAVAILABLE: Final = 503
_RETRY_AFTER: Final = "2"
"""Seconds after which a sender may try again when keys, list or store were unavailable: most outages are short."""

_WITH_CONTENT: Final = frozenset(range(200, 600)) - {204, 205, 304}
"""The statuses of final responses that may have content (RFC 9110 section 6.4.1)."""

_OF_CONTENT: Final = frozenset({"content-type", "content-length", "transfer-encoding"})


@dataclass(frozen=True, slots=True)
class ErrorResponse:
    """A response that rejects a request.

    Attributes:
        status: the HTTP status code.
        code: the one word the caller gets.
        members: the members of the JSON content, as (name, text) pairs; by default the code alone.
        others: further headers.
        rpc_code: the code of a JSON-RPC error, if the content is one.
        content: the content, if it is another than that of `members`.
        content_type: its media type.

    Raises:
        ConfigurationError: no server can send it so: the status has no content, the content is not bytes, or a header
            is malformed or frames the content.
    """

    status: int
    code: str
    members: tuple[tuple[str, str], ...] = ()
    others: tuple[tuple[str, str], ...] = ()
    rpc_code: int | None = None
    content: bytes | None = None
    content_type: str = "application/json"

    def __post_init__(self) -> None:
        """Check that every server can send it."""
        if not isinstance(self.status, int) or self.status not in _WITH_CONTENT:
            raise ConfigurationError("status: give an integer from 200 to 599 whose response may have content")
        if not isinstance(self.body, bytes):
            raise ConfigurationError("content: give bytes")
        others, text = HeaderFields(self.others), "".join([self.content_type, *(value for _, value in self.others)])
        is_latin_1 = all(character.isprintable() and character <= "\xff" for character in text)
        if not (is_latin_1 and others.are_valid) or _OF_CONTENT & others.combined.keys():
            raise ConfigurationError("fields: give tokens and printable Latin-1 values, and nothing of the content")

    @classmethod
    def of(cls, error: SignatureError) -> ErrorResponse:
        """Return the response to a signature error, as its profile asks for it.

        If the request has been rejected, it is the answer that was recorded, as `rejection=` has shaped it.
        """
        if isinstance(error.answer, cls):
            return error.answer
        form = error.form
        return cls(form.status, error.code, form.members, form.fields, form.rpc_code)

    @property
    def body(self) -> bytes:
        """The content: a JSON object with the code and nothing else, a JSON-RPC error with it, or your own."""
        if self.content is not None:
            return self.content
        content: dict[str, object] = dict(self.members) or {"error": self.code}
        if self.rpc_code is not None:
            error = {"code": self.rpc_code, "message": self.code.replace("_", " "), "data": content}
            content = {"jsonrpc": "2.0", "id": None, "error": error}
        return json.dumps(content).encode("ascii")

    @property
    def fields(self) -> list[tuple[str, str]]:
        """The headers."""
        of_content = [("Content-Type", self.content_type), ("Content-Length", str(len(self.body)))]
        return [*of_content, *self._told]

    @property
    def headers(self) -> dict[str, str]:
        """The headers that say nothing about the content: for an exception of a framework, which has its own."""
        return dict(self._told)

    @property
    def _told(self) -> list[tuple[str, str]]:
        headers = list(self.others)
        if self.status == _UNAVAILABLE:
            headers.append(("Retry-After", _RETRY_AFTER))
        return headers

    def with_content(
        self, content: bytes, content_type: str = "application/json", *, fields: Sequence[tuple[str, str]] = ()
    ) -> ErrorResponse:
        """Return the same answer with your own content: status, WWW-Authenticate and Accept-Signature stay.

        Args:
            content: the content.
            content_type: its media type.
            fields: headers to add.
        """
        others = (*self.others, *fields)
        return replace(self, content=content, content_type=content_type, others=others)

    def merged(self, fields: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
        """Return the headers if this is sent instead of another response: with those of CORS, for example.

        Args:
            fields: the fields of the other response. Those that describe its content are left out.
        """
        own = {name.lower() for name, _ in self.fields} | {"etag", "transfer-encoding"}
        others = [(name, value) for name, value in fields if name.lower() not in own]
        return [*self.fields, *((name, value) for name, value in others if not name.lower().startswith("content-"))]


class UnreadRequest(MalformedSignature):
    """Raised when a request is not read to its end, so no other credential can make up for it.

    The caller gets the code, one of `undersigned.reasons.UNREAD`, and the operator's log the detail.
    """

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(code, detail=detail)
        status, self.fix = UNREAD[code]
        self.form = AnswerForm(status, (), ())


def incomplete(detail: str = "the client has gone, or sent a body that the server cannot read") -> UnreadRequest:
    """Return the error for content that does not arrive whole (RFC 9112 section 8)."""
    return UnreadRequest("content_incomplete", detail)
