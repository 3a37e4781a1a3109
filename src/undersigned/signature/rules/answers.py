"""Answers: the code, status and header fields that the sender of a rejected message gets."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, cast, get_args

from undersigned.errors import AnswerForm, ConfigurationError, Reason, VerificationUnavailable
from undersigned.signature.rules.option import check_choice

if TYPE_CHECKING:
    from collections.abc import Callable
    from collections.abc import Set as AbstractSet

    from undersigned.errors import SignatureError

Challenge = Literal["signature", "accept-signature", "none"]
"""The header field that tells a sender why a message was rejected.

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

_CHALLENGES: frozenset[str] = frozenset(get_args(Challenge))
_REASONS: frozenset[str] = frozenset(get_args(Reason))
_CODE = re.compile(r"[a-z_]*")
_STATUSES = range(400, 600)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """The code, status and header fields that the sender of a rejected message gets.

    Attributes:
        prefix: the prefix of every error code that `codes` does not name.
        codes: the code of a reason, if it is not the prefix and the reason.
        statuses: the HTTP status of a reason, if it is neither 401 (the sender must act) nor 503 (the operator must).
        member: the member of the JSON answer that has the code.
        text_member: another member, which has the code in words. Empty: there is none.
        rpc_codes: the code of a JSON-RPC error for a reason. The answer is then a JSON-RPC error (section 5.1), whose
            data are the members above. Its id is null, since the body need not have been read.
        challenge: the header field that says why.
        asks: the reasons for which Accept-Signature also says what a signature must cover (RFC 9421 section 5). Empty:
            it is sent only as a `challenge`.
        unknown: the reasons for which the sender is merely unknown: the message is treated as one without a signature.

    Raises:
        ConfigurationError: an attribute has a wrong value.
    """

    prefix: str = ""
    codes: Mapping[Reason, str] = field(default_factory=dict[Reason, str])
    statuses: Mapping[Reason, int] = field(default_factory=dict[Reason, int])
    member: str = "error"
    text_member: str = ""
    rpc_codes: Mapping[Reason, int] = field(default_factory=dict[Reason, int])
    challenge: Challenge = "signature"
    asks: frozenset[Reason] = ASKING
    unknown: frozenset[Reason] = frozenset()
    is_special: bool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for option in ("prefix", "member", "text_member"):
            value: object = getattr(self, option)
            if not isinstance(value, str) or _CODE.fullmatch(value) is None:
                raise ConfigurationError(f"answers.{option}: use lower-case letters and underscores: it is sent")
        check_choice("answers.challenge", self.challenge, _CHALLENGES)
        for option in ("asks", "unknown"):
            _check_reasons(option, dict.fromkeys(getattr(self, option), 0))
        codes, statuses = _check_reasons("codes", self.codes), _check_reasons("statuses", self.statuses)
        if not all(isinstance(code, str) and code and _CODE.fullmatch(code) for code in codes.values()):
            raise ConfigurationError("answers.codes: use lower-case letters and underscores: codes are sent")
        rpc_codes = _check_reasons("rpc_codes", self.rpc_codes)
        if not all(type(code) is int for code in rpc_codes.values()):
            raise ConfigurationError("answers.rpc_codes: give whole numbers, such as -32000")
        for option in ("codes", "statuses", "rpc_codes"):
            object.__setattr__(self, option, MappingProxyType(dict(getattr(self, option))))
        special = (
            self.statuses
            or self.member != "error"
            or self.text_member
            or self.challenge != "signature"
            or self.rpc_codes
        )
        object.__setattr__(self, "is_special", bool(special))
        if not all(type(status) is int and status in _STATUSES for status in statuses.values()):
            raise ConfigurationError("answers.statuses: give HTTP statuses from 400 to 599")

    def code(self, reason: Reason) -> str:
        """Return the code that the sender gets for `reason`."""
        return self.codes.get(reason) or self.prefix + reason

    def form(self, error: SignatureError, wanted: Callable[[], str]) -> AnswerForm | None:
        """Return the form of the answer to a rejected message, or None for the usual form.

        Args:
            error: the error.
            wanted: returns what a signature of the profile must have, as a member of Accept-Signature.
        """
        asks = error.reason in self.asks
        if not self.is_special and not asks:
            return None
        unavailable = isinstance(error, VerificationUnavailable)
        status = self.statuses.get(error.reason) if error.reason else None
        fields: list[tuple[str, str]] = []
        if self.challenge == "signature" and not unavailable:
            fields.append(("WWW-Authenticate", f'Signature error="{error.code}"'))
        if asks or (self.challenge == "accept-signature" and not unavailable):
            fields.append(("Accept-Signature", wanted()))
        texts = {self.member: error.code}
        if self.text_member:
            texts[self.text_member] = error.code.replace("_", " ")
        rpc_code = self.rpc_codes.get(error.reason) if error.reason else None
        return AnswerForm(status or (503 if unavailable else 401), tuple(texts.items()), tuple(fields), rpc_code)


def _check_reasons(option: str, given: object) -> Mapping[object, object]:
    reasons: Mapping[object, object] = {None: None}
    if isinstance(given, Mapping):
        reasons = cast("Mapping[object, object]", given)
    names = cast("AbstractSet[object]", reasons.keys())
    if not names <= _REASONS:
        raise ConfigurationError(f"answers.{option}: give reasons of undersigned.errors.Reason")
    return reasons
