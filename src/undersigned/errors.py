"""What can go wrong, sorted by who must act.

Every error of this package derives from `UndersignedError`. A received message can raise only `SignatureError`
(through one of its three children) and a URL only `MalformedURL`; a wrong configuration raises
`ConfigurationError` where it is made, never at request time.
"""

from __future__ import annotations

from typing import Literal

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
    "signature_key_purpose_invalid",
    "signature_key_revoked",
    "signature_revocation_stale",
    "signature_rate_abuse",
    "target_uri_malformed",
    "signature_invalid",
    "signature_digest_mismatch",
    "signature_replayed",
    "body_malformed",
    "store_unavailable",
]
"""The profile's codes without their `request_` or `webhook_` prefix (AdCP verifier checklist)."""


class UndersignedError(Exception):
    """The base of every error this package raises."""


class ConfigurationError(UndersignedError, ValueError):
    """The operator must act: an option is wrong. The message names the option and the fix."""


class SigningError(UndersignedError, ValueError):
    """The caller must act: this request cannot be signed as it stands. The message says what to change."""


class MalformedURL(UndersignedError, ValueError):
    """A URL that has no canonical form.

    Attributes:
        code: always `target_uri_malformed`; a profile puts its prefix before it.
        rule: the name of the rule that refused, as `undersigned.url` lists them.
    """

    code: Literal["target_uri_malformed"] = "target_uri_malformed"

    def __init__(self, message: str, *, rule: str) -> None:
        """Take a `message` free of control characters, and the `rule` that refused."""
        super().__init__(message)
        self.rule = rule

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild_url_error, (type(self), str(self), self.rule)


def _rebuild_url_error(kind: type[MalformedURL], message: str, rule: str) -> MalformedURL:
    return kind(message, rule=rule)
