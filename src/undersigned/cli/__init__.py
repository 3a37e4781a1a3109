"""The command line, `undersigned`. It needs the extra `cli`."""

from __future__ import annotations

from undersigned.errors import needs_extra

with needs_extra("cli"):
    from .group import undersigned

__all__ = ["undersigned"]
