"""Unsigned content: which registers a webhook with credentials, or names a listed operation, for some reader."""

from __future__ import annotations

import gzip
import json

import pytest
from tests.work import lines_run

from undersigned import Operation, Policy, Request, profiles

CREDENTIALS = {"schemes": ["Bearer"], "credentials": "c" * 32}
HOOK = {"url": "https://buyer.example.com/hook", "authentication": CREDENTIALS}
JSON = "application/json"


def registers(content: object, kind: str = JSON, *, name: str | None = None, fields=(), path: bool = False) -> bool:
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    request = Request("POST", "https://a.example/x", [("Content-Type", kind), *fields], body)
    return must_be_signed(Operation(name, registers_webhook=path), request)


def must_be_signed(operation: Operation, request: Request, profile=profiles.ADCP_3_2) -> bool:
    """Return whether a policy without lists rejects an unsigned request."""
    return Policy().decide(operation, "unsigned", request, fallback=False, profile=profile).outcome == "reject"


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
        rb'{"web\u0068ook": {"authentication": {}}}',
        b'{"webhoo\xe2\x84\xaa": {"authentication": {}}}',
        b'{"x": 01, "webhook": {"authentication": {}}}',
        b'{"x": -, "webhook": {"authentication": {}}}',
        b"{'webhook': {authentication: {}}, /* c */ }",
        b"{webhook: {'\\x61uthentication': {}}}",
        b"{webhook: {'\\u{61}uthentication': {}}}",
        rb'{"webhook": {"authentication\u0000": {}}}',
        rb'{"webhook": {"authentication\u0000x": {}}}',
        rb'{"webhook": {"\t_authentication \n\u0001\u200b": {}}}',
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
    assert registers({"webhook": json.dumps(HOOK, indent=1)})
    assert registers(b'{"x":"{\\u0022webhook\\u0022:{\\u0022authentication\\u0022:{}}}"}')
    assert not registers({"note": 'a webhook with "authentication"'})


FAR = ["utf-7", "cp037", "utf-16", "shift_jis", "latin-1", "idna", "punycode", "none", "hex", '"utf 8"', "utf~8"]


@pytest.mark.parametrize(
    "parameter",
    [
        *(f"charset={name}" for name in FAR),
        *(
            "charset*=utf-7",
            "charset*=utf-8''utf-7",
            "charset*0=utf;charset*1=-7",
            "charset=\xa0utf-8",
            "charset=(c)utf-8",
        ),
        *("charset=utf-8;charset=utf-8", "charset=utf-8, text/plain", "charset='utf-8'", "x=charset=utf-8", "charset"),
    ],
)
def test_charset_that_is_not_plainly_like_ascii_must_be_signed_unread(parameter):
    assert registers(b"{}", f"{JSON}; {parameter}")
    assert registers(b"+AHs-", f"text/plain; {parameter}")


@pytest.mark.parametrize("charset", ["utf-8", "UTF8", '"utf-8"', "us-ascii", "iso-8859-15", "windows-1252"])
def test_charset_that_hides_nothing_changes_nothing(charset):
    assert not registers(b"{}", f"{JSON}; charset={charset}")
    assert not registers(b"caf\xe9;webhook;authentication", f"text/csv; charset={charset}")
    assert registers({"webhook": HOOK}, f"{JSON}; charset={charset}")


@pytest.mark.parametrize("coding", ["gzip", "br", "identity, gzip"])
def test_encoded_content_must_be_signed_whatever_its_type(coding):
    """aiohttp decodes content before anybody sees it, and reads JSON of any type."""
    for kind in (JSON, "application/octet-stream"):
        assert registers(gzip.compress(b"{}"), kind, fields=[("Content-Encoding", coding)])
    assert not registers(b"{}", fields=[("Content-Encoding", "identity")])


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"])
def test_json_in_a_wide_encoding_must_be_signed_unread(encoding):
    for text in ("{}", "[1]", '"{}"', "\n {}"):
        assert registers(text.encode(encoding))
    assert not registers("a;b\n1;2".encode(encoding), "text/csv")


HARMLESS = [
    {"push_notification_config": {"url": "https://a.example/webhook"}, "account": {"authentication": CREDENTIALS}},
    {"note": "caf\u00e9 \u0130stanbul \\users \\x64 <&> 'authentication'"},
    {"text": json.dumps({"webhook": "caf\u00e9"}), "a": [{"authentication": {}}]},
]


@pytest.mark.parametrize("content", HARMLESS)
def test_words_and_escapes_of_an_honest_client_register_nothing(content):
    assert not registers(content)
    assert not registers(json.dumps(content, ensure_ascii=False).encode())
    assert not registers(json.dumps(content).replace("'", "\\u0027").replace("&", "\\u0026").encode())


