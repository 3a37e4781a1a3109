"""Reading: the choices that RFC 9421 leaves to the reader of a message, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from undersigned.errors import ConfigurationError
from undersigned.message.field_types import TYPES

if TYPE_CHECKING:
    from undersigned.message.field_types import FieldType


def _none() -> Mapping[str, FieldType]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A set of choices for reading a message, where RFC 9421 leaves a choice or needs facts that the message lacks.

    Attributes:
        lower_case_methods: whether a method may have lower-case letters. RFC 9421 section 2.2.1 keeps its case, but
            many programs change it. AdCP allows upper case only.
        repeated_keys: whether the last one counts if a label or a parameter is repeated (RFC 9651 sections 4.2.2 and
            4.2.3.2). Programs differ in which one they use, so AdCP rejects such a field.
        field_types: the types of the application's own structured fields, by name in lower case. `sf` needs them.

    Raises:
        ConfigurationError: `field_types` has a name that is not in lower case, or another type.
    """

    lower_case_methods: bool = False
    repeated_keys: bool = False
    field_types: Mapping[str, FieldType] = field(default_factory=_none, hash=False)

    def __post_init__(self) -> None:
        """Check the types."""
        if not isinstance(self.field_types, Mapping):
            raise ConfigurationError('field_types: give a mapping, such as {"x-own": "dictionary"}')
        for name, kind in self.field_types.items():
            if not isinstance(name, str) or name != name.lower() or kind not in TYPES:
                raise ConfigurationError(f"field_types: give names in lower case, each with one of {', '.join(TYPES)}")


STRICT: Final = Reading()
"""A message has one reading only, or it is rejected: what the AdCP profiles ask for."""

LENIENT: Final = Reading(lower_case_methods=True, repeated_keys=True)
"""A message is read as the text of RFC 9421 and RFC 9651 has it, even if some programs read it otherwise."""
