"""Replies: what a server answered, read up to a limit."""

from __future__ import annotations

import base64
import codecs
import http.client
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from undersigned.cli.terminal import foreign, write_foreign

if TYPE_CHECKING:
    from collections.abc import Iterator

    from undersigned.cli.lines import Answer

MOST_CONTENT: Final = 65_536
"""The most bytes of content that are read."""

_LONGEST_LINE: Final = 4096
_VERSIONS: Final = {10: "HTTP/1.0", 11: "HTTP/1.1"}


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to a request. All text of it is the server's.

    Attributes:
        version: the version of HTTP.
        status: the status.
        reason: the text after the status.
        fields: the header fields.
        content: the content as far as it was read.
        cut: why not all of the content was read, or "".
    """

    version: str
    status: int
    reason: str
    fields: tuple[tuple[str, str], ...]
    content: bytes
    cut: str

    @classmethod
    def read(cls, response: http.client.HTTPResponse, *, timeout: float) -> Reply:
        """Read an answer, for at most `timeout` seconds after its header fields arrived."""
        content, cut = _read(response, time.monotonic() + timeout)
        if cut == _LATE:
            cut = f"the rest did not come within {timeout:g} seconds"
        version = _VERSIONS.get(response.version, "HTTP")
        return cls(version, response.status, response.reason, tuple(response.headers.items()), content, cut)

    @property
    def text(self) -> str | None:
        """The content as text, or None if it is not UTF-8."""
        decoder = codecs.getincrementaldecoder("utf-8")()
        try:
            # If the content is cut, its last character may be cut too.
            text = decoder.decode(self.content, final=not self.cut)
        except UnicodeDecodeError:
            return None
        return None if "\0" in text else text

    def values(self, name: str) -> list[str]:
        """Return the values of a header field."""
        return [value for field, value in self.fields if field.lower() == name]

    def write(self) -> None:
        """Write the answer for a person."""
        write_foreign(f"{self.version} {self.status} {self.reason}".rstrip()[:_LONGEST_LINE])
        for name, value in self.fields:
            write_foreign(_one_line(f"{name}: {value}"))
        write_foreign("")
        text = self.text
        if text is None:
            write_foreign(f"({len(self.content):,} bytes that are not text)")
        elif text:
            write_foreign(text.removesuffix("\n"))
        if self.cut:
            write_foreign(f"({self.cut})")

    def json(self) -> Answer:
        """Return the answer as a JSON object."""
        text = self.text
        content = {"body_b64": base64.b64encode(self.content).decode("ascii")} if text is None else {"body": text}
        return {
            "status": self.status,
            "reason": self.reason,
            "headers": [list(field) for field in self.fields],
            **content,
            "cut": self.cut or None,
        }


_LATE: Final = "late"


def _read(response: http.client.HTTPResponse, deadline: float) -> tuple[bytes, str]:
    content = b""
    try:
        for piece in _pieces(response):
            content += piece
            if len(content) > MOST_CONTENT:
                return content[:MOST_CONTENT], f"only the first {MOST_CONTENT:,} bytes are read"
            if time.monotonic() > deadline:
                return content, _LATE
    except TimeoutError:
        return content, _LATE
    except (OSError, http.client.HTTPException):
        return content, "the answer ends early"
    return content, "the answer ends early" if response.length else ""


def _pieces(response: http.client.HTTPResponse) -> Iterator[bytes]:
    while piece := response.read1(MOST_CONTENT + 1):
        yield piece


def _one_line(text: str) -> str:
    return foreign(text[:_LONGEST_LINE]).replace("\n", "\\n")
