"""Drafts: a signature before its bytes are made, with everything that is signed (RFC 9421 section 3.1)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Final

from undersigned.errors import SigningError
from undersigned.message.content_digest import ContentDigest, content_digest
from undersigned.message.structured_fields import KEY, MalformedField
from undersigned.signature.components import UnresolvableComponent, signature_base, values_of
from undersigned.signature.own_parameters import written_parameters
from undersigned.signature.sendable import check_content_type, check_fields, check_label
from undersigned.signature.signing_target import SigningTarget

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from undersigned.message.content_digest import DigestAlgorithm
    from undersigned.message.request import Request
    from undersigned.message.response import Response
    from undersigned.message.structured_fields import Encoding, Parameter
    from undersigned.signature.covering import Covered, Covering
    from undersigned.signature.parameter_text import ParameterText
    from undersigned.signature.profile import Profile

_URLS_KEPT: Final = 128


@dataclass(slots=True)
class Draft:
    """A signature without its bytes.

    Attributes:
        request: the request.
        target_uri: its canonical target URI.
        names: the names of the covered components.
        digest: the Content-Digest to add, or None.
        label: the label of the signature.
        parameters: the value of `@signature-params`.
        base: the signature base.
    """

    request: Request | Response
    target_uri: str
    names: tuple[str, ...]
    digest: str | None
    label: str
    parameters: str
    base: str

    def change_in(self, request: Request) -> str:
        """Return which part of `request` differs from the prepared request, or ""."""
        own = self.request
        if request.method != own.method:
            return "method"
        if request.url != own.url:
            return "URL"
        if [*request.fields] != [*own.fields]:
            return "header fields"
        return "" if (request.body, request.has_body) == (own.body, own.has_body) else "content"


class Drafting:
    """A maker of the drafts of a signer's signatures.

    Args:
        profile: the profile of the signer.
        covering: chooses the components.
        parameters: writes the parameters.
        digests: the algorithms of a Content-Digest that is made.
    """

    __slots__ = (
        "_covered",
        "_digest_encoding",
        "_digests",
        "_has_own",
        "_label",
        "_parameters",
        "_profile",
        "_target",
    )

    def __init__(
        self,
        profile: Profile,
        *,
        covering: Covering,
        parameters: ParameterText,
        digests: tuple[DigestAlgorithm, ...],
    ) -> None:
        self._profile = profile
        self._covered = covering.of
        self._parameters = parameters.text
        self._label = profile.selection.label
        self._has_own = bool(profile.parameters.own)
        self._digests = digests
        self._digest_encoding: Encoding = profile.digest.encodings[0]
        # A signer signs for a few URLs again and again.
        made = partial(SigningTarget.of, form=profile.target)
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
        if label is None:
            label = self._label
        elif KEY.fullmatch(label) is None:
            raise SigningError("label: use lower-case letters, digits and _ - . * (RFC 8941 section 3.1.2)")
        target = self._target(message.url)
        check_fields(message, target.canonical)
        check_label(message, label, encoding=self._profile.encoding)
        covered = self._covered(message, label)
        if "content-type" in covered.names:
            check_content_type(message)
        if "content-digest" not in covered.names:
            digest = None
        elif "content-digest" in message.fields.combined:
            self._check_digest(message, digest)
        elif digest is None:
            digest = content_digest(message.body, self._digest_encoding, algorithms=self._digests)
        if self._has_own:
            parameters = {**written_parameters(self._profile, message), **parameters}
        text = f"{covered.text}{self._parameters(created, expires, nonce, parameters)}"
        base = self._base(message, target, covered, digest, text)
        return Draft(message, target.signed.target_uri, covered.names, digest, label, text, base)

    def _base(
        self, message: Request | Response, target: SigningTarget, covered: Covered, digest: str | None, text: str
    ) -> str:
        """Return the signature base."""
        values = values_of(message, target.signed, digest, reading=self._profile.coverage.reading)
        try:
            return signature_base(values, covered.components, text)
        except UnresolvableComponent as unresolvable:
            names = ", ".join(covered.names)
            raise SigningError(f"{unresolvable} (covered: {names}); correct the message before it is signed") from None

    def _check_digest(self, message: Request | Response, digest: str | None) -> None:
        """Check that the Content-Digest that a message already has is right, and that no other one is given."""
        if digest is not None:
            raise SigningError("digest: the request has a Content-Digest already; remove the field, or pass no digest=")
        rule, given = self._profile.digest, message.fields.combined["content-digest"]
        try:
            declared = ContentDigest.parse(given, *rule.encodings).of(rule.algorithms)
        except MalformedField as malformed:
            raise SigningError(f"headers: Content-Digest: {malformed}; remove it, and the signer makes one") from None
        if not declared.running_digest(message.body).matches():
            raise SigningError("headers: Content-Digest does not match the body; remove it, and the signer makes one")
