"""A profile: what makes a signature acceptable, as frozen data (RFC 9421 section 1.4)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, cast, get_args

from undersigned.errors import ConfigurationError, SignatureError, signature_error
from undersigned.message import token
from undersigned.message.structured_fields import KEY, Encoding
from undersigned.signature.algorithms import ALGORITHMS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from undersigned.errors import Reason, Step

DigestPolicy = Literal["required", "forbidden", "either"]
"""Whether a signature over a request with content must, must not or may cover `content-digest`."""

PARAMETERS = ("created", "expires", "nonce", "keyid", "alg", "tag")
"""The signature parameters a profile requires, in the order a signer writes them (RFC 9421 section 2.3)."""

_ENCODINGS: frozenset[str] = frozenset(get_args(Encoding))
_COMPONENT = re.compile(rf"{token.LOWER}+|@(?:method|target-uri|authority|scheme|request-target|path|query)")
_PREFIX = re.compile(r"[a-z_]*")
_DIGIT = "[A-Za-z0-9_-]"
_NONCE = f"(?>(?:{_DIGIT}{{4}})*)(?:{_DIGIT}{{2,3}})?"


@dataclass(frozen=True, slots=True)
class Caps:
    """How many live nonces a store may keep. Above that it rejects new nonces; it never forgets a live one.

    Attributes:
        per_key: the cap for one key.
        total: the cap for all keys together, or None for no such cap.
    """

    per_key: int
    total: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """One signing profile. `dataclasses.replace` makes a variant.

    Attributes:
        name: its name on the command line and in logs.
        tag: the expected `tag` parameter.
        label: the label that a signer writes, and that a verifier prefers.
        encoding: how the bytes of a signature are encoded.
        digest_encodings: how the bytes of a digest may be encoded. A signer uses the first encoding.
        required: components that every signature covers.
        required_with_body: further components that a signature covers if the request has content.
        digest: whether `content-digest` must, must not or may be covered if the request has content.
        algorithms: the accepted algorithms, by their RFC 9421 names.
        longest_validity: the most seconds from `created` to `expires`.
        clock_skew: the most seconds that two clocks may differ.
        nonce_bytes: the least bytes that a nonce decodes to.
        purposes: the accepted values of the JWK's `adcp_use`.
        caps: how many nonces may be live.
        prefix: the prefix of every error code on the wire.
        required_components: the components a signature must cover, in the order a signer writes them (AdCP step 6), by
            whether the request has content.
        nonce_pattern: matches unpadded Base64url of at least `nonce_bytes` bytes (AdCP step 1).
    """

    name: str
    tag: str
    encoding: Encoding
    digest_encodings: tuple[Encoding, ...]
    prefix: str
    purposes: frozenset[str]
    caps: Caps
    label: str = "sig1"
    required: tuple[str, ...] = ("@method", "@target-uri", "@authority")
    required_with_body: tuple[str, ...] = ("content-type",)
    digest: DigestPolicy = "required"
    algorithms: frozenset[str] = frozenset({"ed25519", "ecdsa-p256-sha256"})
    longest_validity: int = 300
    clock_skew: int = 60
    nonce_bytes: int = 16
    required_components: Mapping[bool, tuple[str, ...]] = field(init=False, repr=False, compare=False)
    nonce_pattern: re.Pattern[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Check that the data does not contradict itself, and that a message can satisfy it."""
        _check_types(self)
        _check_components(self)
        _check_spelling(self)
        digest = ("content-digest",) if self.digest == "required" else ()
        with_body = tuple(dict.fromkeys((*self.required, *self.required_with_body, *digest)))
        by_body = MappingProxyType({False: self.required, True: with_body})
        # The shortest nonce is the usual one. No whole number of bytes leaves one character over.
        least = -(-self.nonce_bytes * 4 // 3)
        object.__setattr__(self, "required_components", by_body)
        object.__setattr__(self, "nonce_pattern", re.compile(rf"{_DIGIT}{{{least}}}|(?=.{{{least}}}){_NONCE}"))

    def error(self, reason: Reason, *, step: Step, detail: str, received: str | None = None) -> SignatureError:
        """Return the error for `reason` with this profile's prefix."""
        return signature_error(reason, self.prefix, step=step, detail=detail, received=received)


def _check_types(profile: Profile) -> None:
    for option, least, unit in (
        ("longest_validity", 1, "seconds"),
        ("clock_skew", 0, "seconds"),
        ("nonce_bytes", 0, "bytes"),
    ):
        if type(getattr(profile, option)) is not int or getattr(profile, option) < least:
            raise ConfigurationError(f"{option}: give whole {unit}, at least {least}")
    for option, kind, example in (
        *((option, str, "a string") for option in ("name", "tag", "label", "prefix", "encoding", "digest")),
        ("digest_encodings", tuple, 'a tuple, such as ("base64",)'),
        ("algorithms", frozenset, 'a frozenset, such as frozenset({"ed25519"})'),
        ("purposes", frozenset, "a frozenset of adcp_use values"),
        ("caps", Caps, "a Caps, such as Caps(per_key=1_000_000)"),
    ):
        if not isinstance(getattr(profile, option), kind):
            raise ConfigurationError(f"{option}: give {example}")
    if _PREFIX.fullmatch(profile.prefix) is None:
        raise ConfigurationError("prefix: use lower-case letters and underscores: it is sent in header fields")


def _check_components(profile: Profile) -> None:
    for option in ("required", "required_with_body"):
        names: object = getattr(profile, option)
        if not isinstance(names, tuple) or not all(map(_is_component, cast("tuple[object, ...]", names))):
            raise ConfigurationError(f'{option}: give a tuple of names in lower case, such as ("@method",)')
    if profile.digest not in {"required", "forbidden", "either"}:
        raise ConfigurationError('digest: must be "required", "forbidden" or "either"')
    if profile.digest == "forbidden" and "content-digest" in {*profile.required, *profile.required_with_body}:
        raise ConfigurationError("digest: content-digest cannot be both required and forbidden")


def _check_spelling(profile: Profile) -> None:
    if profile.encoding not in _ENCODINGS:
        raise ConfigurationError('encoding: must be "base64" or "base64url"')
    if not profile.digest_encodings or not _ENCODINGS.issuperset(profile.digest_encodings):
        raise ConfigurationError('digest_encodings: list "base64", "base64url" or both')
    if KEY.fullmatch(profile.label) is None:
        raise ConfigurationError("label: use lower-case letters, digits and _ - . * (RFC 8941 section 3.1.2)")
    if not profile.tag.isascii() or not profile.tag.isprintable():
        raise ConfigurationError("tag: use printable ASCII (RFC 8941 section 3.3.3)")
    if not profile.algorithms or not profile.algorithms <= ALGORITHMS:
        raise ConfigurationError(f"algorithms: list some of {', '.join(sorted(ALGORITHMS))}")


def _is_component(name: object) -> bool:
    return isinstance(name, str) and _COMPONENT.fullmatch(name) is not None
