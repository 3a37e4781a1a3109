"""The demonstration: two real servers, two real clients, requests with one change each. It needs the extra `demo`."""

from __future__ import annotations

from undersigned.errors import needs_extra

with needs_extra("demo"):
    from .trial import demo

__all__ = ["demo"]
