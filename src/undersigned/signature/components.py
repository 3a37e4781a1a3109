"""Covered components of a request, with its canonical target URI and authority (RFC 9421 section 2)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple, cast
from urllib.parse import parse_qs, quote, unquote

from http_message_signatures import HTTPMessageSignaturesException, HTTPSignatureComponentResolver

from undersigned.errors import UndersignedError
from undersigned.limits import LONGEST_PARSED, MOST_PARSED, PARSED_PER_COMPONENT, WRAPPED_PER_PARSED
from undersigned.message import token
from undersigned.message.structured_fields import count_delimiters, serialize_byte_sequence

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from undersigned.message.request import Request
    from undersigned.message.signature_input import Component
    from undersigned.url import CanonicalURL

_DELIMITERS = ",;: \\%="
_QUERY_DELIMITERS = "&;="
QUERY_COMPONENTS = frozenset({"@target-uri", "@request-target"})
"""The components whose value tells a lone `?` from no query."""

_NO_VALUE = "a covered component has no value in this request"

_METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"})
_TOKEN = re.compile(rf"{token.UPPER}+")
_FIELD_VALUE = re.compile(r"[\t\x20-\x7e]*")
_QUERY_PARAMETER = re.compile(r'"@query-param";name="([!#-\[\]-~]*)"')


class UnresolvableComponent(UndersignedError, ValueError):
    """Raised when the request has no value for a covered component. The error has no text of the message."""


def signature_base(values: ComponentValues, components: Sequence[Component], parameters: str) -> str:
    """Return the signature base as ASCII text, lines separated by LF (RFC 9421 section 2.5).

    Args:
        values: the component values.
        components: the covered components in their order.
        parameters: the value of `@signature-params`.

    Raises:
        UnresolvableComponent: the request has no value for a component.
    """
    lines = values.lines(components)
    lines.append(f'"@signature-params": {parameters}')
    return "\n".join(lines)


def with_empty_query(base: str, components: Sequence[Component]) -> str:
    """Return the signature base of the same request if its target, which has no query, ended in a lone `?`."""
    lines = base.split("\n")
    for at, component in enumerate(components):
        if component.name in QUERY_COMPONENTS:
            lines[at] += "?"
    return "\n".join(lines)


class ComponentValues:
    """The component values of one request with its canonical target.

    Args:
        request: the request.
        target: its canonical target.
        content_digest: the value of a Content-Digest that is about to be added to it.
    """

    __slots__ = ("_delimiters", "_known", "_parameters", "_parsed", "_resolving", "request", "target")

    def __init__(self, request: Request, target: CanonicalURL, content_digest: str | None = None) -> None:
        self.request = request
        self.target = target
        # By the text of the identifier: one with parameters is another component and not among these.
        self._known = {'"@target-uri"': target.target_uri, '"@authority"': target.authority}
        if request.method in _METHODS:
            self._known['"@method"'] = request.method
        if content_digest:
            self._known['"content-digest"'] = content_digest
        self._resolving: CanonicalResolver | None = None
        self._parameters: Mapping[str, Sequence[str]] | None = None
        self._parsed: dict[tuple[str, bool], int] = {}
        self._delimiters = 0

    def lines(self, components: Iterable[Component]) -> list[str]:
        """Return the lines of `components` in a signature base (RFC 9421 section 2.5).

        Raises:
            UnresolvableComponent: as `value`.
        """
        known, value = self._known, self.value
        return [f"{component.text}: {known.get(component.text) or value(component)}" for component in components]

    def value(self, component: Component) -> str:
        """Return the value of `component` (RFC 9421 section 2).

        Raises:
            UnresolvableComponent: the request has no such component, or its value is not printable ASCII.
        """
        known = self._known.get(component.text)
        if known is not None:
            return known
        name = component.name
        if component.bare and name[:1] != "@" and name != "set-cookie":
            value = self.request.fields.combined.get(name)
            if value is None:
                raise UnresolvableComponent(_NO_VALUE)
            # Nearly every value is printable ASCII, which these methods tell fastest. The pattern also accepts a tab.
            if (value.isascii() and value.isprintable()) or _FIELD_VALUE.fullmatch(value):
                return value
        return self._resolved(component)

    def _resolved(self, component: Component) -> str:
        if _TOKEN.fullmatch(self.request.method) is None:
            raise UnresolvableComponent("the method is not an upper-case token")
        if not component.bare:
            self._count(component)
        if component.name == "@query-param":
            return self._query_parameter(component)
        # The resolver unfolds lines, and wraps no derived component. Valid fields have no name with an @.
        if component.text == f'"{component.name}";bs' and self.request.fields.are_valid:
            return self._wrapped(component)
        try:
            value = cast("object", self._resolver(component.name).resolve(component.item()))
        except (HTTPMessageSignaturesException, TypeError, ValueError):
            raise UnresolvableComponent(_NO_VALUE) from None
        if not isinstance(value, str) or _FIELD_VALUE.fullmatch(value) is None:
            raise UnresolvableComponent("the value of a covered component is not printable ASCII")
        return value

    def _query_parameter(self, component: Component) -> str:
        """Return the value of a query parameter that appears once, encoded (RFC 9421 section 2.2.8).

        Its `name` is in the one encoding that the section gives it. A name has more encodings than a header has room
        for, and each would repeat the parameter's value in the base.
        """
        match = _QUERY_PARAMETER.fullmatch(component.text)
        if match is None or _encoded(name := unquote(match[1])) != match[1]:
            raise UnresolvableComponent("a covered query parameter is not named as RFC 9421 section 2.2.8 encodes it")
        if self._parameters is None:
            self._parameters = parse_qs(self.target.query or "", keep_blank_values=True)
        values = self._parameters.get(name, ())
        if len(values) != 1:
            raise UnresolvableComponent(_NO_VALUE)
        return _encoded(values[0])

    def _wrapped(self, component: Component) -> str:
        """Return the lines of a field, none of them folded, as byte sequences (RFC 9421 section 2.1.3)."""
        lines = self.request.fields.values(component.name)
        if not lines:
            raise UnresolvableComponent(_NO_VALUE)
        try:
            return ", ".join([serialize_byte_sequence(line.encode("latin-1"), "base64") for line in lines])
        except UnicodeEncodeError:
            raise UnresolvableComponent(_NO_VALUE) from None

    def _count(self, component: Component) -> None:
        """Count what has to be parsed for a component, each value once, and reject too much of it."""
        self._delimiters += PARSED_PER_COMPONENT
        name, wrapped = component.name, component.text.endswith(";bs")
        if (name, wrapped) not in self._parsed:
            text = (self.target.query if name == "@query-param" else self.request.fields.combined.get(name)) or ""
            self._parsed[name, wrapped] = len(text) // WRAPPED_PER_PARSED if wrapped else len(text)
            if not wrapped and len(text) <= LONGEST_PARSED:
                delimiters = _QUERY_DELIMITERS if name == "@query-param" else _DELIMITERS
                self._delimiters += count_delimiters(text, delimiters)
        if self._delimiters > MOST_PARSED or sum(self._parsed.values()) > LONGEST_PARSED:
            raise UnresolvableComponent(
                f"components with parameters ask for more than {MOST_PARSED} delimiters or {LONGEST_PARSED} characters "
                "to be parsed: cover the whole field instead, or @target-uri"
            )

    def _resolver(self, name: str) -> CanonicalResolver:
        """Return the resolver, with the field `name` if there is one. It is made once, and only if it is needed."""
        if self._resolving is None:
            self._resolving = CanonicalResolver(self.request, self.target)
        self._resolving.read_field(name)
        return self._resolving


def _encoded(text: str) -> str:
    """Return a name or value of a query parameter as RFC 9421 section 2.2.8 encodes it."""
    return quote(text, safe="*").replace("~", "%7E")


class _URLParts(NamedTuple):
    """What the resolver asks of a URL, answered from the canonical form."""

    scheme: str
    host: str
    port: str | None
    path: str
    query: str | None
    authority: str

    @property
    def query_suffix(self) -> str:
        return "" if self.query is None else f"?{self.query}"


class _Lines(NamedTuple):
    lines: tuple[tuple[str, str], ...] = ()

    def items(self) -> Iterable[tuple[str, str]]:
        return self.lines


class _Message(NamedTuple):
    method: str
    url: str
    headers: _Lines = _Lines()


class CanonicalResolver(HTTPSignatureComponentResolver):
    """http-message-signatures' resolver over one request, its URL being the canonical one.

    It has only the fields that `read_field` gives it, since reading all of them takes longer than a signature check.
    """

    def __init__(self, request: Request, target: CanonicalURL) -> None:
        origin = f"{target.scheme}://{target.authority}/"
        super().__init__(_Message(request.method, origin))  # type: ignore[no-untyped-call]
        self.request = request
        self.target = target
        port = None if target.port is None else str(target.port)
        parts = _URLParts(target.scheme, target.host, port, target.path, target.query, target.authority)
        # The resolver asks these attributes of a URL and no others; its own class of them is private.
        self.url_parts = parts  # type: ignore[assignment]  # pyright: ignore[reportAttributeAccessIssue]

    def read_field(self, name: str) -> None:
        """Read the lines of the field `name` (lower case), if there are any."""
        if name in self.request.fields.combined and name not in self.headers:
            lines = _Lines(tuple((name, line) for line in self.request.fields.values(name)))
            read = HTTPSignatureComponentResolver(_Message(self.request.method, self.message.url, lines))  # type: ignore[no-untyped-call]
            self.header_field_lines[name] = read.header_field_lines[name]
            self.headers[name] = read.headers[name]

    def get_target_uri(self) -> str:
        """Return `@target-uri` (RFC 9421 section 2.2.2)."""
        return self.target.target_uri

    def get_authority(self) -> str:
        """Return `@authority` (RFC 9421 section 2.2.3)."""
        return self.target.authority
