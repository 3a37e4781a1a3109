"""WIMSE: requests between workloads (draft-ietf-wimse-http-signature-07, section 3)."""

from __future__ import annotations

from typing import Final

from undersigned.signature.profile import Profile
from undersigned.signature.rules import Answers, CoverageRule, DigestRule, ParameterRule, Selection, Validity

WIMSE: Final = Profile(
    name="wimse",
    source="draft-ietf-wimse-http-signature-07, section 3",
    selection=Selection(tags=("wimse-workload-to-workload",), label="wimse"),
    parameters=ParameterRule(
        keyid="forbidden",
        alg="forbidden",
        own={"wimse-aud": ("required", "string"), "wimse-sign-response": ("optional", "boolean")},
    ),
    coverage=CoverageRule(
        always=("@method", "@request-target", "workload-identity-token"),
        if_sent=("content-type", "content-digest", "authorization", "txn-token"),
    ),
    digest=DigestRule(policy="required"),
    algorithms=frozenset({"ed25519", "ecdsa-p256-sha256", "ecdsa-p384-sha384"}),
    validity=Validity(longest=300, ahead=60, behind=60, signed_for=120),
    answers=Answers(
        statuses={
            **dict.fromkeys(("signature_required", "signature_header_malformed", "signature_params_incomplete"), 400),
            **dict.fromkeys(("signature_params_unexpected", "signature_tag_invalid", "signature_window_invalid"), 400),
            **dict.fromkeys(("signature_components_incomplete", "signature_key_unknown", "signature_invalid"), 400),
            **dict.fromkeys(("signature_digest_mismatch", "signature_replayed"), 400),
        },
        challenge="none",
    ),
    target="typed",
)
"""Requests with a Workload-Identity-Token, which has the key. The application checks the audience, `wimse-aud`."""