def test_registration_is_found_as_deep_as_the_strict_reader_reads_wherever_it_is_searched():
    body = b'{"webhook":%b{"authentication":1}%b}' % (b'{"a":' * 900, b"}" * 900)
    request = Request("POST", "https://a.example/x", [("Content-Type", JSON)], body)
    request.strict_json()

    def search(calls: int) -> bool:
        return search(calls - 1) if calls else must_be_signed(Operation(), request)

    assert search(0)
    assert search(90)


def test_long_content_with_both_words_must_be_signed():
    text = "x" * 65_536
    assert registers({"webhook": 1, "note": "authentication", "text": text})
    assert not registers({"webhook": 1, "note": "authentic", "text": text})


@pytest.mark.parametrize(
    "text", [rb"\u0061", rb"\\u0061", rb"\\\u00750061", rb"\\u006\u0031", rb"\\\\u005Cu0061", rb"\\u00" * 1_001]
)
def test_escapes_that_no_json_needs_must_be_signed(text):
    assert registers(b'{"text":"%b"}' % text)


def test_backslashes_of_paths_and_escapes_that_readers_skip_hide_nothing():
    path = rb'"path":"C:\\users\\u00\\Users"'
    assert not registers(b"{%b}" % path)
    assert registers(rb'{"webhook":{"authen\u200btication":1},%b}' % path)
    assert not registers(b"{%b,}" % path)
    assert registers(b'{"webhook":{"x":"\\u00\x0061"}}')


def test_quotation_marks_that_a_client_escapes_register_nothing():
    content = rb'{"note":"a \u0022webhook\u0022, \u0022authentication\u0022","webhook":{},"other":{"authentication":1}}'
    assert not registers(content)
    assert registers(content.replace(rb"n\u0022", rb"n\u0022:"))


def test_nesting_that_the_strict_reader_does_not_survive_must_be_signed():
    assert registers(b'{"webhook":1,"authentication":' + b"[" * 100_000)


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"webhook:\n  authentication: x", "application/yaml"),
        (b"webhook=1&authentication=2", "application/x-www-form-urlencoded"),
        (
            b'--b\r\nContent-Disposition: form-data; name="webhook"\r\n\r\n{"authentication":1}',
            "multipart/form-data; boundary=b",
        ),
        (b'"name","webhook"\n"a","authentication"', "text/csv"),
        (b"{webhook: x", "text/plain"),
        (b"{authentication: x", "text/plain"),
        (b"\x89PNG webhook authentication", "image/png"),
        (rb"\x89PNG webhook authentication \u0061", "image/png"),
        (b"\xff\xd8\xff\xe0\0\x10JFIF webhook authentication", "image/jpeg"),
        (b"PK\x03\x04 webhook authentication", "application/zip"),
        (b"\x1f\x8b\x08 webhook authentication", "application/gzip"),
        (b"\0\0\0[ftyp webhook", "video/mp4"),
        (b"", JSON),
    ],
)
def test_content_that_nobody_reads_as_a_registration_registers_nothing(body, kind):
    assert not registers(body, kind)


N = 2_000
COSTLY = {
    "objects": b"[" + b",".join([b"{}"] * N) + b"]",
    "webhooks": b"[" + b",".join([b'{"webhook":[[]]}'] * N) + b',{"authentication":1}]',
    "members": json.dumps({"authentication": 1, "web": 1, **{f"webhook{i}": [] for i in range(N)}}).encode(),
    "strings in strings": b'["webhook",' + b",".join([b'"[authentication......"'] * N) + b"]",
    "escapes": b'["webhook authentication' + rb"\u00e9" * N + b'"]',
    "nearly JSON": b'{"authentication":' + b"-" * N,
    "numbers": b'{"webhook":0,"authentication":[' + b",".join([b"1.5"] * N) + b"]}",
}


@pytest.mark.parametrize("name", COSTLY)
def test_content_costs_a_few_lines_for_each_of_its_values(name):
    """The rest is done by the standard library in C: a benchmark measures it."""
    body = COSTLY[name]
    containers, values = body.count(b"{") + body.count(b"["), body.count(b",")
    registers(rb'"\u00e9"')  # the standard library imports a codec
    lines = lines_run(lambda: registers(body, JSON + ";charset=utf-8" * 100)), lines_run(lambda: registers(body))
    assert lines[0] < 300
    assert lines[1] < 500 + 12 * containers + 2 * values


def test_other_profiles_have_no_rule_about_webhooks():
    request = Request("POST", "https://a.example/x", [("Content-Type", JSON)], json.dumps({"webhook": HOOK}))
    assert not must_be_signed(Operation(), request, profiles.UCP)
