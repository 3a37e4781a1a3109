"""Vectors: a request as data, the endpoint that receives it, and what must become of it."""

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
from undersigned.signature.key_source import KeySet
from undersigned.signature.keys import SigningKey
from undersigned.verification.verifier import Verifier

if TYPE_CHECKING:
    from collections.abc import Sequence

    from undersigned.conformance.result import Result
    from undersigned.policy.operation import OperationResolver
    from undersigned.signature.profile import DigestPolicy, Profile

PRIVATE = "_private_d_for_test_only"
"""The member of a published test key that holds the private one."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """How the endpoint that a set is about is configured; no message says this of itself.

    Attributes:
        profile: what a signature is judged by.
        resolver: how an operation is found.
    """

    profile: Profile
    resolver: OperationResolver


@dataclass(frozen=True, slots=True)
class Vector:
    """One request vector. Every member is read when it is asked for.

    Attributes:
        name: where it stands in its set, such as `positive/001-basic-post`.
        document: its file.
        endpoint: its set's.
        published: the keys of its set, with their private halves; read only where a vector asks for them.
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
            raise MalformedVector("body holds a lone surrogate, which stands for no bytes") from None

    @property
    def now(self) -> int:
        """The verifier's clock."""
        return self.document.integer("reference_now")

    @property
    def state(self) -> State:
        """What the verifier's sources hold."""
        return State(self.document.optional("test_harness_state"), self.now)

    @property
    def expected(self) -> Document:
        """What must become of the request."""
        return self.document.document("expected_outcome")

    @property
    def accepted(self) -> bool:
        """Whether it must be accepted."""
        return self.expected.flag("success")

    @property
    def code(self) -> str | None:
        """The code it must be refused with, or None."""
        return None if self.accepted else self.expected.text("error_code")

    @property
    def base(self) -> str | None:
        """The signature base, where the vector gives it."""
        name = "expected_signature_base"
        return self.document.text(name) if name in self.document else None

    @property
    def label(self) -> str:
        """The label that must be processed."""
        return self.expected.text("verified_label", self.endpoint.profile.label)

    @property
    def profile(self) -> Profile:
        """The endpoint's profile under the vector's digest policy, with the caps of its state."""
        profile = self.endpoint.profile
        given = self.document.optional("verifier_capability").text("covers_content_digest", profile.digest)
        # A profile refuses any other policy than its three.
        return replace(profile, digest=cast("DigestPolicy", given), caps=self.state.caps(profile.caps))

    @property
    def policy(self) -> Policy | None:
        """The endpoint's policy; None where the vector has none, so that every request has to be signed.

        An endpoint whose capability lists methods of JSON-RPC speaks it.
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
    def keys(self) -> KeySet:
        """The keys the verifier knows."""
        return KeySet.from_jwks({"keys": [dict(jwk.members) for jwk in self._ring.chosen(self._names)]})

    def verifier(self) -> Verifier:
        """Return a verifier over the state the vector starts from."""
        state = self.state
        return Verifier(
            self.profile,
            keys=state.keys(self.keys),
            replay=state.store(),
            revocations=state.revocations(),
            clock=state.clock(),
        )

    def result(self) -> Result:
        """Return what becomes of the request."""
        return verify(self.verifier(), self.request, policy=self.policy, fallback=self.state.fallback)

    def signing_key(self, keyid: str) -> SigningKey:
        """Return the private half of the key `keyid`."""
        [jwk] = self._ring.chosen([keyid])
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
        fault: why there are none, or "".
    """

    keys: Sequence[Document]
    fault: str = ""

    def chosen(self, keyids: Sequence[str] | None) -> list[Document]:
        """Return the keys of those ids; all of them where None is given.

        Raises:
            MalformedVector: there is no such key, or there are no keys at all.
        """
        if self.fault:
            raise MalformedVector(self.fault)
        if keyids is None:
            return list(self.keys)
        named = {key.text("kid"): key for key in self.keys}
        missing = [keyid for keyid in keyids if keyid not in named]
        if missing:
            raise MalformedVector("jwks_ref, or a keyid that signs, names a key that the keys do not have")
        return [named[keyid] for keyid in keyids]


def _names(capability: Document, option: str) -> list[str]:
    return capability.texts(option) if option in capability else []
