"""Which operation a request asks for, over plain HTTP, JSON-RPC and A2A, and what the endpoint's policy makes of it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from tests.vectors.recipes import registrations
from tests.vectors.recipes.flavors import A2A, ADCP_3_2, MCP, ORIGIN
from tests.vectors.recipes.message import BODY, NOW, Flavor, Message, Recipe, Sent

if TYPE_CHECKING:
    from collections.abc import Iterator


def messages() -> Iterator[Message]:
    for recipe in (*_paths(), *_credentials(), *registrations.recipes()):
        yield Message(recipe, ADCP_3_2)
    for flavor in (MCP, A2A):
        for recipe in _envelopes(flavor):
            yield Message(recipe, flavor)


def _envelopes(flavor: Flavor) -> Iterator[Recipe]:
    """JSON-RPC: whether the operation or the signature is looked at first. tests/policy has how operations are read."""
    buy, look = (_call(flavor, name) for name in ("create_media_buy", "get_products"))
    resolved = {"resolved_operation": "create_media_buy"}
    yield Recipe(
        "signed-call",
        "a call that has to be signed, and is",
        sent=Sent(body=buy),
        expected={**resolved, "dispatched_operation": "create_media_buy"},
    )
    yield Recipe(
        "unsigned-call",
        "the call has to be signed",
        sent=Sent(body=buy),
        signed=False,
        expected=resolved,
        code="signature_required",
    )
    yield Recipe(
        "call-of-another-operation",
        "the call need not be signed",
        sent=Sent(body=look),
        signed=False,
        expected={"status": "unsigned", "resolved_operation": "get_products", "dispatched_operation": "get_products"},
    )
    yield Recipe(
        "signed-and-unresolved",
        "a signature that holds does not name an operation",
        sent=Sent(body="[]"),
        code="body_malformed",
        step=0,
    )
    for name, state in (("unresolved", {}), ("unresolved-with-another-credential", {"fallback_auth_valid": True})):
        yield Recipe(
            name,
            "what no one can name is forgiven by nothing",
            sent=Sent(body="[]"),
            signed=False,
            state=state,
            code="body_malformed",
            step=0,
        )
    resolves_first = flavor is A2A
    yield Recipe(
        "broken-pair-and-unresolved",
        "over A2A the operation is resolved first" if resolves_first else "the signature is first",
        sent=Sent(body="[]"),
        input=None,
        proven=not resolves_first,
        code="body_malformed" if resolves_first else "signature_header_malformed",
        step=0 if resolves_first else 1,
    )
    yield Recipe(
        "call-rewritten-after-signing",
        "a call of another operation than the one that was signed",
        sent=Sent(body=look),
        changes={"body": buy},
        expected=resolved,
        code="signature_digest_mismatch",
    )


def _call(flavor: Flavor, name: str) -> str:
    """A call of an operation: of a tool over MCP, of a skill over A2A."""
    part = {"data": {"skill": name, "input": {"plan_id": "plan_own_1"}}}
    skill = {"message": {"messageId": "m-own", "role": "ROLE_USER", "parts": [part]}}
    method, params = ("SendMessage", skill) if flavor is A2A else ("tools/call", {"name": name, "arguments": {}})
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})


def _paths() -> Iterator[Recipe]:
    for name, rule, path, operation in (
        (
            "path-trailing-slash",
            "a trailing slash names the same operation",
            "/adcp/create_media_buy/",
            "create_media_buy",
        ),
        ("path-encoded", "a router sees the segment decoded", "/adcp/create%5Fmedia%5Fbuy", "create_media_buy"),
        (
            "path-encoded-slash",
            "an encoded slash parts segments, as a router sees them",
            "/adcp%2Fcreate_media_buy",
            "create_media_buy",
        ),
        (
            "path-dot-segments",
            "dot segments are resolved before",
            "/adcp/get_products/../create_media_buy",
            "create_media_buy",
        ),
    ):
        yield _unsigned(name, rule, path, operation, code="signature_required")
    for name, rule, path, operation in (
        (
            "path-of-another-operation",
            "an operation in no list need not be signed",
            "/adcp/get_products",
            "get_products",
        ),
        ("path-in-another-case", "names are matched exactly", "/adcp/Create_Media_Buy", "Create_Media_Buy"),
        ("path-in-the-query", "a query names nothing", "/adcp/get_products?x=/create_media_buy", "get_products"),
        ("path-empty", "a path without segments names nothing", "/", None),
    ):
        yield _unsigned(name, rule, path, operation)
    for name, rule, path in (
        (
            "path-encoded-dot-segment",
            "a dot segment that an encoded slash makes",
            "/adcp/get_products/..%2Fcreate_media_buy",
        ),
        ("path-bad-triplet", "a target without a canonical form may name any operation", "/%zz/create_media_buy"),
    ):
        yield _unsigned(name, rule, path, None, code="target_uri_malformed", step=0)
    for name, rule, body in (
        ("json-with-a-repeated-key", "content matters only if it registers a webhook", '{"a":1,"a":2}'),
        ("json-cut-off", "content that is not JSON registers no webhook", '{"a":'),
    ):
        yield _unsigned(f"unsigned-{name}", rule, "/adcp/get_products", "get_products", body=body)


def _unsigned(name: str, rule: str, path: str, operation: str | None, **options: object) -> Recipe:
    body = str(options.pop("body", BODY))
    rejected = options.get("code") in {"target_uri_malformed", "body_malformed"}
    outcome = {} if "code" in options else {"status": "unsigned"}
    resolved = {} if rejected else {"resolved_operation": operation}
    sent = Sent(url=f"{ORIGIN}{path}", body=body)
    return Recipe(name, rule, sent=sent, signed=False, expected={**outcome, **resolved}, **options)


def _credentials() -> Iterator[Recipe]:
    """Another authenticator next to the signature; tests/policy/test_verdict.py has the whole table."""
    other, warn = {"fallback_auth_valid": True}, {"required_for": [], "warn_for": ["create_media_buy"]}
    carried = {"status": "unsigned", "authentication_source": "fallback"}
    yield Recipe(
        "unsigned-with-another-credential",
        "another valid credential excuses a required signature that is absent",
        signed=False,
        state=other,
        expected=carried,
    )
    for name, rule, state, recipe in (
        (
            "replay",
            "a spent nonce",
            {"per_keyid_cap_filled_for": ADCP_3_2.key.kid},
            {"warning_code": "request_signature_rate_abuse"},
        ),
        (
            "source-down",
            "a key source that is down",
            {"key_source_down": True},
            {"warning_code": "request_signature_jwks_unavailable"},
        ),
        ("expired", "a signature that ended", {}, {"warning_code": "request_signature_window_invalid"}),
    ):
        ended = {"created": NOW - 360, "expires": NOW - 61} if name == "expired" else {}
        yield Recipe(
            f"warned-{name}",
            f"under warn_for another credential carries the request, and the failure is recorded: {rule}",
            parameters=ended,
            state={**state, **other},
            capability=warn,
            expected={**carried, **recipe},
        )
    broken = Recipe(
        "header-pair-broken-with-another-credential",
        "a pair that cannot be read is forgiven by no list and no credential",
        input=None,
        proven=False,
        state=other,
        capability=warn,
        code="signature_header_malformed",
    )
    yield broken
    yield replace(
        broken,
        name="parameter-missing-with-another-credential",
        rule="a signature that lacks a required parameter is forgiven by no list and no credential",
        input="{}",
        parameters={"nonce": None},
        code="signature_params_incomplete",
    )
    yield replace(
        broken,
        name="expired-with-another-credential",
        rule="outside of warn_for a failed signature is rejected whatever else is valid",
        input="{}",
        parameters={"created": NOW - 360, "expires": NOW - 61},
        capability={},
        code="signature_window_invalid",
    )
