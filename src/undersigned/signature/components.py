"""Covered components of requests and responses, and the signature base of them (RFC 9421 sections 2 and 2.5)."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from undersigned.limits import LONGEST_METHOD
from undersigned.message import token
from undersigned.message.reading import STRICT
from undersigned.message.request import Request
from undersigned.signature.resolver import FIELD_VALUE, CanonicalResolver, ParsedTexts, Resolver, SectionResolver
from undersigned.signature.unresolvable import NO_VALUE, OutOfBounds, UnresolvableComponent

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from undersigned.message.component import Component
    from undersigned.message.header_fields import HeaderFields
    from undersigned.message.reading import Reading
    from undersigned.message.response import Response
    from undersigned.url import CanonicalURL

__all__ = [
    "METHODS",
    "QUERY_COMPONENTS",
    "CanonicalResolver",
    "ComponentValues",
    "MessageValues",
    "OutOfBounds",
    "ResponseValues",
    "UnresolvableComponent",
    "check_method",
    "signature_base",
    "values_of",
    "with_empty_query",
]

QUERY_COMPONENTS = frozenset({"@target-uri", "@request-target", "(request-target)"})
"""The components whose value tells a lone `?` from no query."""

METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"})
"""The methods that nearly every request has. Any other method is checked to be a token."""

_ANY_CASE = re.compile(rf"{token.ANY}+")
_UPPER_CASE = re.compile(rf"{token.UPPER}+")


def signature_base(values: MessageValues, components: Sequence[Component], parameters: str) -> str:
    """Return the signature base as ASCII text, lines separated by LF (RFC 9421 section 2.5).

    Args:
        values: the component values.
        components: the covered components in their order.
        parameters: the value of `@signature-params`.

    Raises:
        UnresolvableComponent: the message has no value for a component.
    """
    lines = values.lines(components)
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


class MessageValues(ABC):
    """The component values of one message: of a request (`ComponentValues`) or of a response (`ResponseValues`).

    Attributes:
        fields: the header fields.
        reading: how the message is read.
        trailers: the trailer fields, or None if they are not known.
    """

    __slots__ = ("_known", "_resolver", "fields", "reading", "trailers")

    fields: HeaderFields
    reading: Reading
    trailers: HeaderFields | None
    # The values that are known without parsing, by identifier: a name with parameters is another component.
    _known: dict[str, str]
    _resolver: Resolver | None

    def lines(self, components: Sequence[Component]) -> list[str]:
        """Return the lines of `components` in a signature base (RFC 9421 section 2.5).

        Raises:
            UnresolvableComponent: as `value`.
        """
        known, combined, lines = self._known, self.fields.combined, list[str]()
        for component in components:
            value = known.get(component.text)
            if value is None:
                value = combined.get(component.field_name)
                # Nearly every field is printable ASCII, which these methods tell fastest.
                if value is None or not (value.isascii() and value.isprintable()):
                    value = self.value(component)
            lines.append(f"{component.text}: {value}")
        return lines

    def value(self, component: Component) -> str:
        """Return the value of `component` (RFC 9421 section 2).

        Raises:
            UnresolvableComponent: the message has no such component, or its value is not printable ASCII.
        """
        known = self._known.get(component.text)
        if known is not None:
            return known
        if component.field_name:
            value = self.fields.combined.get(component.field_name)
            if value is None:
                raise UnresolvableComponent(NO_VALUE)
            # Nearly every value is printable ASCII, which these methods tell fastest. The pattern also accepts a tab.
            if (value.isascii() and value.isprintable()) or FIELD_VALUE.fullmatch(value):
                return value
        return self._resolve(component)

    def resolver(self) -> Resolver:
        """Return the resolver of the header section. It is made once, and only if it is needed."""
        if self._resolver is None:
            self._resolver = self._section(self.fields, ParsedTexts())
        return self._resolver

    def _resolve(self, component: Component) -> str:
        in_trailers = None if component.bare else _without(component, "tr")
        if in_trailers is None:
            return self.resolver().value(component)
        if self.trailers is None or in_trailers.name[:1] == "@":
            raise UnresolvableComponent("a covered trailer field is not known: trailers are not read")
        resolver = self.resolver()
        if resolver.trailers is None:
            resolver.trailers = self._section(self.trailers, resolver.parsed)
        return resolver.trailers.value(in_trailers)

    @abstractmethod
    def _section(self, fields: HeaderFields, parsed: ParsedTexts) -> Resolver:
        """Return the resolver of a section with these fields."""


class ComponentValues(MessageValues):
    """The component values of one request with its canonical target.

    Args:
        request: the request.
        target: its canonical target.
        content_digest: the value of a Content-Digest that is about to be added to the request, or None.
        reading: how the request is read.
        request_target: the request target as it was sent, if it is not in origin-form (RFC 9421 section 2.2.5).
        trailers: its trailer fields, if they are known.
    """

    __slots__ = ("request", "target")

    def __init__(
        self,
        request: Request,
        target: CanonicalURL,
        content_digest: str | None = None,
        *,
        reading: Reading = STRICT,
        request_target: str | None = None,
        trailers: HeaderFields | None = None,
    ) -> None:
        self.request = request
        self.target = target
        self.fields = request.fields
        self.reading = reading
        self.trailers = trailers
        self._known = {'"@target-uri"': target.target_uri, '"@authority"': target.authority}
        if request.method in METHODS:
            self._known['"@method"'] = request.method
        if content_digest:
            self._known['"content-digest"'] = content_digest
        if request_target:
            self._known['"@request-target"'] = request_target
        self._resolver = None

    def _resolve(self, component: Component) -> str:
        check_method(self.request.method, any_case=self.reading.lower_case_methods)
        derived = _DERIVED.get(component.text)
        if derived is not None and FIELD_VALUE.fullmatch(value := derived(self.request, self.target)):
            return value
        return super()._resolve(component)

    def _section(self, fields: HeaderFields, parsed: ParsedTexts) -> Resolver:
        def library() -> SectionResolver:
            return CanonicalResolver(self.request, self.target, fields)

        return Resolver(fields, library, reading=self.reading, parsed=parsed, query=self.target.query)


class ResponseValues(MessageValues):
    """The component values of one response.

    Args:
        response: the response.
        requested: the values of the request that it answers, for components with `req` (RFC 9421 section 2.4); None if
            the request is not known.
        content_digest: the value of a Content-Digest that is about to be added to the response, or None.
        reading: how the response is read.
    """

    __slots__ = ("requested", "response")

    def __init__(
        self,
        response: Response,
        requested: ComponentValues | None = None,
        content_digest: str | None = None,
        *,
        reading: Reading = STRICT,
    ) -> None:
        self.response = response
        self.requested = requested
        self.fields = response.fields
        self.reading = reading
        self.trailers = response.trailers
        self._known = {'"@status"': str(response.status)}
        if content_digest:
            self._known['"content-digest"'] = content_digest
        self._resolver = None

    def resolver(self) -> Resolver:
        """Return the resolver of the header section. What is parsed counts together with what the request needs."""
        if self._resolver is None:
            asked = self.requested
            parsed = ParsedTexts() if asked is None else asked.resolver().parsed
            self._resolver = self._section(self.fields, parsed)
        return self._resolver

    def _resolve(self, component: Component) -> str:
        of_request = None if component.bare else _without(component, "req")
        if of_request is None:
            return super()._resolve(component)
        if self.requested is None:
            raise UnresolvableComponent("the request that this response answers is not known")
        return self.requested.value(of_request)

    def _section(self, fields: HeaderFields, parsed: ParsedTexts) -> Resolver:
        def library() -> SectionResolver:
            return SectionResolver.of_response(self.response.status, fields)

        return Resolver(fields, library, reading=self.reading, parsed=parsed, query=None)


def values_of(
    message: Request | Response, target: CanonicalURL, content_digest: str | None = None, *, reading: Reading = STRICT
) -> MessageValues:
    """Return the component values of a message.

    Args:
        message: a request, or a response with the request that it answers.
        target: the target of the request.
        content_digest: the value of a Content-Digest that is about to be added to the message.
        reading: how the message, and the request that it answers, are read.
    """
    if isinstance(message, Request):
        return ComponentValues(message, target, content_digest, reading=reading)
    requested = None if message.request is None else ComponentValues(message.request, target, reading=reading)
    return ResponseValues(message, requested, content_digest, reading=reading)


def _request_target(request: Request, target: CanonicalURL) -> str:
    """Return `@request-target` in origin-form, or of CONNECT in authority-form (RFC 9421 section 2.2.5)."""
    if request.method.upper() == "CONNECT":
        return target.authority
    return target.path if target.query is None else f"{target.path}?{target.query}"


# Components that every request has (RFC 9421 section 2.2). They need a checked method, so they come after that check.
_DERIVED: Final[Mapping[str, Callable[[Request, CanonicalURL], str]]] = MappingProxyType(
    {
        '"@method"': lambda request, _: request.method,
        '"@scheme"': lambda _, target: target.scheme,
        '"@path"': lambda _, target: target.path,
        '"@query"': lambda _, target: f"?{target.query or ''}",
        '"@request-target"': _request_target,
    }
)


def _without(component: Component, flag: str) -> Component | None:
    try:
        return component.without(flag)
    except ValueError:
        raise UnresolvableComponent(NO_VALUE) from None
