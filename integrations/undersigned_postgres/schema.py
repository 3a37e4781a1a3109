"""The tables and functions of the store, as SQL, and the calls of the functions."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Sequence

SCHEMA = files("undersigned_postgres").joinpath("schema.sql").read_text("utf-8")
"""The SQL to run once before the store is used; it may be run again."""

VERSION = 4
"""The version of the tables and functions, which `undersigned_forget` compares."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call of one of the functions, in the text that libpq sends."""

    statement: bytes
    arguments: Sequence[bytes | None]

    @classmethod
    def of(cls, function: str, *arguments: str | float | None) -> Self:
        """Return the call of a function with its arguments."""
        places = ", ".join(f"${number}" for number, _ in enumerate(arguments, 1))
        # A text of PostgreSQL ends at a NUL, and then two names would be one.
        texts = [
            None if one is None else str(one).replace("\\", "\\\\").replace("\0", "\\0").encode("utf-8")
            for one in arguments
        ]
        return cls(f"SELECT {function}({places})".encode("ascii"), texts)
