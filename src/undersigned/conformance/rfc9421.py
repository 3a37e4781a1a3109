"""RFC 9421 as data: the lines of components and whole signature bases, read as the RFC has it.

If the RFC leaves a choice and the AdCP profiles are stricter, the strictness is an argument (`Reading`). These cases
are read as the text of the RFC says.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from undersigned.conformance.difference import Difference
from undersigned.conformance.document import Document, MalformedVector
from undersigned.conformance.message import message_by_kind
from undersigned.message.reading import LENIENT
from undersigned.message.signature_input import parse_signature_input
from undersigned.message.structured_fields import MalformedField
from undersigned.signature.components import UnresolvableComponent, signature_base

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from undersigned.message.field_types import FieldType

_AN_ERROR = "an error"


@dataclass(frozen=True, slots=True)
class ComponentCase:
    """A message, a component identifier, and its expected line or an error.

    Attributes:
        name: its name in its file.
        document: the case.
    """

    name: str
    document: Document

    def differences(self) -> Iterator[Difference | None]:
        """Compare the component's line."""
        yield from _compare("component", self.document, "expected_line", self._line)

    def _line(self) -> str:
        case = self.document
        components = parse_signature_input(f"s=({case.text('component')})")["s"].components
        if len(components) != 1:
            raise MalformedVector("component must be exactly one identifier")
        [component] = components
        own = {component.name: cast("FieldType", case.text("sf_type"))} if "sf_type" in case else {}
        values = message_by_kind(case.document("message")).values(replace(LENIENT, field_types=own))
        return f"{component.text}: {values.value(component)}"


@dataclass(frozen=True, slots=True)
class BaseCase:
    """A message, a label, and the expected signature base or an error.

    Attributes:
        name: its name in its file.
        document: the case.
    """

    name: str
    document: Document

    def differences(self) -> Iterator[Difference | None]:
        """Compare the signature base."""
        yield from _compare("signature base", self.document, "expected_base", self._base)

    def _base(self) -> str:
        message, label = message_by_kind(self.document.document("message")), self.document.text("label")
        given = message.sent.fields.combined.get("signature-input") or ""
        members = parse_signature_input(given, repeated_keys=True)
        if label not in members:
            raise MalformedVector("label is not a member of Signature-Input")
        return signature_base(message.values(), members[label].components, members[label].text)


def _compare(subject: str, case: Document, member: str, made: Callable[[], str]) -> Iterator[Difference | None]:
    expected = _AN_ERROR if case.text("error", "") else case.text(member)
    try:
        found, note = made(), ""
    except (UnresolvableComponent, MalformedField) as error:
        found, note = _AN_ERROR, str(error)
    yield Difference.between(subject, expected, found, note=note)
