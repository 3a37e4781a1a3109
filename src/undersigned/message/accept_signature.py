"""Accept-Signature: the signature that the sender of a message asks for (RFC 9421 section 5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from undersigned.message.signature_input import parse_signature_input

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from undersigned.message.component import Component
    from undersigned.message.structured_fields import Parameter


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
