"""Verification: the checklist from received request to verified signature (RFC 9421 section 3.2)."""

from undersigned.verification.blocking_calls import awaited, finish, from_tasks, may_block
from undersigned.verification.revocation_list import AsyncRevocationSource, RevocationList, RevocationSource
from undersigned.verification.verified_signature import VerifiedSignature
from undersigned.verification.verifier import AsyncVerifier, Verifier

__all__ = [
    "AsyncRevocationSource",
    "AsyncVerifier",
    "RevocationList",
    "RevocationSource",
    "VerifiedSignature",
    "Verifier",
    "awaited",
    "finish",
    "from_tasks",
    "may_block",
]
