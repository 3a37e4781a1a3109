"""UCP, the Universal Commerce Protocol: requests, also for Web Bot Auth, and responses (`signatures.md`, 2026)."""

from __future__ import annotations

from typing import Final, get_args

from undersigned.errors import Reason
from undersigned.signature import rules
from undersigned.signature.profile import Profile, Source
from undersigned.signature.rules.coverage import ACTED_ON

_INVALID: Final[dict[Reason, str]] = dict.fromkeys(get_args(Reason), "signature_invalid")

_ACCEPTED_FOR: Final = 172_800
"""The seconds for which a dated request is accepted: UCP recommends to keep an Idempotency-Key for 48 hours."""

_SOURCE: Final = Source("UCP", "v2026-08-25", url="https://github.com/Universal-Commerce-Protocol/ucp")

UCP: Final = Profile(
    name="ucp",
    source=_SOURCE._replace(part="signatures.md and overview"),
    selection=rules.Selection(skipped_tags=("web-bot-auth",), pick="any"),
    parameters=rules.ParameterRule(
        created="optional",
        expires="optional",
        nonce="optional",
        alg="ignored",
        tag="optional",
        written=frozenset({"created", "nonce"}),
    ),
    coverage=rules.CoverageRule(
        always=("@method", "@authority", "@path"),
        with_query=("@query",),
        with_content=("content-digest", "content-type"),
        if_sent=("ucp-agent", "idempotency-key", "signature-agent"),
    ),
    digest=rules.DigestRule(algorithms=("sha-256",)),
    algorithms=frozenset({"ecdsa-p256-sha256", "ecdsa-p384-sha384", "ed25519"}),
    validity=rules.Validity(longest=None, ahead=60, behind=60, longest_age=_ACCEPTED_FOR, signed_for=300),
    # Each repeat is remembered for as long as the first request, so it stays a repeat while its date is accepted.
    replay=rules.ReplayRule(
        remembers="field", field="idempotency-key", accepts_repeats=True, keeps_for=2 * _ACCEPTED_FOR
    ),
    key=rules.KeyRule(unsupported="signature_alg_not_allowed"),
    answers=rules.Answers(
        codes={
            **_INVALID,
            "signature_required": "signature_missing",
            "signature_key_unknown": "key_not_found",
            "signature_digest_mismatch": "digest_mismatch",
            "signature_alg_not_allowed": "algorithm_unsupported",
            "signature_replayed": "idempotency_conflict",
            "signature_jwks_unavailable": "profile_unreachable",
            "signature_jwks_untrusted": "profile_not_trusted",
            "signature_identity_malformed": "invalid_profile_url",
            "signature_jwks_malformed": "profile_malformed",
        },
        statuses={
            "signature_digest_mismatch": 400,
            "signature_alg_not_allowed": 400,
            "signature_replayed": 409,
            "signature_jwks_unavailable": 424,
            "signature_jwks_untrusted": 403,
            "signature_identity_malformed": 400,
            "signature_jwks_malformed": 422,
        },
        member="code",
        text_member="content",
        challenge="none",
    ),
    target="typed",
    dangerous=(
        "UCP lets a sender leave out created and expires: such a request is new again when it is forgotten, 4 days "
        'later, and a GET each time. A derived profile whose parameters have created="required" demands the date'
    ),
)
"""Requests with `UCP-Agent`. An Idempotency-Key comes again only with the same request, which is then `repeated`."""

_PROFILE_FAULTS: Final[tuple[Reason, ...]] = (
    "signature_jwks_unavailable",
    "signature_jwks_untrusted",
    "signature_jwks_malformed",
    "signature_identity_malformed",
)

UCP_MCP: Final = UCP.derive(
    name="ucp-mcp",
    answers=UCP.answers._replace(
        rpc_codes={
            **{reason: -32000 for reason in get_args(Reason) if reason != "signature_store_unavailable"},
            **dict.fromkeys(("signature_digest_mismatch", "signature_alg_not_allowed"), -32600),
            **dict.fromkeys(_PROFILE_FAULTS, -32001),
        },
    ),
)
"""Requests by the MCP binding of UCP: as `UCP`, but a rejected request gets a JSON-RPC error."""

UCP_DUAL: Final = UCP.derive(
    name="ucp-dual",
    source=_SOURCE._replace(part="signatures.md, Web Bot Auth interoperability"),
    selection=rules.Selection(tags=("web-bot-auth",), pick="any"),
    parameters=rules.ParameterRule(nonce="optional", alg="ignored", written=frozenset({"nonce"})),
    coverage=rules.CoverageRule(
        always=("@method", "@authority", "@path"),
        with_query=("@query",),
        with_content=("content-digest", "content-type"),
        if_sent=("ucp-agent", "idempotency-key"),
        sent=("signature-agent",),
        member_of="signature-agent",
    ),
    validity=rules.Validity(longest=86_400, ahead=60, behind=60, signed_for=3600),
    key=UCP.key._replace(is_thumbprint=True),
)
"""Requests for a UCP business and for a Web Bot Auth verifier in front of it: one signature that both accept."""

UCP_RESPONSE: Final = UCP.derive(
    name="ucp-response",
    source=_SOURCE._replace(part="signatures.md, response verification"),
    message="response",
    coverage=rules.CoverageRule(
        always=("@status",),
        with_content=("content-digest", "content-type"),
        offered=("content-encoding", *ACTED_ON),
    ),
    replay=rules.ReplayRule(remembers="nothing"),
    dangerous="UCP lets a business leave out created and expires, and a signed response may be shown again",
)
"""Responses of a UCP business. Nothing in them binds a response to its request."""
