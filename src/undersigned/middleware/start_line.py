"""The start-up line: what a middleware verifies, for which origins, and what it does with unsigned requests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from undersigned.errors import printable
from undersigned.replay.memory import MemoryReplayStore
from undersigned.signature.ed25519 import library

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from undersigned.middleware.options import Mode
    from undersigned.policy.policy import Policy
    from undersigned.signature.profile import Profile
    from undersigned.url.origin import Origins

_SHOWN = 8
_IN_MEMORY = "; nonces are kept in the memory of this process only: several workers need a store that they share"

_MODES: Mapping[Mode, str] = {
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


def start_line(profile: Profile, origins: Origins, *, mode: Mode, policy: Policy | None, replay: object) -> str:
    """Return one line that says what a middleware verifies and where."""
    asked = _MODES[mode] if policy is None else _policy(policy)
    verified = f"undersigned verifies requests by the profile {profile.name}, Ed25519 by {library()}"
    kept = isinstance(replay, MemoryReplayStore) and profile.replay.remembers != "nothing"
    return printable(f"{verified}; {asked}; origins: {origins}{_IN_MEMORY if kept else ''}")


def _policy(policy: Policy) -> str:
    lists = [f"{option} {_list_names(getattr(policy, option))}" for option in _LISTS if getattr(policy, option)]
    return f"policy: {', '.join(lists) or 'it lists no operation'}"


def _list_names(names: Collection[str]) -> str:
    shown = sorted(names)[:_SHOWN]
    more = f" and {len(names) - len(shown)} more" if len(names) > len(shown) else ""
    return f"[{', '.join(shown)}{more}]"
