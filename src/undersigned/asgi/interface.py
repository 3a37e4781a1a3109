"""The types of the ASGI 3 interface."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, TypeAlias

Scope: TypeAlias = MutableMapping[str, Any]
"""What a server says of a connection (ASGI 3)."""
Message: TypeAlias = MutableMapping[str, Any]
"""An event of a connection, such as a part of the body (ASGI 3)."""
Receive: TypeAlias = Callable[[], Awaitable[Message]]
"""Returns the next event of a connection."""
Send: TypeAlias = Callable[[Message], Awaitable[None]]
"""Sends an event to the server."""
ASGIApp: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]
"""An application (ASGI 3)."""
