"""Signers: make the signature fields of requests and responses, as a receiver needs them (RFC 9421 section 3.1).

What is signed is checked and complete before a key is asked, so a key may be anywhere: it signs the base.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from os import urandom
from typing import TYPE_CHECKING, Final, TypeAlias, TypedDict, Unpack

from undersigned.errors import ConfigurationError, SigningError
from undersigned.limits import LONGEST_BASE, LONGEST_FIELD, MOST_FIELDS
from undersigned.log_text import cut_name
from undersigned.message.content import check_json
from undersigned.message.content_digest import RunningDigest, content_digest, has_digests, parse_content_digest
from undersigned.message.covered_components import Component
from undersigned.message.header_fields import check_fields
from undersigned.message.request_target import check_sent, typed_target
from undersigned.message.signature_input import (
    choose_signature_inputs,
    parse_signature_input,
    serialize_signature_input,
)
from undersigned.message.strict_json import AmbiguousJSON
from undersigned.message.structured_fields import (
    KEY,
    MalformedField,
    Parameter,
    base64url,
    is_list,
    parse_byte_sequences,
    serialize_byte_sequence,
)
from undersigned.message.timestamps import system_clock
from undersigned.signature.components import ComponentValues, UnresolvableComponent, signature_base
from undersigned.signature.own_parameters import written_parameters
from undersigned.signature.profile import DEFAULT, Profile
from undersigned.signature.remote_key import AnyKey, awaited_signature, check_key, local_signature, raw_signature
from undersigned.signature.rules.coverage import name_of
from undersigned.signature.rules.option_checks import FIELD, check
from undersigned.signature.rules.parameters import PARAMETERS
from undersigned.url import CanonicalURL, canonicalize, canonicalize_authority

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence, Sized

    from undersigned.message.request import Request
    from undersigned.message.response import Response

_LARGEST_INTEGER: Final = 999_999_999_999_999
_NONCE_BYTES: Final = 16
_ADDED: Final = ("signature-input", "signature")
_LISTS_KEPT: Final = 32
_URLS_KEPT: Final = 128

_Covered: TypeAlias = "tuple[tuple[str, ...], tuple[Component, ...], str]"
"""What a signature covers: names or identifiers, components, and the inner list of them."""


@dataclass(slots=True)
class SignedFields:
    """The headers that sign one request. Iterating yields them: `[*headers, *signer.sign(request)]`.

    Attributes:
        fields: the headers to add, as (name, value) pairs.
        components: the names of the covered components, such as `@method` and `content-type`.
        target_uri: the canonical target URI that was signed. Send the request to it.
        signature_base: the base that was signed. It may contain header values, so the repr leaves it out.
    """

    fields: tuple[tuple[str, str], ...]
    components: tuple[str, ...]
    target_uri: str = field(repr=False)
    signature_base: str = field(repr=False)

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self.fields)


@dataclass(slots=True)
class PreparedSignature:
    """A signature that is made somewhere else. `Signer.attach` makes headers of this and the signature's bytes.

    Attributes:
        keyid: the name of the key that must sign.
        algorithm: the RFC 9421 name of its algorithm.
        signature_base: the bytes to sign, not a digest of them. They may contain header values, so the repr leaves
            them out.
        components: the names of the covered components.
        target_uri: the canonical target URI. Send the request to it.
        message: the request.
        label: the label of the signature.
        parameters: the value of `@signature-params`.
        digest: the Content-Digest to add, or None.
    """

    keyid: str
    algorithm: str
    signature_base: bytes = field(repr=False)
    components: tuple[str, ...]
    target_uri: str = field(repr=False)
    message: Request | Response = field(repr=False)
    label: str
    parameters: str = field(repr=False)
    digest: str | None


class SignatureOptions(TypedDict, total=False):
    """What may be given for one signature.

    Attributes:
        created: seconds since the epoch; by default the clock's.
        expires: seconds since the epoch; by default as the profile says.
        nonce: a text that no other signature has, spelled as the profile says; by default a fresh one.
        label: the signature's label; by default the profile's.
        parameters: further signature parameters, such as the profile's own.
        digest: the Content-Digest to add, as `digest_builder` made it, if the message does not have its content: it
            is then made with `has_body=True`, and whether its JSON can be read in one way only is not checked.
    """

    created: int | None
    expires: int | None
    nonce: str | None
    label: str | None
    parameters: Mapping[str, Parameter]
    digest: str | None


class Signer:
    """A signer of requests, with one key and one profile. Safe to share between threads.

    Args:
        key: the private key: a `SigningKey`, a `RemoteKey` such as one in a KMS, or an `AsyncRemoteKey`, with which
            only `async_sign` works.
        profile: the profile of the receiver. By default it is `profiles.DEFAULT`, plain RFC 9421.
        components: more headers to cover than the profile requires, in lower case.
        clock: returns seconds since the epoch, for `created`.
        nonces: returns a nonce: unpadded Base64url of at least as many bytes as the profile asks for. By default
            nonces are random and have 16 bytes or more.

    Attributes:
        profile: as given.

    Raises:
        ConfigurationError: the key is for another purpose, or an argument has the wrong type or value.
    """

    __slots__ = ("_clock", "_components", "_constant", "_covered", "_key", "_nonces", "_target", "profile")

    def __init__(
        self,
        key: AnyKey,
        *,
        profile: Profile = DEFAULT,
        components: Sequence[str] = (),
        clock: Callable[[], float] = system_clock,
        nonces: Callable[[], str] | None = None,
    ) -> None:
        check_key(key)
        is_profile = isinstance(profile, Profile)
        check("profile", is_profile, "pass one of undersigned.profiles, such as profiles.ADCP_3_2, or leave it out")
        advice = f"profile {profile.name} does not accept {key.algorithm}; use a key for one of its algorithms"
        check("key", key.algorithm in profile.algorithms, advice)
        purposes: frozenset[str] = getattr(key, "purposes", frozenset())
        accepted = profile.key.purposes
        advice = f"its adcp_use does not include {' or '.join(sorted(accepted))}; use a key that has it"
        check("key", not purposes or not accepted or purposes & accepted, advice)
        own: str = getattr(key, "thumbprint", "")
        is_named = not profile.key.is_thumbprint or own in {"", key.keyid}
        check("key", is_named, f"profile {profile.name} takes the thumbprint of a key as its keyid: {own}")
        are_fields = not isinstance(components, str) and all(map(FIELD.fullmatch, components))
        check("components", are_fields, "list field names in lower case, such as ['idempotency-key']")
        is_allowed = profile.digest.policy != "forbidden" or "content-digest" not in components
        check("components", is_allowed, f"profile {profile.name} forbids covering content-digest; leave it out")
        self._key: AnyKey = key
        self.profile = profile
        self._components = tuple(components)
        self._clock = clock
        self._nonces = nonces
        constant = {"keyid": key.keyid, "alg": key.algorithm, "tag": profile.selection.tag or ""}
        written = {name: value for name, value in constant.items() if name in profile.written}
        self._constant = serialize_signature_input((), written).removeprefix("()")
        # Few different lists of components occur, and a signer signs for a few URLs again and again.
        self._covered: Callable[[tuple[str, ...]], _Covered] = lru_cache(_LISTS_KEPT)(_covered)
        self._target: Callable[[str], tuple[CanonicalURL, CanonicalURL]] = lru_cache(_URLS_KEPT)(self._targets)

    def sign(self, request: Request, **options: Unpack[SignatureOptions]) -> SignedFields:
        """Sign a request: return the headers to add to it.

        Args:
            request: the request to be sent. If it has a Content-Digest, that must be right and is kept.
            options: as `SignatureOptions` says.

        Raises:
            MalformedURL: the URL or Host has no canonical form, or no receiver reads the target: it is too long, or a
                character must be percent-encoded.
            SigningError: the request lacks a component to cover, or a receiver could not read its fields, or its JSON
                in one way only (with AdCP's profiles, its JSON at all). Or an argument is out of the profile's bounds.
                Or a remote key returned something that is not a signature.
            ConfigurationError: the `sign` of the key must be awaited.
        """
        prepared = self.prepare(request, **options)
        return self._fields(prepared, local_signature(self._key, prepared.signature_base))

    def sign_response(self, response: Response, **options: Unpack[SignatureOptions]) -> SignedFields:
        """Sign a response: return the headers to add to it. Options and errors are those of `sign`.

        Args:
            response: the response to be sent, with the request that it answers, as that was received.
            options: as for `sign`.

        Raises:
            SigningError: the profile is for requests, or as `sign`.
        """
        if self.profile.message != "response" or response.request is None:
            raise SigningError("response: pass the request that it answers, and sign with a profile for responses")
        prepared = self.prepare(response, **options)
        return self._fields(prepared, local_signature(self._key, prepared.signature_base))

    async def async_sign(self, request: Request, **options: Unpack[SignatureOptions]) -> SignedFields:
        """Sign a request as `sign` does, and await the key if its `sign` is async."""
        prepared = self.prepare(request, **options)
        return self._fields(prepared, await awaited_signature(self._key, prepared.signature_base))

    def attach(self, prepared: PreparedSignature, signature: bytes, request: Request) -> SignedFields:
        """Return the headers that sign a prepared request.

        Args:
            prepared: what `prepare` of a signer with this key returned.
            signature: the signature over `prepared.signature_base`; ECDSA as r and s, or DER.
            request: the request as it is about to be sent.

        Raises:
            SigningError: the request changed after it was prepared, or `signature` is not a signature by the algorithm
                of the key. Only the public key can show whether the signature is right.
            ConfigurationError: `prepared` is for another key.
        """
        if (prepared.keyid, prepared.algorithm) != (self._key.keyid, self._key.algorithm):
            raise ConfigurationError(
                "prepared: it is for another key than this signer's; attach it with the signer that prepared it"
            )
        own = prepared.message
        for part, is_same in (
            ("method", request.method == own.method),
            ("URL", request.url == own.url),
            ("headers", request.fields == own.fields),
            ("content", (request.body, request.has_body) == (own.body, own.has_body)),
        ):
            if not is_same:
                raise SigningError(f"request: its {part} changed after it was prepared; prepare the request again")
        return self._fields(prepared, raw_signature(signature, prepared.algorithm))

    def digest_builder(self) -> RunningDigest:
        """Return a new builder of the Content-Digest that this signer covers, for content that is read in chunks."""
        rule = self.profile.digest
        return RunningDigest(rule.algorithms[:1], encoding=rule.encodings[0])

    def _targets(self, url: str) -> tuple[CanonicalURL, CanonicalURL]:
        """Return the target of a message in its canonical form, and in the form that the profile signs."""
        canonical = canonicalize(url)
        target = canonical if self.profile.target == "canonical" else typed_target(url, canonical)
        check_sent(target)
        return canonical, target

    def prepare(
        self,
        message: Request | Response,
        *,
        created: int | None = None,
        expires: int | None = None,
        nonce: str | None = None,
        label: str | None = None,
        parameters: Mapping[str, Parameter] = {},
        digest: str | None = None,
    ) -> PreparedSignature:
        """Return the signature base of a message, to be signed somewhere else. Then call `attach`.

        Options are those of `SignatureOptions`, and errors those of `sign`. The key does nothing yet.
        """
        profile = self.profile
        if label is None:
            label = profile.selection.label
        elif KEY.fullmatch(label) is None:
            raise SigningError("label: use lower-case letters, digits and _ - . * (RFC 8941 section 3.1.2)")
        canonical, target = self._target(message.url)
        names, components, listed = self._covered(self._names(message, label))
        if "content-type" in names:
            _check_content_type(message)
        if "content-digest" not in names:
            digest = None
        elif "content-digest" in message.fields.combined:
            self._check_digest(message, digest)
        elif digest is None:
            digest = content_digest(message.body, profile.digest.encodings[0], algorithms=profile.digest.algorithms[:1])
        if "content-digest" in names:
            _check_json(message, profile)
        check_sent_fields(message, canonical, added=_ADDED if digest is None else (*_ADDED, "content-digest"))
        text = f"{listed}{self._parameters(created, expires, nonce)}"
        if parameters or profile.parameters.own:
            text += self._own({**written_parameters(profile, message, target.target_uri), **parameters})
        _check_signatures(message, label, text, profile)
        values = ComponentValues(message, target, digest, reading=profile.reading)
        try:
            base = signature_base(values, components, text).encode("ascii")
        except UnresolvableComponent as unresolvable:
            raise SigningError(
                f"{unresolvable}: {unresolvable.component}; correct the message before it is signed"
            ) from None
        check_base(base)
        key = self._key
        return PreparedSignature(key.keyid, key.algorithm, base, names, target.target_uri, message, label, text, digest)

    def _names(self, message: Request | Response, label: str) -> tuple[str, ...]:
        """Return the names or identifiers of the components to cover: the profile's, and the signer's."""
        rule, names = self.profile.coverage, self.profile.components_of(message)
        if self.profile.is_conditional:
            if absent := rule.absent(message):
                raise SigningError(f"headers: profile {self.profile.name} requires {', '.join(absent)}; add it")
            if rule.asks_for_member(message):
                names += (f'"{rule.member_of}";key="{label}"',)
        return names + self._components

    def _check_digest(self, message: Request | Response, digest: str | None) -> None:
        """Check that the Content-Digest that a message already has is right, and that no other one is given."""
        if digest is not None:
            raise SigningError("digest: the request has a Content-Digest already; remove the field, or pass no digest=")
        rule, given = self.profile.digest, message.fields.combined["content-digest"]
        try:
            declared = parse_content_digest(given, *rule.encodings, algorithms=rule.algorithms)
        except MalformedField as malformed:
            raise SigningError(f"headers: Content-Digest: {malformed}; remove it, and the signer makes one") from None
        if not has_digests(message.body, declared):
            raise SigningError("headers: Content-Digest does not match the body; remove it, and the signer makes one")

    def _parameters(self, created: int | None, expires: int | None, nonce: str | None) -> str:
        """Return the registered parameters as they follow the covered components."""
        written, validity = self.profile.written, self.profile.validity
        longest = validity.longest or _LARGEST_INTEGER
        if created is None:
            created = int(self._clock())
        if type(created) is not int or abs(created) > _LARGEST_INTEGER - validity.signed_for:
            raise SigningError("created: pass whole seconds since the epoch, of at most 15 digits")
        if expires is None:
            expires = created + validity.signed_for
        elif type(expires) is not int or not 0 < expires - created <= longest:
            raise SigningError(f"expires: pass whole seconds, 1 to {longest} after created: the profile allows no more")
        # Integers and a nonce need no serializer: `_nonce` escapes what has to be escaped.
        text = f";created={created}" if "created" in written else ""
        if "expires" in written:
            text += f";expires={expires}"
        if "nonce" in written or (nonce is not None and "nonce" not in self.profile.forbidden):
            text += f';nonce="{self._nonce(nonce)}"'
        return text + self._constant

    def _nonce(self, nonce: str | None) -> str:
        """Return the given nonce, else one that the `nonces` function makes, else a random one."""
        option, least, pattern = "nonce: must", self.profile.parameters.nonce_bytes, self.profile.nonce_pattern
        if nonce is None:
            if self._nonces is None:
                return base64url(urandom(max(_NONCE_BYTES, least or 0)))
            nonce, option = self._nonces(), "nonces: what the function returns must"
        if pattern is None:
            if not nonce.isascii() or not nonce.isprintable():
                raise SigningError(f"{option} be printable ASCII")
            return nonce.replace("\\", "\\\\").replace('"', '\\"')
        if pattern.fullmatch(nonce) is None:
            raise SigningError(f"{option} be unpadded Base64url of at least {least} bytes")
        return nonce

    def _own(self, parameters: Mapping[str, Parameter]) -> str:
        """Return the further parameters, and check those that the profile names."""
        missing = [name for name in self.profile.missing_parameters(parameters) if name not in PARAMETERS]
        fault = f"{', '.join(missing)} is missing" if missing else self.profile.fault_of_types(parameters)
        if fault or not parameters.keys().isdisjoint(PARAMETERS):
            raise SigningError(f"parameters: {fault or 'pass the registered parameters by their own arguments'}")
        return serialize_signature_input((), parameters).removeprefix("()")

    def _fields(self, prepared: PreparedSignature, signature: bytes) -> SignedFields:
        label = prepared.label
        fields: tuple[tuple[str, str], ...] = (
            ("Signature-Input", f"{label}={prepared.parameters}"),
            ("Signature", f"{label}={serialize_byte_sequence(signature, self.profile.encoding)}"),
        )
        sent = [fields[1][1], *prepared.message.fields.values("signature")]
        if (length := len(", ".join(sent))) > LONGEST_FIELD:
            raise SigningError(
                f"headers: Signature has {length:,} characters, and at most {LONGEST_FIELD:,} are read: pass a shorter "
                "label=, or send fewer signatures"
            )
        if prepared.digest is not None:
            fields = (("Content-Digest", prepared.digest), *fields)
        return SignedFields(fields, prepared.components, prepared.target_uri, prepared.signature_base.decode("ascii"))


def _covered(names: tuple[str, ...]) -> _Covered:
    """Return the components with these names or identifiers, each once."""
    unique = tuple(dict.fromkeys(names))
    components = tuple(
        [Component(name_of(name), name if name[0] == '"' else f'"{name}"', bare=name[0] != '"') for name in unique]
    )
    return unique, components, f"({' '.join([component.text for component in components])})"


def check_sent_fields(request: Request | Response, target: CanonicalURL, *, added: Sequence[str]) -> None:
    """Check that a receiver reads the headers as they are signed, and the authority as the URL's.

    Args:
        request: the message to be sent.
        target: its target.
        added: the names of the fields that the signer adds.

    Raises:
        MalformedURL: an authority has no canonical form.
        SigningError: a field is malformed, there are more than `MOST_FIELDS`, or an authority is another one.
    """
    combined = request.fields.combined
    own_names = added if "host" in combined else (*added, "host")
    try:
        check_fields(request.fields, own_names)
    except MalformedField as malformed:
        raise SigningError(f"headers: {malformed}") from None
    if (count := len(request.fields) + len(own_names)) > MOST_FIELDS:
        raise SigningError(f"headers: {count} with the signature, and at most {MOST_FIELDS} are read: send fewer")
    own = target.authority
    for name, key in ((":authority", ":authority"), ("Host", "host")):
        value = combined.get(key, own)
        if value == own:
            continue
        if key in request.fields.repeated:
            raise SigningError(f"headers: more than one {name}, which receivers reject; send one")
        if canonicalize_authority(value, target.scheme) != own:
            raise SigningError(f"headers: {name} is not the URL's authority; sign the URL that is sent")


def check_base(base: Sized) -> None:
    """Check that a receiver verifies a signature base of this length.

    Raises:
        SigningError: it is longer than `LONGEST_BASE`.
    """
    if len(base) > LONGEST_BASE:
        raise SigningError(
            f"headers: the signature base has {len(base):,} characters, and at most {LONGEST_BASE:,} are verified: "
            "cover fewer or shorter fields"
        )


def _check_content_type(message: Request | Response) -> None:
    """Check that the covered Content-Type has one value."""
    value = message.fields.combined.get("content-type")
    if value is None or "content-type" in message.fields.repeated:
        raise SigningError("headers: the signature covers Content-Type; add exactly one to the request")
    if is_list(value) or len(value) > LONGEST_FIELD:
        raise SigningError(
            f"headers: Content-Type has several values, or more than {LONGEST_FIELD:,} characters, which receivers "
            "reject; send one"
        )


def _check_json(message: Request | Response, profile: Profile) -> None:
    """Check that covered JSON can be read in one way only, as a verifier does at the end (step 14)."""
    try:
        check_json(message.fields, message.content, is_strict=profile.is_of_adcp)
    except AmbiguousJSON as ambiguous:
        names = "".join([f": {cut_name(name)!r}" for name in ambiguous.duplicates[:1]])
        raise SigningError(f"content: {ambiguous}{names}; receivers reject it, so correct it first") from None


def _check_signatures(message: Request | Response, label: str, member: str, profile: Profile) -> None:
    """Check that receivers can read this signature beside those that the message has, and that none has its label.

    A receiver reads the two fields as a whole: because of one that it cannot read, it would reject ours too.
    """
    inputs, signatures = message.fields.combined.get("signature-input"), message.fields.combined.get("signature")

    def choose(members: Mapping[str, Mapping[str, Parameter]]) -> Sequence[str]:
        if labels and not {*signed, label}.issuperset(profile.selection.labels(members)):
            raise MalformedField("a label is in Signature-Input and not in Signature")
        return (label,)

    try:
        labels: set[str] = set() if inputs is None else {*parse_signature_input(inputs)}
        signed: set[str] = set() if signatures is None else {*parse_byte_sequences(signatures, profile.encoding)}
        labels |= signed
        if label not in labels:
            before = "" if inputs is None else f"{inputs}, "
            choose_signature_inputs(f"{before}{label}={member}", choose)
    except MalformedField as malformed:
        raise SigningError(
            f"headers: Signature-Input or Signature cannot be read: {malformed}; remove both, or correct them"
        ) from None
    if label in labels:
        raise SigningError(f"headers: the request already has a signature labelled {label}; pass another label=")
