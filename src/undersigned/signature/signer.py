"""Signers: make the signature fields of requests (RFC 9421 section 3.1)."""

from __future__ import annotations

import time
from types import MappingProxyType
from typing import TYPE_CHECKING

from undersigned.errors import ConfigurationError, SigningError
from undersigned.message.content_digest import DIGEST_ALGORITHMS, DigestBuilder
from undersigned.message.structured_fields import Parameter, serialize_byte_sequence
from undersigned.signature.draft import (
    Covering,
    Draft,
    Drafting,
    ParameterText,
    PreparedSignature,
    SignedFields,
    check_names,
)
from undersigned.signature.profile import Profile
from undersigned.signature.remote_key import AnyKey, awaited_signature, check_key, local_signing, raw_signature

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from undersigned.message.content_digest import DigestAlgorithm
    from undersigned.message.request import Request
    from undersigned.message.response import Response
    from undersigned.message.structured_fields import Encoding

_NO_PARAMETERS: Mapping[str, Parameter] = MappingProxyType({})


class Signer:
    """A signer of requests, with one key and by one profile. Safe to share between threads.

    Args:
        key: the private key: a `SigningKey`, a `RemoteKey` such as one in a KMS, or an `AsyncRemoteKey`, with which
            only `async_sign` works.
        profile: the profile that the receiver verifies by.
        components: more header fields to cover than the profile requires, in lower case.
        digests: the algorithms of a Content-Digest that the signer makes.
        clock: returns seconds since the epoch, for `created`.
        nonces: returns a nonce: unpadded Base64url of at least as many bytes as the profile asks for. By default
            nonces are random and have 16 bytes or more.

    Attributes:
        profile: as given.

    Raises:
        ConfigurationError: the key is for another purpose, or an argument has the wrong type or value.
    """

    __slots__ = (
        "_digests",
        "_draft",
        "_encoding",
        "_key",
        "_sign",
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
    ) -> None:
        check_key(key)
        if not isinstance(profile, Profile):
            raise ConfigurationError("profile: pass one of undersigned.profiles, such as profiles.ADCP_3_2")
        if key.algorithm not in profile.algorithms:
            raise ConfigurationError(
                f"key: profile {profile.name} does not accept {key.algorithm}; use a key for one of its algorithms"
            )
        purposes: frozenset[str] = getattr(key, "purposes", frozenset())
        accepted = profile.key.purposes
        if purposes and accepted and not purposes & accepted:
            raise ConfigurationError(
                f"key: its adcp_use does not include {' or '.join(sorted(accepted))}; use a key that has it"
            )
        _check_options(profile, components, digests)
        self._key: AnyKey = key
        self.profile = profile
        covering = Covering(profile, components)
        text = ParameterText(profile, keyid=key.keyid, algorithm=key.algorithm, clock=clock, nonces=nonces)
        self._digests = tuple(digests)
        drafting = Drafting(profile, covering=covering, parameters=text, digests=self._digests)
        self._draft, self._sign = drafting.of, local_signing(key)
        self._encoding: Encoding = profile.encoding

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
            SigningError: the request lacks a component to cover, or a receiver could not read its fields. Or an
                argument is out of the profile's bounds. Or a remote key returned something that is not a signature.
            ConfigurationError: the `sign` of the key must be awaited.
        """
        draft = self._draft(request, created, expires, nonce, label, parameters, digest)
        return self._make_fields(draft, self._sign(draft.base.encode("ascii")))

    def sign_response(
        self,
        response: Response,
        *,
        created: int | None = None,
        expires: int | None = None,
        nonce: str | None = None,
        label: str | None = None,
        parameters: Mapping[str, Parameter] = _NO_PARAMETERS,
    ) -> SignedFields:
        """Sign a response: return the header fields to add to it. The other arguments and errors are those of `sign`.

        Args:
            response: the response to be sent, with the request that it answers, as that was received.
            created: as for `sign`.
            expires: as for `sign`.
            nonce: as for `sign`.
            label: as for `sign`.
            parameters: as for `sign`.

        Raises:
            SigningError: the profile is for requests, or as `sign`.
        """
        if self.profile.message != "response" or response.request is None:
            raise SigningError(
                "response: pass the request that it answers, and sign by a profile that is for responses"
            )
        draft = self._draft(response, created, expires, nonce, label, parameters)
        return self._make_fields(draft, self._sign(draft.base.encode("ascii")))

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
        return self._make_fields(draft, await awaited_signature(self._key, draft.base.encode("ascii")))

    def prepare(
        self,
        request: Request,
        *,
        created: int | None = None,
        expires: int | None = None,
        nonce: str | None = None,
        label: str | None = None,
        parameters: Mapping[str, Parameter] = _NO_PARAMETERS,
        digest: str | None = None,
    ) -> PreparedSignature:
        """Return the signature base of a request, to be signed somewhere else. Then call `attach`.

        Arguments and errors are those of `sign`. The key does nothing yet.
        """
        draft = self._draft(request, created, expires, nonce, label, parameters, digest)
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
                of the key. Only the public key can show whether the signature is right.
            ConfigurationError: `prepared` is for another key.
        """
        if (prepared.keyid, prepared.algorithm) != (self._key.keyid, self._key.algorithm):
            raise ConfigurationError("prepared: it is for another key than this signer's; attach it by its own signer")
        if changed := prepared.draft.change_in(request):
            raise SigningError(f"request: its {changed} changed after it was prepared; prepare the request again")
        return self._make_fields(prepared.draft, raw_signature(signature, prepared.algorithm))

    def digest_builder(self) -> DigestBuilder:
        """Return a new builder of the Content-Digest that this signer covers, for content that is read in chunks."""
        return DigestBuilder(self.profile.digest.encodings[0], self._digests)

    def _make_fields(self, draft: Draft, signature: bytes) -> SignedFields:
        label = draft.label
        parameters = f"{label}={draft.parameters}"
        text = f"{label}={serialize_byte_sequence(signature, self._encoding)}"
        fields: tuple[tuple[str, str], ...] = (("Signature-Input", parameters), ("Signature", text))
        if draft.digest is not None:
            fields = (("Content-Digest", draft.digest), *fields)
        return SignedFields(fields, draft.names, draft.target_uri, draft.base)


def _check_options(profile: Profile, components: Sequence[str], digests: Sequence[str]) -> None:
    """Check options that every request depends on.

    Raises:
        ConfigurationError: an option has the wrong type or value.
    """
    check_names("components", components)
    if profile.digest.policy == "forbidden" and "content-digest" in components:
        raise ConfigurationError(f"components: profile {profile.name} forbids covering content-digest; leave it out")
    if isinstance(digests, str) or not digests or not DIGEST_ALGORITHMS.issuperset(digests):
        raise ConfigurationError(f"digests: list some of {', '.join(sorted(DIGEST_ALGORITHMS))}")
