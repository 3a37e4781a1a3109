"""Signers: make the signature fields of requests (RFC 9421 section 3.1)."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field
from os import urandom
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from undersigned.errors import ConfigurationError, SigningError
from undersigned.limits import LONGEST_FIELD, MOST_COMPONENTS
from undersigned.message import token
from undersigned.message.content_digest import DIGEST_ALGORITHMS, ContentDigest, DigestBuilder, content_digest
from undersigned.message.request_target import typed_target
from undersigned.message.signature_input import Component, serialize_signature_input
from undersigned.message.structured_fields import KEY, MalformedField, Parameter, serialize_byte_sequence
from undersigned.signature.components import ComponentValues, UnresolvableComponent, signature_base
from undersigned.signature.prepared import Draft, PreparedSignature
from undersigned.signature.profile import Profile
from undersigned.signature.receiver import (
    check_base,
    check_content_type,
    check_fields,
    check_readable,
    check_signatures,
    check_target,
)
from undersigned.signature.remote_key import AnyKey, awaited_signature, check_key, local_signature, raw_signature
from undersigned.signature.rules.coverage import name_of
from undersigned.signature.rules.parameters import PARAMETERS
from undersigned.url import canonicalize

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from undersigned.message.content_digest import DigestAlgorithm
    from undersigned.message.request import Request

_LARGEST_INTEGER = 999_999_999_999_999
_NONCE_BYTES = 16
_NO_PARAMETERS: Mapping[str, Parameter] = MappingProxyType({})
_REGISTERED = frozenset(PARAMETERS)
_FIELD_NAME = re.compile(rf"{token.LOWER}+")


@dataclass(frozen=True, slots=True)
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


class Signer:
    """A signer of requests, with one key and by one profile. Safe to share between threads.

    Args:
        key: the private key: a `SigningKey`, a `RemoteKey` such as one in a KMS, or an `AsyncRemoteKey`, with which
            only `async_sign` works.
        profile: the profile that the receiver verifies by.
        components: more header fields to cover than the profile requires, in lower case.
        digests: the algorithms of a Content-Digest that the signer makes.
        clock: returns seconds since the epoch, for `created`.
        check_limits: whether to reject a request that RFC 9421 allows but undersigned's own verifier rejects. That is a
            request with a long target, many percent signs, characters that are not in RFC 3986, or long fields.
        nonces: returns a nonce: unpadded Base64url of at least as many bytes as the profile asks for. By default
            nonces are random and have 16 bytes or more.

    Raises:
        ConfigurationError: the key is for another purpose, or an argument has the wrong type or value.
    """

    __slots__ = (
        "_check_limits",
        "_clock",
        "_components",
        "_constant",
        "_covered",
        "_digests",
        "_key",
        "_nonces",
        "_unread",
        "_varying",
        "profile",
    )

    def __init__(
        self,
        key: AnyKey,
        *,
        profile: Profile,
        components: Sequence[str] = (),
        digests: Sequence[DigestAlgorithm] = ("sha-256",),
        clock: Callable[[], float] = time.time,
        nonces: Callable[[], str] | None = None,
        check_limits: bool = True,
    ) -> None:
        check_key(key)
        if not isinstance(profile, Profile):
            raise ConfigurationError("profile: pass one of undersigned.profiles, such as profiles.ADCP_3_2")
        if key.algorithm not in profile.algorithms:
            raise ConfigurationError(f"key: profile {profile.name} does not accept {key.algorithm}")
        purposes: frozenset[str] = getattr(key, "purposes", frozenset())
        accepted = profile.key.purposes
        if purposes and accepted and not purposes & accepted:
            raise ConfigurationError(f"key: its adcp_use does not include {' or '.join(sorted(accepted))}")
        _check_options(profile, components, digests)
        if not callable(clock) or not (nonces is None or callable(nonces)):
            option = "nonces" if callable(clock) else "clock"
            raise ConfigurationError(f"{option}: pass a function without arguments")
        self._key: AnyKey = key
        self.profile = profile
        self._components = tuple(components)
        self._covered = {
            has_body: _Covered.of((*profile.required_components[has_body], *components)) for has_body in (True, False)
        }
        written = profile.parameters.signed
        self._varying = frozenset(written)
        constant = {"keyid": key.keyid, "alg": key.algorithm, "tag": profile.selection.tag or ""}
        given = {name: value for name, value in constant.items() if name in written}
        self._constant = serialize_signature_input((), given).removeprefix("()")
        self._digests = tuple(digests)
        self._clock = clock
        self._nonces = nonces
        self._check_limits = check_limits
        # A short value is read by pattern whatever it holds, but not with escapes.
        most = max(len(covered.components) for covered in self._covered.values())
        self._unread = 0 if "\\" in self._constant or most > MOST_COMPONENTS else LONGEST_FIELD

    def sign(
        self,
        request: Request,
        *,
        created: int | None = None,
        expires: int | None = None,
        nonce: str | None = None,
        label: str | None = None,
        parameters: Mapping[str, Parameter] = _NO_PARAMETERS,
        digest: str | None = None,
    ) -> SignedFields:
        """Sign a request: return the header fields to add to it.

        Args:
            request: the request to be sent. If it has a Content-Digest, that must be right and is kept.
            created: seconds since the epoch; by default the clock's.
            expires: seconds since the epoch; by default as the profile says.
            nonce: a text that no other signature has, spelled as the profile says; by default a fresh one.
            label: the signature's label; by default the profile's.
            parameters: further signature parameters, such as the profile's own.
            digest: the Content-Digest to add, as `digest_builder` made it, if the request does not have its content: it
                is then made with `has_body=True`.

        Raises:
            MalformedURL: the URL or Host has no canonical form.
            SigningError: the request lacks a component to cover, a receiver could not read its fields, an argument is
                out of the profile's bounds, the request is beyond the verifier's limits, or a remote key returned
                something that is not a signature.
            ConfigurationError: the `sign` of the key must be awaited.
        """
        draft = self._draft(request, created, expires, nonce, label, parameters, digest)
        return self._signed(draft, local_signature(self._key, draft.base.encode("ascii")))

    async def async_sign(
        self,
        request: Request,
        *,
        created: int | None = None,
        expires: int | None = None,
        nonce: str | None = None,
        label: str | None = None,
        parameters: Mapping[str, Parameter] = _NO_PARAMETERS,
        digest: str | None = None,
    ) -> SignedFields:
        """Sign a request as `sign` does, and await the key if its `sign` is async."""
        draft = self._draft(request, created, expires, nonce, label, parameters, digest)
        return self._signed(draft, await awaited_signature(self._key, draft.base.encode("ascii")))

    def prepare(
        self,
        request: Request,
        *,
        created: int | None = None,
        expires: int | None = None,
        nonce: str | None = None,
        label: str | None = None,
        parameters: Mapping[str, Parameter] = _NO_PARAMETERS,
    ) -> PreparedSignature:
        """Return what must be signed somewhere else. Then call `attach`.

        Arguments and errors are those of `sign`. The key does nothing yet.
        """
        draft = self._draft(request, created, expires, nonce, label, parameters)
        return PreparedSignature(
            self._key.keyid, self._key.algorithm, draft.base.encode("ascii"), draft.names, draft.target_uri, draft
        )

    def attach(self, prepared: PreparedSignature, signature: bytes, request: Request) -> SignedFields:
        """Return the header fields that sign a prepared request.

        Args:
            prepared: what `prepare` of a signer with this key returned.
            signature: the signature over `prepared.signature_base`; ECDSA as r and s, or DER.
            request: the request as it is about to be sent.

        Raises:
            SigningError: the request changed after it was prepared, or `signature` is not a signature by the algorithm
                of the key. Whether the signature is right can only be told with the public key.
            ConfigurationError: `prepared` is for another key.
        """
        if (prepared.keyid, prepared.algorithm) != (self._key.keyid, self._key.algorithm):
            raise ConfigurationError("prepared: it is for another key than this signer's; attach it by its own signer")
        if changed := prepared.draft.changed_in(request):
            raise SigningError(f"request: its {changed} changed after it was prepared; prepare the request again")
        return self._signed(prepared.draft, raw_signature(signature, prepared.algorithm))

    def digest_builder(self) -> DigestBuilder:
        """Return a new builder of the Content-Digest that this signer covers, for content that is read in chunks."""
        return DigestBuilder(self.profile.digest.encodings[0], self._digests)

    def _draft(
        self,
        request: Request,
        created: int | None,
        expires: int | None,
        nonce: str | None,
        label: str | None,
        parameters: Mapping[str, Parameter],
        digest: str | None = None,
    ) -> Draft:
        """Return the signature base of a request, with what its header fields need besides the signature."""
        if label is None:
            label = self.profile.selection.label
        elif KEY.fullmatch(label) is None:
            raise SigningError("label: use lower-case letters, digits and _ - . * (RFC 8941 section 3.1.2)")
        target = canonicalize(request.url)
        if self._check_limits:
            check_target(target)
        check_fields(request, target)
        signed = target if self.profile.target == "canonical" else typed_target(request.url, target)
        check_signatures(request, label, encoding=self.profile.encoding)
        covered = self._covering(request, label)
        if "content-digest" not in covered.names:
            digest = None
        elif digest is None:
            digest = self._digest(request)
        elif "content-digest" in request.fields.combined:
            raise SigningError("digest: the request has a Content-Digest already; remove the field, or pass no digest=")
        own = self._own(parameters)
        text = f"{covered.text}{self._parameters(created, expires, nonce)}{self._constant}{own}"
        base = _base(ComponentValues(request, signed, digest), covered, text)
        if self._check_limits:
            check_base(base)
        return Draft(request, signed.target_uri, covered.names, digest, label, text, base)

    def _signed(self, draft: Draft, signature: bytes) -> SignedFields:
        added = () if draft.digest is None else (("Content-Digest", draft.digest),)
        text = serialize_byte_sequence(signature, self.profile.encoding)
        fields = (("Signature-Input", f"{draft.label}={draft.parameters}"), ("Signature", f"{draft.label}={text}"))
        if self._check_limits:
            check_readable(draft.request, fields, encoding=self.profile.encoding, unread=self._unread)
        return SignedFields((*added, *fields), draft.names, draft.target_uri, draft.base)

    def _parameters(self, created: int | None, expires: int | None, nonce: str | None) -> str:
        """Return the parameters that differ from request to request: integers, and a nonce without escapes."""
        validity, written = self.profile.validity, self._varying
        if created is None:
            created = int(self._clock())
        if not _is_whole(created) or abs(created) > _LARGEST_INTEGER - validity.signed_for:
            raise SigningError("created: pass whole seconds since the epoch, of at most 15 digits")
        longest = validity.longest or _LARGEST_INTEGER
        if expires is not None and (not _is_whole(expires) or not 0 < expires - created <= longest):
            raise SigningError(f"expires: pass whole seconds, 1 to {longest} after created: the profile allows no more")
        text = f";created={created}" if "created" in written else ""
        if "expires" in written:
            text += f";expires={created + validity.signed_for if expires is None else expires}"
        return f'{text};nonce="{self._nonce(nonce)}"' if "nonce" in written else text

    def _own(self, parameters: Mapping[str, Parameter]) -> str:
        """Return the further parameters, and check those that the profile names."""
        rule = self.profile.parameters
        if not parameters and not rule.own:
            return ""
        missing = [name for name in rule.missing(parameters) if name not in _REGISTERED]
        fault = f"{', '.join(missing)} is missing" if missing else rule.fault_of_types(parameters)
        if fault or not _REGISTERED.isdisjoint(parameters):
            raise SigningError(f"parameters: {fault or 'pass the registered parameters by their own arguments'}")
        return serialize_signature_input((), parameters).removeprefix("()")

    def _covering(self, request: Request, label: str) -> _Covered:
        """Return what a signature of this request covers."""
        rule = self.profile.coverage
        if not rule.is_conditional:
            return self._covered[request.has_body]
        absent = rule.absent(request)
        if absent:
            raise SigningError(f"headers: profile {self.profile.name} asks for {', '.join(absent)}: add it")
        member = (f'"{rule.member_of}";key="{label}"',) if rule.member_of else ()
        return _Covered.of((*self.profile.asked(request), *member, *self._components))

    def _nonce(self, nonce: str | None) -> str:
        """Return the given nonce, else one that the `nonces` function makes, else a random one."""
        rule, option = self.profile.parameters, "nonce: must"
        bytes_asked = rule.nonce_bytes or 0
        if nonce is None:
            if self._nonces is None:
                return serialize_byte_sequence(urandom(max(_NONCE_BYTES, bytes_asked)), "base64url")[1:-1]
            nonce, option = self._nonces(), "nonces: what the function returns must"
        if rule.nonce_pattern is None:
            if not nonce.isascii() or not nonce.isprintable():
                raise SigningError(f"{option} be printable ASCII")
            return nonce.replace("\\", "\\\\").replace('"', '\\"')
        if rule.nonce_pattern.fullmatch(nonce) is None:
            raise SigningError(f"{option} be unpadded Base64url of at least {bytes_asked} bytes")
        return nonce

    def _digest(self, request: Request) -> str | None:
        """Return the Content-Digest to add, or None if the request already has one; that one must be right."""
        rule, given = self.profile.digest, request.fields.combined.get("content-digest")
        if given is None:
            return content_digest(request.body, rule.encodings[0], algorithms=self._digests)
        try:
            declared = ContentDigest.parse(given, *rule.encodings).of(rule.algorithms)
        except MalformedField as malformed:
            raise SigningError(f"headers: Content-Digest: {malformed}; remove it, and the signer makes one") from None
        if not declared.running(request.body).matches():
            raise SigningError("headers: Content-Digest does not match the body; remove it, and the signer makes one")
        return None


class _Covered(NamedTuple):
    """The components that a signer covers, computed once for requests with content and once for requests without.

    Attributes:
        names: the component names.
        components: the components.
        text: the inner list of components, which begins `@signature-params`.
    """

    names: tuple[str, ...]
    components: tuple[Component, ...]
    text: str

    @classmethod
    def of(cls, names: Iterable[str]) -> _Covered:
        unique = tuple(dict.fromkeys(names))
        texts = [name if name[0] == '"' else f'"{name}"' for name in unique]
        components = tuple(
            Component(name_of(name), text, bare=name[0] != '"') for name, text in zip(unique, texts, strict=True)
        )
        return cls(unique, components, f"({' '.join(texts)})")


def _base(values: ComponentValues, covered: _Covered, parameters: str) -> str:
    """Return the signature base, if a receiver would take the covered fields for the same values."""
    if "content-type" in covered.names:
        check_content_type(values.request)
    try:
        return signature_base(values, covered.components, parameters)
    except UnresolvableComponent as unresolvable:
        raise SigningError(f"{unresolvable}: {', '.join(covered.names)} are covered") from None


def _is_whole(seconds: object) -> bool:
    return isinstance(seconds, int) and not isinstance(seconds, bool)


def _check_options(profile: Profile, components: Sequence[str], digests: Sequence[str]) -> None:
    """Check options that every request depends on.

    Raises:
        ConfigurationError: an option has the wrong type or value.
    """
    names = all(isinstance(name, str) and _FIELD_NAME.fullmatch(name) for name in components)
    if isinstance(components, str) or not names:
        raise ConfigurationError("components: list field names in lower case, such as ['idempotency-key']")
    if profile.digest.policy == "forbidden" and "content-digest" in components:
        raise ConfigurationError(f"components: profile {profile.name} forbids covering content-digest")
    if isinstance(digests, str) or not digests or not DIGEST_ALGORITHMS.issuperset(digests):
        raise ConfigurationError(f"digests: list some of {', '.join(sorted(DIGEST_ALGORITHMS))}")
