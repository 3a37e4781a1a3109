"""Plain bases: signature bases whose values nobody has to parse, made in one pass (RFC 9421 section 2.5).

Nearly every signature covers the method, the target and a few whole header fields, and nothing else. Such a base takes
a fraction of the time that `signature_base` takes. That function decides about everything else.
"""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Final

from undersigned.signature.components import METHODS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from undersigned.message.component import Component
    from undersigned.message.request import Request
    from undersigned.url import CanonicalURL

_DERIVED: Final = frozenset({"@method", "@target-uri", "@authority"})
_LEAST: Final = 2


class PlainBase:
    """The signature base of covered components that are the method, the target or the authority, or whole fields.

    Args:
        components: the covered components, at least two, in their order.
    """

    __slots__ = ("_first_field", "_template", "_values")

    def __init__(self, components: Sequence[Component]) -> None:
        texts = [component.text.replace("%", "%%") for component in components]
        self._template = "".join([f"{text}: %s\n" for text in texts]) + '"@signature-params": %s'
        names = [component.name for component in components]
        # The method and the target in front of them are known to be printable ASCII.
        self._first_field = next((at for at, name in enumerate(names) if name not in _DERIVED), len(names))
        self._values: Callable[[Mapping[str, str]], tuple[str, ...]] = itemgetter(*names)

    @classmethod
    def of(cls, components: Sequence[Component]) -> PlainBase | None:
        """Return the plain base of these components, or None if one of them is not plain."""
        return cls(components) if len(components) >= _LEAST and all(map(_is_plain, components)) else None

    def text(self, request: Request, target: CanonicalURL, digest: str | None, parameters: str) -> str | None:
        """Return the signature base of a request, or None if `signature_base` must decide.

        Args:
            request: the request. Its header fields are valid.
            target: its target as it is signed.
            digest: the value of a Content-Digest that is about to be added to it.
            parameters: the value of `@signature-params`.
        """
        if request.method not in METHODS:
            return None
        known: dict[str, str] = {
            **request.fields.combined,
            "@method": request.method,
            "@target-uri": target.target_uri,
            "@authority": target.authority,
        }
        if digest:
            known["content-digest"] = digest
        try:
            values = self._values(known)
        except KeyError:
            return None
        text = "".join(values[self._first_field :])
        return self._template % (*values, parameters) if text.isascii() and text.isprintable() else None


def _is_plain(component: Component) -> bool:
    name = component.name
    return component.bare and (name in _DERIVED if name[:1] == "@" else name != "set-cookie")
