"""Errors, sorted by who must act: the sender, the operator or the programmer.

Every error of this package is an `UndersignedError`. Verifying a message raises only `SignatureError`, always one of
its three subclasses. Canonicalizing a URL raises only `MalformedURL`. A wrong option raises `ConfigurationError` at
construction, never during a request.
"""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from undersigned.log_text import printable
from undersigned.redaction import without_credential, without_credentials

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping

Reason = Literal[
    "signature_required",
    "signature_header_malformed",
    "signature_params_incomplete",
    "signature_tag_invalid",
    "signature_alg_not_allowed",
    "signature_window_invalid",
    "signature_components_incomplete",
    "signature_components_unexpected",
    "signature_key_unknown",
    "signature_jwks_unavailable",
    "signature_jwks_untrusted",
    "signature_capabilities_unreachable",
    "signature_brand_json_url_missing",
    "signature_brand_json_unreachable",
    "signature_brand_json_malformed",
    "signature_brand_origin_mismatch",
    "signature_agent_not_in_brand_json",
    "signature_brand_json_ambiguous",
    "signature_key_origin_mismatch",
    "signature_key_origin_missing",
    "signature_key_purpose_invalid",
    "signature_key_revoked",
    "signature_revocation_stale",
    "signature_rate_abuse",
    "target_uri_malformed",
    "signature_invalid",
    "signature_digest_mismatch",
    "signature_replayed",
    "body_malformed",
    "signature_store_unavailable",
    "signature_server_unsupported",
    "signature_params_unexpected",
    "signature_identity_missing",
    "signature_identity_malformed",
    "signature_jwks_malformed",
]
"""Why a message is rejected. AdCP's codes are these with a prefix (AdCP verifier checklist)."""

TooLarge = Literal["", "uri_too_long", "request_header_fields_too_large"]
"""What of a request is larger than is read, as the code of its answer: 414 (RFC 9110) or 431 (RFC 6585)."""


class UndersignedError(Exception):
    """The base of every error this package raises."""


class ConfigurationError(UndersignedError):
    """Raised when an option is wrong. The operator must act: the message names the option and the fix.

    It is no ValueError: the commands of waitress and Sanic exit with 0 after a ValueError of the application.

    Attributes:
        option: the name of the option, which the message begins with, or "" if it names none.
        fix: the rest of the message.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)
        option, colon, fix = message.partition(": ")
        self.option, self.fix = (option, fix) if colon else ("", message)


class SigningError(UndersignedError, ValueError):
    """Raised when a request cannot be signed as it is. The caller must act: the message says what to change."""


class KeySourceError(UndersignedError):
    """Raised by a key source that cannot say which key a key ID names.

    Attributes:
        reason: the reason that the verifier reports, such as `signature_jwks_unavailable`.
        definite: whether keys that the source had before must not be used any more.
        oversized: whether the field that names the key is larger than is read.
    """

    def __init__(self, reason: Reason, message: str, *, definite: bool = False, oversized: bool = False) -> None:
        """Take the `reason`, and a `message` for the operator's log without text of another party."""
        super().__init__(reason, message)
        self.reason: Reason = reason
        self.definite = definite
        self.oversized = oversized

    def __str__(self) -> str:
        return str(self.args[1])


class MalformedURL(UndersignedError, ValueError):
    """Raised when a URL has no canonical form.

    Attributes:
        code: always `target_uri_malformed`; a profile puts its prefix before it.
        rule: the name of the URL rule or request check that rejected it.
    """

    code: Literal["target_uri_malformed"] = "target_uri_malformed"

    def __init__(self, message: str, *, rule: str = "") -> None:
        """Take a `message` without control characters, and the `rule` that rejected the URL."""
        super().__init__(message)
        self.rule = rule

    @property
    def too_large(self) -> TooLarge:
        """The code of a request whose URL or authority is too long, else ""."""
        return _LENGTHS.get(self.rule, "")


_LENGTHS: Final[Mapping[str, TooLarge]] = {
    "length": "uri_too_long",
    "authority-length": "request_header_fields_too_large",
}
"""The code for each rule that rejects a URL or an authority for its length alone."""


class AnswerForm(NamedTuple):
    """The form of the answer with which a profile rejects a message.

    Attributes:
        status: the HTTP status.
        members: the members of the JSON answer, as (name, text) pairs.
        fields: further headers, as (name, value) pairs.
        rpc_code: the code of a JSON-RPC error, whose data are the members; None: the answer is not a JSON-RPC error.
    """

    status: int
    members: tuple[tuple[str, str], ...]
    fields: tuple[tuple[str, str], ...]
    rpc_code: int | None = None


Step = Literal[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, "9a", 10, 11, 12, 13, 14]
"""A step of the AdCP verifier checklist."""

