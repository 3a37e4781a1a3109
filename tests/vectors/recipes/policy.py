"""The policy: what becomes of a request, by list, signature and other credential; which methods a list may name."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

LISTS = ("required_for", "warn_for", "supported_for")
MODES = (*LISTS, *(f"protocol_methods_{option}" for option in LISTS), "none")

SIGNATURES: Mapping[str, tuple[Mapping[str, object], str | None]] = {
    "unsigned": ({"signature_present": False}, None),
    "verified": ({"signature_present": True}, None),
    "broken-pair": ({"signature_present": True, "signature_header_state": "malformed_pair"}, "header_malformed"),
    "digest-not-covered": ({"signature_present": True, "covers_content_digest": False}, "components_incomplete"),
    "invalid": ({"signature_present": True, "cryptographic_signature_valid": False}, "invalid"),
    "body-changed": ({"signature_present": True, "digest_matches_body": False}, "digest_mismatch"),
}
"""The state of the signature, and the code it is rejected with."""


def body_integrity() -> dict[str, object]:
    """The whole table: every list, every signature, with another credential and without."""
    cases = [
        _case(mode, signature, fallback=fallback, registers=registers)
        for mode in MODES
        for signature in SIGNATURES
        for fallback in (False, True)
        for registers in (False, True)
    ]
    return {"description": "What becomes of a request under every list of a policy.", "cases": [*cases, *_legacy()]}


def _case(mode: str, signature: str, *, fallback: bool, registers: bool) -> dict[str, object]:
    facts, code = SIGNATURES[signature]
    other = "with" if fallback else "without"
    return {
        "id": f"{mode}-{signature}-{other}-fallback{'-registering' if registers else ''}",
        "endpoint_profile": "3.2",
        "mode": mode,
        "has_body": True,
        **({"registers_webhook": True} if registers else {}),
        **facts,
        "fallback_auth_valid": fallback,
        "expected": _expected(mode, signature, code, fallback=fallback, registers=registers),
    }


def _expected(mode: str, signature: str, code: str | None, *, fallback: bool, registers: bool) -> dict[str, object]:
    """The table itself, in the words of the profile page."""
    required, warned = mode.endswith("required_for"), mode.endswith("warn_for")
    if signature == "verified":
        return {"action": "accept", "authentication_source": "signature", "verified_signer_identity": True}
    if signature == "unsigned":
        if registers or (required and not fallback):
            return _rejected("required")
        # A credential that decides nothing is not asked for.
        source = "fallback" if required else "none"
        return {"action": "accept", "authentication_source": source, "verified_signer_identity": False}
    if warned and fallback and not registers and signature != "broken-pair":
        source = {"authentication_source": "fallback"}
        return {"action": "accept_with_warning", **source, "verified_signer_identity": False}
    return _rejected(str(code))


def _rejected(code: str) -> dict[str, object]:
    return {"action": "reject", "error_code": f"request_signature_{code}", "verified_signer_identity": False}


def _legacy() -> Iterator[dict[str, object]]:
    """What a body or a digest policy may say of the profile, and what it may not."""
    accepted = {"action": "accept", "authentication_source": "signature", "verified_signer_identity": True}
    for name, facts, expected in (
        (
            "legacy-required-not-covered",
            {"legacy_digest_policy": "required", "covers_content_digest": False},
            _rejected("components_incomplete"),
        ),
        ("legacy-required-covered", {"legacy_digest_policy": "required"}, accepted),
        ("legacy-either-covered", {"legacy_digest_policy": "either"}, accepted),
        ("legacy-either-not-covered", {"legacy_digest_policy": "either", "covers_content_digest": False}, accepted),
        (
            "legacy-either-rewritten",
            {"legacy_digest_policy": "either", "covers_content_digest": False, "cryptographic_signature_valid": False},
            _rejected("invalid"),
        ),
        ("legacy-forbidden-covered", {"legacy_digest_policy": "forbidden"}, _rejected("components_unexpected")),
        (
            "legacy-forbidden-not-covered",
            {"legacy_digest_policy": "forbidden", "covers_content_digest": False},
            accepted,
        ),
    ):
        yield _fact(name, "3.1", facts, expected)
    yield _fact(
        "rewritten-digest-and-other-body",
        "3.2",
        {"cryptographic_signature_valid": False, "digest_matches_body": False},
        _rejected("invalid"),
    )
    body = {"request_body_adcp_version": "3.1", "covers_content_digest": False}
    yield _fact("body-says-an-older-release", "3.2", body, _rejected("components_incomplete"))
    yield {**_fact("no-body-no-digest", "3.2", {}, accepted), "has_body": False}
    outcome = {"action": "reject_unauthenticated", "verified_signer_identity": False}
    yield _fact("rejected-as-unauthenticated", "3.2", {"covers_content_digest": False}, outcome)


def _fact(name: str, profile: str, facts: Mapping[str, object], expected: Mapping[str, object]) -> dict[str, object]:
    common = {"endpoint_profile": profile, "mode": "required_for", "has_body": True, "signature_present": True}
    return {"id": name, **common, **facts, "fallback_auth_valid": False, "expected": dict(expected)}


def method_names() -> dict[str, object]:
    """Methods of two releases, names that are none, and what matches what."""
    return {
        "description": "Which methods of JSON-RPC a policy may list, and what on the wire they match.",
        "valid_declarations": [
            {"family": "own-slashed", "methods": ["message/send", "tasks/cancel", "tasks/pushNotificationConfig/set"]},
            {"family": "own-capitalized", "methods": ["SendMessage", "CancelTask", "GetExtendedAgentCard", "X"]},
        ],
        "invalid_declarations": [
            "create_media_buy",
            "tools/call",
            "cancelTask",
            "tasks",
            "/tasks/cancel",
            "tasks/cancel/",
            "tasks//cancel",
            "Tasks/cancel",
            "Cancel_Task",
            "tasks/cancel ",
            "*",
        ],
        "exact_match_cases": [
            _match("tasks/cancel", "tasks/cancel", matches=True),
            _match("CancelTask", "CancelTask", matches=True),
            _match("tasks/cancel", "CancelTask", matches=False),
            _match("CancelTask", "tasks/cancel", matches=False),
            _match("SendMessage", "sendMessage", matches=False),
            _match("tasks/cancel", "tasks/cancel/x", matches=False),
            _match("message/send", "message/stream", matches=False),
        ],
    }


def _match(declared: str, wire: str, *, matches: bool) -> dict[str, object]:
    verb = "matches" if matches else "does not match"
    return {"id": f"{declared} {verb} {wire}", "declared_methods": [declared], "wire_method": wire, "matches": matches}
