"""The signature of a request, and the content that it covers: read once the signature is authentic, and not before."""

from __future__ import annotations

from contextlib import suppress
from copy import copy
from typing import TYPE_CHECKING

from undersigned.errors import SignatureError, SignatureRejected
from undersigned.message.content import Content
from undersigned.policy.operation import UnresolvedOperation

if TYPE_CHECKING:
    from undersigned.message.request import Request
    from undersigned.middleware.body import Body
    from undersigned.middleware.received import Received
    from undersigned.middleware.service import Service
    from undersigned.policy.policy import Policy
    from undersigned.signature.profile import Profile
    from undersigned.verification.verified_signature import VerifiedSignature
    from undersigned.verification.verifier import ReceivedSignature

_NO_CONTENT = Content()


async def verified(request: Request, received: Received, body: Body, service: Service) -> VerifiedSignature:
    """Verify a signature. Read the content once the signature is authentic, if it is covered or a policy reads it.

    Raises:
        SignatureError: it is rejected, or not read to its end.
    """
    verifier, policy = service.verifier, service.policy
    first = policy if policy is not None and policy.resolver.comes_first else None
    try:
        authentic = await _authentic(request, received, body, service)
    except SignatureError:
        if first is not None:
            await body.read_unverified()
            _check_resolved(first, body.added_to(request), service)
        raise
    content, digest = _NO_CONTENT, authentic.running_digest()
    reads = policy is not None and policy.resolver.reads_body
    if received.has_body is None:
        # Content that nobody declared may come, and this signature may be too little for it.
        reads = reads or _covers_more_over_content(service.profile)
    if body.content is None and (digest is not None or (reads and received.has_body is not False)):
        content = await body.read(digest)
    if first is not None:
        _check_resolved(first, body.added_to(request), service)
    if not received.has_body and len(content) > 0:
        # No field declared this content. A signature over content must cover more than one over none.
        request = request.with_content(content)
        if not authentic.covers(request):
            authentic = await verifier.authenticate(request)
            digest = authentic.running_digest(bytes(content))
    return await verifier.complete(authentic, _NO_CONTENT if digest is None else content, digest=digest)


async def _authentic(request: Request, received: Received, body: Body, service: Service) -> ReceivedSignature:
    """Return the authentic signature of a request. Chunks have no content if all of them are empty.

    A signature that does not cover what one over content must is tried as one over none, and only then are the chunks
    of its sender read.
    """
    verifier = service.verifier
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


def _check_resolved(policy: Policy, request: Request, service: Service) -> None:
    """Check that the operation of a signed request is resolved: AdCP reports that before its signature."""
    operation = policy.resolve(request)
    if isinstance(operation, UnresolvedOperation):
        raise service.profile.add_answer(operation.as_error(service.profile), request)


def must_stay_empty(received: Received, signature: VerifiedSignature | None, service: Service) -> bool:
    """Return whether a request without content is accepted, and one with content might not be."""
    policy, profile = service.policy, service.profile
    if signature is not None and _covers_more_over_content(profile):
        return not received.has_body
    is_read = policy is not None and (profile.is_of_adcp or policy.resolver.reads_body)
    return is_read and received.has_body is False


def _covers_more_over_content(profile: Profile) -> bool:
    return profile.required_components[True] != profile.required_components[False]