CHECKS: Final[Mapping[Step, str]] = {
    0: "presence of a signature",
    1: "syntax of the signature fields",
    2: "required parameters",
    3: "tag",
    4: "algorithm",
    5: "validity period",
    6: "covered components",
    7: "key lookup",
    8: "key purpose",
    9: "key revocation",
    "9a": "nonce limit of the key",
    10: "target, authority and signature",
    11: "content digest",
    12: "nonce replay",
    13: "nonce storage",
    14: "repeated JSON keys",
}
"""The steps of the verifier's checklist by name, in order."""


class SignatureError(UndersignedError):
    """Raised when a message is rejected. `str()` is the code and nothing else; a traceback has the detail as a note.

    Attributes:
        code: the profile's wire string, such as `request_signature_invalid`; safe to send.
        step: the step of the checklist that failed.
        detail: one sentence for the operator's log, without text of the sender.
        received: other evidence, such as the Host and the request target; text from the sender.
        keyid: the key ID the message named, once it is known; text from the sender.
        created: the `created` parameter, once it was checked.
        algorithm: the algorithm that the message named, once it was found to be one of the profile's.
        signature_base: the base as rebuilt from the message, once it is known; text from the sender.
        reason: why the message is rejected, whatever the profile calls it, or None if nobody said.
        form: how the sender is told.
        fix: what the operator does, if this error needs other advice than its reason; else None.
        answer: the answer, once a request has been rejected. `undersigned.middleware.ErrorResponse.of` returns it.
        too_large: with what code a middleware rejects a request of this size, whatever is wrong with it otherwise, or
            "" if the size is not what is wrong.
    """

    _status = 401

    def __init__(
        self,
        code: str,
        *,
        step: Step = 0,
        detail: str = "",
        received: str | None = None,
        reason: Reason | None = None,
    ) -> None:
        super().__init__(code)
        if detail:
            self.add_note(detail)
        self.code = code
        self.reason: Reason | None = reason
        self.form = AnswerForm(self._status, (), ())
        self.fix: str | None = None
        self.answer: object = None
        self.too_large: TooLarge = ""
        self.step: Step = step
        self.detail = detail
        self.received = received
        self.keyid: str | None = None
        self.created: int | None = None
        self.algorithm: str | None = None
        self.signature_base: str | None = None

    def explain(self) -> str:
        """Return text for the operator's log: code, check and detail, then the evidence, escaped line by line."""
        lines = [f"{self.code} ({CHECKS[self.step]}): {self.detail}"]
        if self.received is not None:
            lines.append(f"received: {printable(without_credentials(self.received))}")
        if self.keyid is not None:
            lines.append(f"keyid: {printable(self.keyid)}")
        if self.signature_base is not None:
            lines.append("signature base:")
            lines += [f"  {without_credential(line)}" for line in self.signature_base.split("\n")]
        return "\n".join(lines)


class MalformedSignature(SignatureError):
    """Raised when a message cannot be read as the profile says. The sender must act: answer 401."""


class SignatureRejected(SignatureError):
    """Raised when the signature of a message is not acceptable. The sender must act: answer 401."""


class VerificationUnavailable(SignatureError):
    """Raised when keys, replay store or revocation list are unavailable. The operator must act: answer 503."""

    _status = 503


_MALFORMED: frozenset[Reason] = frozenset(
    {"signature_header_malformed", "signature_params_incomplete", "target_uri_malformed", "body_malformed"}
)
UNAVAILABLE: frozenset[Reason] = frozenset(
    {
        "signature_jwks_unavailable",
        "signature_capabilities_unreachable",
        "signature_brand_json_unreachable",
        "signature_brand_json_malformed",
        "signature_revocation_stale",
        "signature_store_unavailable",
        "signature_server_unsupported",
    }
)
"""The reasons for which the operator must act."""


def signature_error(
    reason: Reason, code: str, *, step: Step, detail: str, received: str | None = None
) -> SignatureError:
    """Return an error of the class that `reason` belongs to, with the `code` that the sender gets."""
    kind: type[SignatureError] = SignatureRejected
    if reason in _MALFORMED:
        kind = MalformedSignature
    elif reason in UNAVAILABLE:
        kind = VerificationUnavailable
    return kind(code, step=step, detail=detail, received=received, reason=reason)


@contextmanager
def needs_extra(extra: str) -> Generator[None]:
    """Let imports that fail name the extra to install."""
    try:
        yield
    except ModuleNotFoundError as missing:
        text = f"{missing.name} is not installed: pip install 'undersigned[{extra}]'"
        raise ModuleNotFoundError(text, name=missing.name) from missing


def renamed(package: str, old: str, new: object) -> Callable[[str], object]:
    """Return the `__getattr__` of a package that still has a name under its old one, for one release."""

    def look_up(name: str) -> object:
        if name != old:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        text = f"{old} of {package} is now {getattr(new, '__name__', new)}"
        warnings.warn(text, DeprecationWarning, stacklevel=2)
        return new

    return look_up
