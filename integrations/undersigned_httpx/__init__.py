"""HTTP message signatures for `httpx`; `undersigned_httpx.httpx2` has the same for `httpx2`.

`SignatureTransport` and `AsyncSignatureTransport` wrap a transport and sign every request that the client sends by it,
also each redirect.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .httpx import AsyncSignatureTransport, SignatureTransport

__all__ = ["AsyncSignatureTransport", "SignatureTransport"]


def __getattr__(name: str) -> object:
    """Import a class for httpx when it is first asked for: httpx2 alone is enough for this package."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: object = getattr(import_module(".httpx", __name__), name)
    return found
