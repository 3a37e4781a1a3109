"""Signature-Input: what a signature covers, and its parameters (RFC 9421 section 4.1)."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, cast

from undersigned.limits import LONGEST_SIGNATURE_INPUT, MOST_COMPONENTS, MOST_PARAMETERS, MOST_SIGNATURES
from undersigned.message.component import Component, Coverage
from undersigned.message.structured_fields import (
    KEY,
    MalformedField,
    check_size,
    parse_dictionary,
    serialize_inner_list,
    serialize_item,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from undersigned.message.structured_fields import Parameter


class SignatureInput(NamedTuple):
    """One member of Signature-Input (RFC 9421 section 4.1).

    Attributes:
        coverage: the covered components.
        parameters: the signature parameters by name.
        text: the value of `@signature-params`, as it appears in the base.
        registered: the values of `created`, `expires`, `nonce`, `keyid`, `alg` and `tag`, if the member has exactly
            these parameters in this order, each of its type. None: look into `parameters`.
    """

    coverage: Coverage
    parameters: Mapping[str, Parameter]
    text: str
    registered: tuple[int, int, str, str, str, str] | None = None

    @property
    def components(self) -> tuple[Component, ...]:
        """The covered components in their order."""
        return self.coverage.components


def parse_signature_input(value: str, *, repeated_keys: bool = False) -> dict[str, SignatureInput]:
    """Read a Signature-Input field value (all lines joined with a comma) into its members by label.

    Args:
        value: the field value.
        repeated_keys: whether the last one counts if a label or a parameter is repeated, see `Reading`.

    Raises:
        MalformedField: not a dictionary of inner lists of strings, too large, or a repeated label, parameter or
            component.
    """
    members = _read_by_pattern(value) or _members(value, repeated_keys=repeated_keys)
    return {label: member.read() for label, member in members.items()}


def labels_of_inputs(value: str) -> set[str]:
    """Return the labels of a Signature-Input field value of any size.

    Raises:
        MalformedField: not a dictionary of inner lists, or a repeated label or parameter.
    """
    members = parse_dictionary(value)
    if not all(isinstance(items, list) for items, _ in members.values()):
        raise MalformedField("a member of Signature-Input is not an inner list")
    return set(members)


def choose_signature_inputs(
    value: str,
    choose: Callable[[Mapping[str, Mapping[str, Parameter]]], Sequence[str]],
    *,
    only_one: bool = False,
) -> Sequence[tuple[str, SignatureInput]]:
    """Return the members that are to be verified, each with its label. All are checked, and only these are serialized.

    Args:
        value: the field value, as for `parse_signature_input`.
        choose: returns some of the labels, given the parameters of each.
        only_one: whether a member that is alone is chosen without asking.

    Raises:
        MalformedField: as `parse_signature_input`.
    """
    match = _USUAL_ORDER.fullmatch(value) if len(value) <= LONGEST_SIGNATURE_INPUT else None
    if match is not None:
        label, text, names, created, expires, nonce, keyid, algorithm, tag = match.groups()
        coverage = _USUAL.get(names) or _coverage(names)
        if coverage is not None:
            begins, ends = int(created), int(expires)
            parameters: dict[str, Parameter] = {
                "created": begins, "expires": ends, "nonce": nonce, "keyid": keyid, "alg": algorithm, "tag": tag,
            }  # fmt: skip
            read = SignatureInput(coverage, parameters, text, (begins, ends, nonce, keyid, algorithm, tag))
            return ((label, read),) if only_one or choose({label: parameters}) else ()
    members: Mapping[str, _Matched | _Member] = _read_by_pattern(value) or _members(value)
    given = {label: member.parameters for label, member in members.items()}
    chosen = tuple(given) if only_one and len(given) == 1 else choose(given)
    return [(label, members[label].read()) for label in chosen]


def serialize_signature_input(components: Iterable[str], parameters: Mapping[str, Parameter]) -> str:
    """Return the `@signature-params` value of bare `components` and `parameters` (RFC 9421 section 2.3)."""
    return serialize_inner_list([(name, {}) for name in components], parameters)


def _members(value: str, *, repeated_keys: bool = False) -> dict[str, _Member]:
    check_size(value)
    read = parse_dictionary(value, repeated_keys=repeated_keys)
    return {label: _Member.of(*member) for label, member in read.items()}


class _Member(NamedTuple):
    """A member of Signature-Input as the parser returns it: its components with their parameters, its parameters."""

    items: list[tuple[str, dict[str, Parameter]]]
    parameters: Mapping[str, Parameter]

    @classmethod
    def of(cls, value: object, parameters: Mapping[str, Parameter]) -> _Member:
        """Make a member of `value`, which must be an inner list of components."""
        if not isinstance(value, list):
            raise MalformedField("a member of Signature-Input is not an inner list")
        items = cast("list[tuple[str, dict[str, Parameter]]]", value)
        if len(items) > MOST_COMPONENTS:
            raise MalformedField(
                f"a signature covers {len(items):,} components, and at most {MOST_COMPONENTS} are verified: cover fewer"
            )
        seen: set[tuple[str, frozenset[tuple[str, Parameter]]]] = set()
        for name, qualifiers in items:
            if not isinstance(name, str) or name != name.lower():
                raise MalformedField("a covered component is not a lower-case string")
            identity = (name, frozenset(qualifiers.items()))
            if identity in seen or name == "@signature-params":
                raise MalformedField("a covered component is repeated, or is @signature-params itself")
            seen.add(identity)
        return cls(items, parameters)

    def read(self) -> SignatureInput:
        """Return the member with its serialization, which takes longer to make than parsing the member.

        Raises:
            MalformedField: the member has more than `MOST_PARAMETERS` parameters.
        """
        count = len(self.parameters) + sum(len(qualifiers) for _, qualifiers in self.items)
        if count > MOST_PARAMETERS:
            raise MalformedField(
                f"a signature and its components have {count:,} parameters, and at most {MOST_PARAMETERS} are read "
                "where a value is not a plain string or integer: send fewer"
            )
        components = [_make_component(name, given) for name, given in self.items]
        coverage = Coverage.of(components)
        return SignatureInput(coverage, self.parameters, serialize_inner_list(self.items, self.parameters))


def _make_component(name: str, parameters: Mapping[str, Parameter]) -> Component:
    text = serialize_item(name, parameters)
    return _KNOWN.get(text) or Component(name, text, not parameters)


# Nearly every signer writes components with at most one parameter, strings without escapes, integers without leading
# zeros, and flags. A pattern reads such a value 20 times as fast as the parser.

_QUALIFIER = rf'; *+{KEY.pattern}(?>(?:="[!#-\[\]-~]*+")?)'
_NAME = rf'"[!#-@\[\]-~]++"(?>(?:{_QUALIFIER})?)'
_NAMES = rf" *+{_NAME}(?>(?: ++{_NAME}){{0,{MOST_COMPONENTS}}}) *+"
_PLAIN_NAMES = r'"[!#-@\[\]-~]++"(?>(?: "[!#-@\[\]-~]++")*)'
_TEXT = r"[ !#-\[\]-~]*+"
_WHOLE = r"(?:0|[1-9][0-9]{0,14}+)"


_USUAL_ORDER = re.compile(
    rf"({KEY.pattern})=(\(({_PLAIN_NAMES})\);created=({_WHOLE});expires=({_WHOLE});"
    rf'nonce="({_TEXT})";keyid="({_TEXT})";alg="({_TEXT})";tag="({_TEXT})")'
)
_ANY_ORDER = re.compile(
    rf"({KEY.pattern})=\(({_NAMES})\)"
    rf'((?>(?:; *+{KEY.pattern}(?>(?:=(?:{_WHOLE}|"{_TEXT}"))?)){{0,{MOST_PARAMETERS}}}))'
)
_PARAMETERS = re.compile(rf'; *+({KEY.pattern})(?>(?:=([0-9]+|"{_TEXT}"))?)')
_COMMA = re.compile(r"[ \t]*+,[ \t]*+")
_GAP = re.compile(r"; +")

_BODILESS = ("@method", "@target-uri", "@authority")
_AGENT = "signature-agent"
_KNOWN: Mapping[str, Component] = MappingProxyType(
    {
        f'"{name}"': Component(name, f'"{name}"', bare=True)
        for name in (*_BODILESS, "content-type", "content-digest", _AGENT)
    }
)
# The usual coverages by their spelling, so that none is parsed. The last two are of Web Bot Auth.
_USUAL: Mapping[str, Coverage] = MappingProxyType(
    {
        " ".join(f'"{name}"' for name in names): Coverage.of(_KNOWN[f'"{name}"'] for name in names)
        for names in (
            _BODILESS,
            (*_BODILESS, "content-type"),
            (*_BODILESS, "content-type", "content-digest"),
            ("@authority",),
            ("@authority", _AGENT),
        )
    }
)


class _Matched(NamedTuple):
    """A member of Signature-Input as a pattern reads it. Its components are only made if it is chosen.

    Making a component takes a microsecond, and a field has room for 250.
    """

    text: str
    names: str
    parameters: Mapping[str, Parameter]

    def read(self) -> SignatureInput:
        """Return the member with its components."""
        return SignatureInput(_USUAL.get(self.names) or _make_coverage(self.names), self.parameters, self.text)


def _read_by_pattern(value: str) -> dict[str, _Matched] | None:
    """Return the members of a value in the usual spelling, or None if the parser must read the value."""
    if len(value) > LONGEST_SIGNATURE_INPUT:
        return None
    matches: list[re.Match[str]] = []
    at = 0
    while match := _ANY_ORDER.match(value, at):
        matches.append(match)
        comma = _COMMA.match(value, match.end())
        if comma is None or len(matches) == MOST_SIGNATURES:
            break
        at = comma.end()
    # Members are made only after all have matched. If one does not, the parser makes them all.
    members: dict[str, _Matched] = {}
    for match in matches if matches and matches[-1].end() == len(value) else ():
        read = _any_order(*match.groups()[1:])
        if read is None or match[1] in members:
            return None
        members[match[1]] = read
    return members or None


def _any_order(names: str, tail: str) -> _Matched | None:
    found: Sequence[tuple[str, str]] = _PARAMETERS.findall(tail)
    names = " ".join(_GAP.sub(";", names).split())
    parameters: dict[str, Parameter] = {
        name: value[1:-1] if value[:1] == '"' else int(value) if value else True for name, value in found
    }
    if len(parameters) != len(found) or len(found) > MOST_PARAMETERS or not (names in _USUAL or _are_listed(names)):
        return None
    written = "".join([f";{name}={value}" if value else f";{name}" for name, value in found])
    return _Matched(f"({names}){written}", names, parameters)


def _coverage(names: str) -> Coverage | None:
    """Return the coverage of quoted `names`, or None if the parser must reject them."""
    return _make_coverage(names) if _are_listed(names) else None


def _are_listed(names: str) -> bool:
    """Return whether a signature may cover quoted `names`: they are different, and not too many."""
    items = names.split(" ")
    return len(set(items)) == len(items) <= MOST_COMPONENTS and '"@signature-params"' not in names


def _make_coverage(names: str) -> Coverage:
    """Return the coverage of quoted `names`."""
    return Coverage.of([_KNOWN.get(item) or _component(item) for item in names.split(" ")])


def _component(item: str) -> Component:
    name, _, qualifier = item[1:].partition('"')
    return Component(name, item, bare=not qualifier)
