"""What is remembered of an accepted signature, and for how long (RFC 9421 section 7.2.2)."""

from __future__ import annotations

from typing import Literal, NamedTuple

from undersigned.signature.rules.checks import FIELD, check, check_choice, check_seconds

Remembered = Literal["nonce", "base", "field", "nothing"]
"""What is remembered of an accepted signature, together with its key.

`nonce`: the nonce, or the base if the signature has no nonce. `base`: a digest of the signature base, which is the same
however often an ECDSA key signs it. `field`: the value of a covered header. Without the field, it is the base,
or nothing if the method is a safe one, which may be repeated (RFC 9110 section 9.2.1). `nothing`: the same signature is
accepted again until it expires.
"""


class Caps(NamedTuple):
    """A bound on the live nonces of a store. Above it the store rejects new nonces; it never forgets a live one.

    Attributes:
        per_key: the cap for one key.
        total: the cap for all keys together, or None for no such cap.
    """

    per_key: int
    total: int | None = None


class ReplayRule(NamedTuple):
    """A rule that says what is remembered of an accepted signature, and for how long.

    Attributes:
        remembers: what is remembered.
        field: the header, if that is what is remembered.
        accepts_repeats: whether a message with the same value of the field is accepted again if it has the same query
            and content, and one without the field if it has the same base. The verified signature then says that it is
            `repeated`. The value belongs to the signer, whichever key signs, and to the method and path.
        keeps_for: the least seconds that it is remembered, or None. A signature with a date is always remembered as
            long as it is valid. One without is remembered for `keeps_for`, and then accepted as a new one.
        caps: how many nonces may be live.
    """

    remembers: Remembered = "nonce"
    field: str = ""
    accepts_repeats: bool = False
    keeps_for: int | None = None
    caps: Caps = Caps(per_key=1_000_000)

    def check(self) -> None:
        """Raise ConfigurationError if a value is wrong or contradicts another."""
        check_choice("replay.remembers", self.remembers, Remembered)
        names_field = bool(FIELD.fullmatch(self.field))
        advice = 'name a header in lower case, if remembers is "field"'
        check("replay.field", names_field == (self.remembers == "field"), advice)
        is_named = not self.accepts_repeats or self.field
        check("replay.accepts_repeats", is_named, "name the field that says that a message is repeated")
        check_seconds("replay.keeps_for", self.keeps_for, 1)
