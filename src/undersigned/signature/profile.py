"""A profile: what makes a signature acceptable, as frozen data (RFC 9421 section 1.4)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from secrets import token_urlsafe
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypedDict, Unpack

from undersigned.errors import ConfigurationError, signature_error
from undersigned.message.leniency import Reading
from undersigned.message.structured_fields import Encoding
from undersigned.signature.algorithms import ALGORITHMS
from undersigned.signature.rules import (
    Answers,
    CoverageRule,
    DigestRule,
    KeyRule,
    ParameterRule,
    ReplayRule,
    Selection,
    Validity,
)
from undersigned.signature.rules.coverage import name_of
from undersigned.signature.rules.option_checks import check, check_choice
from undersigned.signature.rules.parameters import PARAMETERS, SPELLING

if TYPE_CHECKING:
    import re
    from collections.abc import Mapping

    from undersigned.errors import Reason, SignatureError, Step
    from undersigned.message.request import Request
    from undersigned.message.response import Response
    from undersigned.message.structured_fields import Parameter

TargetForm = Literal["canonical", "typed"]
"""Which form of the target is signed: the canonical form, or the path and query exactly as they are on the wire."""

MessageKind = Literal["request", "response"]
"""Which messages a profile is for."""


class Source(NamedTuple):
    """The document that defines a profile, in the edition that the profile was written against.

    Attributes:
        document: its name.
        edition: its revision, its release, or the date it was read, as `YYYY-MM-DD`. Empty: it has one edition only.
        part: the section or the file.
        url: where its newest edition is published.
    """

    document: str
    edition: str = ""
    part: str = ""
    url: str = ""

    def __str__(self) -> str:
        return ", ".join(filter(None, (f"{self.document} {self.edition}".rstrip(), self.part)))


class Changes(TypedDict, total=False):
    """What `Profile.derive` can change: every attribute of a profile."""

    name: str
    source: Source | None
    selection: Selection
    parameters: ParameterRule
    coverage: CoverageRule
    digest: DigestRule
    algorithms: frozenset[str]
    encoding: Encoding
    validity: Validity
    replay: ReplayRule
    key: KeyRule
    answers: Answers
    message: MessageKind
    target: TargetForm
    dangerous: str


@dataclass(frozen=True, kw_only=True)
class Profile:
    """One signing profile. `derive` makes a variant.

    Attributes:
        name: its name on the command line and in logs.
        source: the document that defines it; None for a profile of your own.
        selection: which signatures of a message it is about.
        parameters: the parameters that a signature must or must not have.
        coverage: the components that a signature must or must not cover.
        digest: whether the digest of the content is covered, and which digests count.
        algorithms: the accepted algorithms, by their RFC 9421 names. The key decides which of them is used.
        encoding: how the bytes of a signature are encoded.
        validity: when a signature is valid.
        replay: what is remembered of an accepted signature.
        key: what a key must declare about itself.
        answers: the codes, statuses and headers of rejections.
        message: whether requests or responses are signed.
        target: whether the target is signed in its canonical form (AdCP) or as the sender typed it.
        dangerous: why a profile may accept a signature that covers nothing, or one that can be replayed forever.
        required: the parameters that a signature must have. This and the rest follow from the rules.
        forbidden: the parameters that it must not have.
        ignored: the parameters whose value means nothing.
        types: the type of each parameter that the rule names, in the order of a signer.
        written: the registered parameters that a signer writes, in their order.
        nonce_pattern: what matches an acceptable nonce, or None if any string is one.
        required_components: the components that a signer covers, in their order, by whether the message has content.
            There may be more if the coverage is conditional.
        is_conditional: whether the coverage asks for more than names, or depends on more than content.
        is_of_adcp: whether it is one of AdCP's, by its tag.
        reading: how a message is read for the components.

    Raises:
        ConfigurationError: a rule has a wrong value, the data contradicts itself, or it is dangerous and `dangerous`
            gives no reason.
    """

    name: str
    source: Source | None = None
    selection: Selection = field(default=Selection())
    parameters: ParameterRule = field(default=ParameterRule())
    coverage: CoverageRule = field(default=CoverageRule())
    digest: DigestRule = field(default=DigestRule())
    algorithms: frozenset[str] = frozenset({"ed25519", "ecdsa-p256-sha256"})
    encoding: Encoding = "base64"
    validity: Validity = field(default=Validity())
    replay: ReplayRule = field(default=ReplayRule())
    key: KeyRule = field(default=KeyRule())
    answers: Answers = field(default=Answers())
    message: MessageKind = "request"
    target: TargetForm = "canonical"
    dangerous: str = ""
    required: frozenset[str] = field(init=False, repr=False)
    forbidden: frozenset[str] = field(init=False, repr=False)
    ignored: frozenset[str] = field(init=False, repr=False)
    types: Mapping[str, type] = field(init=False, repr=False)
    written: tuple[str, ...] = field(init=False, repr=False)
    nonce_pattern: re.Pattern[str] | None = field(init=False, repr=False)
    required_components: Mapping[bool, tuple[str, ...]] = field(init=False, repr=False)
    is_conditional: bool = field(init=False, repr=False)
    is_of_adcp: bool = field(init=False, repr=False)
    reading: Reading = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Check that the data does not contradict itself, and that a message can satisfy it."""
        rules = (self.selection, self.parameters, self.coverage, self.digest, self.validity, self.replay, self.answers)
        for rule in rules:
            rule.check()
        for option, literal in (("encoding", Encoding), ("target", TargetForm), ("message", MessageKind)):
            check_choice(option, getattr(self, option), literal)
        are_known = self.algorithms and self.algorithms <= ALGORITHMS
        check("algorithms", are_known, f"give a frozenset of some of {', '.join(sorted(ALGORITHMS))}")
        parameters, coverage = self.parameters, self.coverage
        # A signature without a tag has none of the accepted ones.
        required = parameters.of_mode("required") | frozenset({"tag"} if self.selection.tags else ())
        with_content = coverage.required(has_content=True)
        if self.digest.policy == "required":
            with_content = tuple(dict.fromkeys((*with_content, "content-digest")))
        # A frozen object takes what is derived here only.
        vars(self).update(
            required=required,
            forbidden=parameters.of_mode("forbidden"),
            ignored=parameters.of_mode("ignored"),
            types=parameters.types(),
            written=tuple(name for name in PARAMETERS if name in required or name in parameters.written),
            nonce_pattern=parameters.nonce_pattern(),
            required_components={False: coverage.required(has_content=False), True: with_content},
            is_conditional=coverage.is_conditional,
            is_of_adcp=any(tag.startswith("adcp/") for tag in self.selection.tags),
            reading=Reading(field_types=coverage.field_types),
        )
        _check_agreement(self)
        _check_danger(self)

    def derive(self, **changes: Unpack[Changes]) -> Profile:
        """Return a profile with some attributes changed. Everything is checked again.

        Raises:
            ConfigurationError: as the profile itself, or a profile has no such attribute.
        """
        unknown = changes.keys() - Changes.__annotations__.keys()
        if unknown:
            raise ConfigurationError(f"{min(unknown)}: change one of {', '.join(Changes.__annotations__)}")
        return replace(self, **changes)

    def components_of(self, request: Request | Response) -> tuple[str, ...]:
        """Return the components that a signer covers of this message because of the profile, in their order."""
        if not self.is_conditional:
            return self.required_components[request.has_body]
        digest = ("content-digest",) if self.digest.policy == "required" and request.has_body else ()
        return tuple(dict.fromkeys((*self.coverage.components_of(request), *digest)))

    def missing_parameters(self, parameters: Mapping[str, Parameter]) -> list[str]:
        """Return the required parameters that are absent, in their order."""
        return [name for name in self.types if name in self.required and name not in parameters]

    def fault_of_types(self, parameters: Mapping[str, Parameter]) -> str:
        """Return what is wrong with the type of a parameter, or ""."""
        types = self.types
        for name, value in parameters.items():
            if name in types and type(value) is not types[name]:
                return f"the {name} parameter is not {SPELLING[types[name]]}"
        return ""

    def error(
        self,
        reason: Reason,
        *,
        step: Step,
        detail: str,
        received: str | None = None,
        message: Request | Response | None = None,
    ) -> SignatureError:
        """Return the error for `reason` with this profile's code.

        Args:
            reason: why the message is rejected.
            step: the step of the checklist that failed.
            detail: one sentence for the operator's log, without text of the sender.
            received: other evidence; text from the sender.
            message: the message, if the answer depends on it (Accept-Signature).
        """
        error = signature_error(reason, self.answers.code(reason), step=step, detail=detail, received=received)
        return self.add_answer(error, message)

    def add_answer(self, error: SignatureError, message: Request | Response | None) -> SignatureError:
        """Add the answer to the sender of this message to `error`, and return `error`."""
        error.form = self.answers.form(error, lambda: self.wanted(message))
        return error

    def wanted(self, message: Request | Response | None = None) -> str:
        """Return what a signature of a message must have, as a member of Accept-Signature (RFC 9421 section 5.1).

        Args:
            message: the message as it was received, without the signature; None for one without content and query.
        """
        selection = self.selection
        components = self.required_components[False] if message is None else self.components_of(message)
        names = [name if name[0] == '"' else f'"{name}"' for name in components]
        if self.coverage.asks_for_member(message):
            names.append(f'"{self.coverage.member_of}";key="{selection.label}"')
        asked = "".join([f";{name}" for name in ("created", "expires") if name in self.required])
        # No other response asks for this nonce.
        nonce = token_urlsafe(self.parameters.nonce_bytes or 16)
        algorithm = min(self.algorithms) if len(self.algorithms) == 1 else ""
        for name, text in (("nonce", nonce), ("tag", selection.tag or ""), ("alg", algorithm)):
            if text and name in self.required:
                asked += f';{name}="{_escape(text)}"'
        return f"{selection.label}=({' '.join(names)}){asked}"


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _check_agreement(profile: Profile) -> None:
    """Check that no part contradicts another."""
    coverage, tags = profile.coverage, profile.selection.tags
    covered = {*coverage.always, *coverage.with_content}
    is_forbidden = profile.digest.policy == "forbidden" and "content-digest" in covered
    check("digest", not is_forbidden, "content-digest cannot be both required and forbidden")
    every = (*covered, *coverage.with_query, *(one for group in coverage.any_of for one in group))
    answers = coverage.if_asked or any(";req" in one or name_of(one) == "@status" for one in every)
    advice = ";req and @status are for responses only (RFC 9421 section 2.4)"
    check("coverage", not answers or profile.message == "response", advice)
    remembered = profile.replay.field
    is_covered = not remembered or remembered in {*coverage.always, *coverage.if_sent}
    advice = f"anyone can change {remembered} unless it is covered: add it to coverage.always or .if_sent"
    check("replay.field", is_covered, advice)
    is_read = profile.parameters.tag not in {"forbidden", "ignored"}
    check("selection.tags", not tags or is_read, "the parameter rule forbids or ignores the tag")
    is_listed = tags or "tag" not in profile.written
    check("selection.tags", is_listed, "the parameter rule requires a tag; list the tags to accept")


