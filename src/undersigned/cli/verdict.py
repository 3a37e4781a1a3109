"""The verdict of a server: the code for which it rejected a signed request, from its challenges or its content."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, NamedTuple, cast, get_args

from undersigned import profiles
from undersigned.errors import Reason
from undersigned.message.www_authenticate import read_challenge
from undersigned.reasons import UNREAD

if TYPE_CHECKING:
    import http.client

_ANSWERS: Final = tuple(profile.answers for profile in profiles.BY_NAME.values())
_STATED: Final = frozenset({503, *(status for status, _ in UNREAD.values())})


# A code with several meanings means that the signature is invalid.
_REASONS: Final[dict[str, Reason]] = {
    answers.code(reason): reason for answers in _ANSWERS for reason in (*get_args(Reason), "signature_invalid")
}
_IN_CONTENT: Final = frozenset(
    answers.code(reason) for answers in _ANSWERS if answers.challenge != "signature" for reason in get_args(Reason)
)
_MEMBERS: Final = tuple(dict.fromkeys(answers.member for answers in _ANSWERS))


class Verdict(NamedTuple):
    """What an answer says of a signature.

    Attributes:
        status: the HTTP status code.
        code: the verifier's code as the library names it, without the prefix of its profile; empty if no verifier
            rejected the request.
        stated: the code as the server wrote it.
    """

    status: int
    code: str
    stated: str


def read_verdict(response: http.client.HTTPResponse, content: bytes) -> Verdict:
    """Read the code from the challenges, or from JSON content if the answer cannot have a challenge."""
    status, challenges = response.status, response.headers.get_all("www-authenticate") or []
    code = next(filter(None, map(read_challenge, challenges)), None)
    stated = code or ""
    if code is None and status >= 400:  # noqa: PLR2004 - the first status of an error
        stated = _stated_code(content)
        if stated not in _IN_CONTENT and status not in _STATED:
            stated = ""
    return Verdict(status, _REASONS.get(stated, stated), stated)


def _stated_code(content: bytes) -> str:
    """Return the code in JSON content of one of the profiles' formats, or an empty text."""
    try:
        value = cast("object", json.loads(content))
    except (ValueError, RecursionError):
        return ""
    members = cast("dict[str, object]", value) if isinstance(value, dict) else {}
    written = (stated for member in _MEMBERS if isinstance(stated := members.get(member), str))
    return next((stated for stated in written if stated in _REASONS or stated in UNREAD), "")
