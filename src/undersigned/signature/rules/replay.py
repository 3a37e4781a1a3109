"""Replay: what is remembered of an accepted signature, and for how long (RFC 9421 section 7.2.2)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, get_args

from undersigned.errors import ConfigurationError
from undersigned.message import token
from undersigned.signature.rules.option import check_choice, check_seconds

Remembered = Literal["nonce", "base", "field", "nothing"]
"""What is remembered of an accepted signature, together with its key.

`nonce`: the nonce, or the base if the signature has no nonce. `base`: a digest of the signature base, which is the same
however often an ECDSA key signs it. `field`: the value of a covered header field. `nothing`: the same signature is
accepted again until it expires.
"""

_REMEMBERED: frozenset[str] = frozenset(get_args(Remembered))
_FIELD = re.compile(rf"{token.LOWER}+")


@dataclass(frozen=True, slots=True)
class Caps:
    """How many live nonces a store may keep. Above that it rejects new nonces; it never forgets a live one.

    Attributes:
        per_key: the cap for one key.
        total: the cap for all keys together, or None for no such cap.
    """

    per_key: int
    total: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayRule:
    """What is remembered of an accepted signature, and for how long.

    Attributes:
        remembers: what is remembered.
        field: the header field, if that is what is remembered. A message without it is remembered by its base.
        keeps_for: the least seconds that it is remembered. It is always remembered as long as the signature is valid;
            None if that is enough.
        caps: how many nonces may be live.

    Raises:
        ConfigurationError: an attribute has a wrong value.
    """

    remembers: Remembered = "nonce"
    field: str = ""
    keeps_for: int | None = None
    caps: Caps = Caps(per_key=1_000_000)

    def __post_init__(self) -> None:
        check_choice("replay.remembers", self.remembers, _REMEMBERED)
        if not isinstance(self.field, str) or (self.remembers == "field") != bool(_FIELD.fullmatch(self.field)):
            raise ConfigurationError('replay.field: name a header field in lower case, if remembers is "field"')
        check_seconds("replay.keeps_for", self.keeps_for, least=1, optional=True)
        if not isinstance(self.caps, Caps):
            raise ConfigurationError("replay.caps: give a Caps, such as Caps(per_key=1_000_000)")
