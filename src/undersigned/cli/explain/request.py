"""A recorded request, judged step by step, with the signature base as it is rebuilt from it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Final

from rich.text import Text

from undersigned.cli.explain.base_difference import BaseDifference, compare_bases
from undersigned.cli.explain.body_digest import digest_cause
from undersigned.errors import MalformedURL, SignatureError, printable
from undersigned.message.request_target import received_target
from undersigned.message.signature_input import parse_signature_input
from undersigned.message.structured_fields import MalformedField, parse_byte_sequences
from undersigned.replay.memory import UncheckedReplay
from undersigned.signature.components import ComponentValues, UnresolvableComponent, signature_base
from undersigned.verification.screening import processed_label
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
    0: "the request is signed",
    1: "the signature fields are spelled as the profile says",
    2: "every parameter is there",
    3: "the tag is the profile's",
    4: "the algorithm is one of the profile's",
    5: "the signature is valid at this time",
    6: "the required components are covered",
    7: "the key is known",
    8: "the key is for this purpose",
    9: "the key is not revoked",
    "9a": "the key's cap of nonces is not reached",
    10: "target and authority are sound, and the signature is the key's over the base",
    11: "the content has the digest that was signed",
    12: "the nonce is new",
    13: "the nonce is remembered",
    14: "no JSON object of the content repeats a key",
}
"""The steps of the verifier's checklist, in their order."""

_NOT_ASKED: Final[frozenset[Step]] = frozenset({9, "9a", 12, 13})
"""Steps that ask a revocation list or a replay store; a recorded request has neither."""

_MARKS: Final = {"passed": ("+", "green"), "failed": ("x", "bold red"), "not asked": ("-", "dim"), "open": (" ", "dim")}
_SPELLING, _WINDOW, _PROOF, _CONTENT = 1, 5, 10, 11
_BOTH: Final[tuple[Encoding, ...]] = ("base64", "base64url")


@dataclass(frozen=True, slots=True)
class ExplainedRequest:
    """What became of a recorded request.

    Attributes:
        refusal: the refusal, or `None` where every step that could be asked passed.
        base: the base as rebuilt from the request; `None` where it cannot be.
        difference: where the signer's base first differs; `None` where it does not, or was not given.
        causes: what likely led to the refusal, a sentence each.
    """

    refusal: SignatureError | None
    base: str | None
    difference: BaseDifference | None
    causes: tuple[str, ...]

    @property
    def steps(self) -> Iterator[tuple[Step, str]]:
        """Each step with `passed`, `failed`, `not asked`, or `open` where a step before it failed."""
        reached = True
        for step in CHECKS:
            if self.refusal is not None and self.refusal.step == step:
                reached = False
                yield step, "failed"
            else:
                yield step, ("not asked" if step in _NOT_ASKED else "passed") if reached else "open"


def explain_request(
    request: Request, profile: Profile, keys: KeySource, *, now: float, signers_base: bytes | None = None
) -> ExplainedRequest:
    """Judge a recorded request by `profile`, its nonce being new and no key revoked, and look for causes."""
    verifier = Verifier(profile, keys=keys, replay=UncheckedReplay(), clock=lambda: now)
    refusal: SignatureError | None = None
    try:
        verifier.verify(request)
    except SignatureError as refused:
        refusal = refused
    read = _read(request, profile)
    base = None if read is None else _base(request, read)
    difference = None
    if base is not None and signers_base is not None:
        difference = compare_bases(base, signers_base, body=request.body)
    causes = tuple(_causes(request, profile, read, refusal=refusal, difference=difference))
    if not causes and refusal is not None and refusal.step == _PROOF and None not in (base, signers_base):
        causes = ("the two bases are equal: the signature is another key's, or was changed",)
    return ExplainedRequest(refusal, base, difference, causes)


def request_answer(explained: ExplainedRequest) -> Answer:
    """Return what became of a request as JSON."""
    refusal, gap = explained.refusal, explained.difference
    return {
        "ok": refusal is None,
        "code": refusal and refusal.code,
        "step": refusal and refusal.step,
        "detail": refusal and refusal.detail,
        "steps": [{"step": step, "check": CHECKS[step], "outcome": outcome} for step, outcome in explained.steps],
        "signature_base": explained.base,
        "difference": gap and asdict(gap),
        "causes": list(explained.causes),
    }


def request_text(explained: ExplainedRequest) -> Iterator[Text]:
    """Yield the lines that say what became of a request."""
    for step, outcome in explained.steps:
        mark, style = _MARKS[outcome]
        note = "  (not asked: a recording has no list and no store)" if outcome == "not asked" else ""
        yield Text.assemble(
            (f"{mark} {step!s:>2}  ", style), (CHECKS[step], "" if mark.strip() else style), (note, "dim")
        )
        if outcome == "failed" and explained.refusal is not None:
            yield Text(f"      {explained.refusal.code}: {explained.refusal.detail}", style)
    yield Text()
    if explained.base is None:
        yield Text("No signature base can be rebuilt from this request.", "bold")
    else:
        yield Text("The signature base, as rebuilt from this request:", "bold")
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
    refusal: SignatureError | None,
    difference: BaseDifference | None,
) -> Iterator[str]:
    if difference is not None:
        yield difference.cause
    step = None if refusal is None else refusal.step
    if step == _SPELLING:
        yield from _other_base64(request, profile)
    elif step == _WINDOW and read is not None:
        created, expires = read.parameters.get("created"), read.parameters.get("expires")
        yield f"it is valid from {created!r} to {expires!r}, in seconds since the epoch: --now says when to judge it"
    elif step == _CONTENT and (cause := digest_cause(request.body, request.fields.combined("content-digest") or "")):
        yield cause


def _other_base64(request: Request, profile: Profile) -> Iterator[str]:
    wanted_by: dict[str, tuple[Encoding, ...]] = {
        "signature": (profile.encoding,),
        "content-digest": profile.digest_encodings,
    }
    for name, encodings in wanted_by.items():
        value = request.fields.combined(name)
        if value is not None and _is_spelled(value, _BOTH) and not _is_spelled(value, encodings):
            given = "Base64url" if "base64" in encodings else "padded Base64"
            wanted = "padded Base64 (RFC 8941)" if "base64" in encodings else "unpadded Base64url"
            yield f"{name} is in {given}, and the profile {profile.name} wants {wanted}"


def _is_spelled(value: str, encodings: tuple[Encoding, ...]) -> bool:
    try:
        return bool(parse_byte_sequences(value, *encodings))
    except MalformedField:
        return False


def _read(request: Request, profile: Profile) -> SignatureInput | None:
    """Return the Signature-Input member that the profile processes, or `None` where there is none to read."""
    try:
        inputs = parse_signature_input(request.fields.combined("signature-input") or "")
    except MalformedField:
        return None
    return inputs[processed_label(inputs, profile)]


def _base(request: Request, read: SignatureInput) -> str | None:
    try:
        return signature_base(ComponentValues(request, received_target(request)), read.components, read.text)
    except (MalformedURL, UnresolvableComponent):
        return None
