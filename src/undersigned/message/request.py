"""A request: what was received, or what is about to be sent."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote_to_bytes

from undersigned.errors import MalformedURL
from undersigned.message.content import Content, strict_json
from undersigned.message.header_fields import HeaderFields
from undersigned.message.request_target import check_length, typed_target
from undersigned.url import canonicalize
from undersigned.url.canonical import comparable_authority

if TYPE_CHECKING:
    from undersigned.message.header_fields import Headers
    from undersigned.message.request_target import RequestTarget
    from undersigned.message.strict_json import JSONValue
    from undersigned.url import CanonicalURL
    from undersigned.url.origin import Origin


_NO_CONTENT = Content()


@dataclass(slots=True, init=False, repr=False, unsafe_hash=True)
class Request:
    """One HTTP request. `dataclasses.replace` makes a copy with some parts changed.

    Args:
        method: the method as sent, case kept.
        url: the absolute URL. For a received request: the public origin and the target as it was on the wire.
        fields: the headers: a mapping, (name, value) pairs or a `HeaderFields`. Text is bytes decoded as
            Latin-1. `:authority` may be one of them.
        body: the content bytes before any decoding; a `str` is encoded as UTF-8, `None` means no content. `content`
            has the same bytes, and is parsed as JSON at most once.
        has_body: whether the request has content, if `body` itself is not read yet.
        query_unknown: whether the target may end in a lone `?` that the server does not show.

    Raises:
        UnicodeEncodeError: a `str` body has a lone surrogate, which UTF-8 cannot encode; a mistake of the caller.
    """

    method: str
    url: str
    fields: HeaderFields
    body: bytes
    has_body: bool
    query_unknown: bool
    content: Content = dataclasses.field(init=False, compare=False)
    _parts: tuple[Origin, RequestTarget] | None = dataclasses.field(init=False, compare=False)
    _canonical: CanonicalURL | None = dataclasses.field(init=False, compare=False)
    _path: str | None = dataclasses.field(init=False, compare=False)

    def __init__(
        self,
        method: str,
        url: str,
        fields: Headers = (),
        body: bytes | str | Content | None = b"",
        *,
        has_body: bool | None = None,
        query_unknown: bool = False,
    ) -> None:
        self.method = method
        self.url = url
        self.fields = fields if isinstance(fields, HeaderFields) else HeaderFields(fields)
        self.content = content = body if isinstance(body, Content) else content_of(body)
        self.body = octets = bytes(content)
        self.has_body = bool(octets) if has_body is None else has_body
        self.query_unknown = query_unknown
        self._parts = self._canonical = self._path = None

    @staticmethod
    def unread(
        method: str, target: RequestTarget, origin: Origin, fields: HeaderFields, *, has_body: bool, query_unknown: bool
    ) -> Request:
        """Return a received request whose content has not been read. Its URL is that of the target at the origin."""
        url = target.url(origin)
        request = Request(method, url, fields, has_body=has_body, query_unknown=query_unknown)
        request._parts = origin, target
        return request

    @property
    def origin(self) -> Origin | None:
        """The origin of the service that a received request was matched with, or None."""
        return None if self._parts is None else self._parts[0]

    def with_content(self, content: Content) -> Request:
        """Return this request with its content, after the content was read."""
        has_body = self.has_body or len(content) > 0
        unknown = self.query_unknown
        request = Request(self.method, self.url, self.fields, content, has_body=has_body, query_unknown=unknown)
        request._parts, request._canonical, request._path = self._parts, self._canonical, self._path
        return request

    def canonical_url(self) -> CanonicalURL:
        """Return the canonical form of the URL of a received request. It is made once, and copies with content keep it.

        Raises:
            MalformedURL: the URL has no canonical form, or a host with non-ASCII characters (AdCP step 2).
        """
        if self._canonical is None:
            if self._parts is None:
                self._canonical = canonicalize(self.url, received=True)
            else:
                # The URL is not split into its parts again.
                origin, target = self._parts
                self._canonical = origin.canonical(target.path, target.query)
        return self._canonical

    def received_target(self) -> CanonicalURL:
        """Return the canonical target of a received request, after comparing its authority with the fields.

        If the request has `:authority` or Host, each must agree with the URL (AdCP, signing profile extensions).

        Raises:
            MalformedURL: the URL or an authority has no canonical form, two authorities differ, or Host is repeated.
        """
        check_length(self.url)
        target = self.canonical_url()
        for name in (":authority", "host"):
            value = self.fields.combined.get(name)
            if value is None or value == target.authority:
                continue
            if name in self.fields.repeated:
                raise MalformedURL(
                    f"the request has {len(self.fields.repeated[name])} {name} values", rule="one authority"
                )
            if target.authority != comparable_authority(value, target.scheme):
                raise MalformedURL(f"{name} names another authority than the target URI", rule="same authority")
        return target

    def signed_target(self, *, is_typed: bool) -> tuple[CanonicalURL, CanonicalURL]:
        """Return the canonical target of a received request, and the target in the form that is signed.

        Args:
            is_typed: whether path and query are signed as they are on the wire, and not in their canonical form.

        Raises:
            MalformedURL: as `received_target`.
        """
        target = self.received_target()
        return target, typed_target(self.url, target) if is_typed else target

    def decoded_path(self) -> str:
        """Return the percent-decoded path of `canonical_url`. It is made once, and copies with content keep it.

        Raises:
            MalformedURL: as `canonical_url`.
            UnicodeDecodeError: the decoded path is not UTF-8.
        """
        if self._path is None:
            self._path = unquote_to_bytes(self.canonical_url().path).decode()
        return self._path

    def strict_json(self) -> JSONValue:
        """Return the content read as UTF-8 JSON (RFC 8259 section 8.1), whatever its Content-Type.

        Content is rejected if another reader could find other members in it.

        Raises:
            AmbiguousJSON: two readers could find different members: a repeated key, a charset other than UTF-8, a
                Content-Encoding.
            ValueError: the content is not JSON, or not UTF-8, or has a byte order mark.
        """
        return strict_json(self.fields, self.content)

    def __repr__(self) -> str:
        """Return sizes only, as fields, target and content may hold secrets."""
        return f"<Request: {len(self.fields)} headers, {len(self.content)} bytes>"


def content_of(body: bytes | str | None) -> Content:
    """Return the content with the bytes of `body`, see `Request`."""
    if isinstance(body, str):
        body = body.encode()
    octets = body if isinstance(body, bytes) else memoryview(body or b"").tobytes()
    return Content((octets,)) if octets else _NO_CONTENT
