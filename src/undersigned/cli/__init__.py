"""The command line, `undersigned`. It needs the extra `cli`."""

from __future__ import annotations

from undersigned.errors import missing_extra

try:
    from .group import undersigned
except ModuleNotFoundError as missing:
    raise missing_extra("cli", missing) from missing

__all__ = ["undersigned"]
