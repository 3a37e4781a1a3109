"""Client signers: decide which requests are signed, and sign them."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

from undersigned.cavage.signer import CavageSigner
from undersigned.client.asked import ASKING_STATUSES, asked_signer
from undersigned.client.content import DEFAULT_MAX_SPOOLED, async_read_content, read_content
from undersigned.client.double_knock import AnySigner, DoubleKnock
from undersigned.client.over import SIGNATURE_FIELDS, kept_signature
from undersigned.client.responses import ResponseVerification
from undersigned.client.signed_request import SignedRequest, origin_of
from undersigned.errors import ConfigurationError, SigningError
from undersigned.message.request import Request
from undersigned.signature.signer import Signer
from undersigned.url import canonicalize, canonicalize_authority
from undersigned.url.origin import ConfiguredOrigins, Origins

if TYPE_CHECKING:
    from collections.abc import Iterable

    from undersigned.client.content import DigestedContent, FileContent
    from undersigned.message.content_digest import DigestBuilder
    from undersigned.url import CanonicalURL

SignerSource: TypeAlias = AnySigner | DoubleKnock | Callable[[], AnySigner]
"""A signer, or a function that returns the one to use now, so that keys change without a restart."""

_SIGNERS = (Signer, CavageSigner, DoubleKnock)
_ONE_SCHEME = (
    "signer: this client does not try a second time; pass one Signer or CavageSigner, or call second_try and pass "
    "tries_again=True"
)
_NOT_FOLLOWED = (
    "request that URL itself, do not follow redirects, or pass follow_unsigned=True to follow it without a signature"
)
_LEGACY_FIELDS = SIGNATURE_FIELDS | {"date", "digest"}
_MODERN_FIELD = "Signature-Input"
_URLS_KEPT = 128


class ClientSigner:
    """A signer of outgoing requests, for listed origins only. Safe to share between threads.

    Args:
        signer: makes the signatures. A function without arguments is called for each signature and returns the signer
            to use, so that keys change without a restart.
        origins: the origins to sign for, such as `https://seller.example.com`. An origin with a path, such as
            `https://seller.example.com/api`, allows only what is below that path. Instead of a list, there may be a
            function of an authority, which returns its origin or None. Each listed origin can redirect to another one,
            and so choose a URL that is signed for it.
        follow_unsigned: whether to follow a redirect that leaves the listed origins, without a signature. By default
            such a redirect raises `SigningError`.
        max_spooled: how many bytes to keep of content that cannot be read again, such as a generator.
        tries_again: whether the integration calls `second_try`; without it, there cannot be two schemes.
        responses: verifies the responses, or None.

    Attributes:
        follow_unsigned: as given.
        max_spooled: as given.
        responses: as given.

    Raises:
        ConfigurationError: an argument has the wrong type or value.
    """

    __slots__ = ("_canonical", "_origins", "_signer", "follow_unsigned", "max_spooled", "responses")

    def __init__(
        self,
        signer: SignerSource,
        origins: ConfiguredOrigins,
        *,
        follow_unsigned: bool = False,
        max_spooled: int = DEFAULT_MAX_SPOOLED,
        tries_again: bool = False,
        responses: ResponseVerification | None = None,
    ) -> None:
        if not isinstance(signer, _SIGNERS) and not callable(signer):
            raise ConfigurationError(
                "signer: pass a Signer, such as Signer(key, profile=profiles.ADCP_3_2), or a function that returns one"
            )
        if isinstance(signer, DoubleKnock) and not tries_again:
            raise ConfigurationError(_ONE_SCHEME)
        if type(max_spooled) is not int or max_spooled < 0:
            raise ConfigurationError("max_spooled: give whole bytes, at least 0")
        if not isinstance(follow_unsigned, bool):
            raise ConfigurationError("follow_unsigned: pass True or False")
        if not isinstance(responses, ResponseVerification | None):
            raise ConfigurationError("responses: pass a ResponseVerification, such as ResponseVerification(verifier)")
        if responses is not None and follow_unsigned:
            raise ConfigurationError(
                "responses: the response to an unsigned redirect is not verified; leave follow_unsigned out"
            )
        self._signer: SignerSource = signer
        self.responses = responses
        self.max_spooled = max_spooled
        self._origins = Origins(origins)
        self.follow_unsigned = follow_unsigned
        # A client sends to a few URLs again and again.
        self._canonical: Callable[[str], CanonicalURL] = lru_cache(_URLS_KEPT)(canonicalize)

    def sign(
        self,
        method: str,
        url: str,
        fields: Iterable[tuple[str, str]],
        content: bytes | DigestedContent,
        *,
        has_body: bool | None = None,
    ) -> SignedRequest:
        """Sign a request.

        Args:
            method: the method as it is sent.
            url: the absolute URL as the client spells it.
            fields: the header fields as they are sent. Text is bytes decoded as Latin-1.
            content: the whole content as it is sent, as `read` returns it, or its digest.
            has_body: whether the request is sent as one with content; by default, whether `content` is not empty.

        Raises:
            MalformedURL: the URL or `Host` has no canonical form.
            SigningError: the origin is not listed, or the request lacks what the signature covers.
            ConfigurationError: the key must be awaited, or the function for the signer returned something else.
        """
        signer, target, kept, request, digest = self._parts(method, url, fields, content, has_body)
        return SignedRequest.of(request, target, kept, signer.sign(request, digest=digest))

    async def async_sign(
        self,
        method: str,
        url: str,
        fields: Iterable[tuple[str, str]],
        content: bytes | DigestedContent,
        *,
        has_body: bool | None = None,
    ) -> SignedRequest:
        """Sign a request as `sign` does, and await the key if its `sign` is async."""
        signer, target, kept, request, digest = self._parts(method, url, fields, content, has_body)
        return SignedRequest.of(request, target, kept, await signer.async_sign(request, digest=digest))

    def second_try(self, signed: SignedRequest, status: int, wanted: str | None) -> ClientSigner | None:
        """Note how a receiver answered. Return what signs the request once more, or None if it is not sent again.

        A request is sent again once: by the other scheme of a `DoubleKnock`, if the answer is 401, or with what the
        receiver asks for, if the `Signer` may do that. Call this for the second answer too, and ignore what it returns.

        Args:
            signed: the request as it was sent.
            status: the status of the response.
            wanted: the value of Accept-Signature in the response, all lines joined with a comma, or None.
        """
        current = self._signer
        other: AnySigner | None = None
        if isinstance(current, DoubleKnock):
            modern = any(name == _MODERN_FIELD for name, _ in signed.signature)
            other = current.note_answer(signed.origin, status, modern=modern)
        elif wanted and status in ASKING_STATUSES and isinstance(signer := self._current(), Signer):
            other = asked_signer(signer, signed, wanted)
        if other is None:
            return None
        again = copy(self)
        again._signer = other  # noqa: SLF001 - a copy of this object
        return again

    def read(self, body: object) -> bytes | FileContent:
        """Return the content of a request so that it can be signed before it is sent.

        A file that can be read again is read in chunks. Any other stream is kept, up to `max_spooled` bytes.

        Args:
            body: bytes, text, which is encoded as UTF-8, a binary file, an iterable of bytes, or None for no content.

        Raises:
            SigningError: `body` is something else, a file in text mode, or a stream longer than `max_spooled`.
        """
        return read_content(body, self.digest_builder, max_spooled=self.max_spooled)

    async def async_read(self, body: object) -> bytes | FileContent:
        """Return the content of a request as `read` does. The body may also be an async iterable of bytes."""
        return await async_read_content(body, self.digest_builder, max_spooled=self.max_spooled)

    def digest_builder(self) -> DigestBuilder:
        """Return a new builder of a Content-Digest, for content that an integration reads by itself."""
        current = self._current()
        return (current.legacy if isinstance(current, DoubleKnock) else current).digest_builder()

    def _current(self) -> AnySigner | DoubleKnock:
        if isinstance(self._signer, _SIGNERS):
            return self._signer
        current = self._signer()
        if not isinstance(current, Signer | CavageSigner):
            raise ConfigurationError("signer: the function must return a Signer")
        return current

    def _parts(
        self,
        method: str,
        url: str,
        fields: Iterable[tuple[str, str]],
        content: bytes | DigestedContent,
        has_body: bool | None,  # noqa: FBT001 - passed on by `sign`, by keyword there
    ) -> tuple[AnySigner, CanonicalURL, tuple[tuple[str, str], ...], Request, str | None]:
        """Return the signer, the canonical target, the fields that stay, the request, and the digest of a file.

        The digest is None if `content` is the content itself.
        """
        target = self._canonical(url)
        origin = origin_of(target)
        if not self._origins.lists(target):
            raise SigningError(
                f"origins: {origin} is not listed for this path; add it to origins=, or send the request by a client "
                "that does not sign"
            )
        current = self._current()
        signer = current.signer(origin) if isinstance(current, DoubleKnock) else current
        replaced = SIGNATURE_FIELDS if isinstance(signer, Signer) else _LEGACY_FIELDS
        given = tuple(fields)
        kept = tuple(
            [
                (name, _canonical_host(value, target) if lower == "host" else value)
                for name, value in given
                if (lower := name.lower()) not in replaced
            ]
        )
        sent = kept
        if isinstance(signer, Signer) and signer.profile.coverage.over:
            sent = (*kept, *kept_signature(given, content, signer.profile))
        if isinstance(content, bytes):
            return signer, target, kept, Request(method, target.target_uri, sent, content, has_body=has_body), None
        return signer, target, kept, Request(method, target.target_uri, sent, has_body=True), content.digest

    def signs_redirect(self, before: str | None, url: str) -> bool:
        """Return whether to sign the request that a redirect leads to.

        A redirect is signed within the listed origins. A chain of redirects that has left them is never signed again,
        even if it returns: an origin that is not listed must not choose what is signed.

        Args:
            before: the origin that the redirected request was signed for, or None if it was sent without a signature.
            url: the URL that the redirect leads to.

        Returns:
            True to sign the request, False to send it without any signature field.

        Raises:
            MalformedURL: the URL has no canonical form.
            SigningError: the redirect leaves the listed origins or paths, or left them before, and `follow_unsigned` is
                False.
        """
        if before is None and self.follow_unsigned:
            return False
        target = self._canonical(url)
        origin = origin_of(target)
        is_listed = self._origins.lists(target)
        if before is not None and is_listed:
            return True
        if self.follow_unsigned:
            return False
        if is_listed:
            raise SigningError(f"redirect: a request without a signature leads to {origin}; {_NOT_FOLLOWED}")
        raise SigningError(
            f"redirect: it leads to {origin}, which is not listed for this path; add it to origins=, {_NOT_FOLLOWED}"
        )


def _canonical_host(value: str, target: CanonicalURL) -> str:
    """Return the target's authority if `value` is a spelling of it, else `value`, which the signer then rejects."""
    own = target.authority
    return own if value == own or canonicalize_authority(value.strip(" \t"), target.scheme) == own else value
