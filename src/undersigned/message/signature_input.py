"""Signature-Input and Accept-Signature: what a signature covers, and its parameters (RFC 9421 sections 4.1 and 5.1).

A pattern reads what nearly every signer writes: components with at most one parameter, strings without escapes,
integers without leading zeros, and flags. http-sf reads everything else, in twenty times the time.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, cast

from undersigned.limits import LONGEST_SIGNATURE_INPUT, MOST_COMPONENTS, MOST_PARAMETERS, MOST_SIGNATURES
from undersigned.message.covered_components import Component, Coverage
from undersigned.message.structured_fields import (
    KEY,
    MalformedField,
    OversizedField,
    check_size,
    parse_dictionary,
    serialize_member,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from undersigned.message.structured_fields import Parameter

_Items: TypeAlias = "list[tuple[str, dict[str, Parameter]]]"
_CHARACTERS = r"[ !#-\[\]-~]*+"
_TEXT = rf'"{_CHARACTERS}"'
_QUALIFIER = rf'; *+{KEY.pattern}(?>(?:="[!#-\[\]-~]*+")?)'
_NAME = rf'"[!#-@\[\]-~]++"(?>(?:{_QUALIFIER})?)'
_NAMES = rf" *+{_NAME}(?>(?: ++{_NAME}){{0,{MOST_COMPONENTS}}}) *+"
_PARAMETER = rf"; *+{KEY.pattern}(?>(?:=(?:0|[1-9][0-9]{{0,14}}+|{_TEXT}))?)"
_MEMBER = re.compile(
    rf"({KEY.pattern})=\(({_NAMES})\)((?>(?:{_PARAMETER}){{0,{MOST_PARAMETERS}}}))(?:[ \t]*+,[ \t]*+(?!\Z)|\Z)"
)
# As AdCP's signers and this one write it. A verification takes a tenth more time without this pattern.
_USUAL_MEMBER = re.compile(
    rf"({KEY.pattern})=(\(([a-z\"@ -]++)\);created=([1-9][0-9]{{0,14}}+);expires=([1-9][0-9]{{0,14}}+);"
    rf'nonce="({_CHARACTERS})";keyid="({_CHARACTERS})";alg="({_CHARACTERS})";tag="({_CHARACTERS})")'
)
_PARAMETERS = re.compile(rf"; *+({KEY.pattern})(?>(?:=([0-9]+|{_TEXT}))?)")
_GAP = re.compile(r"; +")


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


def parse_signature_input(value: str, *, repeated_keys: bool = False) -> dict[str, SignatureInput]:
    """Read a Signature-Input field value (all lines joined with a comma) into its members by label.

    Args:
        value: the field value.
        repeated_keys: whether the last one counts if a label or a parameter is repeated, see `Reading`.

    Raises:
        MalformedField: not a dictionary of inner lists of strings, too large, or a repeated label, parameter or
            component.
    """
    return {label: member.read() for label, member in _members(value, repeated_keys=repeated_keys).items()}


def choose_signature_inputs(
    value: str, choose: Callable[[Mapping[str, Mapping[str, Parameter]]], Sequence[str]]
) -> Sequence[tuple[str, SignatureInput]]:
    """Return the members that are to be verified, each with its label. All are checked, and only these are serialized.

    Args:
        value: the field value, as for `parse_signature_input`.
        choose: returns some of the labels, given the parameters of each.

    Raises:
        MalformedField: as `parse_signature_input`.
    """
    usual = _USUAL_MEMBER.fullmatch(value) if len(value) <= LONGEST_SIGNATURE_INPUT else None
    if usual is not None and (coverage := _USUAL.get(usual[3])) is not None:
        label, text, _, created, expires, nonce, keyid, algorithm, tag = usual.groups()
        given: dict[str, Parameter] = {
            "created": int(created), "expires": int(expires), "nonce": nonce, "keyid": keyid, "alg": algorithm,
            "tag": tag,
        }  # fmt: skip
        return ((label, SignatureInput(coverage, given, text)),) if choose({label: given}) else ()
    members = _members(value)
    chosen = choose({label: member.parameters for label, member in members.items()})
    return [(label, members[label].read()) for label in chosen]


def serialize_signature_input(components: Iterable[str], parameters: Mapping[str, Parameter]) -> str:
    """Return the `@signature-params` value of bare `components` and `parameters` (RFC 9421 section 2.3)."""
    items: list[tuple[str, Mapping[str, Parameter]]] = [(name, {}) for name in components]
    return serialize_member(items, parameters)


class _Member(NamedTuple):
    """A member that was checked. `read` makes its components and its serialization, which takes longer."""

    parameters: Mapping[str, Parameter]
    read: Callable[[], SignatureInput]


def _component(identifier: str) -> Component:
    name, _, parameters = identifier[1:].partition('"')
    return Component(name, identifier, not parameters)


# Nearly every signature covers one of these, so none is made for each message. The last two are of Web Bot Auth.
_USUAL: Mapping[str, Coverage] = {
    names: Coverage.of(map(_component, names.split(" ")))
    for names in (
        '"@method" "@target-uri" "@authority"',
        '"@method" "@target-uri" "@authority" "content-type"',
        '"@method" "@target-uri" "@authority" "content-type" "content-digest"',
        '"@authority"',
        '"@authority" "signature-agent"',
    )
}


def _members(value: str, *, repeated_keys: bool = False) -> Mapping[str, _Member]:
    plain = _plain_members(value)
    if plain:
        return plain
    check_size(value)
    read = parse_dictionary(value, repeated_keys=repeated_keys)
    return {label: _parsed_member(*member) for label, member in read.items()}


def _plain_members(value: str) -> dict[str, _Member] | None:
    """Return the members of a value in the usual spelling, or None if the parser must read the value."""
    if len(value) > LONGEST_SIGNATURE_INPUT:
        return None
    members: dict[str, _Member] = {}
    at = 0
    while match := _MEMBER.match(value, at):
        label, names, tail = match.groups()
        written: Sequence[tuple[str, str]] = _PARAMETERS.findall(tail)
        parameters: dict[str, Parameter] = {
            name: value[1:-1] if value[:1] == '"' else int(value) if value else True for name, value in written
        }
        if names not in _USUAL:
            names = " ".join(_GAP.sub(";", names).split())
        if "; " in tail:
            tail = "".join([f";{name}={value}" if value else f";{name}" for name, value in written])
        if label in members or len(parameters) != len(written) or not (names in _USUAL or _are_listed(names)):
            return None
        members[label] = _Member(parameters, partial(_plain_member, names, tail, parameters))
        at = match.end()
        if at == len(value):
            return members
        if len(members) == MOST_SIGNATURES:
            break
    return None


def _plain_member(names: str, tail: str, parameters: Mapping[str, Parameter]) -> SignatureInput:
    coverage = _USUAL.get(names) or Coverage.of(map(_component, names.split(" ")))
    return SignatureInput(coverage, parameters, f"({names}){tail}")


def _are_listed(names: str) -> bool:
    """Return whether a signature may cover quoted `names`: they are different, and not too many."""
    identifiers = names.split(" ")
    return len(set(identifiers)) == len(identifiers) <= MOST_COMPONENTS and '"@signature-params"' not in names


def _parsed_member(value: object, parameters: Mapping[str, Parameter]) -> _Member:
    if not isinstance(value, list):
        raise MalformedField("a member of Signature-Input is not an inner list")
    items = cast("_Items", value)
    if len(items) > MOST_COMPONENTS:
        raise OversizedField(
            f"a signature covers {len(items):,} components, and at most {MOST_COMPONENTS} are verified: cover fewer"
        )
    if not all(isinstance(name, str) and name == name.lower() for name, _ in items):
        raise MalformedField("a covered component is not a lower-case string")
    different = {(name, frozenset(qualifiers.items())) for name, qualifiers in items}
    if len(different) < len(items) or any(name == "@signature-params" for name, _ in items):
        raise MalformedField("a covered component is repeated, or is @signature-params itself")
    return _Member(parameters, partial(_serialized, items, parameters))


def _serialized(items: _Items, parameters: Mapping[str, Parameter]) -> SignatureInput:
    """Return a member that http-sf has read.

    Raises:
        MalformedField: it has more than `MOST_PARAMETERS` parameters.
    """
    count = len(parameters) + sum(len(qualifiers) for _, qualifiers in items)
    if count > MOST_PARAMETERS:
        raise OversizedField(
            f"a signature and its components have {count:,} parameters, and at most {MOST_PARAMETERS} are read "
            "where a value is not a plain string or integer: send fewer"
        )
    components = [Component(name, serialize_member(name, given), not given) for name, given in items]
    return SignatureInput(Coverage.of(components), parameters, serialize_member(items, parameters))


class WantedSignature(NamedTuple):
    """A signature that is asked for: one member of Accept-Signature.

    Attributes:
        label: the label that the signature must have.
        components: the components that it must cover.
        parameters: the parameters that it must have: `created` and `expires` are True, the others have their value.
    """

    label: str
    components: Sequence[Component]
    parameters: Mapping[str, Parameter]


def parse_accept_signature(value: str) -> tuple[WantedSignature, ...]:
    """Read an Accept-Signature field value (all lines joined with a comma). It is bounded as Signature-Input is.

    Args:
        value: the field value.

    Raises:
        MalformedField: not a dictionary of inner lists of strings, too large, or a repeated label, parameter or
            component.
    """
    # The two fields have one syntax (section 5.1).
    members = parse_signature_input(value)
    return tuple(WantedSignature(label, member.components, member.parameters) for label, member in members.items())
