"""Requests as JSON: fetch calls and HAR entries of browsers, logs of proxies, and the lines of `undersigned sign`."""

from __future__ import annotations

import base64
import json
import re
from typing import TYPE_CHECKING, Final, cast

from undersigned.explanation.raw_request import MalformedRequest
from undersigned.explanation.shown_request import ShownRequest

if TYPE_CHECKING:
    from collections.abc import Iterator

FETCH: Final = re.compile(r"\s*(?:await\s+)?fetch\(\s*", re.ASCII)
"""How a fetch call starts, as browsers copy a request."""

_COMMA: Final = re.compile(r"\s*,\s*")


def read_fetch(text: str) -> ShownRequest:
    """Return the request of a fetch call as browsers copy it: its arguments are JSON.

    Raises:
        MalformedRequest: it is not such a call. The message does not quote the text.
    """
    start = FETCH.match(text)
    url, at = _decode(text, 0 if start is None else start.end())
    comma = _COMMA.match(text, at)
    options: object = {} if comma is None else _decode(text, comma.end())[0]
    if not isinstance(url, str) or not isinstance(options, dict):
        raise MalformedRequest("the fetch call is not as a browser copies it: expected a URL and an object in JSON")
    members = cast("dict[str, object]", options)
    return _request({"method": "GET", **members, "url": url})


def read_json_request(text: str) -> ShownRequest:
    """Return the request of a JSON object: of a HAR file or entry, Caddy's access log, or a line of `undersigned sign`.

    Of several entries, it is the first signed one, or the first.

    Raises:
        MalformedRequest: it has no request. The message does not quote the text.
    """
    value, _ = _decode(text, len(text) - len(text.lstrip()))
    requests = list(_requests(value))
    if not requests:
        raise MalformedRequest("the JSON has no request: expected method, url and headers, or a HAR entry")
    read = [_request(one) for one in requests]
    return next((one for one in read if any(name.lower() == "signature" for name, _ in one.fields)), read[0])


def _requests(value: object) -> Iterator[dict[str, object]]:
    """Yield the objects that describe a request."""
    entries = cast("list[object]", value) if isinstance(value, list) else [value]
    for entry in entries:
        if not isinstance(entry, dict):
            continue
        members = cast("dict[str, object]", entry)
        if isinstance(members.get("method"), str):
            yield members
        else:
            for name in ("log", "entries", "request"):
                if isinstance(members.get(name), (dict, list)):
                    yield from _requests(members[name])


def _request(members: dict[str, object]) -> ShownRequest:
    method, url = members["method"], members.get("url")
    host, uri = members.get("host"), members.get("uri")
    fields = list(_fields(members.get("headers")))
    if not isinstance(url, str) and isinstance(uri, str):
        url = uri
        if isinstance(host, str):
            # Caddy shows Host apart from the other fields.
            fields.insert(0, ("Host", host))
    if not isinstance(method, str) or not isinstance(url, str):
        raise MalformedRequest("the JSON has no method and url of a request")
    named = tuple((_latin_1(name), _latin_1(value)) for name, value in fields)
    return ShownRequest(_latin_1(method), _latin_1(url), named, _body(members))


def _latin_1(text: str) -> str:
    """Return the bytes of UTF-8 decoded as Latin-1."""
    return text.encode("utf-8", "surrogatepass").decode("latin-1")


def _fields(headers: object) -> Iterator[tuple[str, str]]:
    if isinstance(headers, dict):
        for name, value in cast("dict[str, object]", headers).items():
            for one in cast("list[object]", value) if isinstance(value, list) else [value]:
                yield name, str(one)
    elif isinstance(headers, list):
        for line in cast("list[object]", headers):
            match line:
                case {"name": str(name), "value": str(value)} | [str(name), str(value)]:
                    yield name, value
                case _:
                    raise MalformedRequest("a header of the JSON is not a name and a value")


def _body(members: dict[str, object]) -> bytes | None:
    post, encoded = members.get("postData"), members.get("body_b64")
    text = cast("dict[str, object]", post).get("text") if isinstance(post, dict) else members.get("body")
    if isinstance(encoded, str):
        try:
            return base64.b64decode(encoded, validate=True)
        except ValueError:
            raise MalformedRequest("body_b64 is not padded Base64") from None
    return text.encode("utf-8", "surrogatepass") if isinstance(text, str) else None


def _decode(text: str, at: int) -> tuple[object, int]:
    try:
        value, end = json.JSONDecoder().raw_decode(text, at)
    except (ValueError, RecursionError):
        raise MalformedRequest("the text looks like JSON, and is not") from None
    return value, end
