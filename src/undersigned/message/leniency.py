"""Leniency: the choices that RFC 9421 leaves to the reader of a message, as data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from undersigned.message.field_types import FieldType


class Reading(NamedTuple):
    """A set of choices for reading a message, where RFC 9421 leaves a choice or needs facts that the message lacks.

    Attributes:
        lower_case_methods: whether a method may have lower-case letters. RFC 9421 section 2.2.1 keeps its case, but
            many programs change it. AdCP allows upper case only.
        repeated_keys: whether the last one counts if a label or a parameter is repeated (RFC 9651 sections 4.2.2 and
            4.2.3.2). Programs differ in which one they use, so AdCP rejects such a field.
        field_types: the types of the application's own structured fields, by name in lower case. `sf` needs them.
    """

    lower_case_methods: bool = False
    repeated_keys: bool = False
    field_types: Mapping[str, FieldType] = {}


STRICT: Final = Reading()
"""A message has one reading only, or it is rejected: what the AdCP profiles ask for."""

LENIENT: Final = Reading(lower_case_methods=True, repeated_keys=True)
"""A message is read as the text of RFC 9421 and RFC 9651 has it, even if some programs read it otherwise."""
