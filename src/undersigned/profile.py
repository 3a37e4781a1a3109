"""A profile: what makes a signature acceptable, as frozen data (RFC 9421 section 1.4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from .errors import ConfigurationError, SignatureError, signature_error

if TYPE_CHECKING:
    from .errors import Reason, Step
    from .fields import Encoding
    from .replay import Caps

DigestPolicy = Literal["required", "forbidden", "either"]
"""Whether a signature over a request with content must, must not or may cover `content-digest`."""

PARAMETERS = ("created", "expires", "nonce", "keyid", "alg", "tag")
"""The signature parameters a profile requires, in the order a signer writes them (RFC 9421 section 2.3)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """One signing profile. `dataclasses.replace` makes a variant.

    Attributes:
        name: what the command line and logs call it.
        tag: the one value of the `tag` parameter.
        label: the label that is processed where a message has it, and that a signer writes.
        encoding: how the bytes of a signature are spelled.
        digest_encodings: how the bytes of a digest may be spelled; a signer writes the first.
        required: components every signature covers.
        required_with_body: components it covers besides where the request has content.
        digest: whether `content-digest` must, must not or may be covered where the request has content.
        algorithms: the RFC 9421 algorithm names accepted.
        longest_validity: seconds that `expires` may lie after `created`.
        clock_skew: seconds a clock may be off.
        nonce_bytes: how many bytes a nonce decodes to at least.
        purposes: the JWK `adcp_use` values accepted.
        caps: how many nonces may be live.
        prefix: what stands before every code on the wire.
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

    def __post_init__(self) -> None:
        """Refuse data that contradicts itself."""
        if self.digest not in {"required", "forbidden", "either"}:
            raise ConfigurationError('digest: must be "required", "forbidden" or "either"')
        if self.digest == "forbidden" and "content-digest" in self.required:
            raise ConfigurationError("digest: content-digest cannot be both required and forbidden")

    def required_components(self, *, has_body: bool) -> tuple[str, ...]:
        """Return the components a signature must cover, in the order a signer writes them (AdCP step 6)."""
        if not has_body:
            return self.required
        digest = ("content-digest",) if self.digest == "required" else ()
        return tuple(dict.fromkeys((*self.required, *self.required_with_body, *digest)))

    def error(
        self,
        reason: Reason,
        *,
        step: Step,
        detail: str,
        keyid: str | None = None,
        signature_base: str | None = None,
    ) -> SignatureError:
        """Return the error for `reason` with this profile's prefix."""
        return signature_error(
            reason, self.prefix, step=step, detail=detail, keyid=keyid, signature_base=signature_base
        )
