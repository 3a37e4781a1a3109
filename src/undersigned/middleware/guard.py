"""The guard: the part that all middlewares share, from what was received to the answer or what is published.

A server makes a `Received` and a `Body` for each request. The guard rebuilds the request as it was on the wire,
verifies it and applies the policy, in the same order for every server. Its methods are coroutines. The ASGI middleware
awaits them. The WSGI middleware runs them with `finish`, as they never wait over WSGI.
"""

from __future__ import annotations

from contextlib import suppress
from copy import copy
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote, unquote

from undersigned.errors import MalformedURL, SignatureError, SignatureRejected, printable
from undersigned.limits import LONGEST_IN_LINE, LONGEST_ON_LOOP
from undersigned.message.content import Content
from undersigned.message.draft_signature import unsigned_detail
from undersigned.message.header_fields import HeaderFields
from undersigned.message.request import Request
from undersigned.middleware.admission import Admission
from undersigned.middleware.answer import UnreadRequest, logger
from undersigned.middleware.authority import check_head, check_version, matched_origin, target_error
from undersigned.middleware.evidence import without_query
from undersigned.middleware.recording import record_acceptance, record_error, reject
from undersigned.middleware.service import Service
from undersigned.policy.operation import Operation, UnresolvedOperation, check_path
from undersigned.policy.policy import is_forgivable, is_of_adcp
from undersigned.policy.route import RouteResolver
from undersigned.url import Origins

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Unpack

    from undersigned.middleware.answer import ErrorResponse
    from undersigned.middleware.body import Body
    from undersigned.middleware.options import AsyncOptions
    from undersigned.middleware.received import Received
    from undersigned.policy.operation import OperationResolver
    from undersigned.policy.policy import Policy, SignatureResult
    from undersigned.signature.profile import Profile
    from undersigned.url.origin import ConfiguredOrigins, Origin
    from undersigned.verification.verified_signature import VerifiedSignature
    from undersigned.verification.verifier import AsyncVerifier, ReceivedSignature


Answer = TypeVar("Answer")

_NO_CONTENT = Content()
_NO_ORIGIN = "https://unsigned.invalid"
"""The origin in the URL of an unsigned request, which a policy reads: it may have come with any Host."""


