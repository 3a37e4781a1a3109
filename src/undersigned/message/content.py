"""Content, joined at most once and read as JSON at most once, and how a message describes it (RFC 9110 chapter 8)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from undersigned.limits import LONGEST_FIELD
from undersigned.message import tchar
from undersigned.message.strict_json import AmbiguousJSON, loads

if TYPE_CHECKING:
    from collections.abc import Sequence

    from undersigned.message.header_fields import HeaderFields
    from undersigned.message.strict_json import JSONValue

USUALLY_WITH_CONTENT: Final = frozenset({"POST", "PUT", "PATCH"})
"""The methods whose requests usually have content, also if no field declares it (HTTP/2)."""

# One of the parts of a value, which commas separate.
_JSON = re.compile(
    rf"(?:\A|,)[ \t]*(?:application|text)/(?:{tchar.LOWER}+\+)?json[ \t]*(?:;[^,]*)?(?=,|\Z)", re.IGNORECASE
)
_NO_CODING = frozenset({"", "identity"})
_UTF_8 = re.compile(r";[ \t]*charset=(?:utf-?8|us-ascii|\"utf-?8\"|\"us-ascii\")[ \t]*(?=;|\Z)", re.IGNORECASE)


class Content:
    """The content of a request, in the chunks in which it arrived.

    The policy and the application read the same `Content`, so neither can parse the bytes differently. The repr shows
    only its size.

    Args:
        chunks: the bytes, in their order.
    """

    __slots__ = ("_joined", "_parsed", "chunks")

    def __init__(self, chunks: Sequence[bytes] = ()) -> None:
        self.chunks = chunks
        self._joined: bytes | None = chunks[0] if len(chunks) == 1 else None
        self._parsed: tuple[JSONValue] | ValueError | None = None

    def __bytes__(self) -> bytes:
        """Return all bytes, joined on the first call."""
        if self._joined is None:
            self._joined = b"".join(self.chunks)
        return self._joined

    def __len__(self) -> int:
        return sum(map(len, self.chunks))

    def __eq__(self, other: object) -> bool:
        """Return whether `other` has the same bytes, however they are chunked."""
        return bytes(self) == bytes(other) if isinstance(other, Content) else NotImplemented

    def __hash__(self) -> int:
        return hash(bytes(self))

    def __repr__(self) -> str:
        return f"<Content: {len(self)} bytes>"

    def json(self, text: str | None = None) -> JSONValue:
        """Return the content parsed by `strict_json.loads`: parsed on the first call, the same result each time.

        Args:
            text: the content, if it has been decoded already.

        Raises:
            AmbiguousJSON: two parsers could read it differently.
            ValueError: it is not JSON.
        """
        parsed = self._parsed
        if parsed is None:
            try:
                parsed = (loads(bytes(self) if text is None else text),)
            except ValueError as error:
                parsed = error
            self._parsed = parsed
        if isinstance(parsed, ValueError):
            raise parsed.with_traceback(None)
        return parsed[0]


def is_json(fields: HeaderFields) -> bool:
    """Return whether a Content-Type, or a part of it between commas, is a JSON type.

    A value longer than `LONGEST_FIELD` is not read, and counts as JSON.
    """
    value = fields.combined.get("content-type", "")
    return len(value) > LONGEST_FIELD or _JSON.search(value) is not None


def has_content_coding(fields: HeaderFields) -> bool:
    """Return whether there is a Content-Encoding, so that an application may decode the content first."""
    return not _NO_CODING.issuperset([line.strip().lower() for line in fields.values("content-encoding")])


def strict_json(fields: HeaderFields, content: Content) -> JSONValue:
    """Return content read as UTF-8 JSON (RFC 8259 section 8.1), whatever its Content-Type.

    Raises:
        AmbiguousJSON: two readers could find different members: a repeated key, a charset other than UTF-8, a
            Content-Encoding.
        ValueError: the content is not JSON, or not UTF-8, or has a byte order mark.
    """
    size = len(fields.combined.get("content-type", ""))
    if size > LONGEST_FIELD:
        raise AmbiguousJSON(
            f"Content-Type has {size:,} characters, and at most {LONGEST_FIELD:,} are read: send a shorter value"
        )
    # RFC 8259 gives charset no meaning, but some frameworks decode by it: in UTF-7, "+AHM-kill" is "skill". Any counts
    # that is not plainly UTF-8 or ASCII.
    lines = fields.values("content-type")
    if any(line.casefold().count("charset") != len(_UTF_8.findall(line)) for line in lines):
        raise AmbiguousJSON("the Content-Type gives JSON a charset other than UTF-8")
    if has_content_coding(fields):
        raise AmbiguousJSON("the content has a Content-Encoding")
    text = bytes(content).decode("utf-8")
    # In UTF-16 and UTF-32, JSON has NUL, which it cannot have in UTF-8.
    if "\0" in text or text[:1] == "\ufeff":
        raise ValueError("not UTF-8 without a byte order mark")
    return content.json(text)


def check_json(fields: HeaderFields, content: Content, *, is_strict: bool) -> None:
    """Check that content of a JSON type can be read in one way only. Content of another type is not looked at.

    Args:
        fields: the headers of the message.
        content: its content.
        is_strict: whether it must also be JSON, in UTF-8, and not compressed (AdCP). With other profiles, it may be
            compressed, or anything else.

    Raises:
        AmbiguousJSON: two readers could find different members, or the content is no JSON and must be.
    """
    if len(content) == 0 or not is_json(fields):
        return
    try:
        if is_strict:
            strict_json(fields, content)
        else:
            content.json()
    except AmbiguousJSON:
        raise
    except ValueError as error:
        if is_strict:
            at = getattr(error, "pos", getattr(error, "start", 0))  # of JSONDecodeError, or of UnicodeDecodeError
            raise AmbiguousJSON(f"the body is not JSON in UTF-8, from offset {at}") from None
