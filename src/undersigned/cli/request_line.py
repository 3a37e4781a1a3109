"""A request as a JSON object: `{"method", "url", "headers", "body" or "body_b64"}`."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from undersigned.cli.lines import MalformedLine
from undersigned.message.request import Request

if TYPE_CHECKING:
    from undersigned.message.strict_json import JSONValue


def parse_request(value: JSONValue) -> Request:
    """Return the request that a line describes.

    `headers` is an object or a list of [name, value] pairs. `body` is text, encoded as UTF-8. `body_b64` is the body in
    padded Base64 (RFC 4648 section 4). Each member may be absent or null, and only one of the bodies may be given.
    Other members are ignored.

    Raises:
        MalformedLine: the value does not have this form.
    """
    if not isinstance(value, dict):
        raise MalformedLine("the line is not a JSON object with method, url, headers and body")
    method, url = value.get("method"), value.get("url")
    if not isinstance(method, str) or not isinstance(url, str):
        raise MalformedLine("method and url must be strings")
    return Request(method, url, _headers(value.get("headers")), _body(value.get("body"), value.get("body_b64")))


def _headers(value: JSONValue) -> list[tuple[str, str]]:
    members: list[JSONValue]
    if value is None:
        return []
    if isinstance(value, dict):
        members = [[name, text] for name, text in value.items()]
    elif isinstance(value, list):
        members = value
    else:
        raise MalformedLine("headers must be an object or a list of [name, value] pairs")
    return [_pair(member) for member in members]


def _pair(member: JSONValue) -> tuple[str, str]:
    match member:
        case [str(name), str(text)]:
            return name, text
        case _:
            raise MalformedLine("the name and the value of a header must be strings")


def _body(text: JSONValue, encoded: JSONValue) -> bytes:
    match text, encoded:
        case None, None:
            return b""
        case str(), None:
            return _utf8(text)
        case None, str():
            return _from_base64(encoded)
        case _:
            raise MalformedLine("give either body or body_b64, as a string")


def _utf8(text: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        raise MalformedLine("body contains a lone surrogate, which UTF-8 cannot encode; use body_b64") from None


def _from_base64(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        raise MalformedLine("body_b64 is not padded Base64") from None
