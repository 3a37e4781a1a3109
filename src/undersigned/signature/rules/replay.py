"""Replay: what is remembered of an accepted signature, and for how long (RFC 9421 section 7.2.2)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal, get_args

from undersigned.errors import ConfigurationError
from undersigned.message import token
from undersigned.signature.rules.option import check_choice, check_flag, check_seconds

Remembered = Literal["nonce", "base", "field", "nothing"]
"""What is remembered of an accepted signature, together with its key.

`nonce`: the nonce, or the base if the signature has no nonce. `base`: a digest of the signature base, which is the same
however often an ECDSA key signs it. `field`: the value of a covered header field. Without the field, it is the base,
or nothing if the method is a safe one, which may be repeated (RFC 9110 section 9.2.1). `nothing`: the same signature is
accepted again until it expires.
"""

_REMEMBERED: frozenset[str] = frozenset(get_args(Remembered))
_FIELD = re.compile(rf"{token.LOWER}+")


@dataclass(frozen=True, slots=True)
class Caps:
    """A bound on the live nonces of a store. Above it the store rejects new nonces; it never forgets a live one.

    Attributes:
        per_key: the cap for one key.
        total: the cap for all keys together, or None for no such cap.
        least: the lower of the two. A store with fewer nonces has reached neither.
    """

    per_key: int
    total: int | None = None
    least: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Note the lower cap."""
        least = self.per_key if self.total is None else min(self.per_key, self.total)
        object.__setattr__(self, "least", least)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayRule:
    """A rule that says what is remembered of an accepted signature, and for how long.

    Attributes:
        remembers: what is remembered.
        field: the header field, if that is what is remembered.
        accepts_repeats: whether a message with the same value of the field is accepted again if it has the same method,
            target and content. The verified signature then says that it is `repeated`.
        keeps_for: the least seconds that it is remembered, or None. It is always remembered as long as the signature is
            valid.
        caps: how many nonces may be live.

    Raises:
        ConfigurationError: an attribute has a wrong value.
    """

    remembers: Remembered = "nonce"
    field: str = ""
    accepts_repeats: bool = False
    keeps_for: int | None = None
    caps: Caps = Caps(per_key=1_000_000)

    def __post_init__(self) -> None:
        check_choice("replay.remembers", self.remembers, _REMEMBERED)
        if not isinstance(self.field, str) or (self.remembers == "field") != bool(_FIELD.fullmatch(self.field)):
            raise ConfigurationError('replay.field: name a header field in lower case, if remembers is "field"')
        check_flag("replay.accepts_repeats", self.accepts_repeats)
        if self.accepts_repeats and not self.field:
            raise ConfigurationError("replay.accepts_repeats: name the field that says that a message is repeated")
        check_seconds("replay.keeps_for", self.keeps_for, least=1, optional=True)
        if not isinstance(self.caps, Caps):
            raise ConfigurationError("replay.caps: give a Caps, such as Caps(per_key=1_000_000)")
