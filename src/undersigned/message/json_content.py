"""A request's content read as JSON, so strictly that no other reader of the same bytes finds other members."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from undersigned.message.strict_json import AmbiguousJSON

if TYPE_CHECKING:
    from undersigned.message.request import Request
    from undersigned.message.strict_json import JSONValue

_JSON = re.compile(
    r"[ \t]*(?:application|text)/(?:[!#$%&'*+.^_`|~0-9a-z-]+\+)?json[ \t]*(?:;.*)?", re.IGNORECASE | re.DOTALL
)
_CHARSET = re.compile(r"charset", re.IGNORECASE)
_UTF_8 = re.compile(r";[ \t]*charset=(?:utf-?8|us-ascii|\"utf-?8\"|\"us-ascii\")[ \t]*(?=;|\Z)", re.IGNORECASE)
_LIKE_ASCII = re.compile(
    r";[ \t]*charset=(\"?)(?:utf-?8|us-ascii|iso-8859-[0-9]{1,2}|windows-125[0-8])\1[ \t]*(?=;|\Z)", re.IGNORECASE
)


def says_json(request: Request) -> bool:
    """Return whether any Content-Type of the request, or any part of a listed one, is a JSON type."""
    lines = request.fields.values("content-type")
    plain = len(lines) == 1 and lines[0] == "application/json"
    return plain or any(_JSON.fullmatch(part) for line in lines for part in line.split(","))


def has_content_coding(request: Request) -> bool:
    """Return whether the request has a Content-Encoding, so that an application may decode its content first."""
    return any(line.strip().lower() not in {"", "identity"} for line in request.fields.values("content-encoding"))


def is_decoded_alike(request: Request) -> bool:
    """Return whether every reader that decodes the content finds the same ASCII characters in it.

    That is without a Content-Encoding, and without a charset that gives other characters to the octets of ASCII.
    """
    types = request.fields.values("content-type")
    return not has_content_coding(request) and all(
        len(_CHARSET.findall(line)) == len(_LIKE_ASCII.findall(line)) for line in types
    )


def strict_json(request: Request) -> JSONValue:
    """Read the content as UTF-8 JSON (RFC 8259 section 8.1), whatever type it says it has.

    Raises:
        AmbiguousJSON: two readers could find different members: a repeated key, a charset other than UTF-8, a
            Content-Encoding.
        ValueError: not JSON, or not UTF-8; a byte order mark is neither.
    """
    types = request.fields.values("content-type")
    # RFC 8259 gives the parameter no meaning, and some frameworks decode by it: in UTF-7, "+AHM-kill" is "skill".
    if any(len(_CHARSET.findall(line)) != len(_UTF_8.findall(line)) for line in types):
        raise AmbiguousJSON("the Content-Type gives JSON a charset other than UTF-8")
    if has_content_coding(request):
        raise AmbiguousJSON("the content has a Content-Encoding")
    if json.detect_encoding(request.body) != "utf-8":
        raise ValueError("not UTF-8 without a byte order mark")
    request.body.decode("utf-8")
    return request.content.json()


def json_if_any(request: Request) -> JSONValue:
    """Read the content as `strict_json` where its type says JSON, else as JSON if it happens to be some, else None.

    Many applications parse JSON whatever the type says, so a type that says otherwise hides nothing.

    Raises:
        AmbiguousJSON: as `strict_json`.
        ValueError: the type says JSON and the content is none.
    """
    if not request.body:
        return None
    if says_json(request):
        return strict_json(request)
    try:
        return request.content.json()
    except AmbiguousJSON:
        raise
    except ValueError:
        return None