class Guard:
    """A guard that verifies every request of a service before the application gets it.

    Args:
        verifier: the verifier, which is awaited.
        origins: the public origins of the service.
        http2_server: the HTTP/2 server that compares `:authority` with Host, or None.
        options: the options of every middleware, as `AsyncOptions` lists them.

    Attributes:
        service: all of these.

    Raises:
        ConfigurationError: an option has a wrong value, or the verifier's profile is for responses.
    """

    def __init__(
        self,
        verifier: AsyncVerifier,
        origins: ConfiguredOrigins,
        *,
        http2_server: str | None = None,
        **options: Unpack[AsyncOptions[Any]],
    ) -> None:
        self.service = Service(verifier=verifier, origins=Origins(origins), http2_server=http2_server, **options)
        self._has_noted_unnamed = False

    async def verify(self, received: Received, body: Body) -> Admission | ErrorResponse:
        """Verify one request. Return what to publish to the application, or the answer to a rejected request."""
        request = None
        try:
            try:
                if received.has_too_many_fields:
                    raise UnreadRequest("request_header_fields_too_large", "there are too many header fields")
                if not self.service.verifier.is_signed(received.fields):
                    return await self._admit_unsigned(received, body)
                request, origin = self._rebuild(received)
                return await self._admit_signed(received, body, request, origin)
            except MalformedURL as malformed:
                hosts, shown = received.fields.values("host"), without_query(received.shown_target())
                raise target_error(self.service.profile, malformed, hosts=hosts, target=shown) from None
        except SignatureError as error:
            answer = self.answer(error, received, request=request, content=body.content)
            await self.let_others_first()
            return answer

    def answer(
        self,
        error: SignatureError,
        received: Received,
        *,
        request: Request | None = None,
        content: Content | None = None,
    ) -> ErrorResponse:
        """Return the answer to a request that is rejected before the application gets it, and record it.

        Args:
            error: why it is rejected.
            received: what arrived.
            request: the request as it was on the wire, if it was rebuilt.
            content: its content, if it was read.
        """
        return reject(error, received, self.service, request=request, content=content)

    async def run(self, call: Callable[[], Answer]) -> Answer:
        """Return the result of a slow function; in a thread, if the server has one thread for all requests."""
        return call()

    async def let_others_first(self) -> None:
        """Let other requests go first, if the server has one thread for all requests."""

    def _rebuild(self, received: Received) -> tuple[Request, Origin]:
        """Return a signed request as it was on the wire, without its content, and the origin that it is for.

        Raises:
            MalformedURL: its target or authority is rejected.
            SignatureError: its head can be read in two ways, or the server hides part of it.
        """
        service, fields, profile = self.service, received.fields, self.service.profile
        received.check_server(profile)
        check_version(received.version, service.http2_server, server=received.server, profile=profile)
        check_head(received.method, fields, received.names, profile)
        origin = matched_origin(service.origins, fields, received.version)
        target, query_unknown = received.target(profile)
        if "host" in fields.repeated:
            fields = _with_one_host(fields)
        has_body = bool(received.has_body)
        request = Request.unread(
            received.method, target, origin, fields, has_body=has_body, query_unknown=query_unknown
        )
        return request, origin

    async def _admit_signed(self, received: Received, body: Body, request: Request, origin: Origin) -> Admission:
        """Verify a signed request, and apply the policy.

        Raises:
            MalformedURL: the application cannot get the target that was verified.
            SignatureError: it is rejected, or not read to its end.
        """
        service = self.service
        try:
            admission = await self._admit(received, body, request)
        except SignatureError as error:
            if not self._is_unknown(error):
                raise
            record_error(error, received, service, request=request, outcome="unknown")
            return Admission(service, received, request=request)
        signature, warning = admission.signature, admission.warning
        body.accept(request.canonical_url() if signature is None else signature.target, origin)
        if signature is not None and not (signature.signer or self._has_noted_unnamed):
            self._note_unnamed(signature.keyid)
        if warning is None:
            record_acceptance(signature, received, service, request=request)
        else:
            record_error(warning, received, service, request=request, outcome="warned")
        return admission

    async def _admit_unsigned(self, received: Received, body: Body) -> Admission:
        """Apply the policy, or the mode, to an unsigned request. Its Host does not matter to a policy.

        Raises:
            SignatureError: it is rejected, not read to its end, or its target is too long to be signed.
        """
        service = self.service
        admission = Admission(service, received)
        if service.policy is None:
            if service.mode == "required":
                raise admission.unsigned_error(unsigned_detail(received.fields.combined.get("signature")))
        elif not await self._is_exempt(received, body, service.policy):
            received.check_server(service.profile)
            path, (target, mark, query) = received.routed_path(service.profile), received.shown_target().partition("?")
            url = f"{_NO_ORIGIN}{quote(path, errors='replace')}{mark}{query}"
            raw = unquote(target, errors="replace")
            if (target and raw != path) or "#" in target:
                # Some routers read the one and some the other, and some cut off a fragment, which no target may have.
                # Neither may contain a listed operation.
                path = f"{path}\n{raw}"
            request = Request(received.method, url, received.fields, has_body=bool(received.has_body))
            admission = await self._admit(received, body, request, path=path)
        observed = service.policy is None and service.mode == "observe"
        record_acceptance(None, received, service, observed=observed)
        return admission

    async def _is_exempt(self, received: Received, body: Body, policy: Policy) -> bool:
        """Return whether a request is a CORS preflight without content, and no route asks the policy later."""
        if isinstance(policy.resolver, RouteResolver) or not received.is_preflight:
            return False
        if received.has_body is None:
            await body.read_unverified()
        body.must_stay_empty = not body.chunks
        return body.must_stay_empty

    async def _admit(self, received: Received, body: Body, request: Request, *, path: str | None = None) -> Admission:
        """Verify a request whose content has not been read, and apply the policy.

        Args:
            received: the facts of the request.
            body: reads its content.
            request: what it was on the wire; for an unsigned request, what the policy reads.
            path: the percent-decoded path of an unsigned request as the application's router reads it. None: the
                request has signature fields.

        Raises:
            SignatureError: it is rejected.
        """
        service, policy = self.service, self.service.policy
        result: SignatureResult = "unsigned"
        signature = None
        if path is None:
            try:
                signature, result = await self._verified(received, body, request), "verified"
            except SignatureError as error:
                if service.fallback is None or not is_forgivable(error):
                    raise
                # Its frames refer to this one, and so to the error.
                result = error.with_traceback(None)
        admission = Admission(service, received, signature, request=request)
        if policy is not None:
            # Only a policy reads the content. A request with its content joins the chunks: it holds them twice.
            admission = admission._replace(request=_with_content(request, body))
            admission = await self._judge(policy, admission, body, result, path)
        body.must_stay_empty = self._is_without_content(received, signature)
        return admission

    def _is_without_content(self, received: Received, signature: VerifiedSignature | None) -> bool:
        """Return whether a request without content was accepted, and one with content might not be."""
        profile, policy = self.service.profile, self.service.policy
        if signature is not None and _covers_more_over_content(profile):
            return not received.has_body
        is_read = policy is not None and (is_of_adcp(profile) or policy.resolver.reads_body)
        return is_read and received.has_body is False

    async def _judge(
        self, policy: Policy, admission: Admission, body: Body, result: SignatureResult, path: str | None
    ) -> Admission:
        """Apply the policy to a request whose signature has been looked at."""
        service, resolver, request, signature = self.service, policy.resolver, admission.message, admission.signature
        if result != "verified" and resolver.reads_body:
            request = await self._with_unverified(admission.received, body, request)
        operation = await self._work(body, partial(_resolve, resolver, request, path))
        if admission.received.is_handshake and isinstance(resolver, RouteResolver) and not resolver.sees_handshakes:
            operation = Operation(is_unknown=True)
        # Only of an unsigned request does a policy look at the path.
        decision = partial(
            policy.decide, operation, result, fallback=service.fallback is not None, profile=service.profile,
            path=path or "",
        )  # fmt: skip
        if result != "verified" and policy.needs_content(
            operation, result, fallback=service.fallback is not None, profile=service.profile
        ):
            request = await self._with_unverified(admission.received, body, request)
        verdict = await self._work(body, partial(decision, request))
        await admission._replace(request=request).settle(verdict)
        if isinstance(operation, UnresolvedOperation):
            operation = Operation(is_unknown=True)
        if signature is not None:
            signature = replace(signature, operation=operation)
        warning = result if isinstance(result, SignatureError) else None
        return Admission(service, admission.received, signature, operation, warning, request)

    async def _work(self, body: Body, call: Callable[[], Answer]) -> Answer:
        """Return the result of a function that may look through content which no valid signature covers."""
        is_long = body.is_unverified and body.content is not None and len(body.content) > LONGEST_ON_LOOP
        return await self.run(call) if is_long else call()

    async def _verified(self, received: Received, body: Body, request: Request) -> VerifiedSignature:
        """Verify the signature. Read content once the signature is authentic, if it is covered or a policy reads it."""
        service, verifier, policy = self.service, self.service.verifier, self.service.policy
        first = policy.resolver if policy is not None and policy.resolver.comes_first else None
        try:
            authentic = await self._authentic(received, body, request)
        except SignatureError:
            if first is not None:
                self._check_resolved(first, await self._with_unverified(received, body, request))
            raise
        content, digest = _NO_CONTENT, authentic.running_digest()
        reads = policy is not None and policy.resolver.reads_body
        if received.has_body is None:
            # Content that nobody declared may come, and this signature may be too little for it.
            reads = reads or _covers_more_over_content(service.profile)
        if body.content is None and (digest is not None or (reads and received.has_body is not False)):
            content = await body.read(digest)
        if first is not None:
            self._check_resolved(first, _with_content(request, body))
        if not received.has_body and len(content) > 0:
            # No field declared this content. A signature over content must cover more than one over none.
            request = request.with_content(content)
            if not authentic.covers(request):
                authentic = await verifier.authenticate(request)
                digest = authentic.running_digest(bytes(content))
        return await verifier.complete(authentic, _NO_CONTENT if digest is None else content, digest=digest)

    async def _authentic(self, received: Received, body: Body, request: Request) -> ReceivedSignature:
        """Return the authentic signature of a request. Chunks have no content if all of them are empty.

        A signature that does not cover what one over content must is tried as one over none, and only then are the
        chunks of its sender read.
        """
        verifier = self.service.verifier
        try:
            return await verifier.authenticate(request)
        except SignatureError as error:
            if error.reason != "signature_components_incomplete" or "transfer-encoding" not in received.fields.combined:
                raise
            bare = copy(request)
            bare.has_body = False
            with suppress(SignatureRejected):
                authentic = await verifier.authenticate(bare)
                if len(await body.read(None)) == 0:
                    return authentic
            raise

    def _check_resolved(self, resolver: OperationResolver, request: Request) -> None:
        """Check that the operation of a signed request is resolved: AdCP reports that before its signature."""
        operation = _resolve(resolver, request, None)
        if isinstance(operation, UnresolvedOperation):
            raise self.service.profile.add_answer(operation.as_error(self.service.profile), request)

    async def _with_unverified(self, received: Received, body: Body, request: Request) -> Request:
        """Read content that no valid signature covers, if it begins as JSON. Its beginning can be read only once."""
        if body.content is None and received.has_body is not False and not body.is_unverified:
            await body.read_unverified()
        return _with_content(request, body)

    def _note_unnamed(self, keyid: str) -> None:
        """Warn once that a key has no owner, so that the application cannot tell who signed."""
        self._has_noted_unnamed = True
        logger.warning(
            "signature.signer is empty, as the key %s has no owner: give its source owner=, or put the source into "
            "KeySources, and tell callers apart by the signer",
            printable(keyid, limit=LONGEST_IN_LINE),
        )

    def _is_unknown(self, error: SignatureError) -> bool:
        """Return whether the sender is merely unknown, and the mode lets unsigned requests through."""
        service = self.service
        unknown = service.policy is None and error.reason in service.profile.answers.unknown
        return unknown and service.mode != "required"


def _covers_more_over_content(profile: Profile) -> bool:
    return profile.required_components[True] != profile.required_components[False]


def _with_content(request: Request, body: Body) -> Request:
    """Return the request with its content, if that was read."""
    return request if body.content is None else request.with_content(body.content)


def _resolve(resolver: OperationResolver, request: Request, path: str | None) -> Operation | UnresolvedOperation:
    """Return the operation that the resolver finds in what has been read, or the error that it raises."""
    try:
        if path is not None and not isinstance(resolver, RouteResolver):
            check_path(path)
        return resolver.resolve(request)
    except UnresolvedOperation as unresolved:
        unresolved.__context__ = unresolved.__traceback__ = None  # the frames refer to it, and it to them
        return unresolved


def _with_one_host(fields: HeaderFields) -> HeaderFields:
    """Return `fields` with one of several equal Host values."""
    host = ("host", fields.repeated["host"][0])
    return HeaderFields([*(field for field in fields if field[0] != "host"), host])
