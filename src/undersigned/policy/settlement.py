"""Settlements: what becomes of a request, from its signature and whatever other credential it has.

AdCP, composition with fallback authenticators.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from undersigned.errors import SignatureError, signature_error

Demand = Literal["required", "warn", "supported", "none"]
"""What a policy demands for an operation, the strictest first."""

Judgement: TypeAlias = Literal["verified", "unsigned"] | SignatureError
"""What became of a signature: it passed every step, there is none, or the step that refused it."""

_BEYOND_FORGIVENESS = ("signature_header_malformed", "target_uri_malformed", "body_malformed")


@dataclass(frozen=True, slots=True)
class Settlement:
    """What becomes of a request.

    Attributes:
        outcome: whether the request goes on. With a warning: its signature failed, and `error` is to be recorded.
        source: what says who the caller is. Only `signature` gives a signer identity.
        error: what to answer a rejected request with (401, or 503 where we must act), what to record with a warning.
    """

    outcome: Literal["accept", "accept_with_warning", "reject"]
    source: Literal["signature", "fallback", "none"]
    error: SignatureError | None = None


def settle(demand: Demand, signature: Judgement, *, must_be_signed: bool, fallback: bool, prefix: str) -> Settlement:
    """Settle what becomes of a request.

    - Verified: accepted.
    - Unsigned: refused as `signature_required` where the demand is `required` and no other credential is valid, and
      where the request must be signed, whatever else is valid. Accepted otherwise.
    - Failed: refused with its own code, whatever else is valid. Only where the demand is `warn` is it forgiven, for a
      request that another valid credential carries; that includes failures that are ours (a key source that is down),
      since the signature decides nothing there. Never forgiven: a header pair that cannot be read, and a target or
      a content that two programs read differently, for no credential mends those.

    Pure, so a driver may ask with `fallback=False` first, and ask the application only where that is refused.

    Args:
        demand: what the policy demands for the operation.
        signature: what became of the signature.
        must_be_signed: whether the request must be signed whatever the demand, as one that registers a webhook's
            credentials.
        fallback: whether another authenticator of the application accepts the caller.
        prefix: what the profile puts before its codes.
    """
    if signature == "verified":
        return Settlement("accept", "signature")
    if signature == "unsigned":
        if must_be_signed:
            return _required(prefix, "a request that registers the credentials of a webhook must be signed")
        if demand == "required" and not fallback:
            return _required(prefix, "the operation must be signed, and no other credential is valid")
        return Settlement("accept", "fallback" if fallback else "none")
    forgivable = signature.code not in [prefix + reason for reason in _BEYOND_FORGIVENESS]
    if demand == "warn" and fallback and forgivable and not must_be_signed:
        return Settlement("accept_with_warning", "fallback", signature)
    return Settlement("reject", "none", signature)


def _required(prefix: str, detail: str) -> Settlement:
    return Settlement("reject", "none", signature_error("signature_required", prefix, step=0, detail=detail))
