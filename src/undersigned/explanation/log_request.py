"""Requests in logs: the debug logs of nginx, HAProxy and Envoy, Apache's forensic log, and the panel of a browser."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote_to_bytes

from undersigned.explanation.raw_request import MalformedRequest
from undersigned.explanation.shown_request import ShownRequest

if TYPE_CHECKING:
    from collections.abc import Sequence

_BLANKS: Final = " \t\r\n"
_NGINX: Final = re.compile(r'[^*]*+\*(?P<id>\d++) http (?:request line|header): "(?P<line>.*)"')
_HAPROXY: Final = re.compile(r"(?P<id>[0-9a-f]{8}):[^.]*\.cli(?:req|hdr)\[[^]]*\]: (?P<line>.*)")
_ENVOY: Final = re.compile(r"'(?P<name>:?[^']*)', '(?P<value>.*)'")
_FORENSIC: Final = re.compile(r"\+[^|]*\|(?P<request>[^|]* HTTP/[0-9.]+)\|(?P<fields>.*)")
_MARKS: Final = (" http request line: ", " http header: ", ".cli", "', '", " HTTP/")
"""Texts of which every log has one."""

_PSEUDO: Final = re.compile(r"(?P<name>:[a-z]+):?(?:[ \t]+(?P<value>.*))?")
_REQUEST_LINE: Final = re.compile(r"(?P<method>[^ ]+) (?P<target>[^ ]+) HTTP/[0-9.]+")
_FIELD: Final = re.compile(r"(?P<name>:?[^: \t]+):[ \t]*(?P<value>.*)")


def read_log(text: str) -> ShownRequest | None:
    """Return the first signed request of a log, or its first request; None if the text is not such a log.

    Raises:
        MalformedRequest: a line of the log is not a header field. The message does not quote the text.
    """
    if not any(mark in text for mark in _MARKS):
        return None
    lines = [line.strip(_BLANKS) for line in text.split("\n")]
    for pattern in (_NGINX, _HAPROXY):
        found = [match for match in map(pattern.fullmatch, lines) if match is not None]
        if found:
            return _choose_signed([_of_lines(lines) for lines in _by_request(found)])
    envoy = [(match["name"], match["value"]) for match in map(_ENVOY.fullmatch, lines) if match]
    if envoy:
        return _of_pseudo_fields(envoy)
    forensic = [match for match in map(_FORENSIC.fullmatch, lines) if match is not None]
    if forensic:
        pieces = [[match["request"], *match["fields"].split("|")] for match in forensic]
        return _choose_signed([_of_lines([_unescape(piece) for piece in piece_list]) for piece_list in pieces])
    return None


def read_pseudo_fields(text: str) -> ShownRequest | None:
    """Return the request of a list of fields that starts with a pseudo-header field, as `:authority`; None for others.

    Browsers copy the fields of a request over HTTP/2 so: a name and its value in one line, or in two.

    Raises:
        MalformedRequest: a line is not a field, or there is no `:path`. The message does not quote the text.
    """
    lines = [line.strip(_BLANKS) for line in text.strip(_BLANKS).split("\n")]
    first = _PSEUDO.fullmatch(lines[0])
    if first is None:
        return None
    if first["value"] is None:
        names, values = lines[::2], lines[1::2]
        return _of_pseudo_fields([(name.removesuffix(":"), value) for name, value in zip(names, values, strict=False)])
    return _of_pseudo_fields([_field(line) for line in lines if line])


def _by_request(found: Sequence[re.Match[str]]) -> list[list[str]]:
    """Return the lines of each request: a log may mix the lines of several."""
    requests: dict[str, list[list[str]]] = {}
    for match in found:
        own = requests.setdefault(match["id"], [])
        if not own or _REQUEST_LINE.fullmatch(match["line"]):
            own.append([])
        own[-1].append(match["line"])
    return [lines for several in requests.values() for lines in several]


def _of_lines(lines: Sequence[str]) -> ShownRequest:
    request_line = _REQUEST_LINE.fullmatch(lines[0])
    if request_line is None:
        raise MalformedRequest("the log has header fields of a request without its request line")
    fields = tuple(_field(line) for line in lines[1:])
    return ShownRequest(request_line["method"], request_line["target"], fields)


def _of_pseudo_fields(fields: Sequence[tuple[str, str]]) -> ShownRequest:
    pseudo = {name: value for name, value in fields if name.startswith(":")}
    if ":path" not in pseudo:
        raise MalformedRequest("there is no :path among the pseudo-header fields")
    scheme, authority, path = pseudo.get(":scheme"), pseudo.get(":authority", ""), pseudo[":path"]
    named = tuple((name, value) for name, value in fields if not name.startswith(":"))
    if scheme and authority and path.startswith("/"):
        return ShownRequest(pseudo.get(":method", "GET"), f"{scheme}://{authority}{path}", named)
    host = (("Host", authority),) if authority else ()
    return ShownRequest(pseudo.get(":method", "GET"), path, (*host, *named))


def _field(line: str) -> tuple[str, str]:
    field = _FIELD.fullmatch(line)
    if field is None:
        raise MalformedRequest("a line is not a header field: expected a name, a colon and a value")
    return field["name"], field["value"]


def _unescape(piece: str) -> str:
    return unquote_to_bytes(piece).decode("latin-1")


def _choose_signed(requests: Sequence[ShownRequest]) -> ShownRequest:
    signed = (one for one in requests if any(name.lower() == "signature" for name, _ in one.fields))
    return next(signed, requests[0])
