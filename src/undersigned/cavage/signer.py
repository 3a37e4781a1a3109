"""The signer of the draft: it makes the fields Date, Digest and Signature of a request."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, Literal

from undersigned.cavage.signing_string import (
    REQUEST_TARGET,
    CavageParameters,
    http_date,
    legacy_digest,
    serialize_parameters,
    signing_string,
)
from undersigned.errors import SigningError
from undersigned.message.content_digest import RunningDigest, content_digest
from undersigned.message.request import Request
from undersigned.message.request_target import check_sent, typed_target
from undersigned.message.structured_fields import MalformedField
from undersigned.message.timestamps import system_clock
from undersigned.signature.components import UnresolvableComponent
from undersigned.signature.remote_key import awaited_signature, check_key, local_signature
from undersigned.signature.rules.option_checks import FIELD, check, check_choice
from undersigned.signature.signer import SignedFields, check_base, check_sent_fields
from undersigned.url import canonicalize

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from undersigned.signature.remote_key import AnyKey

CavageAlgorithm = Literal["rsa-sha256", "hs2019"]
"""How the `algorithm` parameter is spelled. Both mean the same for an RSA key of the fediverse."""

_ALGORITHM: Final = "rsa-v1_5-sha256"
_MADE: Final = frozenset({"date", "digest", "signature"})


class CavageSigner:
    """A signer of requests by draft-cavage-12, for receivers that do not take RFC 9421 yet. Safe to share.

    It signs `(request-target)`, `host` and `date`, and `digest` for content and for each POST. It writes Date and
    Digest itself, in place of those that the request has.

    Args:
        key: the private key, RSA for rsa-v1_5-sha256: a `SigningKey`, a `RemoteKey`, or an `AsyncRemoteKey`, with which
            only `async_sign` works. Its key ID is the id of the key in the actor, such as
            `https://social.example/users/bob#main-key`.
        components: more headers to sign, in lower case.
        algorithm: how the algorithm is spelled in the signature.
        clock: returns seconds since the epoch, for Date.

    Raises:
        ConfigurationError: the key is of another kind, or an argument has a wrong value.
    """

    __slots__ = ("_algorithm", "_clock", "_components", "_key")

    def __init__(
        self,
        key: AnyKey,
        *,
        components: Sequence[str] = (),
        algorithm: CavageAlgorithm = "rsa-sha256",
        clock: Callable[[], float] = system_clock,
    ) -> None:
        check_key(key)
        fits = key.algorithm == _ALGORITHM
        check("key", fits, f"the draft's receivers verify {_ALGORITHM}; pass an RSA key for it")
        is_plain = {'"', "\\"}.isdisjoint(key.keyid)
        check("key", is_plain, "its keyid must not have a quote or a backslash; the field cannot spell them")
        check_choice("algorithm", algorithm, CavageAlgorithm)
        names = all(isinstance(name, str) and FIELD.fullmatch(name) and name not in _MADE for name in components)
        are_names = names and not isinstance(components, str)
        check("components", are_names, "list field names in lower case, such as ['content-type']")
        check("clock", callable(clock), "pass a function without arguments")
        self._key: AnyKey = key
        self._components = tuple(name for name in dict.fromkeys(components) if name != "host")
        self._algorithm = algorithm
        self._clock = clock

    def sign(self, request: Request, *, digest: str | None = None) -> SignedFields:
        """Sign a request: return the headers Date, Digest if there is content, and Signature.

        Args:
            request: the request to be sent.
            digest: the Content-Digest of the content, as `digest_builder` made it, if the request does not have its
                content. Its Digest is added.

        Raises:
            MalformedURL: the URL or Host has no canonical form, or no receiver reads the target: it is too long, or a
                character must be percent-encoded.
            SigningError: the request lacks a field to sign, or a receiver could not read its fields.
            ConfigurationError: the `sign` of the key must be awaited.
        """
        draft = self._draft(request, digest)
        return self._signed(draft, local_signature(self._key, draft.signature_base.encode("ascii")))

    async def async_sign(self, request: Request, *, digest: str | None = None) -> SignedFields:
        """Sign a request as `sign` does, and await the key if its `sign` is async."""
        draft = self._draft(request, digest)
        return self._signed(draft, await awaited_signature(self._key, draft.signature_base.encode("ascii")))

    def digest_builder(self) -> RunningDigest:
        """Return a new builder of the digest that this signer covers, for content that is read in chunks."""
        return RunningDigest(("sha-256",))

    def _draft(self, request: Request, digest: str | None) -> SignedFields:
        """Return what is signed, still without the Signature."""
        target = canonicalize(request.url)
        typed = typed_target(request.url, target)
        check_sent(typed)
        check_sent_fields(request, target, added=(*_MADE,))
        added = [("Date", http_date(self._clock()))]
        if request.has_body or request.method == "POST":
            added.append(("Digest", legacy_digest(digest or content_digest(request.body, "base64"))))
        kept = [(name, value) for name, value in request.fields if name not in _MADE]
        if "host" not in request.fields.combined:
            kept.append(("host", target.authority))
        names = (REQUEST_TARGET, "host", *(name.lower() for name, _ in added), *self._components)
        sent = Request(request.method, request.url, [*kept, *added], has_body=request.has_body)
        try:
            base = signing_string(sent, typed, names)
        except UnresolvableComponent as unresolvable:
            raise SigningError(f"{unresolvable} (covered: {', '.join(names)})") from None
        check_base(base)
        return SignedFields(tuple(added), names, typed.target_uri, base)

    def _signed(self, draft: SignedFields, signature: bytes) -> SignedFields:
        value = serialize_parameters(self._key.keyid, self._algorithm, draft.components, signature)
        try:
            CavageParameters.parse(value)
        except MalformedField as malformed:
            raise SigningError(f"headers: {malformed}") from None
        return replace(draft, fields=(*draft.fields, ("Signature", value)))
