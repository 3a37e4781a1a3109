"""WIMSE: requests between workloads (draft-ietf-wimse-http-signature-07, section 3)."""

from __future__ import annotations

from typing import Final, get_args

from undersigned.errors import UNAVAILABLE, Reason
from undersigned.signature import rules
from undersigned.signature.profile import Profile, Source
from undersigned.signature.rules.coverage import ACTED_ON

WIMSE: Final = Profile(
    name="wimse",
    source=Source(
        "draft-ietf-wimse-http-signature",
        "07",
        part="section 3",
        url="https://datatracker.ietf.org/doc/draft-ietf-wimse-http-signature/",
    ),
    selection=rules.Selection(tags=("wimse-workload-to-workload",), label="wimse", pick="any"),
    parameters=rules.ParameterRule(
        keyid="forbidden",
        alg="forbidden",
        own={"wimse-aud": ("required", "string"), "wimse-sign-response": ("optional", "boolean")},
        audience="wimse-aud",
    ),
    coverage=rules.CoverageRule(
        always=("@method", "@request-target", "workload-identity-token"),
        if_sent=("content-type", "content-digest", "authorization", "txn-token"),
    ),
    digest=rules.DigestRule(policy="required"),
    algorithms=frozenset({"ed25519", "ecdsa-p256-sha256", "ecdsa-p384-sha384"}),
    # The draft says minutes, and the working group's own response is valid for 302 seconds.
    validity=rules.Validity(longest=600, ahead=60, behind=60, signed_for=120),
    answers=rules.Answers(
        statuses=dict.fromkeys([reason for reason in get_args(Reason) if reason not in UNAVAILABLE], 400),
        challenge="none",
    ),
    target="typed",
)
"""Requests with a Workload-Identity-Token, which has the key, for the target URI that `wimse-aud` names."""

WIMSE_RESPONSE: Final = WIMSE.derive(
    name="wimse-response",
    message="response",
    parameters=rules.ParameterRule(
        keyid="forbidden",
        alg="forbidden",
        own={"wimse-req-nonce": ("optional", "string")},
        echo="wimse-req-nonce",
        echo_if="wimse-sign-response",
    ),
    coverage=rules.CoverageRule(
        always=("@status", '"@method";req', '"@request-target";req', "workload-identity-token"),
        if_sent=("content-type", "content-digest"),
        offered=("content-encoding", *ACTED_ON),
    ),
)
"""Their responses, with a token of the service, and the request's nonce if the request asked for a signature."""
