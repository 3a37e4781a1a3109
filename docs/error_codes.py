"""Write into docs/errors.md what the library says of its codes: their spelling, step and status, and what to do.

`python docs/error_codes.py` rewrites the list below each code. What a code means, its causes and its fixes are written
by hand.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast, get_args

import undersigned
from undersigned import profiles
from undersigned.errors import Reason
from undersigned.middleware import ErrorResponse
from undersigned.reasons import REASONS, UNREAD

if TYPE_CHECKING:
    from collections.abc import Mapping

PAGE: Final = Path(__file__).parent / "errors.md"

_SOURCE = Path(undersigned.__file__).parent
_ENTRY = re.compile(r"^(### ([a-z_]+)\n\n.+\n\n)(?:- .+\n)+", re.MULTILINE)
_PROTOCOLS = {
    "adcp": "AdCP",
    "ucp": "UCP",
    "web-bot-auth": "Web Bot Auth",
    "gnap": "GNAP",
    "wimse": "WIMSE",
}
"""Protocols by how the names of their profiles begin, if some of their codes or statuses are not the usual ones."""

_OTHERS = "other profiles"
_OF_KEY_SOURCES = 7
"""The step of a reason that only a key source gives."""

_COMPUTED: Mapping[str, set[object]] = {
    "signature_store_unavailable": {"9a", 12},
    "signature_alg_not_allowed": {8},
    "signature_key_purpose_invalid": {8},
    "signature_identity_missing": {_OF_KEY_SOURCES},
    "target_uri_malformed": {0},
    "body_malformed": {0},
}
"""Further steps, at which the reason or the step is an argument: of stores, keys, key sources and resolvers."""


def entry(code: str) -> str:
    """Return the list about a reason, or about the code of a request that was not read to its end."""
    if code in UNREAD:
        return f"- Code: `{code}`. Status {UNREAD[code][0]}.\n"
    codes: dict[object, set[str]] = {}
    statuses: dict[object, set[str]] = {}
    for profile in profiles.BY_NAME.values():
        reason = cast("Reason", code)
        codes.setdefault(profile.answers.code(reason), set()).add(_protocol(profile.name))
        if profile.message == "request":
            status = ErrorResponse.of(profile.error(reason, step=0, detail="")).status
            statuses.setdefault(status, set()).add(_protocol(profile.name))
    usual = next(status for status, names in statuses.items() if _OTHERS in names)
    *others, last = sorted(map(str, steps()[code]), key=lambda step: float(step.replace("a", ".5")))
    step = f"Steps {', '.join(others)} and {last}" if others else f"Step {last}"
    told = f"- Codes: {_joined(codes, '`{}`', code)}. {step}. Status {_joined(statuses, '{}', usual)}.\n"
    advice = REASONS[cast("Reason", code)]
    return f"{told}- The sender: {advice.sender}.\n- The operator: {advice.operator}.\n"


@cache
def steps() -> Mapping[str, set[object]]:
    """Return the steps at which the library makes an error of each reason, by its source."""
    found: dict[str, set[object]] = {reason: set(_COMPUTED.get(reason, ())) for reason in get_args(Reason)}
    for path in _SOURCE.rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(call, ast.Call) and call.args and isinstance(call.args[0], ast.Constant):
                given = [word.value for word in call.keywords if word.arg == "step"]
                literal = [step.value for step in given if isinstance(step, ast.Constant)]
                found.get(str(call.args[0].value), set()).update(literal)
    return {reason: numbers or {_OF_KEY_SOURCES} for reason, numbers in found.items()}


def rewritten(text: str) -> str:
    """Return the page with the lists as the library has them."""
    return _ENTRY.sub(lambda found: found[1] + entry(found[2]), text)


def _protocol(name: str) -> str:
    return next((shown for start, shown in _PROTOCOLS.items() if name.startswith(start)), _OTHERS)


def _joined(values: Mapping[object, set[str]], spelled: str, usual: object) -> str:
    """Return values in words, the usual one first, and each other one with the protocols that have it."""
    rest = [
        f"{spelled.format(value)} ({', '.join(sorted(names))})" for value, names in values.items() if value != usual
    ]
    return "; ".join([spelled.format(usual), *([", ".join(sorted(rest))] if rest else [])])


if __name__ == "__main__":
    PAGE.write_text(rewritten(PAGE.read_text("utf-8")), "utf-8")
