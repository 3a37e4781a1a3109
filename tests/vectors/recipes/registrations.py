"""Requests that register a webhook with credentials of its own: they must be signed whatever the lists say."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.vectors.recipes.flavors import ORIGIN
from tests.vectors.recipes.message import Recipe, Sent

if TYPE_CHECKING:
    from collections.abc import Iterator

HOOK = {"url": "https://buyer.own.test/hook"}
OWN = {**HOOK, "authentication": {"schemes": ["Bearer"], "credentials": "public-and-for-tests-only-0123456789"}}
NO_LIST = {"required_for": []}


def recipes() -> Iterator[Recipe]:
    for name, rule, content in (
        ("config", "of a push notification", {"push_notification_config": OWN}),
        ("config-in-camel-case", "in another spelling", {"pushNotificationConfig": OWN}),
        ("configs-of-an-account", "at any depth, in a list", {"accounts": [{"notification_configs": [HOOK, OWN]}]}),
        ("reporting", "of reports", {"reporting_webhook": OWN}),
        (
            "authentication-empty",
            "an empty block is a block",
            {"push_notification_config": {**HOOK, "authentication": {}}},
        ),
        (
            "authentication-in-another-case",
            "in another case",
            {"push_notification_config": {**HOOK, "Authentication": {}}},
        ),
    ):
        body = json.dumps({"media_buy_id": "own", **content})
        yield _rejected(f"webhook-{name}", f"an unsigned registration {rule}", Sent(body=body))
    credential = {"fallback_auth_valid": True}
    body = json.dumps({"push_notification_config": OWN})
    yield _rejected(
        "webhook-with-another-credential", "no other credential excuses it", Sent(body=body), state=credential
    )
    text = Sent(body=body, headers=(("Content-Type", "text/plain"),))
    yield _rejected("webhook-of-no-json-type", "whatever type the content says it has", text)
    path = Sent(url=f"{ORIGIN}/webhooks", body=json.dumps(OWN))
    yield _rejected("webhook-by-its-path", "if the path names the content", path)
    yield Recipe(
        "webhook-signed-and-failed",
        "warn_for forgives a registration nothing",
        sent=Sent(body=body),
        mangle=lambda _: bytes(64),
        state=credential,
        capability={"required_for": [], "warn_for": ["create_media_buy"]},
        code="signature_invalid",
    )
    yield Recipe("webhook-signed", "a registration that is signed", sent=Sent(body=body), capability=NO_LIST)
    for name, rule, content in (
        (
            "without-authentication",
            "without credentials of its own need not be signed",
            {"push_notification_config": HOOK},
        ),
        (
            "authentication-null",
            "an authentication of null does not count",
            {"push_notification_config": {**HOOK, "authentication": None}},
        ),
        (
            "authentication-elsewhere",
            "an authentication elsewhere does not count",
            {"account": {"authentication": {"scheme": "x"}}},
        ),
    ):
        yield Recipe(
            f"webhook-{name}",
            f"a webhook {rule}",
            sent=Sent(body=json.dumps(content)),
            signed=False,
            capability=NO_LIST,
            expected={"status": "unsigned", "resolved_operation": "create_media_buy"},
        )


def _rejected(name: str, rule: str, sent: Sent, **options) -> Recipe:
    return Recipe(name, rule, sent=sent, signed=False, capability=NO_LIST, code="signature_required", **options)
