"""Vectors: a request as data, the endpoint that receives it, and the expected result."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from undersigned.conformance.document import Document, MalformedVector
from undersigned.conformance.result import verify
from undersigned.conformance.state import State
from undersigned.message.request import Request
from undersigned.policy.jsonrpc import JSONRPCResolver
from undersigned.policy.operation import PathResolver
from undersigned.policy.policy import Policy
from undersigned.signature.key_source import ExaminedKeys
from undersigned.signature.signing_key import SigningKey
from undersigned.verification.verifier import Verifier

if TYPE_CHECKING:
    from collections.abc import Sequence

    from undersigned.conformance.result import Result
    from undersigned.policy.operation import OperationResolver
    from undersigned.signature.profile import Profile
    from undersigned.signature.rules import DigestPolicy

PRIVATE = "_private_d_for_test_only"
"""The member of a published test key that contains the private key."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The configuration of the endpoint for a set. No message contains it.

    Attributes:
        profile: the profile that verifies signatures.
        resolver: the resolver of operations.
    """

    profile: Profile
    resolver: OperationResolver


@dataclass(frozen=True, slots=True)
class Vector:
    """A request vector. Each member is read when it is used.

    Attributes:
        name: the name in its set, such as `positive/001-basic-post`.
        document: the file.
        endpoint: the endpoint of its set.
        published: the keys of its set, with their private keys. They are read only if the vector uses them.
    """

    name: str
    document: Document
    endpoint: Endpoint
    published: KeyRing

    @property
    def request(self) -> Request:
        """The request as the verifier receives it."""
        sent = self.document.document("request")
        try:
            return Request(sent.text("method"), sent.text("url"), sent.pairs("headers"), sent.text("body", ""))
        except UnicodeEncodeError:
            raise MalformedVector("body contains a lone surrogate, which UTF-8 cannot encode") from None

    @property
    def now(self) -> int:
        """The time of the verifier's clock."""
        return self.document.integer("reference_now")

    @property
    def state(self) -> State:
        """The state of the verifier's sources."""
        return State(self.document.optional("test_harness_state"), self.now)

    @property
    def expected(self) -> Document:
        """The expected outcome."""
        return self.document.document("expected_outcome")

    @property
    def accepted(self) -> bool:
        """Whether the request must be accepted."""
        return self.expected.flag("success")

    @property
    def code(self) -> str | None:
        """The code with which the request must be rejected, or None."""
        return None if self.accepted else self.expected.text("error_code")

    @property
    def base(self) -> str | None:
        """The expected signature base, or None if the vector has none."""
        name = "expected_signature_base"
        return self.document.text(name) if name in self.document else None

    @property
    def label(self) -> str:
        """The label of the signature that must be verified."""
        return self.expected.text("verified_label", self.endpoint.profile.selection.label)

    @property
    def profile(self) -> Profile:
        """The endpoint's profile with the vector's digest policy and the caps of its state."""
        profile = self.endpoint.profile
        given = self.document.optional("verifier_capability").text("covers_content_digest", profile.digest.policy)
        # The rule itself rejects an unknown digest policy.
        return profile.derive(
            digest=replace(profile.digest, policy=cast("DigestPolicy", given)),
            replay=replace(profile.replay, caps=self.state.caps(profile.replay.caps)),
        )

    @property
    def policy(self) -> Policy | None:
        """The endpoint's policy, or None if the vector has none and every request must be signed.

        If the capability lists JSON-RPC methods, the endpoint uses JSON-RPC.
        """
        if "verifier_capability" not in self.document:
            return None
        given = self.document.document("verifier_capability")
        methods = [name for name in given.members if name.startswith("protocol_methods_") and given.texts(name)]
        resolver = self.endpoint.resolver
        if methods and isinstance(resolver, PathResolver):
            resolver = JSONRPCResolver()
        return Policy(
            required_for=_names(given, "required_for"),
            warn_for=_names(given, "warn_for"),
            supported_for=_names(given, "supported_for"),
            protocol_methods_required_for=_names(given, "protocol_methods_required_for"),
            protocol_methods_warn_for=_names(given, "protocol_methods_warn_for"),
            protocol_methods_supported_for=_names(given, "protocol_methods_supported_for"),
            resolver=resolver,
        )

    @property
    def keys(self) -> ExaminedKeys:
        """The keys that the verifier knows."""
        return ExaminedKeys.from_jwks({"keys": [dict(jwk.members) for jwk in self._ring.choose(self._names)]})

    def verifier(self) -> Verifier:
        """Return a verifier in the vector's initial state."""
        state = self.state
        return Verifier(
            self.profile,
            keys=state.keys(self.keys),
            replay=state.store(),
            revocations=state.revocations(),
            clock=state.clock(),
        )

    def result(self) -> Result:
        """Return the result for the request."""
        return verify(self.verifier(), self.request, policy=self.policy, fallback=self.state.fallback)

    def signing_key(self, keyid: str) -> SigningKey:
        """Return the private key of the key `keyid`."""
        [jwk] = self._ring.choose([keyid])
        members = jwk.members
        private = {**members, "key_ops": ["sign"], "d": jwk.text(PRIVATE)}
        return SigningKey.from_jwk(private)

    @property
    def _ring(self) -> KeyRing:
        if "jwks_override" not in self.document:
            return self.published
        override = self.document.document("jwks_override")
        if "keys" in override:
            return KeyRing(tuple(override.documents("keys")))
        return KeyRing(tuple(override.document(name) for name in override.members if not name.startswith("$")))

    @property
    def _names(self) -> Sequence[str] | None:
        return None if "jwks_override" in self.document else self.document.texts("jwks_ref")


@dataclass(frozen=True, slots=True)
class KeyRing:
    """The test keys of a set.

    Attributes:
        keys: the JWKs.
        fault: the reason why there are no keys, or "".
    """

    keys: Sequence[Document]
    fault: str = ""

    def choose(self, keyids: Sequence[str] | None) -> list[Document]:
        """Return the keys with those ids, or all keys if None is given.

        Raises:
            MalformedVector: a key is missing, or the keys could not be read.
        """
        if self.fault:
            raise MalformedVector(self.fault)
        if keyids is None:
            return list(self.keys)
        named = {key.text("kid"): key for key in self.keys}
        missing = [keyid for keyid in keyids if keyid not in named]
        if missing:
            raise MalformedVector("a key that jwks_ref or a signing keyid names is not in the keys of the set")
        return [named[keyid] for keyid in keyids]


def _names(capability: Document, option: str) -> list[str]:
    return capability.texts(option) if option in capability else []
