"""When a signature is valid, for how long, and what is remembered of it (RFC 9421 section 7.2.2)."""

from __future__ import annotations

import math
from typing import Final, Literal, NamedTuple

from undersigned.signature.rules.option_checks import FIELD, check, check_choice, check_seconds

SECONDS_EXPECTED: Final = "the sender must write created and expires in seconds since the epoch (RFC 9421 section 2.3)"
"""What to do about a time in milliseconds, which no clock explains."""

_LATEST_SECOND: Final = 100_000_000_000
"""The year 5138; in milliseconds, 1973."""


def is_in_milliseconds(created: int | None, expires: int | None) -> bool:
    """Return whether a time is in milliseconds, as `Date.now()` of JavaScript returns it."""
    return max(created or 0, expires or 0) >= _LATEST_SECOND


class Validity(NamedTuple):
    """A rule for when a signature is valid, and for how long. All values are whole seconds.

    Attributes:
        longest: the most from `created` to `expires`. None: as long as `expires` says.
        ahead: how far in the future `created` may be, since clocks differ.
        behind: how long after its end a signature is accepted, since clocks differ.
        default: how long a signature without `expires` is valid after `created`. None: `longest_age` alone ends it.
        longest_age: the most from `created` to now, whatever `expires` says. None: no such bound.
        signed_for: how long a signer's signatures are valid if nothing else is asked for.
    """

    longest: int | None = 300
    ahead: int = 60
    behind: int = 60
    default: int | None = None
    longest_age: int | None = None
    signed_for: int = 300

    def check(self) -> None:
        """Raise ConfigurationError if a value is wrong or contradicts another."""
        for option, seconds in zip(self._fields, self, strict=True):
            check_seconds(f"validity.{option}", seconds, 0 if option in {"ahead", "behind"} else 1)
        is_within = self.longest is None or self.signed_for <= self.longest
        check("validity.signed_for", is_within, "a signer cannot make signatures valid longer than longest")

    def end(self, created: int | None, expires: int | None) -> int | None:
        """Return when a signature with these parameters ends, or None if nothing ends it."""
        ends = [] if expires is None else [expires]
        if created is not None and expires is None and self.default is not None:
            ends.append(created + self.default)
        if created is not None and self.longest_age is not None:
            ends.append(created + self.longest_age)
        return min(ends, default=None)

    def window(self, created: int | None, expires: int | None, *, now: float) -> tuple[float, str]:
        """Return the time after which no clock within the skew accepts a signature, and why it is not valid at `now`.

        Args:
            created: its parameter `created`.
            expires: its parameter `expires`.
            now: seconds since the epoch.

        Returns:
            Seconds since the epoch, or infinity if nothing ends it. Then the reason, or "" if it is valid.
        """
        end = expires if expires is not None and self.longest_age is None else self.end(created, expires)
        until = math.inf if end is None else float(end + self.behind)
        if is_in_milliseconds(created, expires):
            return until, "created or expires is in milliseconds"
        if created is not None:
            if expires is not None and expires <= created:
                return until, "expires is not after created"
            if expires is not None and self.longest is not None and expires - created > self.longest:
                return until, f"the signature is valid for longer than {self.longest} seconds"
            if created > now + self.ahead:
                return until, "created lies in the future"
        return until, "the signature has expired" if until < now else ""


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
