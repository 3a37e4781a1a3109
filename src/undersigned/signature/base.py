"""The signature base: the bytes that are signed (RFC 9421 section 2.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from undersigned.message.structured_fields import Component
    from undersigned.signature.components import ComponentValues


def signature_base(values: ComponentValues, components: Sequence[Component], parameters: str) -> str:
    """Return the signature base, ASCII, its lines parted by LF.

    Args:
        values: where the component values come from.
        components: the covered components in their order.
        parameters: the value of `@signature-params`.

    Raises:
        UnresolvableComponent: a component has no value here.
    """
    lines = values.lines(components)
    lines.append(f'"@signature-params": {parameters}')
    return "\n".join(lines)
