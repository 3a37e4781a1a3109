"""What a signer makes of a message: covered components, parameters and base, as a receiver needs them.

A draft is checked and complete but for its signature, so a key may be anywhere: it signs the base.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache, partial
from os import urandom
from typing import TYPE_CHECKING, Final

from undersigned.errors import ConfigurationError, SigningError
from undersigned.message import token
from undersigned.message.component import Component
from undersigned.message.content_digest import ContentDigest, content_digest
from undersigned.message.request_target import typed_target
from undersigned.message.signature_input import labels_of_inputs, serialize_signature_input
from undersigned.message.structured_fields import KEY, MalformedField, base64url, is_list, labels_of
from undersigned.signature.components import UnresolvableComponent, signature_base, values_of
from undersigned.signature.own_parameters import written_parameters
from undersigned.signature.rules import PARAMETERS, name_of
from undersigned.url import canonicalize, canonicalize_authority

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from undersigned.message.content_digest import DigestAlgorithm
    from undersigned.message.request import Request
    from undersigned.message.response import Response
    from undersigned.message.structured_fields import Encoding, Parameter
    from undersigned.signature.profile import Profile, TargetForm
    from undersigned.url import CanonicalURL


@dataclass(slots=True)
class SignedFields:
    """The header fields that sign one request. Iterating yields them: `[*headers, *signer.sign(request)]`.

    Attributes:
        fields: the header fields to add, as (name, value) pairs.
        components: the names of the covered components, such as `@method` and `content-type`.
        target_uri: the canonical target URI that was signed. Send the request to it.
        signature_base: the base that was signed. It may contain header values, so the repr leaves it out.
    """

    fields: tuple[tuple[str, str], ...]
    components: tuple[str, ...]
    target_uri: str = field(repr=False)
    signature_base: str = field(repr=False)

    def __iter__(self) -> Iterator[tuple[str, str]]:
        """Yield the header fields to add."""
        return iter(self.fields)


_FIELD_NAME: Final = re.compile(rf"{token.LOWER}+")
_LISTS_KEPT: Final = 32


@dataclass(frozen=True, slots=True)
class Covered:
    """The components that a signer covers, computed once for each list of them.

    Attributes:
        names: the component names.
        components: the components.
        text: the inner list of components, which begins `@signature-params`.
    """

    names: tuple[str, ...]
    components: tuple[Component, ...]
    text: str

    @classmethod
    def of(cls, names: Iterable[str]) -> Covered:
        """Return the components with these names or identifiers, each once."""
        unique = tuple(dict.fromkeys(names))
        texts = [name if name[0] == '"' else f'"{name}"' for name in unique]
        components = tuple(
            Component(name_of(name), text, bare=name[0] != '"') for name, text in zip(unique, texts, strict=True)
        )
        return cls(unique, components, f"({' '.join(texts)})")


class Covering:
    """A rule that chooses what a signer covers: what the profile requires, and some fields more.

    Args:
        profile: the profile.
        components: more components to cover than the profile requires.
    """

    __slots__ = ("_components", "_listed", "_profile", "_static")

    def __init__(self, profile: Profile, components: Iterable[str]) -> None:
        self._profile = profile
        self._components = tuple(components)
        # If the profile has conditions, the list depends on the message, but few different lists occur.
        self._listed: Callable[[tuple[str, ...]], Covered] = lru_cache(_LISTS_KEPT)(Covered.of)
        self._static = {
            has_body: Covered.of((*profile.required_components[has_body], *self._components))
            for has_body in (True, False)
        }

    def of(self, message: Request | Response, label: str) -> Covered:
        """Return what a signature of this message covers.

        Raises:
            SigningError: the message lacks a field that the profile requires.
        """
        rule = self._profile.coverage
        if not rule.is_conditional:
            return self._static[message.has_body]
        if rule.sent and (absent := rule.absent(message)):
            raise SigningError(f"headers: profile {self._profile.name} asks for {', '.join(absent)}: add it")
        member = (f'"{rule.member_of}";key="{label}"',) if rule.member_of else ()
        return self._listed((*self._profile.components_of(message), *member, *self._components))


def check_names(option: str, names: Sequence[str]) -> None:
    """Check that an option lists names of header fields in lower case.

    Args:
        option: the name of the option, for the error.
        names: its value.

    Raises:
        ConfigurationError: the value is not such a list.
    """
    if isinstance(names, str) or not all(isinstance(name, str) and _FIELD_NAME.fullmatch(name) for name in names):
        raise ConfigurationError(f"{option}: list field names in lower case, such as ['idempotency-key']")


_LARGEST_INTEGER: Final = 999_999_999_999_999
_NONCE_BYTES: Final = 16
_REGISTERED: Final = frozenset(PARAMETERS)
_CREATED: Final = "created: pass whole seconds since the epoch, of at most 15 digits"


class ParameterText:
    """A writer of the parameters of a signer's signatures.

    Args:
        profile: the profile.
        keyid: the name of the key.
        algorithm: the RFC 9421 name of its algorithm.
        clock: returns seconds since the epoch.
        nonces: returns a nonce; None: nonces are random.

    Raises:
        ConfigurationError: `clock` or `nonces` is not a function.
    """

    __slots__ = (
        "_clock",
        "_constant",
        "_has_own",
        "_latest",
        "_nonce_bytes",
        "_nonces",
        "_profile",
        "_signed_for",
        "_writes_all",
        "_written",
    )

    def __init__(
        self,
        profile: Profile,
        *,
        keyid: str,
        algorithm: str,
        clock: Callable[[], float],
        nonces: Callable[[], str] | None,
    ) -> None:
        if not callable(clock) or not (nonces is None or callable(nonces)):
            option = "nonces" if callable(clock) else "clock"
            raise ConfigurationError(f"{option}: pass a function without arguments")
        self._profile = profile
        self._clock = clock
        self._nonces = nonces
        written = profile.parameters.signed
        self._written = frozenset(written)
        self._writes_all = self._written.issuperset(("created", "expires", "nonce"))
        self._has_own = bool(profile.parameters.own)
        self._signed_for = profile.validity.signed_for
        self._latest = _LARGEST_INTEGER - self._signed_for
        self._nonce_bytes = max(_NONCE_BYTES, profile.parameters.nonce_bytes or 0)
        constant = {"keyid": keyid, "alg": algorithm, "tag": profile.selection.tag or ""}
        given = {name: value for name, value in constant.items() if name in written}
        self._constant = serialize_signature_input((), given).removeprefix("()")

    def text(self, created: int | None, expires: int | None, nonce: str | None, own: Mapping[str, Parameter]) -> str:
        """Return the parameters as they follow the covered components.

        Args:
            created: seconds since the epoch, or None for the clock's time.
            expires: seconds since the epoch, or None for the profile's period after `created`.
            nonce: the nonce, or None for a new one.
            own: further parameters.

        Raises:
            SigningError: a value is out of the profile's bounds, or a required one is missing.
        """
        written = self._written
        if created is None:
            created = int(self._clock())
        elif not _is_whole(created):
            raise SigningError(_CREATED)
        if abs(created) > self._latest:
            raise SigningError(_CREATED)
        if expires is None:
            expires = created + self._signed_for
        else:
            self._check_expires(expires, created)
        # Integers and a nonce need no serializer: `_nonce` escapes what has to be escaped.
        if self._writes_all:
            # Nearly every nonce is random, which takes no check.
            if nonce is None and self._nonces is None:
                nonce = base64url(urandom(self._nonce_bytes))
            else:
                nonce = self._nonce(nonce)
            text = f';created={created};expires={expires};nonce="{nonce}"{self._constant}'
        else:
            text = f";created={created}" if "created" in written else ""
            text += f";expires={expires}" if "expires" in written else ""
            text += f';nonce="{self._nonce(nonce)}"' if "nonce" in written else ""
            text += self._constant
        return text + self._own(own) if own or self._has_own else text

    def _check_expires(self, expires: int, created: int) -> None:
        longest = self._profile.validity.longest or _LARGEST_INTEGER
        if not _is_whole(expires) or not 0 < expires - created <= longest:
            raise SigningError(f"expires: pass whole seconds, 1 to {longest} after created: the profile allows no more")

    def _own(self, parameters: Mapping[str, Parameter]) -> str:
        """Return the further parameters, and check those that the profile names."""
        rule = self._profile.parameters
        missing = [name for name in rule.missing(parameters) if name not in _REGISTERED]
        fault = f"{', '.join(missing)} is missing" if missing else rule.fault_of_types(parameters)
        if fault or not _REGISTERED.isdisjoint(parameters):
            raise SigningError(f"parameters: {fault or 'pass the registered parameters by their own arguments'}")
        return serialize_signature_input((), parameters).removeprefix("()")

    def _nonce(self, nonce: str | None) -> str:
        """Return the given nonce, else one that the `nonces` function makes, else a random one."""
        rule, option = self._profile.parameters, "nonce: must"
        if nonce is None:
            if self._nonces is None:
                return base64url(urandom(self._nonce_bytes))
            nonce, option = self._nonces(), "nonces: what the function returns must"
        if rule.nonce_pattern is None:
            if not nonce.isascii() or not nonce.isprintable():
                raise SigningError(f"{option} be printable ASCII")
            return nonce.replace("\\", "\\\\").replace('"', '\\"')
        if rule.nonce_pattern.fullmatch(nonce) is None:
            raise SigningError(f"{option} be unpadded Base64url of at least {rule.nonce_bytes} bytes")
        return nonce


def _is_whole(seconds: object) -> bool:
    return isinstance(seconds, int) and not isinstance(seconds, bool)


@dataclass(frozen=True, slots=True)
class SigningTarget:
    """The target of a message. A signer makes it once for each URL.

    Attributes:
        canonical: its canonical form.
        signed: its form that the profile signs.
    """

    canonical: CanonicalURL
    signed: CanonicalURL

    @classmethod
    def of(cls, url: str, *, form: TargetForm) -> SigningTarget:
        """Return the target of the URL of a message.

        Args:
            url: the URL.
            form: the form that the profile signs.

        Raises:
            MalformedURL: the URL has no canonical form.
        """
        canonical = canonicalize(url)
        signed = canonical if form == "canonical" else typed_target(url, canonical)
        return cls(canonical, signed)


def check_fields(request: Request | Response, target: CanonicalURL) -> None:
    """Check that a receiver reads the header fields as they are signed, and the authority as the URL's."""
    if not request.fields.are_valid:
        raise SigningError("headers: a name is not a token, or a value contains CR, LF or NUL: correct them")
    for name, field_name in ((":authority", ":authority"), ("Host", "host")):
        values = request.fields.values(field_name)
        if not values:
            continue
        if len(values) > 1:
            raise SigningError(f"headers: more than one {name}, which receivers reject; send one")
        own = target.authority
        if values[0] != own and canonicalize_authority(values[0], target.scheme) != own:
            raise SigningError(f"headers: {name} is not the URL's authority; sign the URL that is sent")


