"""Validity: when a signature is valid, and for how long (RFC 9421 sections 2.3 and 7.2.3)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from undersigned.errors import ConfigurationError
from undersigned.signature.rules.option import check_seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Validity:
    """A rule for when a signature is valid, and for how long. All values are whole seconds.

    Attributes:
        longest: the most from `created` to `expires`. None: as long as `expires` says.
        ahead: how far in the future `created` may be, since clocks differ.
        behind: how long after its end a signature is accepted, since clocks differ.
        default: how long a signature without `expires` is valid after `created`. None: `longest_age` alone ends it.
        longest_age: the most from `created` to now, whatever `expires` says. None: no such bound.
        signed_for: how long a signer's signatures are valid if nothing else is asked for.

    Raises:
        ConfigurationError: an attribute has a wrong value.
    """

    longest: int | None = 300
    ahead: int = 60
    behind: int = 60
    default: int | None = None
    longest_age: int | None = None
    signed_for: int = 300

    def __post_init__(self) -> None:
        for option, least, optional in (
            ("longest", 1, True),
            ("ahead", 0, False),
            ("behind", 0, False),
            ("default", 1, True),
            ("longest_age", 1, True),
            ("signed_for", 1, False),
        ):
            check_seconds(f"validity.{option}", getattr(self, option), least=least, optional=optional)
        if self.longest is not None and self.signed_for > self.longest:
            raise ConfigurationError("validity.signed_for: a signer cannot make signatures valid longer than longest")

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
        if created is not None:
            if expires is not None and expires <= created:
                return until, "expires is not after created"
            if expires is not None and self.longest is not None and expires - created > self.longest:
                return until, f"the signature is valid for longer than {self.longest} seconds"
            if created > now + self.ahead:
                return until, "created lies in the future"
        return until, "the signature has expired" if until < now else ""
