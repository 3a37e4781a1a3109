"""The stages of the checklist, each from a request."""

from __future__ import annotations

import pytest
from tests.keys import (
    BODY,
    NOW,
    PUBLIC,
    signed_request,
)

from undersigned import Request, SignatureError, VerificationKey, profiles
from undersigned.verification.checklist import identify
from undersigned.verification.screening import screen

VERIFYING = VerificationKey.from_jwk(PUBLIC)


def identify_request(
    request: Request | None = None, *, key=VERIFYING, revocations=None, profile=profiles.ADCP_3_2, now=NOW
):
    candidate = screen(signed_request() if request is None else request, profile, now=now)
    found = identify(candidate, [] if key is None else [key])
    return found if revocations is None else found.check_revocations([revocations])


def prove_request(request: Request | None = None, *, profile=profiles.ADCP_3_2):
    return identify_request(request, profile=profile).prove([])


def bind_request(request: Request | None = None, *, profile=profiles.ADCP_3_2, body: bytes = BODY):
    proof = prove_request(request, profile=profile)
    digest = proof.running_digest()
    if digest is not None:
        digest.update(body)
    return proof.bind(digest, now=NOW)


def rejection_of(call) -> tuple[str, object]:
    with pytest.raises(SignatureError) as caught:
        call()
    return caught.value.code.removeprefix("request_"), caught.value.step