def check_content_type(request: Request | Response) -> None:
    """Check that the covered Content-Type has one value."""
    types = request.fields.values("content-type")
    if len(types) != 1:
        raise SigningError("headers: the signature covers Content-Type; add exactly one to the request")
    if is_list(types[0]):
        raise SigningError("headers: Content-Type has several values, which receivers reject; send one")


def check_label(request: Request | Response, label: str, *, encoding: Encoding) -> None:
    """Check that signatures the request already has can be read, and that none has this label.

    A receiver reads the two fields as a whole: because of one that is not a dictionary, it would reject ours too.
    """
    inputs, signatures = request.fields.combined.get("signature-input"), request.fields.combined.get("signature")
    try:
        labels: set[str] = set() if inputs is None else labels_of_inputs(inputs)
        if signatures is not None:
            labels |= labels_of(signatures, encoding)
    except MalformedField as malformed:
        raise SigningError(
            f"headers: Signature-Input or Signature cannot be read: {malformed}; remove both, or correct them"
        ) from None
    if label in labels:
        raise SigningError(f"headers: the request already has a signature labelled {label}; pass another label=")


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


@dataclass(frozen=True, slots=True)
class PreparedSignature:
    """A signature that is made somewhere else. `Signer.attach` makes header fields of this and the signature's bytes.

    Attributes:
        keyid: the name of the key that must sign.
        algorithm: the RFC 9421 name of its algorithm.
        signature_base: the bytes to sign, not a digest of them. They may contain header values, so the repr leaves
            them out.
        components: the names of the covered components.
        target_uri: the canonical target URI. Send the request to it.
        draft: the request and the parameters, for `Signer.attach`.
    """

    keyid: str
    algorithm: str
    signature_base: bytes = field(repr=False)
    components: tuple[str, ...]
    target_uri: str = field(repr=False)
    draft: Draft = field(repr=False)
