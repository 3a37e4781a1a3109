"""The start-up line: what a middleware verifies, for which origins, and what it does with unsigned requests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from undersigned.errors import printable
from undersigned.signature.ed25519 import library

if TYPE_CHECKING:
    from collections.abc import Collection

    from undersigned.policy.policy import Policy
    from undersigned.signature.profile import Profile
    from undersigned.url.origin import Origins

_SHOWN = 8

_MODES = {
    "required": "every request must be signed",
    "optional": 'mode="optional": unsigned requests pass, and signatures must be valid',
    "observe": 'mode="observe": unsigned requests pass and are logged, and signatures must be valid',
}

_LISTS = (
    "required_for",
    "warn_for",
    "supported_for",
    "protocol_methods_required_for",
    "protocol_methods_warn_for",
    "protocol_methods_supported_for",
)


def start_line(profile: Profile, origins: Origins, *, mode: object, policy: Policy | None) -> str:
    """Return one line that says what a middleware verifies and where."""
    asked = _describe_mode(mode) if policy is None else _policy(policy)
    verified = f"undersigned verifies requests by the profile {profile.name}, Ed25519 by {library()}"
    return printable(f"{verified}; {asked}; origins: {origins}")


def _describe_mode(mode: object) -> str:
    return "the function mode= decides which requests must be signed" if callable(mode) else _MODES[str(mode)]


def _policy(policy: Policy) -> str:
    lists = [f"{option} {_list_names(getattr(policy, option))}" for option in _LISTS if getattr(policy, option)]
    return f"policy: {', '.join(lists) or 'it lists no operation'}"


def _list_names(names: Collection[str]) -> str:
    shown = sorted(names)[:_SHOWN]
    more = f" and {len(names) - len(shown)} more" if len(names) > len(shown) else ""
    return f"[{', '.join(shown)}{more}]"