def _check_danger(profile: Profile) -> None:
    """Check that a profile does not leave messages unprotected by mistake."""
    dangers = ["a signature could cover nothing"] if not profile.coverage.required(has_content=False) else []
    validity, dates = profile.validity, {"created", "expires"}
    unread = profile.forbidden | profile.ignored
    # A store remembers a signature to its end, so each one that has a date must have an end.
    has_end = validity.longest_age is not None or validity.default is not None or "expires" in profile.required
    advice = "give seconds, or require expires: a signature with created alone would never end"
    check("validity.longest_age", has_end or "created" in unread, advice)
    is_dated = dates <= unread or not dates.isdisjoint(profile.written)
    check("parameters.written", is_dated, "add created, so that a signer dates what it signs")
    if dates.isdisjoint(profile.required):
        if profile.replay.remembers == "nothing":
            dangers.append("a signature without a date could be replayed forever")
        else:
            forgets = profile.replay.keeps_for is not None
            check("replay.keeps_for", forgets, "give seconds, because a signature may have no date")
            dangers.append("a signature without a date is accepted again when it is forgotten")
    advice = f"{' and '.join(dangers)}: change the profile, or give the reason here"
    check("dangerous", not dangers or profile.dangerous, advice)


DEFAULT: Final = Profile(
    name="default",
    source=Source("RFC 9421", url="https://www.rfc-editor.org/rfc/rfc9421"),
    selection=Selection(pick="any"),
    parameters=ParameterRule(alg="optional", tag="optional"),
    coverage=CoverageRule(with_content=("content-type",)),
    target="typed",
)
"""Plain RFC 9421, for your own services: the profile of every signer and verifier that is given no other.

A signature covers the method, the target URI and the authority, and of a message with a body also Content-Type and
Content-Digest. It has `created`, `expires`, `nonce` and `keyid`, is valid for five minutes at most, and is accepted
once. A key is Ed25519 or P-256, and its JWK needs `kid` and the members that make the key, no others. A tag is neither
needed nor checked.
"""
