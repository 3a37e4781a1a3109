"""The tables and functions of the store, as SQL, and the calls of the functions."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING

from undersigned.replay import bounded_keyid, bounded_nonce

if TYPE_CHECKING:
    from collections.abc import Sequence

    from undersigned import Caps

SCHEMA = files("undersigned_postgres").joinpath("schema.sql").read_text("utf-8")
"""The SQL to run once before the store is used; it may be run again."""

VERSION = 4
"""The version of the tables and functions, which `undersigned_forget` compares."""

MOST_FORGOTTEN = 10_000
"""How many ended nonces are deleted at a time."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call of one of the functions, in the text that libpq sends."""

    statement: bytes
    arguments: Sequence[bytes | None]


def claim_call(keyid: str, nonce: str, *, now: float, until: float, caps: Caps, content: str | None = None) -> Call:
    """Return the call that claims `nonce`, with the content it came with."""
    statement = b"SELECT undersigned_claim($1, $2, $3, $4, $5, $6, $7)"
    names = (_text(bounded_keyid(keyid)), _text(bounded_nonce(nonce)))
    kept = None if content is None else _text(content)
    return Call(statement, [*names, _text(now), _text(until), *_limits(caps), kept])


def full_call(keyid: str, *, now: float, caps: Caps) -> Call:
    """Return the call that tells whether a cap is reached."""
    return Call(b"SELECT undersigned_full($1, $2, $3, $4)", [_text(bounded_keyid(keyid)), _text(now), *_limits(caps)])


def forget_call(*, now: float) -> Call:
    """Return the call that deletes some of the nonces that have ended. A database with another version rejects it."""
    return Call(b"SELECT undersigned_forget($1, $2, $3)", [_text(now), _text(MOST_FORGOTTEN), _text(VERSION)])


def _limits(caps: Caps) -> Sequence[bytes | None]:
    return _text(caps.per_key), None if caps.total is None else _text(caps.total)


def _text(value: str | float) -> bytes:
    # A text of PostgreSQL ends at a NUL, and then two names would be one.
    return str(value).replace("\\", "\\\\").replace("\0", "\\0").encode("utf-8")


VERSION_CALL = forget_call(now=0)
"""The call of a readiness check, whose claim ends at once. It compares the version and deletes nothing: no sender's
clock confirms the verifier's, and a wrong one would make the store forget what is live."""
