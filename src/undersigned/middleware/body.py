"""The body of a request on its way to the application: it is read here, and nowhere else.

The content that a signature covers is read once the signature is authentic, and not before.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import suppress
from copy import copy
from typing import TYPE_CHECKING

from undersigned.errors import SignatureError, SignatureRejected
from undersigned.limits import MOST_LENGTH_DIGITS
from undersigned.message.content import Content
from undersigned.middleware.error_response import UnreadRequest
from undersigned.policy.content import may_be_json
from undersigned.policy.operation import UnresolvedOperation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from undersigned.message.content_digest import RunningDigest
    from undersigned.message.request import Request
    from undersigned.middleware.options import Service
    from undersigned.middleware.received import Received
    from undersigned.policy.policy import Policy
    from undersigned.url import CanonicalURL, Origin
    from undersigned.verification.verified_signature import VerifiedSignature
    from undersigned.verification.verifier import ReceivedSignature

_NO_CONTENT = Content()
_TOO_LARGE = "content_too_large", "the body is larger than max_body"


class Body(ABC):
    """What the guard reads of a request and what the middleware forwards of it. It is never published.

    Args:
        service: the service that the request came to.
        received: the facts of the request.

    Attributes:
        content: the content, once it has been read to its end, or None.
        chunks: what has been read of the content; the application gets it again.
        more: whether more of it may come; None if nothing has been read.
        is_unverified: whether it was asked for although no valid signature covers it.
        must_stay_empty: whether no content may reach the application, because a request without content was verified.
    """

    def __init__(self, service: Service, received: Received) -> None:
        self._service = service
        self._fields, self._has_body = received.fields, received.has_body
        self.content: Content | None = None
        self.chunks: Sequence[bytes] = ()
        self.more: bool | None = None
        self.is_unverified = False
        self.must_stay_empty = False

    @abstractmethod
    async def read_chunk(self) -> tuple[bytes, bool]:
        """Return the next part of the content, and whether more may come.

        Raises:
            UnreadRequest: the content does not arrive whole.
            MalformedSignature: the server cannot read the framing of the content.
        """

    @abstractmethod
    def accept(self, target: CanonicalURL, origin: Origin) -> None:
        """Take the target that was verified: the application gets it, and nothing else.

        Raises:
            MalformedURL: the canonical path is outside the origin's prefix or the mount that routed the request here.
        """

    def added_to(self, request: Request) -> Request:
        """Return a request with the content, if it was read."""
        return request if self.content is None else request.with_content(self.content)

    async def verified(self, request: Request) -> VerifiedSignature:
        """Verify a signed request. Its content is read only if it is covered or a policy reads it.

        Raises:
            SignatureError: it is rejected, or not read to its end.
        """
        verifier, policy = self._service.verifier, self._service.policy
        first = policy if policy is not None and policy.resolver.comes_first else None
        try:
            authentic = await self._authentic(request)
        except SignatureError:
            if first is not None:
                await self.read_unverified()
                self._check_resolved(first, self.added_to(request))
            raise
        content, digest = _NO_CONTENT, authentic.running_digest()
        reads = policy is not None and policy.resolver.reads_body
        if self._has_body is None:
            # Content that nobody declared may come, and this signature may be too little for it.
            reads = reads or self._must_cover_more
        if self.content is None and (digest is not None or (reads and self._has_body is not False)):
            content = await self.read(digest)
        if first is not None:
            self._check_resolved(first, self.added_to(request))
        if not self._has_body and len(content) > 0:
            # No field declared this content. A signature over content must cover more than one over none.
            request = request.with_content(content)
            if not authentic.covers(request):
                authentic = await verifier.authenticate(request)
                digest = authentic.running_digest(bytes(content))
        return await verifier.complete(authentic, _NO_CONTENT if digest is None else content, digest=digest)

    async def _authentic(self, request: Request) -> ReceivedSignature:
        """Return the authentic signature of a request. Chunks have no content if all of them are empty.

        A signature that does not cover what one over content must is tried as one over none, and only then are the
        chunks of its sender read.
        """
        verifier = self._service.verifier
        try:
            return await verifier.authenticate(request)
        except SignatureError as error:
            if error.reason != "signature_components_incomplete" or "transfer-encoding" not in self._fields.combined:
                raise
            bare = copy(request)
            bare.has_body = False
            with suppress(SignatureRejected):
                authentic = await verifier.authenticate(bare)
                if len(await self.read(None)) == 0:
                    return authentic
            raise

    def _check_resolved(self, policy: Policy, request: Request) -> None:
        """Check that the operation of a signed request is resolved: AdCP reports that before its signature."""
        operation, profile = policy.resolve(request), self._service.profile
        if isinstance(operation, UnresolvedOperation):
            raise profile.add_answer(operation.as_error(profile), request)

    def keep_empty(self, signature: VerifiedSignature | None) -> None:
        """Let no content come later, if a request without any is accepted, and one with content might not be."""
        policy = self._service.policy
        if signature is not None and self._must_cover_more:
            stays = not self._has_body
        else:
            is_read = policy is not None and (self._service.profile.is_of_adcp or policy.resolver.reads_body)
            stays = is_read and self._has_body is False
        self.must_stay_empty = self.must_stay_empty or stays

    @property
    def _must_cover_more(self) -> bool:
        """Whether a signature over content must cover more than one over none."""
        required = self._service.profile.required_components
        return required[True] != required[False]

    async def read(self, digest: RunningDigest | None) -> Content:
        """Read the content, and feed it to `digest` while reading.

        Raises:
            UnreadRequest: the content, or its Content-Length, is above `max_body`, or reading it takes too long.
            MalformedSignature: as `read_chunk`.
        """
        most = self._service.max_body
        declared = self._fields.combined.get("content-length") or "0"
        if declared.isdecimal() and (len(declared) > MOST_LENGTH_DIGITS or int(declared) > most):
            raise UnreadRequest(*_TOO_LARGE)
        chunks: list[bytes] = []
        size, more = 0, True
        while more:
            chunk, more = await self.read_chunk()
            size += len(chunk)
            if size > most:
                raise UnreadRequest(*_TOO_LARGE)
            if chunk:
                chunks.append(chunk)
                if digest is not None:
                    digest.update(chunk)
        self.chunks, self.more = chunks, False
        self.content = content = Content(chunks)
        return content

    async def read_unverified(self) -> None:
        """Read the content of a request without a valid signature, if it begins as JSON. Otherwise read no further.

        Its beginning can be read only once, so nothing is read again.

        Raises:
            UnreadRequest: the JSON is above `max_unsigned_body` or `max_body`, or reading it takes too long.
            MalformedSignature: as `read_chunk`.
        """
        if self.is_unverified or self.content is not None or self._has_body is False:
            return
        self.is_unverified = True
        self.chunks = chunks = list[bytes]()
        bounds = {"max_unsigned_body": self._service.max_unsigned_body, "max_body": self._service.max_body}
        size, is_json = 0, None
        while self.more is not False:
            chunk, self.more = await self.read_chunk()
            size += len(chunk)
            if chunk:
                chunks.append(chunk)
            if is_json is None:
                is_json = may_be_json(b"".join(chunks), self._fields, ended=not self.more)
                if is_json is False:
                    return
            exceeded = [option for option, most in bounds.items() if size > most]
            if exceeded:
                raise UnreadRequest(
                    "content_too_large", f"JSON without a valid signature is larger than {' and '.join(exceeded)}"
                )
        self.content = Content(chunks)

    async def is_empty(self) -> bool:
        """Return whether a request without a valid signature has no content. If so, none may reach the application."""
        await self.read_unverified()
        self.must_stay_empty = not self.chunks
        return self.must_stay_empty
