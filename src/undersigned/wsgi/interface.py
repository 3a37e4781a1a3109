"""The types of the WSGI interface (PEP 3333)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

Environ: TypeAlias = dict[str, Any]
"""What a server says of a request (PEP 3333)."""
StartResponse: TypeAlias = Callable[..., Callable[[bytes], object]]
"""Begins the response (PEP 3333)."""
WSGIApp: TypeAlias = Callable[[Environ, StartResponse], Iterable[bytes]]
"""An application (PEP 3333)."""
