"""Coverage: the components that a signature must cover, and those it must not (RFC 9421 sections 1.4 and 7.2.1)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

from undersigned.errors import ConfigurationError
from undersigned.message import token
from undersigned.message.field_types import field_type
from undersigned.message.reading import Reading
from undersigned.signature.rules.option import check_texts

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from undersigned.message.component import Coverage
    from undersigned.message.field_types import FieldType
    from undersigned.message.request import Request
    from undersigned.message.response import Response

_DERIVED = "@(?:method|target-uri|authority|scheme|request-target|path|query|status)"
_COMPONENT = re.compile(rf"{token.LOWER}+|{_DERIVED}")
_PARAMETERS = r'(?:;[a-z]+(?:="[!#-\[\]-~]*")?)*'
# A query parameter is a component only with its name.
_IDENTIFIER = re.compile(rf'"(?:{token.LOWER}+|{_DERIVED})"{_PARAMETERS}|"@query-param"(?=[^"]*;name="){_PARAMETERS}')
_FORBIDDEN = re.compile(rf"{_COMPONENT.pattern}|@query-param")
_FIELD = re.compile(rf"{token.LOWER}+")
_NO_NAMES: frozenset[str] = frozenset()
_MEMBER = re.compile(rf'"({token.LOWER}+)";key="([!#-\[\]-~]*)"')
_SERIALIZED = re.compile(rf'"({token.LOWER}+)"(?:;[a-z]+(?:="[^"]*")?)*?;sf(?:;|\Z)')


def _no_types() -> Mapping[str, FieldType]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageRule:
    """The components that a signature must cover, and those it must not.

    A component is a name in lower case, such as `@method`, or a whole identifier, such as `"@authority";req`.

    Attributes:
        always: components that every signature covers.
        any_of: groups of components: a signature covers at least one of each group. A signer covers the first.
        with_content: further components if the message has content.
        with_query: further components if the request has a query.
        if_sent: header fields that a signature covers if the message has them.
        if_asked: header fields of the request that a response covers, by ;req, if the request has them.
        sent: header fields that the message must have.
        member_of: a dictionary field, of which a signature covers one member by `;key`: the member of its own label,
            or the only one that it covers. Empty: no such field.
        never: components that a signature must not cover, with or without parameters.
        field_types: the types of structured fields of your own, by name in lower case: `dictionary`, `list` or `item`.
            `;sf` needs the type of a field, and those of registered fields are known (RFC 9421 section 2.1.1).
        by_content: the components that a signer writes, in their order, by whether the message has content. They are
            `always`, the first of each group, and `with_content`.
        reading: how a message is read for these components.

    Raises:
        ConfigurationError: an attribute has a wrong value, a component is both required and forbidden, or `;sf` is
            required of a field of unknown type.
    """

    always: tuple[str, ...] = ("@method", "@target-uri", "@authority")
    any_of: tuple[tuple[str, ...], ...] = ()
    with_content: tuple[str, ...] = ()
    with_query: tuple[str, ...] = ()
    if_sent: tuple[str, ...] = ()
    if_asked: tuple[str, ...] = ()
    sent: tuple[str, ...] = ()
    member_of: str = ""
    never: frozenset[str] = frozenset()
    field_types: Mapping[str, FieldType] = field(default_factory=_no_types)
    by_content: Mapping[bool, tuple[str, ...]] = field(init=False, repr=False, compare=False)
    is_conditional: bool = field(init=False, repr=False, compare=False)
    reading: Reading = field(init=False, repr=False, compare=False)
    _only_names: bool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for option in ("always", "with_content", "with_query"):
            check_texts(f"coverage.{option}", getattr(self, option), is_component, example='("@method", "date")')
        for option in ("if_sent", "if_asked", "sent"):
            check_texts(f"coverage.{option}", getattr(self, option), _FIELD.fullmatch, example='("content-type",)')
        if not isinstance(self.any_of, tuple):
            raise ConfigurationError(
                'coverage.any_of: give a tuple of groups, such as (("@authority", "@target-uri"),)'
            )
        for group in self.any_of:
            check_texts("coverage.any_of", group or None, is_component, example='("@authority", "@target-uri")')
        if not isinstance(self.never, frozenset) or not all(
            isinstance(name, str) and _FORBIDDEN.fullmatch(name) for name in self.never
        ):
            raise ConfigurationError('coverage.never: give a frozenset of names, such as frozenset({"@query-param"})')
        if not isinstance(self.member_of, str) or (self.member_of and _FIELD.fullmatch(self.member_of) is None):
            raise ConfigurationError("coverage.member_of: give the name of a header field in lower case")
        bodiless = tuple(dict.fromkeys((*self.always, *(group[0] for group in self.any_of))))
        with_content = tuple(dict.fromkeys((*bodiless, *self.with_content)))
        clash = {name_of(one) for one in (*with_content, *self.with_query)} & self.never
        if clash:
            raise ConfigurationError(f"coverage.never: {min(clash)} is required, so it cannot be forbidden")
        try:
            Reading(field_types=self.field_types)
        except ConfigurationError as wrong:
            raise ConfigurationError(f"coverage.{wrong}") from None
        untyped = self._untyped_fields(
            (*with_content, *self.with_query, *(one for group in self.any_of for one in group))
        )
        if untyped:
            raise ConfigurationError(f"coverage.field_types: ;sf needs the type of {untyped[0]}: add it here")
        assign = object.__setattr__
        types = MappingProxyType(dict(self.field_types))
        assign(self, "field_types", types)
        assign(self, "reading", Reading(field_types=types))
        assign(self, "by_content", MappingProxyType({False: bodiless, True: with_content}))
        rules = (self.any_of, self.with_query, self.if_sent, self.if_asked, self.sent, self.member_of)
        conditional = any(rules) or self.never or any(one[0] == '"' for one in with_content)
        assign(self, "is_conditional", bool(conditional))
        every = (*with_content, *self.with_query, *(one for group in self.any_of for one in group))
        assign(self, "_only_names", not any(one[0] == '"' for one in every))

    @property
    def is_empty(self) -> bool:
        """Whether a signature could cover nothing."""
        return not self.by_content[False]

    def _untyped_fields(self, components: Iterable[str]) -> list[str]:
        """Return the fields that are covered with `;sf`, and have no known type."""
        serialized = [match[1] for one in components if (match := _SERIALIZED.match(one))]
        return [name for name in serialized if field_type(name, self.field_types) is None]

    def components_of(self, request: Request | Response) -> tuple[str, ...]:
        """Return the components that a signer covers of this message, in their order."""
        asked = [*self.by_content[request.has_body]]
        if self.with_query and "?" in request.url:
            asked += self.with_query
        if self.if_sent:
            combined = request.fields.combined
            asked += [name for name in self.if_sent if name in combined]
        if self.if_asked:
            asked += [f'"{name}";req' for name in self._asked_fields(request)]
        return tuple(dict.fromkeys(asked))

    def _asked_fields(self, message: Request | Response) -> list[str]:
        """Return the header fields of the request that a response must cover, if it must cover any."""
        request = cast("Response", message).request
        return [] if request is None else [name for name in self.if_asked if name in request.fields.combined]

    def faults(self, coverage: Coverage, request: Request | Response, label: str) -> list[str]:
        """Return what `coverage` lacks or must not have, a sentence each.

        Args:
            coverage: what the signature covers.
            request: the message.
            label: the label of the signature.
        """
        required = (*self.always, *self.with_content) if request.has_body else self.always
        if self.with_query and "?" in request.url:
            required += self.with_query
        if self.if_sent:
            combined = request.fields.combined
            required += tuple([name for name in self.if_sent if name in combined])
        # Nearly every rule has names only, so one set has all that a signature may cover of them.
        names = coverage.bare if self._only_names else _NO_NAMES
        missing = [] if names.issuperset(required) else [one for one in required if not covers(coverage, one)]
        faults = [f"{', '.join(dict.fromkeys(missing))} must be covered"] if missing else []
        for group in self.any_of:
            if names.isdisjoint(group) and not any(covers(coverage, one) for one in group):
                faults += [f"{' or '.join(group)} must be covered"]
        if self.if_asked:
            faults += [
                f'"{name}";req must be covered'
                for name in self._asked_fields(request)
                if not any(text.startswith(f'"{name}";') and ";req" in text for text in coverage.texts)
            ]
        if self.member_of and covered_member(coverage.texts, self.member_of, label) is None:
            faults.append(f"one member of {self.member_of} must be covered, by ;key")
        return faults

    def absent(self, request: Request | Response) -> list[str]:
        """Return the header fields that the message must have and does not have."""
        return [name for name in self.sent if name not in request.fields.combined]

    def unexpected_components(self, coverage: Coverage) -> list[str]:
        """Return the components that are covered and must not be."""
        return sorted(coverage.names & self.never)


def covers(coverage: Coverage, component: str) -> bool:
    """Return whether `component`, a name or an identifier, is covered."""
    # A signature may cover a name that is written like an identifier, so each is looked for in its own place.
    return component in (coverage.texts if component[0] == '"' else coverage.bare)


def covered_member(identifiers: Iterable[str], field_name: str, label: str) -> str | None:
    """Return the key of the member of a dictionary field that a signature is about, or None (Web Bot Auth 5.2.1).

    It is the member of the signature's own label, if that is covered, else the only one that is covered.

    Args:
        identifiers: the identifiers of the covered components.
        field_name: the field.
        label: the label of the signature.
    """
    matches = [_MEMBER.fullmatch(text) for text in identifiers]
    keys = [match[2] for match in matches if match is not None and match[1] == field_name]
    if label in keys:
        return label
    return keys[0] if len(keys) == 1 else None


def name_of(component: str) -> str:
    """Return the name of a component that is written as a name or as an identifier."""
    return component[1:].partition('"')[0] if component[0] == '"' else component


def is_component(text: str) -> bool:
    """Return whether `text` is the name or the identifier of a component that a profile can require."""
    return (_IDENTIFIER if text[:1] == '"' else _COMPONENT).fullmatch(text) is not None
