"""Explanation of a recorded request: each step of the checklist, and the signature base rebuilt from the request."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Final

from rich.text import Text

from undersigned.cli.explain.base_difference import BaseDifference, compare_bases
from undersigned.cli.explain.body_digest import digest_cause
from undersigned.cli.explain.profile_guess import others
from undersigned.errors import MalformedURL, SignatureError, printable
from undersigned.message.request_target import received_target, typed_target
from undersigned.message.signature_input import choose_signature_inputs
from undersigned.message.structured_fields import MalformedField, parse_byte_sequences
from undersigned.replay.memory import UncheckedReplay
from undersigned.signature.components import ComponentValues, UnresolvableComponent, signature_base
from undersigned.verification.verifier import Verifier

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from undersigned.cli.lines import Answer
    from undersigned.errors import Step
    from undersigned.message.request import Request
    from undersigned.message.signature_input import SignatureInput
    from undersigned.message.structured_fields import Encoding
    from undersigned.signature.key_source import KeySource
    from undersigned.signature.profile import Profile

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
"""The steps of the verifier's checklist, in order."""

_NOT_CHECKED: Final[frozenset[Step]] = frozenset({9, "9a", 12, 13})
"""Steps that need a revocation list or a replay store. A recorded request has neither."""

_MARKS: Final = {
    "passed": ("+", "green"),
    "failed": ("x", "bold red"),
    "not checked": ("-", "dim"),
    "not reached": (" ", "dim"),
}
_SPELLING, _WINDOW, _PROOF, _CONTENT = 1, 5, 10, 11
_BOTH: Final[tuple[Encoding, ...]] = ("base64", "base64url")


@dataclass(frozen=True, slots=True)
class ExplainedRequest:
    """The result of verifying a recorded request.

    Attributes:
        profile: the name of the profile by which it was verified.
        error: the error that rejected the request, or `None` if every checked step passed.
        base: the signature base rebuilt from the request; `None` if it cannot be rebuilt.
        difference: the first difference from the signer's base; `None` if they are equal or it was not given.
        causes: the likely causes of the rejection, in sentences.
    """

    profile: str
    error: SignatureError | None
    base: str | None
    difference: BaseDifference | None
    causes: tuple[str, ...]

    @property
    def steps(self) -> Iterator[tuple[Step, str]]:
        """Return each step with its outcome: `passed`, `failed`, `not checked` or `not reached`."""
        reached = True
        for step in CHECKS:
            if self.error is not None and self.error.step == step:
                reached = False
                yield step, "failed"
            else:
                yield step, ("not checked" if step in _NOT_CHECKED else "passed") if reached else "not reached"


def explain_request(
    request: Request, profile: Profile, keys: KeySource, *, now: float, signers_base: bytes | None = None
) -> ExplainedRequest:
    """Verify a recorded request by `profile`, assume a new nonce and an unrevoked key, and look for likely causes."""
    verifier = Verifier(profile, keys=keys, replay=UncheckedReplay(), clock=lambda: now)
    error: SignatureError | None = None
    try:
        verifier.verify(request)
    except SignatureError as raised:
        error = raised
    read = _read(request, profile)
    base = None if read is None else _base(request, read, profile)
    difference = None
    if base is not None and signers_base is not None:
        difference = compare_bases(base, signers_base, body=request.body)
    causes = tuple(_causes(request, profile, read, error=error, difference=difference))
    if not causes and error is not None and error.step == _PROOF and None not in (base, signers_base):
        causes = ("the two bases are equal: another key signed, or the signature was changed",)
    if error is not None:
        also = [other.name for other in others(request, profile, keys, now=now)]
        if also:
            causes += (f"the profile: the request is verified by {' and '.join(also)}, and not by {profile.name}",)
    return ExplainedRequest(profile.name, error, base, difference, causes)


def request_answer(explained: ExplainedRequest) -> Answer:
    """Return the result as a JSON object."""
    error, gap = explained.error, explained.difference
    return {
        "ok": error is None,
        "profile": explained.profile,
        "code": error and error.code,
        "step": error and error.step,
        "detail": error and error.detail,
        "steps": [{"step": step, "check": CHECKS[step], "outcome": outcome} for step, outcome in explained.steps],
        "signature_base": explained.base,
        "difference": gap and asdict(gap),
        "causes": list(explained.causes),
    }


