"""Which components a signature must cover or must not (RFC 9421 section 2), and which digests count (RFC 9530)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, cast, get_args

from undersigned.message import tchar
from undersigned.message.content_digest import DIGEST_ALGORITHMS, DigestAlgorithm
from undersigned.message.field_types import FieldType, field_type
from undersigned.message.structured_fields import Encoding
from undersigned.signature.rules.option_checks import FIELD, check, check_choice, check_texts

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from undersigned.message.covered_components import Coverage
    from undersigned.message.request import Request
    from undersigned.message.response import Response

_DERIVED = "@(?:method|target-uri|authority|scheme|request-target|path|query|status)"
_COMPONENT = re.compile(rf"{tchar.LOWER}+|{_DERIVED}")
_PARAMETERS = r'(?:;[a-z]+(?:="[!#-\[\]-~]*")?)*'
# A query parameter is a component only with its name.
_IDENTIFIER = re.compile(rf'"(?:{tchar.LOWER}+|{_DERIVED})"{_PARAMETERS}|"@query-param"(?=[^"]*;name="){_PARAMETERS}')
_MEMBER = re.compile(rf'"({tchar.LOWER}+)";key="([!#-\[\]-~]*)"')


ACTED_ON: Final = (
    "content-disposition", "content-location", "content-range", "link", "location", "proxy-authenticate", "refresh",
    "retry-after", "uri", "www-authenticate",
)  # fmt: skip
"""Header fields of a response that clients follow or obey, beside those of its content and its cookies."""


class CoverageRule(NamedTuple):
    """The components that a signature must cover, and those it must not.

    A component is a name in lower case, such as `@method`, or a whole identifier, such as `"@authority";req`.

    Attributes:
        always: components that every signature covers.
        any_of: groups of components: a signature covers at least one of each group. A signer covers the first.
        with_content: further components if the message has content.
        with_query: further components if the request has a query.
        if_sent: headers that a signature covers if the message has them.
        offered: headers that a signer covers if the message has them, and a verifier does not ask for.
        if_asked: headers of the request that a response covers, by ;req, if the request has them.
        sent: headers that the message must have.
        member_of: a dictionary field, of which a signature covers one member by `;key`: the member of its own label,
            or the only one that it covers. If it is in `if_sent` too, it may be a String instead, which is covered
            as a whole. Empty: no such field.
        never: components that a signature must not cover, with or without parameters.
        field_types: the types of structured fields of your own, by name in lower case: `dictionary`, `list` or `item`.
            `;sf` needs the type of a field, and those of registered fields are known (RFC 9421 section 2.1.1).
    """

    always: tuple[str, ...] = ("@method", "@target-uri", "@authority")
    any_of: tuple[tuple[str, ...], ...] = ()
    with_content: tuple[str, ...] = ()
    with_query: tuple[str, ...] = ()
    if_sent: tuple[str, ...] = ()
    offered: tuple[str, ...] = ()
    if_asked: tuple[str, ...] = ()
    sent: tuple[str, ...] = ()
    member_of: str = ""
    never: frozenset[str] = frozenset()
    field_types: Mapping[str, FieldType] = {}

    def check(self) -> None:
        """Raise ConfigurationError if a value is wrong or contradicts another."""
        every = (*self.always, *self.with_content, *self.with_query, *(one for group in self.any_of for one in group))
        for option in ("always", "with_content", "with_query"):
            check_texts(f"coverage.{option}", getattr(self, option), is_component, example='("@method", "date")')
        for option in ("if_sent", "offered", "if_asked", "sent"):
            check_texts(f"coverage.{option}", getattr(self, option), FIELD.fullmatch, example='("content-type",)')
        for group in self.any_of:
            check_texts("coverage.any_of", group or ("",), is_component, example='("@authority", "@target-uri")')
        are_names = all(map(_COMPONENT.fullmatch, self.never - {"@query-param"}))
        check("coverage.never", are_names, 'give a frozenset of names, such as frozenset({"@query-param"})')
        is_field = not self.member_of or FIELD.fullmatch(self.member_of)
        check("coverage.member_of", is_field, "give the name of a header in lower case")
        required = {name_of(one) for one in (*self.required(has_content=True), *self.with_query)}
        clash = sorted(required & self.never)
        check("coverage.never", not clash, f"{''.join(clash[:1])} is required, so it cannot be forbidden")
        types = get_args(FieldType)
        are_types = all(name == name.lower() and kind in types for name, kind in self.field_types.items())
        advice = f"give names in lower case, each with one of {', '.join(types)}"
        check("coverage.field_types", are_types, advice)
        # Outside of its strings, an identifier has its flags between semicolons.
        serialized = [name_of(one) for one in every if "sf" in "".join(one.split('"')[2::2]).split(";")]
        untyped = [name for name in serialized if field_type(name, self.field_types) is None]
        check("coverage.field_types", not untyped, f";sf needs the type of {''.join(untyped[:1])}: add it here")

    def required(self, *, has_content: bool) -> tuple[str, ...]:
        """Return `always`, the first of each group and, for a message with content, `with_content`, in this order."""
        first = [group[0] for group in self.any_of]
        return tuple(dict.fromkeys((*self.always, *first, *(self.with_content if has_content else ()))))

    @property
    def is_conditional(self) -> bool:
        """Whether more than names is asked for, or what is asked for depends on more than content."""
        rules = (
            self.any_of, self.with_query, self.if_sent, self.offered, self.if_asked, self.sent, self.member_of,
            self.never,
        )  # fmt: skip
        return any(rules) or any(one[0] == '"' for one in self.required(has_content=True))

    def components_of(self, request: Request | Response) -> tuple[str, ...]:
        """Return the components that a signer covers of this message, in their order."""
        asked = [*self.required(has_content=request.has_body), *self._conditional(request)]
        asked += [name for name in self.offered if name in request.fields.combined]
        if self.if_asked:
            asked += [f'"{name}";req' for name in self._asked_fields(request)]
        return tuple(dict.fromkeys(asked))

    def _conditional(self, message: Request | Response) -> tuple[str, ...]:
        """Return what is covered because of the query, and because of the headers that the message has."""
        query = self.with_query if self.with_query and "?" in message.url else ()
        member = self.member_of if self.asks_for_member(message) else ""
        sent = [name for name in self.if_sent if name in message.fields.combined and name != member]
        return (*query, *sent)

    def asks_for_member(self, message: Request | Response | None) -> bool:
        """Return whether one member of `member_of` has to be covered in this message, and not a String."""
        if self.member_of not in self.if_sent:
            return bool(self.member_of)
        value = '"' if message is None else message.fields.combined.get(self.member_of, '"')
        return not value.startswith('"')

    def _asked_fields(self, message: Request | Response) -> list[str]:
        """Return the headers of the request that a response must cover, if it must cover any."""
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
        if self.with_query or self.if_sent:
            required += self._conditional(request)
        missing = [one for one in required if not coverage.covers(one)]
        faults = [f"{', '.join(dict.fromkeys(missing))} must be covered"] if missing else []
        for group in self.any_of:
            if not any(map(coverage.covers, group)):
                faults += [f"{' or '.join(group)} must be covered"]
        if self.if_asked:
            faults += [
                f'"{name}";req must be covered'
                for name in self._asked_fields(request)
                if not any(text.startswith(f'"{name}";') and ";req" in text for text in coverage.texts)
            ]
        if self.asks_for_member(request) and covered_member(coverage.texts, self.member_of, label) is None:
            faults.append(f"one member of {self.member_of} must be covered, by ;key")
        return faults

    def absent(self, request: Request | Response) -> list[str]:
        """Return the headers that the message must have and does not have."""
        return [name for name in self.sent if name not in request.fields.combined]


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


DigestPolicy = Literal["required", "forbidden", "either"]
"""Whether a signature over a message with content must, must not or may cover `content-digest`."""


class DigestRule(NamedTuple):
    """A rule for the digest of the content: whether a signature covers it, and which digests count.

    Attributes:
        policy: whether `content-digest` must, must not or may be covered if the message has content.
        encodings: how the bytes of a digest may be encoded. A signer uses the first encoding.
        algorithms: the digests that are looked at. At least one must be declared. A signer makes the first.
    """

    policy: DigestPolicy = "required"
    encodings: tuple[Encoding, ...] = ("base64",)
    algorithms: tuple[DigestAlgorithm, ...] = ("sha-256", "sha-512")

    def check(self) -> None:
        """Raise ConfigurationError if a value is wrong or contradicts another."""
        check_choice("digest.policy", self.policy, DigestPolicy)
        are_encodings = self.encodings and {*get_args(Encoding)}.issuperset(self.encodings)
        check("digest.encodings", are_encodings, 'list "base64", "base64url" or both in a tuple')
        are_known = self.algorithms and DIGEST_ALGORITHMS.issuperset(self.algorithms)
        check("digest.algorithms", are_known, f"list some of {', '.join(sorted(DIGEST_ALGORITHMS))} in a tuple")
