"""Drafts: signatures without their bytes, and how a signer makes them of messages (RFC 9421 section 3.1)."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import TYPE_CHECKING, Final, NamedTuple

from undersigned.errors import SigningError
from undersigned.message.content_digest import ContentDigest, content_digest
from undersigned.message.request import Request
from undersigned.message.structured_fields import KEY, MalformedField
from undersigned.signature.components import UnresolvableComponent, signature_base, values_of
from undersigned.signature.effort import most_effort
from undersigned.signature.own_parameters import written_parameters
from undersigned.signature.receiver import (
    USUAL_BASE,
    check_base,
    check_content_type,
    check_fields,
    check_signatures,
    is_usual,
)
from undersigned.signature.signing_target import SigningTarget

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from undersigned.message.content_digest import DigestAlgorithm
    from undersigned.message.response import Response
    from undersigned.message.structured_fields import Parameter
    from undersigned.signature.covering import Covered, Covering
    from undersigned.signature.parameter_text import ParameterText
    from undersigned.signature.profile import Profile

_URLS_KEPT: Final = 128


class Draft(NamedTuple):
    """A signature without its bytes.

    Attributes:
        request: the request.
        target_uri: its canonical target URI.
        names: the names of the covered components.
        digest: the Content-Digest to add, or None.
        label: the label of the signature.
        parameters: the value of `@signature-params`.
        base: the signature base.
        is_usual: whether the request is usual (`receiver.is_usual`): it has no other signature, for example.
    """

    request: Request | Response
    target_uri: str
    names: tuple[str, ...]
    digest: str | None
    label: str
    parameters: str
    base: str
    is_usual: bool

    def changed_in(self, request: Request) -> str:
        """Return which part of `request` is not the prepared one, or ""."""
        own = self.request
        if request.method != own.method:
            return "method"
        if request.url != own.url:
            return "URL"
        if [*request.fields] != [*own.fields]:
            return "header fields"
        return "" if (request.body, request.has_body) == (own.body, own.has_body) else "content"


class Drafting:
    """Makes the drafts of a signer's signatures.

    Args:
        profile: the profile of the signer.
        covering: chooses the components.
        parameters: writes the parameters.
        digests: the algorithms of a Content-Digest that is made.
        check_limits: whether to reject a message that undersigned's own verifier rejects.
    """

    __slots__ = ("_check_limits", "_covering", "_digests", "_parameters", "_profile", "_target")

    def __init__(
        self,
        profile: Profile,
        *,
        covering: Covering,
        parameters: ParameterText,
        digests: tuple[DigestAlgorithm, ...],
        check_limits: bool,
    ) -> None:
        self._profile = profile
        self._covering = covering
        self._parameters = parameters
        self._digests = digests
        self._check_limits = check_limits
        # A signer signs for a few URLs again and again.
        made = partial(SigningTarget.of, form=profile.target, check_limits=check_limits)
        self._target: Callable[[str], SigningTarget] = lru_cache(_URLS_KEPT)(made)

    def of(
        self,
        message: Request | Response,
        created: int | None,
        expires: int | None,
        nonce: str | None,
        label: str | None,
        parameters: Mapping[str, Parameter],
        digest: str | None = None,
    ) -> Draft:
        """Return the draft of the signature of a message. Arguments and errors are those of `Signer.sign`."""
        profile = self._profile
        if label is None:
            label = profile.selection.label
        elif KEY.fullmatch(label) is None:
            raise SigningError("label: use lower-case letters, digits and _ - . * (RFC 8941 section 3.1.2)")
        target = self._target(message.url)
        usual = is_usual(message, target)
        if not usual:
            check_fields(message, target.canonical)
            check_signatures(message, label, encoding=profile.encoding)
        covered = self._covering.of(message, label)
        if "content-digest" not in covered.names:
            digest = None
        elif digest is None:
            digest = self._digest(message)
        elif "content-digest" in message.fields.combined:
            raise SigningError("digest: the request has a Content-Digest already; remove the field, or pass no digest=")
        if profile.parameters.own:
            parameters = {**written_parameters(profile, message), **parameters}
        text = f"{covered.text}{self._parameters.text(created, expires, nonce, parameters)}"
        plain, base = covered.plain_base, None
        if usual and plain is not None and isinstance(message, Request):
            base = plain.text(message, target.signed, digest, text)
        if base is None or len(base) > USUAL_BASE:
            base = self._base(message, target, covered, digest, text)
        return Draft(message, target.signed.target_uri, covered.names, digest, label, text, base, usual)

    def _base(
        self, message: Request | Response, target: SigningTarget, covered: Covered, digest: str | None, text: str
    ) -> str:
        """Return the signature base, if a receiver would take the covered fields for the same values."""
        if "content-type" in covered.names:
            check_content_type(message)
        values = values_of(message, target.signed, digest, reading=self._profile.coverage.reading)
        try:
            base = signature_base(values, covered.components, text)
        except UnresolvableComponent as unresolvable:
            raise SigningError(f"{unresolvable} (covered: {', '.join(covered.names)})") from None
        if self._check_limits:
            check_base(base, message, covered.components, most=most_effort(self._profile))
        return base

    def _digest(self, message: Request | Response) -> str | None:
        """Return the Content-Digest to add, or None if the message already has one; that one must be right."""
        rule, given = self._profile.digest, message.fields.combined.get("content-digest")
        if given is None:
            return content_digest(message.body, rule.encodings[0], algorithms=self._digests)
        try:
            declared = ContentDigest.parse(given, *rule.encodings).of(rule.algorithms)
        except MalformedField as malformed:
            raise SigningError(f"headers: Content-Digest: {malformed}; remove it, and the signer makes one") from None
        if not declared.running(message.body).matches():
            raise SigningError("headers: Content-Digest does not match the body; remove it, and the signer makes one")
        return None