def request_text(explained: ExplainedRequest) -> Iterator[Text]:
    """Yield the lines that show the result."""
    yield Text.assemble(("Profile: ", "bold"), explained.profile)
    for step, outcome in explained.steps:
        mark, style = _MARKS[outcome]
        note = "  (not checked: needs a revocation list or a replay store)" if outcome == "not checked" else ""
        yield Text.assemble(
            (f"{mark} {step!s:>2}  ", style), (CHECKS[step], "" if mark.strip() else style), (note, "dim")
        )
        if outcome == "failed" and explained.error is not None:
            yield Text(f"      {explained.error.code}: {explained.error.detail}", style)
    yield Text()
    if explained.base is None:
        yield Text("The signature base cannot be rebuilt from this request.", "bold")
    else:
        yield Text("The signature base, rebuilt from this request:", "bold")
        for line in explained.base.split("\n"):
            yield Text(f"  {printable(line)}")
    if explained.difference is not None:
        yield from _difference_text(explained.difference)
    for cause in explained.causes:
        yield Text.assemble(("Likely cause: ", "bold"), (cause, "yellow"))


def _difference_text(gap: BaseDifference) -> Iterator[Text]:
    yield Text()
    place = f"byte {gap.offset}, which is line {gap.line}, column {gap.column}"
    yield Text(f"The signer's base first differs at {place}:", "bold")
    for name, line, style in (("rebuilt", gap.rebuilt, "red"), ("signer", gap.signers, "green")):
        at = gap.column - 1
        yield Text.assemble(
            (f"  {name:8}", "dim"),
            printable(line[:at]),
            (printable(line[at : at + 1]) or "(its end)", f"bold reverse {style}"),
            printable(line[at + 1 :]),
        )


def _causes(
    request: Request,
    profile: Profile,
    read: SignatureInput | None,
    *,
    error: SignatureError | None,
    difference: BaseDifference | None,
) -> Iterator[str]:
    if difference is not None:
        yield difference.cause
    step = None if error is None else error.step
    if step == _SPELLING:
        yield from _other_base64(request, profile)
    elif step == _WINDOW and read is not None:
        created, expires = read.parameters.get("created"), read.parameters.get("expires")
        yield f"the signature is valid from {created!r} to {expires!r} (seconds since the epoch): set --now accordingly"
    elif step == _CONTENT and (cause := digest_cause(request.body, request.fields.combined.get("content-digest", ""))):
        yield cause


def _other_base64(request: Request, profile: Profile) -> Iterator[str]:
    wanted_by: dict[str, tuple[Encoding, ...]] = {
        "signature": (profile.encoding,),
        "content-digest": profile.digest.encodings,
    }
    for name, encodings in wanted_by.items():
        value = request.fields.combined.get(name)
        if value is not None and _is_spelled(value, _BOTH) and not _is_spelled(value, encodings):
            found = "Base64url" if "base64" in encodings else "padded Base64"
            expected = "padded Base64 (RFC 8941)" if "base64" in encodings else "unpadded Base64url"
            yield f"{name} is in {found}: the profile {profile.name} expects {expected}"


def _is_spelled(value: str, encodings: tuple[Encoding, ...]) -> bool:
    try:
        return bool(parse_byte_sequences(value, *encodings))
    except MalformedField:
        return False


def _read(request: Request, profile: Profile) -> SignatureInput | None:
    """Return the member of Signature-Input that the profile verifies, or `None` if the field cannot be parsed."""
    try:
        given = request.fields.combined.get("signature-input") or ""
        chosen = choose_signature_inputs(given, profile.selection.labels)
    except MalformedField:
        return None
    return chosen[0][1] if chosen else None


def _base(request: Request, read: SignatureInput, profile: Profile) -> str | None:
    try:
        target = received_target(request)
        signed = target if profile.target == "canonical" else typed_target(request.url, target)
        values = ComponentValues(request, signed, reading=profile.coverage.reading)
        return signature_base(values, read.components, read.text)
    except (MalformedURL, UnresolvableComponent):
        return None
