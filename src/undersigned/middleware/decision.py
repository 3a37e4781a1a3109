"""Decisions: what was decided about a request and why, cleaned for a log, for metrics or for a page of its operator."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Literal

from undersigned.limits import LONGEST_INSPECTED
from undersigned.log_text import printable
from undersigned.message.signature_input import parse_signature_input
from undersigned.message.structured_fields import MalformedField
from undersigned.redaction import is_credential, without_credential, without_credentials

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from undersigned.message.header_fields import HeaderFields
    from undersigned.signature.profile import Profile

MASK: Final = "(masked)"
"""What stands in place of the value of a credential."""

_CLAIMED: Final[Mapping[str, type]] = {"keyid": str, "created": int, "expires": int}


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What a decision was made of. Every text of the sender is escaped and truncated, and credentials are masked.

    Attributes:
        url: the URL of the request; only its target as the server shows it, if its origin was not looked for.
        fields: the headers as (name, value) pairs, once they were read.
        base: the signature base as rebuilt from the request, or None if it was not rebuilt.
        detail: what was wrong, in a sentence, or None.
        received: other evidence, such as the Host and the request target, or None.
        is_local: whether all origins of the middleware are loopback origins, as in development.
    """

    url: str = ""
    fields: tuple[tuple[str, str], ...] = ()
    base: str | None = None
    detail: str | None = None
    received: str | None = None
    is_local: bool = False

    def cleaned(self) -> Evidence:
        """Return the same evidence without what nobody may read."""
        fields = tuple(
            (printable(name, limit=64), MASK if is_credential(name) else _clean(value)) for name, value in self.fields
        )
        base = None
        if self.base is not None:
            lines = self.base.split("\n")
            base = "\n".join(without_credential(line, mask=MASK, limit=LONGEST_INSPECTED) for line in lines)
        received = None if self.received is None else _clean(self.received)
        return replace(self, url=_clean(self.url), fields=fields, base=base, received=received)


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


def claims_of(fields: HeaderFields, profile: Profile) -> dict[str, Any]:
    """Return what a request says of the signature that the profile selects, else of the first one: nothing is verified.

    These are its parameters `keyid`, `created` and `expires`, as far as each has its type.
    """
    try:
        inputs = parse_signature_input(fields.combined.get("signature-input", ""))
        given = {label: one.parameters for label, one in inputs.items()}
        label = (*profile.selection.labels(given), *given)[0]
    except (MalformedField, IndexError):
        return {}
    return {name: value for name, value in given[label].items() if type(value) is _CLAIMED.get(name)}


def seconds_off(claims: Mapping[str, Any], profile: Profile, now: float) -> float | None:
    """Return how far from the claimed validity period now is: negative before it, None within it."""
    created = claims.get("created")
    if created is not None and created > now:
        return float(now - created)
    end = profile.validity.end(created, claims.get("expires"))
    return now - end if end is not None and end < now else None


def without_query(target: str) -> str:
    """Return a target or URL for a log, without what its query has."""
    path, mark, _ = target.partition("?")
    return f"{path}?(withheld)" if mark else path


def _clean(text: str) -> str:
    """Return `text` escaped and truncated, without the values of query parameters that are credentials."""
    return printable(without_credentials(text, mask=MASK), limit=LONGEST_INSPECTED)
