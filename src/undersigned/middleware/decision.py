"""Decisions: what was decided about a request, for the log and for metrics."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from undersigned.middleware.evidence import Evidence

if TYPE_CHECKING:
    from collections.abc import Callable

Outcome = Literal["verified", "unsigned", "unknown", "warned", "rejected", "unavailable"]
"""`unknown`: nobody knows the signer, so the request counts as unsigned, as profile and mode allow. `warned`: the
signature failed, and another credential excuses it. `unavailable`: the signature could not be verified."""


@dataclass(slots=True, kw_only=True)
class Decision:
    """The decision on one request. Every text in it is ours or has been escaped.

    It is not frozen, as that would cost each request a microsecond: do not change it.

    Attributes:
        outcome: what was decided.
        profile: the name of the verifier's profile.
        code: the code of the error, or None.
        step: the check that failed, by its name in the checklist (`undersigned.errors.CHECKS`), or None.
        method: the method, escaped and truncated, once the headers were read.
        target: the request target as the server shows it, escaped and truncated; its query is withheld.
        origin: the origin the request was for, once it was found.
        target_uri: `@target-uri` as rebuilt from the request, its query withheld, if no key signed the base with it.
        client: the address of the client, if the server shows it. Behind a proxy that may be the proxy.
        status: the status of the answer with which the request was rejected.
        route: the path of the route, as the framework spells it, such as `/plans/{plan}`. It is known if the request
            was rejected when the route was about to run.
        keyid: the key ID that the message names, escaped and truncated. Unless it is verified, anyone may claim it.
        algorithm: the algorithm that the signature names, once the signature was found to meet the profile.
        tag: the profile's tag, once the message was found to carry it.
        seconds: how long the decision took, including the time to read the content; 0 if a route rejected the request.
        skew: seconds from `created` to the verifier's clock at the decision; negative if `created` is in the future.
        seconds_off: if the signature is not valid now, how many seconds ago it ended; negative if it begins later.
        evidence: returns what the decision was made of. It is computed when it is called, so a listener that needs none
            pays nothing.
    """

    outcome: Outcome
    profile: str
    code: str | None = None
    step: str | None = None
    method: str | None = None
    target: str | None = None
    origin: str | None = None
    target_uri: str | None = None
    client: str | None = None
    status: int | None = None
    route: str | None = None
    keyid: str | None = None
    algorithm: str | None = None
    tag: str | None = None
    seconds: float
    skew: float | None = None
    seconds_off: float | None = None
    evidence: Callable[[], Evidence] = field(default=Evidence, repr=False, compare=False)
