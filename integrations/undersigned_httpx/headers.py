"""Header fields with a signature that is left out of copies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, ItemsView, KeysView, Sequence, ValuesView

Field = tuple[bytes, bytes]
"""The name and value of a header field."""


class _Plain(Protocol):
    """The methods for reading that the `Headers` of both libraries have."""

    def keys(self) -> KeysView[str]: ...
    def values(self) -> ValuesView[str]: ...
    def items(self) -> ItemsView[str, str]: ...
    def multi_items(self) -> list[tuple[str, str]]: ...
    def get_list(self, key: str, split_commas: bool = False) -> list[str]: ...  # noqa: FBT001, FBT002 - as httpx has it
    def __getitem__(self, key: str) -> str: ...
    def __contains__(self, key: object) -> bool: ...
    def __len__(self) -> int: ...


if TYPE_CHECKING:

    class _Base:
        """The constructor and the methods for changing that the `Headers` of both libraries have."""

        def __init__(self, headers: Sequence[Field]) -> None: ...
        @property
        def raw(self) -> list[Field]: ...
        def __setitem__(self, key: str, value: str) -> None: ...
        def __delitem__(self, key: str) -> None: ...

else:
    _Base = object


class SignedHeaders(_Base):
    """Header fields with a signature that is left out of copies. A mixin for a library's `Headers`.

    To follow a redirect, both libraries copy the header fields of a request to the next one, whatever its origin. The
    signature must not be copied. So it is kept separately: reading and sending include it, copying does not.

    Args:
        fields: the header fields without the signature.
        signature: the header fields of the signature.
    """

    plain: Callable[[list[Field]], _Plain]

    def __init__(self, fields: Sequence[Field], signature: Sequence[Field]) -> None:
        super().__init__(fields)
        self._signature = list(signature)

    @property
    def raw(self) -> list[Field]:
        """The fields as they are sent, with the signature fields last."""
        return [*super().raw, *self._signature]

    def keys(self) -> KeysView[str]:
        """Return the names."""
        return self._sent_headers().keys()

    def values(self) -> ValuesView[str]:
        """Return the combined values."""
        return self._sent_headers().values()

    def items(self) -> ItemsView[str, str]:
        """Return the names and combined values."""
        return self._sent_headers().items()

    def multi_items(self) -> list[tuple[str, str]]:
        """Return the names and values, line by line."""
        return self._sent_headers().multi_items()

    def get_list(self, key: str, split_commas: bool = False) -> list[str]:  # noqa: FBT001, FBT002 - as httpx has it
        """Return the values of one field, line by line."""
        return self._sent_headers().get_list(key, split_commas)

    def __getitem__(self, key: str) -> str:
        return self._sent_headers()[key]

    def __contains__(self, key: object) -> bool:
        return key in self._sent_headers()

    def __len__(self) -> int:
        return len(self._sent_headers())

    def __setitem__(self, key: str, value: str) -> None:
        self._signature = [field for field in self._signature if field[0].lower() != key.lower().encode()]
        super().__setitem__(key, value)

    def __delitem__(self, key: str) -> None:
        if key not in self:
            raise KeyError(key)
        self[key] = ""
        super().__delitem__(key)

    def _sent_headers(self) -> _Plain:
        return self.plain(self.raw)
