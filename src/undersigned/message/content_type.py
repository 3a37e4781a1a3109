"""Content-Type and Content-Encoding: how a message describes its content (RFC 9110 sections 8.3 and 8.4)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from undersigned.limits import LONGEST_CONTENT_TYPE
from undersigned.message import token

if TYPE_CHECKING:
    from undersigned.message.header_fields import HeaderFields

_JSON = re.compile(rf"[ \t]*(?:application|text)/(?:{token.LOWER}+\+)?json[ \t]*(?:;.*)?", re.IGNORECASE | re.DOTALL)
_CHARSET = re.compile(r"charset", re.IGNORECASE)
_UTF_8 = re.compile(r";[ \t]*charset=(?:utf-?8|us-ascii|\"utf-?8\"|\"us-ascii\")[ \t]*(?=;|\Z)", re.IGNORECASE)
_LIKE_ASCII = re.compile(
    r";[ \t]*charset=(\"?)(?:utf-?8|us-ascii|iso-8859-[0-9]{1,2}|windows-125[0-8])\1[ \t]*(?=;|\Z)", re.IGNORECASE
)


def is_json(fields: HeaderFields) -> bool:
    """Return whether any Content-Type line, or any part of a line with commas, is a JSON type, or may be.

    A value longer than `LONGEST_CONTENT_TYPE` is not read. It may be any type and have any charset.
    """
    value = fields.combined.get("content-type")
    if value is None or value == "application/json":
        return value is not None
    return len(value) > LONGEST_CONTENT_TYPE or any(map(_JSON.fullmatch, value.split(",")))


def has_other_charset(fields: HeaderFields) -> bool:
    """Return whether a Content-Type has a charset that is not plainly UTF-8, or not plainly a charset."""
    return _has_charset_besides(_UTF_8, fields)


def has_content_coding(fields: HeaderFields) -> bool:
    """Return whether there is a Content-Encoding, so that an application may decode the content first."""
    return any(line.strip().lower() not in {"", "identity"} for line in fields.values("content-encoding"))


def is_decoded_alike(fields: HeaderFields) -> bool:
    """Return whether every reader that decodes the content finds the same ASCII characters in it.

    This needs a message without Content-Encoding, and no charset that reads an ASCII octet as another character.
    """
    return not has_content_coding(fields) and not _has_charset_besides(_LIKE_ASCII, fields)


def _has_charset_besides(known: re.Pattern[str], fields: HeaderFields) -> bool:
    if len(fields.combined.get("content-type", "")) > LONGEST_CONTENT_TYPE:
        return True
    return any(len(_CHARSET.findall(line)) != len(known.findall(line)) for line in fields.values("content-type"))
