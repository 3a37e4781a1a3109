"""Why a server rejected a signed request: what its answer says, and what its key set would say."""

from __future__ import annotations

import time
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from itertools import islice
from typing import TYPE_CHECKING, Final

from rich.text import Text

from undersigned.cli.doctor.advice import CODES
from undersigned.cli.doctor.probe import Answer as Verdict
from undersigned.cli.explain.request import request_answer, request_text
from undersigned.errors import printable
from undersigned.explanation import explain_request

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from undersigned.cli.lines import Answer
    from undersigned.cli.request.reply import Reply
    from undersigned.explanation import ExplainedRequest
    from undersigned.message.request import Request
    from undersigned.signature.key_source import KeySet
    from undersigned.signature.profile import Profile

_UNAUTHORIZED: Final = 401
_SKEW: Final = 30
_MOST_NAMED: Final = 8
_CHANGED: Final = "find out what changes it: undersigned doctor"
_MORE: Final[Mapping[str, tuple[str, str]]] = {
    "signature_invalid": (
        "the request that arrived is not the one that was signed, or the server has another key with this kid",
        _CHANGED,
    ),
    "signature_digest_mismatch": ("the content that arrived is not the one that was signed", _CHANGED),
    "target_uri_malformed": (
        "the Host or the path of the URL is not one of the server's",
        "check the URL, and origins= of the server",
    ),
    "signature_replayed": ("the server has seen this nonce before", "sign each request again"),
    "body_malformed": (
        "programs could read the content differently: it repeats a key, or is not the JSON that the server expects",
        "send valid JSON, and write each key of an object once",
    ),
}
_OTHER_LAYER: Final = "the answer has no code of a signature, so another part of the server asks for other credentials"
_VALID_HERE: Final = (
    "By these keys the request is valid as it was sent. So the server has other keys, another profile or another "
    "clock, or something on the way changes requests: undersigned doctor"
)


@dataclass(frozen=True, slots=True)
class Why:
    """Why a request was rejected.

    Attributes:
        code: the code of the answer, as the server wrote it, or "".
        problem: what the code means.
        fix: what to do, or "".
        missing: the keyid of the signature and the kids that are given, if that key is not given; else "".
        skew: the seconds by which the server's clock is ahead, by its Date field; 0 if they do not matter.
        explained: what a verifier with the server's keys says, or None if they are not given.
    """

    code: str
    problem: str
    fix: str
    missing: str
    skew: int
    explained: ExplainedRequest | None

    @classmethod
    def of(
        cls,
        reply: Reply,
        request: Request,
        profile: Profile,
        keys: KeySet | None,
        *,
        clock: Callable[[], float] = time.time,
    ) -> Why | None:
        """Return why a request was rejected, or None if it was not rejected for its signature.

        Args:
            reply: the answer of the server.
            request: the request as it was sent.
            profile: the profile that it was signed by.
            keys: the keys that the server verifies with, if they are known.
            clock: the time, seconds since the epoch.
        """
        verdict = Verdict.read(reply.status, reply.values("www-authenticate"), reply.content)
        if reply.status != _UNAUTHORIZED and not verdict.code:
            return None
        problem, fix = {**CODES, **_MORE}.get(verdict.code, ("", "")) if verdict.code else (_OTHER_LAYER, "")
        skew = _skew(reply, clock())
        explained = None if keys is None else explain_request(request, profile, keys, now=clock() + skew)
        missing = "" if keys is None or explained is None else _missing(explained, keys)
        return cls(verdict.stated or verdict.code, problem, fix, missing, skew, explained)

    def lines(self) -> Iterator[Text]:
        """Yield the lines that show it."""
        if self.code:
            colon = f": {self.problem}" if self.problem else ""
            yield Text.assemble(("Why: ", "bold"), f"the server says {printable(self.code)}{colon}")
        else:
            yield Text.assemble(("Why: ", "bold"), self.problem)
        if self.fix:
            yield Text.assemble(("Fix: ", "bold"), self.fix)
        if self.skew:
            side = "ahead of" if self.skew > 0 else "behind"
            yield Text(f"The server's clock is {abs(self.skew)} seconds {side} this one.")
        if self.explained is None:
            yield Text("To see which check fails, give the keys that the server knows: --jwks FILE")
            return
        yield Text()
        yield from request_text(self.explained)
        if self.missing:
            yield Text.assemble(("Likely cause: ", "bold"), (self.missing, "yellow"))
        if self.explained.error is None:
            yield Text(_VALID_HERE, "yellow")

    def json(self) -> Answer:
        """Return it as a JSON object."""
        return {
            "code": self.code or None,
            "problem": self.problem or None,
            "fix": self.fix or None,
            "clock_skew": self.skew,
            "explained": self.explained and request_answer(self.explained),
        }


def _missing(explained: ExplainedRequest, keys: KeySet) -> str:
    error = explained.error
    if error is None or error.keyid is None or error.keyid in keys.keys:
        return ""
    known = ", ".join(printable(keyid) for keyid in islice(keys.keys, _MOST_NAMED)) or "none"
    return f"the request is signed with the key {printable(error.keyid)}, and the given keys are: {known}"


def _skew(reply: Reply, now: float) -> int:
    """Return the seconds by which the server's clock is ahead, or 0 if it is about right or not known."""
    for value in reply.values("date"):
        try:
            ahead = round(parsedate_to_datetime(value).timestamp() - now)
        except (ValueError, OverflowError, OSError):
            continue
        return ahead if abs(ahead) > _SKEW else 0
    return 0
