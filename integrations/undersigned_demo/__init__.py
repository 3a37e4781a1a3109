"""The demonstration: two real servers, two real clients, requests with one change each. It needs the extra `demo`."""

from __future__ import annotations

from undersigned.errors import missing_extra

try:
    from .trial import run
except ModuleNotFoundError as missing:
    raise missing_extra("demo", missing) from missing

__all__ = ["run"]
