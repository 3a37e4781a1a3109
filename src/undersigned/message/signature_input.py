"""Signature-Input: what a signature covers, and its parameters (RFC 9421 section 4.1)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, cast

import http_sf
from http_sf.compat import Item

from undersigned.limits import LONGEST_PATTERN_READ
from undersigned.message.structured_fields import (
    KEY,
    MalformedField,
    check_size,
    parse_dictionary,
    serialize_inner_list,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from undersigned.message.structured_fields import Parameter


@dataclass(frozen=True, slots=True)
class Component:
    """One covered component identifier (RFC 9421 section 1.1).

    Attributes:
        name: the component name, lower case, without quotes.
        text: the identifier as it appears in the base: quoted name and parameters.
        bare: whether it has no parameters.
    """

    name: str
    text: str
    bare: bool

    def item(self) -> Item:
        """Return the identifier as the structured field item that http-message-signatures resolves."""
        item = Item()
        item.parse(self.text.encode("ascii"))
        return item


class Coverage(NamedTuple):
    """The components that a signature covers. A named tuple, as a frozen dataclass takes twice as long to make.

    Attributes:
        components: the covered components in their order.
        names: the names of all covered components.
        bare: the names of the components without parameters.
        texts: the identifiers of the components in their order.
    """

    components: tuple[Component, ...]
    names: frozenset[str]
    bare: frozenset[str]
    texts: tuple[str, ...]

    @classmethod
    def of(cls, components: Iterable[Component]) -> Coverage:
        """Return the coverage of `components`."""
        covered = tuple(components)
        return cls(
            covered,
            frozenset([component.name for component in covered]),
            frozenset([component.name for component in covered if component.bare]),
            tuple([component.text for component in covered]),
        )


class SignatureInput(NamedTuple):
    """One member of Signature-Input (RFC 9421 section 4.1).

    Attributes:
        coverage: the covered components.
        parameters: the signature parameters by name.
        text: the value of `@signature-params`, as it appears in the base.
    """

    coverage: Coverage
    parameters: Mapping[str, Parameter]
    text: str

    @property
    def components(self) -> tuple[Component, ...]:
        """The covered components in their order."""
        return self.coverage.components


def parse_signature_input(value: str) -> dict[str, SignatureInput]:
    """Read a Signature-Input field value (all lines joined with a comma) into its members by label.

    Raises:
        MalformedField: not a dictionary of inner lists of strings, too large, or a repeated label, parameter or
            component.
    """
    if len(value) > LONGEST_PATTERN_READ:
        check_size(value)
    member = _pattern_read(value)
    if member is not None:
        return member
    check_size(value)
    return {label: _signature_input(member) for label, member in parse_dictionary(value).items()}


def serialize_signature_input(components: Iterable[str], parameters: Mapping[str, Parameter]) -> str:
    """Return the `@signature-params` value of bare `components` and `parameters` (RFC 9421 section 2.3)."""
    return serialize_inner_list([(name, {}) for name in components], parameters)


def _signature_input(member: tuple[object, Mapping[str, Parameter]]) -> SignatureInput:
    value, parameters = member
    if not isinstance(value, list):
        raise MalformedField("a member of Signature-Input is not an inner list")
    items = cast("list[tuple[Parameter, dict[str, Parameter]]]", value)
    seen: set[tuple[str, frozenset[tuple[str, Parameter]]]] = set()
    components: list[Component] = []
    for name, qualifiers in items:
        if not isinstance(name, str) or name != name.lower():
            raise MalformedField("a covered component is not a lower-case string")
        identity = (name, frozenset(qualifiers.items()))
        if identity in seen or name == "@signature-params":
            raise MalformedField("a covered component is repeated, or is @signature-params itself")
        seen.add(identity)
        components.append(Component(name, http_sf.ser((name, qualifiers)), not qualifiers))
    return SignatureInput(Coverage.of(components), parameters, serialize_inner_list(items, parameters))


# Nearly every signer writes one label, components without parameters, strings without escapes, integers without leading
# zeros and no optional white space. A pattern reads such a value 20 times as fast as the parser. The value is its own
# serialization, so a part of it goes into the base unchanged.

_NAME = r'"[!#-@\[\]-~]++"'
_NAMES = rf"{_NAME}(?>(?: {_NAME})*)"
_TEXT = r"[ !#-\[\]-~]*+"
_WHOLE = r"(?:0|[1-9][0-9]{0,14}+)"


def _member(parameters: str) -> re.Pattern[str]:
    """Return the pattern of a member with `parameters`: the label, the member, the components, the parameters."""
    return re.compile(rf"({KEY.pattern})=(\(({_NAMES})\){parameters})")


_USUAL_ORDER = _member(
    rf';created=({_WHOLE});expires=({_WHOLE});nonce="({_TEXT})";keyid="({_TEXT})";alg="({_TEXT})";tag="({_TEXT})"'
)
_ANY_ORDER = _member(rf'((?>(?:;{KEY.pattern}=(?:{_WHOLE}|"{_TEXT}"))+))')
_PARAMETERS = re.compile(rf';({KEY.pattern})=(?:([0-9]+)|"({_TEXT})")')

_BODILESS = ("@method", "@target-uri", "@authority")
_KNOWN: Mapping[str, Component] = MappingProxyType(
    {f'"{name}"': Component(name, f'"{name}"', bare=True) for name in (*_BODILESS, "content-type", "content-digest")}
)
# The components that nearly every signature covers, by their spelling: parsed once.
_USUAL: Mapping[str, Coverage] = MappingProxyType(
    {
        " ".join(f'"{name}"' for name in names): Coverage.of(_KNOWN[f'"{name}"'] for name in names)
        for names in (_BODILESS, (*_BODILESS, "content-type"), (*_BODILESS, "content-type", "content-digest"))
    }
)


def _pattern_read(value: str) -> dict[str, SignatureInput] | None:
    """Return the only member of a value in the usual spelling, or None if the parser must read the value."""
    parameters: dict[str, Parameter]
    match = _USUAL_ORDER.fullmatch(value)
    if match is not None:
        label, text, names, created, expires, nonce, keyid, algorithm, tag = match.groups()
        parameters = {
            "created": int(created),
            "expires": int(expires),
            "nonce": nonce,
            "keyid": keyid,
            "alg": algorithm,
            "tag": tag,
        }
    else:
        match = _ANY_ORDER.fullmatch(value)
        if match is None:
            return None
        label, text, names, tail = match.groups()
        found = _PARAMETERS.findall(tail)
        parameters = {name: int(number) if number else string for name, number, string in found}
        if len(parameters) != len(found):
            return None
    coverage = _USUAL.get(names) or _coverage(names)
    return None if coverage is None else {label: SignatureInput(coverage, parameters, text)}


def _coverage(names: str) -> Coverage | None:
    """Return the coverage of quoted `names`, or None if the parser must reject them."""
    items = names.split(" ")
    if len(set(items)) != len(items) or '"@signature-params"' in items:
        return None
    return Coverage.of([_KNOWN.get(item) or Component(item[1:-1], item, bare=True) for item in items])
