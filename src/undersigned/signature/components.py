"""Covered components of requests and responses, and the signature base of them (RFC 9421 sections 2 and 2.5)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, cast
from urllib.parse import parse_qs, quote, unquote

import http_sf

from undersigned.errors import UndersignedError
from undersigned.limits import (
    LONGEST_FIELD,
    LONGEST_METHOD,
    MOST_DELIMITERS,
    MOST_PARSED_COMPONENTS,
    MOST_QUERY_PARAMETERS,
)
from undersigned.message import tchar
from undersigned.message.field_types import field_type
from undersigned.message.leniency import STRICT
from undersigned.message.request import Request
from undersigned.message.structured_fields import (
    MalformedField,
    count_delimiters,
    parse_dictionary,
    parse_field,
    serialize_byte_sequence,
    serialize_member,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from undersigned.message.covered_components import Component
    from undersigned.message.header_fields import HeaderFields
    from undersigned.message.leniency import Reading
    from undersigned.message.response import Response
    from undersigned.message.structured_fields import Parameters
    from undersigned.url import CanonicalURL

Flags: TypeAlias = "dict[str, str | Literal[True]]"
"""The parameters of a component: strings, and True for a flag."""

QUERY_COMPONENTS = frozenset({"@target-uri", "@request-target", "(request-target)"})
"""The components whose value tells a lone `?` from no query."""

METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"})
"""The methods that nearly every request has. Any other method is checked to be a token."""

NO_FIELD: Final = "a covered field is not in the message"
"""What an error says of a field that is not there."""

_NO_COMPONENT: Final = "a covered component does not exist for this message, or not with these parameters"
FIELD_VALUE = re.compile(r"[\t\x20-\x7e]*")
"""A value that can be a line of a signature base, which is ASCII (RFC 9421 section 2.5)."""

_ANY_CASE = re.compile(rf"{tchar.ANY}+")
_UPPER_CASE = re.compile(rf"{tchar.UPPER}+")
_FOLD = re.compile(r"(?>(?:(?<![ \t])[ \t]++)?)\r\n[ \t]++")
# An identifier whose parameters are flags and strings without escapes. No other one has a value.
_FLAG = r';([a-z*][a-z0-9_.*-]*+)(?>((?:="[ !#-\[\]-~]*+")?))'
_FLAGS = re.compile(_FLAG)
_IDENTIFIER = re.compile(rf'"[^"\\]*+"(?>(?:{_FLAG})*)')


class UnresolvableComponent(UndersignedError, ValueError):
    """Raised when the message has no value for a covered component. Its text has no text of the message.

    Attributes:
        component: the identifier of the component, as the message spells it, or "".
    """

    component: str = ""


class OutOfBounds(UnresolvableComponent):
    """Raised when a covered component is not read, because more is covered than one of our bounds allows."""


def signature_base(values: ComponentValues, components: Sequence[Component], parameters: str) -> str:
    """Return the signature base as ASCII text, lines separated by LF (RFC 9421 section 2.5).

    Args:
        values: the component values.
        components: the covered components in their order.
        parameters: the value of `@signature-params`.

    Raises:
        UnresolvableComponent: the message has no value for a component. The error names it.
    """
    known, fields = values.known, values.fields.combined
    lines: list[str] = []
    for component in components:
        name, text, bare = component
        value = known.get(name) if bare else None
        if value is None and bare and name[:1] != "@" and name != "set-cookie":
            value = fields.get(name)
        # Nearly every value is printable ASCII, which these methods tell fastest.
        if value is None or not (value.isascii() and value.isprintable()):
            value = values.value(component)
        lines.append(f"{text}: {value}")
    lines.append(f'"@signature-params": {parameters}')
    return "\n".join(lines)


def check_method(method: str, *, any_case: bool) -> None:
    """Check that a method is a token, in upper case unless it may have any case.

    Raises:
        OutOfBounds: it has more than `LONGEST_METHOD` characters.
        UnresolvableComponent: it is not such a token.
    """
    if len(method) > LONGEST_METHOD:
        raise OutOfBounds(
            f"the method has {len(method):,} characters, and at most {LONGEST_METHOD} are read: send a shorter one"
        )
    if (_ANY_CASE if any_case else _UPPER_CASE).fullmatch(method) is None:
        raise UnresolvableComponent(f"the method is not {'a' if any_case else 'an upper-case'} token")


def with_empty_query(base: str, components: Sequence[Component]) -> str:
    """Return the signature base of the same request if its target, which has no query, ended in a lone `?`."""
    lines = base.split("\n")
    for at, component in enumerate(components):
        if component.name in QUERY_COMPONENTS:
            lines[at] += "?"
    return "\n".join(lines)


class ParsedTexts:
    """The texts that are parsed for the components of one message, and of the request that it answers.

    Attributes:
        dictionaries: what was parsed, by section and name, so that the members of one field parse it once.
        query_parameters: the parameters of the query, or None if no component asked for one yet.
    """

    __slots__ = ("_characters", "_components", "_delimiters", "_seen", "dictionaries", "query_parameters")

    def __init__(self) -> None:
        self._components = self._characters = self._delimiters = 0
        self._seen: set[tuple[int, str]] = set()
        self.dictionaries: dict[tuple[int, str], Mapping[str, tuple[object, Parameters]]] = {}
        self.query_parameters: Mapping[str, Sequence[str]] | None = None

    def add(self, fields: HeaderFields, name: str, text: str = "") -> None:
        """Add the text that a component with parameters needs, each text once.

        Args:
            fields: the section that has the text.
            name: the name of the component.
            text: the text.

        Raises:
            OutOfBounds: there are too many components, characters or delimiters.
        """
        self._components += 1
        if self._components > MOST_PARSED_COMPONENTS:
            raise OutOfBounds(
                f"more than {MOST_PARSED_COMPONENTS} covered components have parameters: cover whole fields, or "
                "@target-uri"
            )
        if (id(fields), name) in self._seen:
            return
        self._seen.add((id(fields), name))
        self._characters += len(text)
        self._delimiters += count_delimiters(text)
        for size, most, what in (
            (self._characters, LONGEST_FIELD, "characters"),
            (self._delimiters, MOST_DELIMITERS, "delimiters"),
        ):
            if size > most:
                raise OutOfBounds(
                    f"the headers of covered components with parameters have {size:,} {what}, and at most {most:,} are "
                    "read: cover whole fields, or @target-uri"
                )


class ComponentValues:
    """The component values of one message: a request, or a response with the request that it answers.

    Args:
        message: the message.
        target: the canonical target of the request.
        content_digest: the value of a Content-Digest that is about to be added to the message, or None.
        reading: how the message, and the request that it answers, are read.
        request_target: the request target as it was sent, if it is not in origin-form (RFC 9421 section 2.2.5).
        trailers: the trailer fields of a request, if they are known. Those of a response are its own.

    Attributes:
        fields: the headers.
        known: derived components without parameters, and a field that is about to be added, by name.
        requested: the values of the request that a response answers, for components with `req` (section 2.4), or None.
    """

    __slots__ = ("_message", "_parsed", "_reading", "_target", "_trailers", "fields", "known", "requested")

    def __init__(
        self,
        message: Request | Response,
        target: CanonicalURL,
        content_digest: str | None = None,
        *,
        reading: Reading = STRICT,
        request_target: str | None = None,
        trailers: HeaderFields | None = None,
    ) -> None:
        self.requested: ComponentValues | None = None
        if isinstance(message, Request):
            self.known = {"@target-uri": target.target_uri, "@authority": target.authority}
            if message.method in METHODS:
                self.known["@method"] = message.method
            if request_target:
                self.known["@request-target"] = request_target
        else:
            self.known = {"@status": str(message.status)}
            trailers = message.trailers
            if message.request is not None:
                self.requested = ComponentValues(message.request, target, reading=reading)
        if content_digest:
            self.known["content-digest"] = content_digest
        self.fields = message.fields
        self._message = message
        self._target = target
        self._reading = reading
        self._trailers = trailers
        self._parsed: ParsedTexts | None = None

    def parsed(self) -> ParsedTexts:
        """Return what is parsed. Few messages need it, so it is made when it is first asked for."""
        if self._parsed is None:
            # What is parsed of a response counts together with what is parsed of its request.
            self._parsed = ParsedTexts() if self.requested is None else self.requested.parsed()
        return self._parsed

    def value(self, component: Component) -> str:
        """Return the value of `component` (RFC 9421 section 2).

        Raises:
            UnresolvableComponent: the message has no such component, or its value is not printable ASCII.
        """
        try:
            value = self.resolve(component.name, {} if component.bare else _flags(component.text))
        except UnresolvableComponent as unresolvable:
            unresolvable.component = component.text
            raise
        if FIELD_VALUE.fullmatch(value):
            return value
        unprintable = UnresolvableComponent("the value of a covered component is not printable ASCII")
        unprintable.component = component.text
        raise unprintable

    def resolve(self, name: str, flags: Flags) -> str:
        """Return the value of a component that has a name and parameters.

        Raises:
            UnresolvableComponent: the message has no such component.
        """
        if flags.get("req") is True and not isinstance(self._message, Request):
            if self.requested is None:
                raise UnresolvableComponent("the request that this response answers is not known")
            del flags["req"]
            return self.requested.resolve(name, flags)
        if flags.get("tr") is True:
            del flags["tr"]
            if self._trailers is None or name[:1] == "@":
                raise UnresolvableComponent("a covered trailer field is not known: trailers are not read")
            return self._field(self._trailers, name, flags)
        if name[:1] == "@":
            return self._derived(name, flags)
        if not flags and name in self.known:
            return self.known[name]
        return self._field(self.fields, name, flags)

    def _derived(self, name: str, flags: Flags) -> str:
        """Return the value of a derived component (section 2.2)."""
        request = self._message
        if name == "@query-param" and isinstance(request, Request):
            return self._query_parameter(flags)
        if not flags and name not in self.known and isinstance(request, Request):
            self.known = {**self._of_target(request), **self.known}
        if flags or name not in self.known:
            raise UnresolvableComponent(_NO_COMPONENT)
        return self.known[name]

    def _field(self, fields: HeaderFields, name: str, flags: Flags) -> str:
        """Return the value of a field of a section (section 2.1)."""
        text = fields.combined.get(name)
        if text is None or (name == "set-cookie" and name in fields.repeated and "bs" not in flags):
            raise UnresolvableComponent(NO_FIELD if text is None else _NO_COMPONENT)
        lines = fields.values(name)
        if "\n" in text:
            # As RFC 9421 section 2.1 reads a folded line. Signers and verifiers reject it before that.
            lines = [_FOLD.sub(" ", line) for line in lines]
            text = ", ".join(lines)
        if not flags:
            return text
        self.parsed().add(fields, name, "" if "bs" in flags else text)
        key = flags.pop("key", None)
        try:
            if key is None and flags == {"bs": True}:
                octets = [line.encode("latin-1") for line in lines]
                return ", ".join([serialize_byte_sequence(line, "base64") for line in octets])
            if key is None and flags == {"sf": True}:
                return self._serialize(name, text)
            if isinstance(key, str) and flags in ({}, {"sf": True}):
                return self._member((id(fields), name), text, key)
        except MalformedField as malformed:
            raise UnresolvableComponent(f"a covered structured field cannot be read: {malformed}") from None
        except KeyError:
            raise UnresolvableComponent("a covered dictionary has no such member") from None
        except UnicodeError:
            raise UnresolvableComponent("a covered structured field cannot be read") from None
        raise UnresolvableComponent(_NO_COMPONENT)

    def _member(self, place: tuple[int, str], text: str, key: str) -> str:
        """Return a member of a dictionary in its strict serialization (section 2.1.2)."""
        dictionaries = self.parsed().dictionaries
        if place not in dictionaries:
            dictionaries[place] = parse_dictionary(text, repeated_keys=self._reading.repeated_keys)
        return serialize_member(*dictionaries[place][key])

    def _serialize(self, name: str, text: str) -> str:
        """Return a structured field in its strict serialization (section 2.1.1)."""
        tltype = field_type(name, self._reading.field_types)
        if tltype is None:
            raise UnresolvableComponent("the type of a field that is covered with ;sf is not known")
        parsed = parse_field(text, tltype, repeated_keys=self._reading.repeated_keys)
        return http_sf.ser(cast("http_sf.StructuredType", parsed))

    def _of_target(self, request: Request) -> dict[str, str]:
        """Return the components that every request has, but few signatures cover (section 2.2)."""
        target, method = self._target, request.method
        check_method(method, any_case=self._reading.lower_case_methods)
        origin_form = target.path if target.query is None else f"{target.path}?{target.query}"
        return {
            "@method": method,
            "@scheme": target.scheme,
            "@path": target.path,
            "@query": f"?{target.query or ''}",
            # Of CONNECT, it is in authority-form (section 2.2.5).
            "@request-target": target.authority if method.upper() == "CONNECT" else origin_form,
        }

    def _query_parameter(self, flags: Flags) -> str:
        """Return the value of a parameter that appears once, encoded as section 2.2.8 has it.

        Names and values are octets, a character for each: they need not be UTF-8, and are equal only as octets.

        Its `name` must have the one encoding that the section gives it. In other encodings a signature could cover one
        parameter many times, and each time would repeat its value in the base.
        """
        query = self._target.query or ""
        count = query.count("&") + 1
        if count > MOST_QUERY_PARAMETERS:
            raise OutOfBounds(
                f"the query has {count:,} parameters, and @query-param reads at most {MOST_QUERY_PARAMETERS}: cover "
                "@query, or @target-uri"
            )
        parsed = self.parsed()
        parsed.add(self.fields, "@query-param")
        encoded = flags.pop("name", None)
        if flags or not isinstance(encoded, str) or _encode(name := unquote(encoded, "latin-1")) != encoded:
            raise UnresolvableComponent("a covered query parameter is not named as RFC 9421 section 2.2.8 encodes it")
        if parsed.query_parameters is None:
            parsed.query_parameters = parse_qs(query, keep_blank_values=True, encoding="latin-1")
        values = parsed.query_parameters.get(name, ())
        if len(values) != 1:
            raise UnresolvableComponent("a covered query parameter is not in the query, or more than once")
        return _encode(values[0])


def _flags(text: str) -> Flags:
    """Return the parameters of an identifier."""
    if _IDENTIFIER.fullmatch(text) is None:
        raise UnresolvableComponent(_NO_COMPONENT)
    _, _, rest = text[1:].partition('"')
    return {name: value[2:-1] if value else True for name, value in _FLAGS.findall(rest)}


def _encode(text: str) -> str:
    """Return a name or value, a character for each octet, as section 2.2.8 encodes it."""
    return quote(text, safe="*", encoding="latin-1").replace("~", "%7E")
