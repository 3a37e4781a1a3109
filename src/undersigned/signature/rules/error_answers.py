"""What the sender of a rejected message gets."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, get_args

from undersigned.errors import AnswerForm, Reason, VerificationUnavailable
from undersigned.message.www_authenticate import write_challenge
from undersigned.signature.rules.option_checks import check, check_choice

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from undersigned.errors import SignatureError

Challenge = Literal["signature", "accept-signature", "none"]
"""The header that tells a sender why a message was rejected.

`signature`: `WWW-Authenticate: Signature error="<code>"` (AdCP). `accept-signature`: what a signature must cover (RFC
9421 section 5). `none`: no field.
"""

ASKING: Final[frozenset[Reason]] = frozenset(
    {
        "signature_required",
        "signature_params_incomplete",
        "signature_params_unexpected",
        "signature_tag_invalid",
        "signature_components_incomplete",
        "signature_components_unexpected",
    }
)
"""The reasons for which another signature by the same key may be accepted."""

_REASONS: frozenset[str] = frozenset(get_args(Reason))
_CODE = re.compile(r"[a-z_]*")
_STATUSES = range(400, 600)


class Answers(NamedTuple):
    """The code, status and headers that the sender of a rejected message gets.

    Attributes:
        prefix: the prefix of every error code that `codes` does not name.
        codes: the code of a reason, if it is not the prefix and the reason.
        statuses: the HTTP status of a reason, if it is neither 401 (the sender must act) nor 503 (the operator must).
        member: the member of the JSON answer that has the code.
        text_member: another member, which has the code in words. Empty: there is none.
        rpc_codes: the code of a JSON-RPC error for a reason. The answer is then a JSON-RPC error (section 5.1), whose
            data are the members above. Its id is null, since the body need not have been read.
        challenge: the header that says why.
        asks: the reasons for which Accept-Signature also says what a signature must cover (RFC 9421 section 5). Empty:
            it is sent only as a `challenge`.
        unknown: the reasons for which the sender is merely unknown: the message is treated as one without a signature.
    """

    prefix: str = ""
    codes: Mapping[Reason, str] = {}
    statuses: Mapping[Reason, int] = {}
    member: str = "error"
    text_member: str = ""
    rpc_codes: Mapping[Reason, int] = {}
    challenge: Challenge = "signature"
    asks: frozenset[Reason] = ASKING
    unknown: frozenset[Reason] = frozenset()

    def check(self) -> None:
        """Raise ConfigurationError if a value is wrong or contradicts another."""
        for option in ("prefix", "member", "text_member"):
            is_code = _CODE.fullmatch(getattr(self, option))
            check(f"answers.{option}", is_code, "use lower-case letters and underscores: it is sent")
        check_choice("answers.challenge", self.challenge, Challenge)
        for option in ("asks", "unknown", "codes", "statuses", "rpc_codes"):
            are_reasons = _REASONS.issuperset(getattr(self, option))
            check(f"answers.{option}", are_reasons, "give reasons of undersigned.errors.Reason")
        are_codes = all(code and _CODE.fullmatch(code) for code in self.codes.values())
        check("answers.codes", are_codes, "use lower-case letters and underscores: codes are sent")
        are_statuses = all(status in _STATUSES for status in self.statuses.values())
        check("answers.statuses", are_statuses, "give HTTP statuses from 400 to 599")

    def code(self, reason: Reason) -> str:
        """Return the code that the sender gets for `reason`."""
        return self.codes.get(reason) or self.prefix + reason

    def gravity(self, error: SignatureError) -> tuple[bool, bool, int, str]:
        """Return how bad an error is, to be compared with others of the same message.

        The sender may be unknown, or the keys unavailable, where nothing is wrong. Else the later step is the worse.
        """
        step = int(str(error.step).removesuffix("a"))
        return error.reason not in self.unknown, not isinstance(error, VerificationUnavailable), step, error.code

    def form(self, error: SignatureError, wanted: Callable[[], str]) -> AnswerForm:
        """Return the form of the answer to a rejected message.

        Args:
            error: the error.
            wanted: returns what a signature of the profile must have, as a member of Accept-Signature.
        """
        asks = error.reason in self.asks
        unavailable = isinstance(error, VerificationUnavailable)
        status = self.statuses.get(error.reason) if error.reason else None
        fields: list[tuple[str, str]] = []
        if self.challenge == "signature" and not unavailable:
            fields.append(("WWW-Authenticate", write_challenge(error.code)))
        if asks or (self.challenge == "accept-signature" and not unavailable):
            fields.append(("Accept-Signature", wanted()))
        texts = {self.member: error.code}
        if self.text_member:
            texts[self.text_member] = error.code.replace("_", " ")
        rpc_code = self.rpc_codes.get(error.reason) if error.reason else None
        return AnswerForm(status or (503 if unavailable else 401), tuple(texts.items()), tuple(fields), rpc_code)
