"""Raw requests: HTTP/1.1 as on the wire, or the `>` lines of `curl -v`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from undersigned.errors import UndersignedError
from undersigned.message.request import Request

if TYPE_CHECKING:
    from collections.abc import Sequence

_CURL_START: Final = re.compile(rb"^> [A-Za-z-]+ \S+ HTTP/[0-9.]+\r?$", re.MULTILINE)
_BLANK_LINE: Final = re.compile(rb"\r?\n\r?\n")
_REQUEST_LINE: Final = re.compile(r"(?P<method>[^ ]+) (?P<target>[^ ]+) HTTP/[0-9.]+")
_ABSOLUTE: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_FIELD: Final = re.compile(r"(?P<name>:?[^:\s]+):(?P<value>.*)")
_DIGITS: Final = 18
_CHUNK: Final = re.compile(rb"([0-9A-Fa-f]{1,15})[^\r\n]*\r?\n")
_END: Final = re.compile(rb"\r?\n")

Fields = list[tuple[str, str]]


class MalformedRequest(UndersignedError, ValueError):
    """Raised when a text is not a raw request. The message does not quote the text."""


def parse_raw_request(content: bytes, *, scheme: str = "https", body: bytes | None = None) -> Request:
    """Parse a raw request.

    Lines end with CRLF or LF. From the output of `curl -v`, the first signed request is used, or the first request if
    none is signed. `curl -v` does not show content, so `body` must be given. The content ends after Content-Length
    bytes or with the last chunk. Text that an editor added after the content is ignored.

    Args:
        content: the raw request.
        scheme: the scheme of the request; a target in origin-form does not contain it.
        body: the content, if `content` does not contain it.

    Raises:
        MalformedRequest: `content` is not a request, or the request's content is incomplete.
    """
    starts = [match.start() for match in _CURL_START.finditer(content)]
    if starts:
        heads = [_curl_head(content[start:end]) for start, end in zip(starts, [*starts[1:], None], strict=True)]
        head = next(
            (lines for lines in heads if any(line.lower().startswith("signature:") for line in lines)), heads[0]
        )
        method, target, fields = _head(head)
        if body is None and _declares_content(fields):
            raise MalformedRequest("curl -v does not show the body: give its bytes with --body")
        return Request(method, _url(target, fields, scheme), fields, body)
    text = content.lstrip(b"\r\n")
    blank = _BLANK_LINE.search(text)
    before, rest = (text[: blank.start()], text[blank.end() :]) if blank else (text.rstrip(b"\r\n"), b"")
    method, target, fields = _head(_lines(before))
    return Request(method, _url(target, fields, scheme), fields, _content(rest, fields) if body is None else body)


def _curl_head(content: bytes) -> list[str]:
    lines: list[str] = []
    for line in _lines(content):
        if line.rstrip(" ") == ">" or line.startswith("<"):
            break
        if line.startswith("> "):
            lines.append(line[2:])
    return lines


def _lines(content: bytes) -> list[str]:
    return [line.decode("latin-1") for line in _END.split(content)]


def _head(lines: Sequence[str]) -> tuple[str, str, Fields]:
    request_line = _REQUEST_LINE.fullmatch(lines[0])
    if request_line is None:
        raise MalformedRequest("line 1 is not a request line: expected method, target and version")
    fields: Fields = []
    for number, line in enumerate(filter(None, lines[1:]), start=2):
        field = _FIELD.fullmatch(line)
        if field is None:
            raise MalformedRequest(f"line {number} is not a header field: expected a name, a colon and a value")
        fields.append((field["name"], field["value"]))
    return request_line["method"], request_line["target"], fields


def _url(target: str, fields: Fields, scheme: str) -> str:
    if _ABSOLUTE.match(target):
        return target
    authority = _value(fields, ":authority") or _value(fields, "host")
    if authority is None:
        raise MalformedRequest("the request has no Host field, so its target is unknown; add the Host field")
    if target == "*":
        return f"{scheme}://{authority}"
    if target[:1] != "/":
        raise MalformedRequest("the request target is not a path, an absolute URL or *")
    return f"{scheme}://{authority}{target}"


def _content(rest: bytes, fields: Fields) -> bytes:
    if (_value(fields, "transfer-encoding") or "").lower() == "chunked":
        return _join_chunks(rest)
    length = _value(fields, "content-length")
    if length is None:
        return rest if rest.strip(b"\r\n") else b""
    if not (length.isascii() and length.isdigit() and len(length) <= _DIGITS):
        raise MalformedRequest("Content-Length is not a number of bytes")
    if len(rest) < int(length):
        raise MalformedRequest(f"the body has {len(rest)} bytes, but Content-Length is {length}")
    return rest[: int(length)]


def _join_chunks(rest: bytes) -> bytes:
    content: list[bytes] = []
    at = 0
    while chunk := _CHUNK.match(rest, at):
        size = int(chunk[1], 16)
        if size == 0:
            return b"".join(content)
        content.append(rest[chunk.end() : chunk.end() + size])
        end = _END.match(rest, chunk.end() + size)
        if end is None:
            break
        at = end.end()
    raise MalformedRequest("the chunks of the body are incomplete or have wrong sizes")


def _declares_content(fields: Fields) -> bool:
    return _value(fields, "transfer-encoding") is not None or (_value(fields, "content-length") or "0") != "0"


def _value(fields: Fields, name: str) -> str | None:
    return next((value.strip() for field, value in fields if field.lower() == name), None)
