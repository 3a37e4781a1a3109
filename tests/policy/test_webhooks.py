"""Webhook registrations: which content registers a webhook with credentials, for readers of every kind."""

from __future__ import annotations

import gzip
import json

import pytest

from undersigned import Operation, Policy, Request, profiles

CREDENTIALS = {"schemes": ["Bearer"], "credentials": "c" * 32}
HOOK = {"url": "https://buyer.example.com/hook", "authentication": CREDENTIALS}
JSON = "application/json"


def registers(content: object, kind: str = JSON, *, name: str | None = None, fields=(), path: bool = False) -> bool:
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    request = Request("POST", "https://a.example/x", [("Content-Type", kind), *fields], body)
    operation = Operation(name, registers_webhook=path)
    return Policy().registers_webhook(operation, request, profiles.ADCP_3_2)


@pytest.mark.parametrize(
    "name",
    ["push_notification_config", "pushNotificationConfig", "reporting_webhook", "Webhook", "web-hook", "WEBHOOKS"],
)
def test_credentials_below_a_member_that_names_a_webhook_are_found_at_any_depth(name):
    assert registers({name: HOOK})
    assert registers([{"a": {name: [{"b": HOOK}]}}])
    assert not registers({name: {"url": "https://a.example"}})
    assert not registers({name: {"authentication": None}})
    assert not registers({"account": HOOK})


def test_credentials_anywhere_are_found_if_the_request_is_a_registration():
    assert registers(HOOK, path=True)
    assert registers(HOOK, name="set_webhook")
    assert not registers(HOOK, name="get_products")


@pytest.mark.parametrize(
    "body",
    [
        b'{"webhook": {"authentication": {}}, "webhook": 1}',
        b'{"webhook": {"authentication": 1, "authentication": null}}',
        b'{"x": NaN, "webhook": {"authentication": {}}}',
        b'{"x": %s, "webhook": {"authentication": {}}}' % (b"1" * 5000),
        b'{"x": "\n", "webhook": {"authentication": {}}}',
        b'\xef\xbb\xbf{"webhook": {"authentication": {}}}',
        b'{"web\xffhook": {"authen\xfftication": {}}}',
        b'{"webhook": {"authentication": {}}} trailing',
        rb'{"w\u0065bhook": {"authenticat\u0069on": {}}}',
        rb'{"webhook": {"authent\u0130cat\u0130on": {}}}',
        b'{"webhook":{"authentication":1}}',
        b'{"webhook":{"authentication":""}}',
        rb'{"webhook": "{\"authentication\":1}"}',
        rb'{"webhook": ["[{\"authentication\":1}]", {}]}',
        '{"webhook": {"authentication": {}}}'.encode("utf-16"),
        '{"webhook": {"authentication": {}}}'.encode("utf-32-le"),
    ],
)
def test_lenient_readers_of_json_are_covered(body):
    assert registers(body)
    assert registers(body, "text/plain")


def test_json_in_a_string_is_covered_as_deep_as_it_is_nested():
    content: object = {"webhook": HOOK}
    for _ in range(4):
        content = {"arguments": json.dumps(content)}
    assert registers(content)
    assert registers({"webhook": json.dumps(HOOK)})
    assert not registers({"note": 'a webhook with "authentication"'})


@pytest.mark.parametrize("charset", ["utf-7", "cp037", "utf-16", "shift_jis", "latin-1"])
def test_content_is_also_read_in_the_charset_that_it_names(charset):
    body = json.dumps({"webhook": HOOK}).encode(charset)
    if charset == "utf-7":
        body = body.replace(b"webhook", b"+AHc-ebhook")
    assert registers(body, f'{JSON}; charset="{charset}"')


@pytest.mark.parametrize("charset", ["idna", "punycode"])
def test_charset_that_is_slow_to_decode_must_be_signed(charset):
    assert registers(b"{}", f"{JSON}; charset={charset}")


@pytest.mark.parametrize("charset", ["no-such-charset", "hex", "utf-8", "windows-1252"])
def test_charset_that_hides_nothing_changes_nothing(charset):
    assert not registers(b"{}", f"{JSON}; charset={charset}")
    assert registers({"webhook": HOOK}, f"{JSON}; charset={charset}")


def test_encoded_json_must_be_signed_and_other_encoded_content_need_not():
    packed = gzip.compress(b"{}")
    assert registers(packed, fields=[("Content-Encoding", "gzip")])
    assert not registers(packed, "application/octet-stream", fields=[("Content-Encoding", "gzip")])
    # aiohttp decodes content before anybody sees it, and most applications ignore both fields.
    assert registers({"webhook": HOOK}, "text/plain", fields=[("Content-Encoding", "gzip")])


def test_nesting_that_no_reader_survives_must_be_signed():
    assert registers(b'{"authentication":' + b"[" * 100_000)


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"webhook:\n  authentication: x", "application/yaml"),
        (b"webhook=1&authentication=2", "application/x-www-form-urlencoded"),
        (b"{webhook: authentication", "text/plain"),
        (b"\x89PNG webhook authentication", "image/png"),
        (b"", JSON),
    ],
)
def test_text_that_only_mentions_a_webhook_registers_nothing(body, kind):
    assert not registers(body, kind)


def test_other_profiles_have_no_rule_about_webhooks():
    request = Request("POST", "https://a.example/x", [("Content-Type", JSON)], json.dumps({"webhook": HOOK}))
    assert not Policy().registers_webhook(Operation(), request, profiles.UCP)
