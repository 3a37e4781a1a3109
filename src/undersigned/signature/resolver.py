"""Resolvers: the values of components that have to be looked up or parsed (RFC 9421 sections 2.1 and 2.2).

http-message-signatures decides which components have a value. If it differs from the RFC, this module resolves the
component: it has no trailers (section 2.1.4), a fixed list of types for `sf` (section 2.1.1), and no lower-case methods
(section 2.2.1). This module also resolves what most senders cover, because making a resolver of the library takes long.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple, cast

import http_sf
from http_message_signatures import HTTPMessageSignaturesException, HTTPSignatureComponentResolver

from undersigned.limits import LONGEST_FIELD, MOST_DELIMITERS, MOST_PARSED_COMPONENTS, MOST_QUERY_PARAMETERS
from undersigned.message.field_types import field_type
from undersigned.message.structured_fields import (
    MalformedField,
    count_delimiters,
    parse_dictionary,
    reject_repeated,
    serialize_byte_sequence,
    serialize_dictionary,
    serialize_member,
)
from undersigned.signature.query_parameter import QueryParameters
from undersigned.signature.unresolvable import NO_VALUE, OutOfBounds, UnresolvableComponent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from undersigned.message.component import Component
    from undersigned.message.header_fields import HeaderFields
    from undersigned.message.reading import Reading
    from undersigned.message.request import Request
    from undersigned.message.structured_fields import Parameters
    from undersigned.url import CanonicalURL

_QUERY_PARAMETER = "@query-param"

_MEMBER = re.compile(r'"[^"]*+"(?:;sf)?;key="([ !#-\[\]-~]*+)"(?:;sf)?')

FIELD_VALUE = re.compile(r"[\t\x20-\x7e]*")
"""A value that can be a line of a signature base, which is ASCII (RFC 9421 section 2.5)."""


class ParsedTexts:
    """The texts that are parsed for the components of one message, and of the request that it answers."""

    __slots__ = ("_characters", "_components", "_delimiters", "_seen")

    def __init__(self) -> None:
        self._components = self._characters = self._delimiters = 0
        self._seen: set[tuple[int, str]] = set()

    def add(self, section: int, name: str, text: str, delimiters: int) -> None:
        """Add the text that a component needs, each text once.

        Args:
            section: which section of which message has the text.
            name: the name of the component.
            text: the text.
            delimiters: how many delimiters it has.

        Raises:
            OutOfBounds: there are too many components, characters or delimiters.
        """
        self._components += 1
        if (section, name) not in self._seen:
            self._seen.add((section, name))
            self._characters += len(text)
            self._delimiters += delimiters
        if self._components > MOST_PARSED_COMPONENTS:
            raise OutOfBounds(
                f"more than {MOST_PARSED_COMPONENTS} covered components have parameters: cover whole fields, or "
                "@target-uri"
            )
        for size, most, what in (
            (self._characters, LONGEST_FIELD, "characters"),
            (self._delimiters, MOST_DELIMITERS, "delimiters"),
        ):
            if size > most:
                raise OutOfBounds(
                    f"the fields of covered components with parameters have {size:,} {what}, and at most {most:,} are "
                    "read: cover whole fields, or @target-uri"
                )


class Resolver:
    """A resolver of one section of a message: its header fields with the derived components, or its trailers.

    Args:
        fields: the fields of the section.
        library: makes the resolver of http-message-signatures over the same section.
        reading: how the message is read.
        parsed: counts what is parsed.
        query: the query of the request, or None.

    Attributes:
        parsed: counts what is parsed.
        trailers: the resolver of the same message's trailers, after a component asked for one.
    """

    __slots__ = ("_dictionaries", "_fields", "_library", "_made", "_query", "_query_parameters", "_reading", "parsed",
                 "trailers")  # fmt: skip

    def __init__(
        self,
        fields: HeaderFields,
        library: Callable[[], SectionResolver],
        *,
        reading: Reading,
        parsed: ParsedTexts,
        query: str | None,
    ) -> None:
        self._fields = fields
        self._library = library
        self._made: SectionResolver | None = None
        self._reading = reading
        self._query = query
        self._query_parameters = QueryParameters(query)
        self._dictionaries: dict[str, Mapping[str, tuple[object, Parameters]]] = {}
        self.parsed = parsed
        self.trailers: Resolver | None = None

    def value(self, component: Component) -> str:
        """Return the value of a component without `req` and `tr`.

        Raises:
            UnresolvableComponent: the section has no such component, or its value is not printable ASCII.
        """
        name, text = component.name, component.text
        if not component.bare:
            self._count(component)
        if name == _QUERY_PARAMETER:
            return self._query_parameters.value(text)
        # The library unfolds lines, and does not wrap derived components. Valid fields have neither folded lines nor
        # names with an @, so both ways agree.
        valid = self._fields.are_valid
        if valid and text == f'"{name}";bs':
            return self._wrap(name)
        try:
            if text == f'"{name}";sf':
                return self._serialize(name)
            member = _MEMBER.fullmatch(text)
            if valid and member is not None:
                return self._member(name, member[1])
            value = self._resolve(component)
        except MalformedField as malformed:
            raise UnresolvableComponent(f"a covered structured field cannot be read: {malformed}") from None
        except (HTTPMessageSignaturesException, KeyError, TypeError, ValueError):
            raise UnresolvableComponent(NO_VALUE) from None
        if not isinstance(value, str) or FIELD_VALUE.fullmatch(value) is None:
            raise UnresolvableComponent("the value of a covered component is not printable ASCII")
        return value

    def _resolve(self, component: Component) -> object:
        """Return the value that the library has for a component."""
        if self._made is None:
            self._made = self._library()
        self._made.read_field(component.name)
        return cast("object", self._made.resolve(component.item()))

    def _member(self, name: str, key: str) -> str:
        """Return a member of a dictionary in its strict serialization (RFC 9421 section 2.1.2).

        Raises:
            KeyError: the section has no such field, or the field has no such member.
            MalformedField: the field is not a dictionary, or repeats a key or a parameter; see `Reading`.
        """
        if name not in self._dictionaries:
            self._dictionaries[name] = self._parse(self._fields.combined[name])
        return serialize_member(self._dictionaries[name][key])

    def _serialize(self, name: str) -> str:
        """Return a structured field in its strict serialization (RFC 9421 section 2.1.1)."""
        tltype = field_type(name, self._reading.field_types)
        if tltype is None or name not in self._fields.combined:
            raise UnresolvableComponent(NO_VALUE)
        text = self._fields.combined[name]
        if tltype == "dictionary":
            return serialize_dictionary(self._parse(text))
        on_repeated = None if self._reading.repeated_keys else reject_repeated
        return http_sf.ser(http_sf.parse(text.encode("ascii"), tltype=tltype, on_duplicate_key=on_repeated))

    def _parse(self, text: str) -> Mapping[str, tuple[object, Parameters]]:
        return parse_dictionary(text, repeated_keys=self._reading.repeated_keys)

    def _wrap(self, name: str) -> str:
        """Return the lines of a field, none of them folded, as byte sequences (RFC 9421 section 2.1.3)."""
        lines = self._fields.values(name)
        if not lines:
            raise UnresolvableComponent(NO_VALUE)
        try:
            return ", ".join([serialize_byte_sequence(line.encode("latin-1"), "base64") for line in lines])
        except UnicodeEncodeError:
            raise UnresolvableComponent(NO_VALUE) from None

    def _count(self, component: Component) -> None:
        name = component.name
        if name == _QUERY_PARAMETER:
            count = (self._query or "").count("&") + 1
            if count > MOST_QUERY_PARAMETERS:
                raise OutOfBounds(
                    f"the query has {count:,} parameters, and @query-param reads at most {MOST_QUERY_PARAMETERS}: "
                    "cover @query, or @target-uri"
                )
            self.parsed.add(id(self._fields), name, "", 0)
        elif component.text.endswith(";bs"):
            self.parsed.add(id(self._fields), name, "", 0)
        else:
            text = self._fields.combined.get(name, "")
            self.parsed.add(id(self._fields), name, text, count_delimiters(text))


class _Lines(NamedTuple):
    lines: tuple[tuple[str, str], ...] = ()

    def items(self) -> Iterable[tuple[str, str]]:
        return self.lines


class _RequestMessage(NamedTuple):
    method: str
    url: str
    headers: _Lines = _Lines()


class _ResponseMessage(NamedTuple):
    status_code: int
    headers: _Lines = _Lines()


class SectionResolver(HTTPSignatureComponentResolver):
    """http-message-signatures' resolver over one section of a message.

    It has only the fields that `read_field` gives it, since reading all of them takes longer than a signature check.
    """

    def __init__(self, message: _RequestMessage | _ResponseMessage, fields: HeaderFields) -> None:
        super().__init__(message)  # type: ignore[no-untyped-call]
        self.fields = fields

    @classmethod
    def of_response(cls, status: int, fields: HeaderFields) -> SectionResolver:
        """Return the resolver of a response. The components of its request (`req`) are resolved elsewhere."""
        return cls(_ResponseMessage(status), fields)

    def read_field(self, name: str) -> None:
        """Read the lines of the field `name` (lower case), if there are any."""
        if name in self.fields.combined and name not in self.headers:
            lines = _Lines(tuple((name, line) for line in self.fields.values(name)))
            # As of a response, because that has neither method nor URL to be checked.
            read = HTTPSignatureComponentResolver(_ResponseMessage(0, lines))  # type: ignore[no-untyped-call]
            self.header_field_lines[name] = read.header_field_lines[name]
            self.headers[name] = read.headers[name]


class _URLParts(NamedTuple):
    """The parts of a URL that the library asks for, taken from the canonical form."""

    scheme: str
    host: str
    port: str | None
    path: str
    query: str | None
    authority: str

    @property
    def query_suffix(self) -> str:
        return "" if self.query is None else f"?{self.query}"


class CanonicalResolver(SectionResolver):
    """The resolver of a request, its URL being the canonical one."""

    def __init__(self, request: Request, target: CanonicalURL, fields: HeaderFields | None = None) -> None:
        origin = f"{target.scheme}://{target.authority}/"
        # The library takes upper case only; `get_method` returns the method as it was sent.
        message = _RequestMessage(request.method.upper(), origin)
        super().__init__(message, request.fields if fields is None else fields)
        self.request = request
        self.target = target
        port = None if target.port is None else str(target.port)
        parts = _URLParts(target.scheme, target.host, port, target.path, target.query, target.authority)
        # The library asks these attributes of a URL and no others; its own class of them is private.
        self.url_parts = parts  # type: ignore[assignment]  # pyright: ignore[reportAttributeAccessIssue]

    def get_method(self) -> str:
        """Return `@method`, its case kept (RFC 9421 section 2.2.1)."""
        return self.request.method

    def get_target_uri(self) -> str:
        """Return `@target-uri` (RFC 9421 section 2.2.2)."""
        return self.target.target_uri

    def get_authority(self) -> str:
        """Return `@authority` (RFC 9421 section 2.2.3)."""
        return self.target.authority
