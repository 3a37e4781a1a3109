from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.work import lines_run

from undersigned import Request
from undersigned.policy.a2a import A2AResolver
from undersigned.policy.jsonrpc import JSONRPCResolver
from undersigned.policy.operation import Operation, PathResolver
from undersigned.policy.policy import Policy
from undersigned.policy.webhooks import mentions_authentication, names_webhook, registers_authentication

ORIGIN = "https://seller.example.com"
CONFIG = {"url": "https://buyer.example.com/hook", "authentication": {"schemes": ["Bearer"], "credentials": "c" * 32}}
PLAIN = {"url": "https://buyer.example.com/hook"}


def registers(content: object, *, inside: bool = False) -> bool:
    return registers_authentication(content, inside=inside)


def must_be_signed(operation: Operation) -> bool:
    return Policy().must_be_signed(operation)


def read(resolver, target: str, body: object) -> Operation:
    return resolver.resolve(Request("POST", ORIGIN + target, [("Content-Type", "application/json")], json.dumps(body)))


@pytest.mark.parametrize(
    "content",
    [
        {"push_notification_config": CONFIG},
        {"pushNotificationConfig": CONFIG},
        {"taskPushNotificationConfig": CONFIG},
        {"task_push_notification_config": CONFIG},
        {"accounts": [{"notification_configs": [PLAIN, CONFIG]}]},
        {"reporting_webhook": CONFIG},
        {"artifactWebhook": CONFIG},
        {"a": [[{"b": {"push_notification_config": CONFIG}}]]},
        {"push_notification_config": [[CONFIG]]},
        {"push_notification_config": {"config": CONFIG}},
        [{"push_notification_config": CONFIG}],
    ],
)
def test_webhook_with_authentication_is_found_at_any_depth(content):
    assert registers(content)


@pytest.mark.parametrize(
    "key", ["Push_Notification_Config", "PUSHNOTIFICATIONCONFIG", "pu\u017fh-notification.config", "webhook"]
)
def test_webhook_config_is_found_in_any_spelling_of_its_name(key):
    assert registers({key: CONFIG})


@pytest.mark.parametrize("key", ["authentication", "Authentication", "AUTHENTICATION", "authentication_"])
@pytest.mark.parametrize("value", [{}, {"schemes": []}, [], "", "Bearer", 0, False])
def test_authentication_counts_unless_it_is_null(key, value):
    assert registers({"push_notification_config": {**PLAIN, key: value}})


@pytest.mark.parametrize(
    "content",
    [
        None,
        "push_notification_config",
        {"push_notification_config": PLAIN},
        {"push_notification_config": {**PLAIN, "authentication": None}},
        {"push_notification_config": None},
        {"push_notification_config": ["authentication"]},
        {"authentication": CONFIG["authentication"]},
        {"governance_agents": [{"url": "https://g.example", "authentication": CONFIG["authentication"]}]},
        {"authentication": {"push_notification_config": PLAIN}},
    ],
)
def test_webhook_without_authentication_of_its_own_is_not_found(content):
    assert not registers(content)


@pytest.mark.parametrize(
    "content",
    [
        {"push_notification_config": json.dumps(CONFIG)},
        {"arguments": json.dumps({"push_notification_config": CONFIG})},
        {"push_notification_config": [f" \ufeff\n{json.dumps(CONFIG)}"]},
        {"arguments": json.dumps([json.dumps({"reporting_webhook": CONFIG})])},
        {"arguments": json.dumps(json.dumps({"reporting_webhook": CONFIG}))},
        {"push_notification_config": json.dumps(CONFIG).replace("a", "\\u0061")},
        {"push_notification_config": "{'authentication': None, nobody reads this}"},
        {"push_notification_config": '{"authentication":1}'},
        json.dumps({"push_notification_config": CONFIG}),
    ],
)
def test_string_of_json_is_searched_as_an_sdk_parses_it(content):
    assert registers(content)


@pytest.mark.parametrize(
    "content",
    [
        {"push_notification_config": json.dumps(PLAIN)},
        {"arguments": json.dumps({"authentication": {}})},
        {"arguments": json.dumps({"push_notification_config": PLAIN})},
        {"brief": "a webhook with an authentication"},
        {"push_notification_config": "authentication"},
    ],
)
def test_string_that_is_not_a_registration_is_not_found(content):
    assert not registers(content)


FORM = b"push_notification_config%5B%61uthentication%5D%5Bschemes%5D=Bearer"


@pytest.mark.parametrize(
    "text",
    [
        b"push_notification_config:\n  authentication:\n    schemes: [Bearer]\n",
        b'{"a": 1}\n{"pushNotificationConfig": {"Authentication": {}}}',
        b'{"push_notification_config": {"authentication": {}}}\xff',
        b'{"push_notific\xffation_config": {"authen\xff\xfetication": {}}}',
        b'// JSON5\n{push_notification_config: {"\\u0061uthentication": 1}}',
        b'"\\x77ebhook": {"\\U00000061uthentication": 1}',
        '{"web\u212aook": "web\uff48ook", "webhoo\u212a": {"authentication": {}},}'.encode(),
        '{"webhook": {"authentication": {}},}'.encode("utf-16-le"),
        '{"web\\u0068ook": {"authenti\\u0063ation": {}},}'.encode("utf-32-be"),
        b'{"webhook": {"authenti\\u00\xff63ation": {}},}',
        b'"{\\"webhook\\": {\\"authenti\\\\u00750063ation\\": {}}}" x',
        b"\\u005cu005cu005cu005cu005cu0061",
        FORM,
        b"webhook%5bauthenticati%6fn%5d",
        rb"webhook authenticati\u006fn",
        rb"webhook authenticati\u006Fn",
        rb"webhook authenticat\u0069on",
    ],
)
def test_text_mentions_a_webhook_when_a_lenient_reader_finds_a_registration(text):
    assert mentions_authentication(text, inside=False)
    assert must_be_signed(PathResolver().resolve(Request("POST", f"{ORIGIN}/adcp/update_media_buy", (), text)))


@pytest.mark.parametrize("text", [rb"\x5cx41", rb"\u005cx41", rb"\x5cu0041", b'{"a":"\\x5cU00000041"}'])
def test_text_whose_decoded_escapes_make_an_escape_must_be_signed(text):
    assert mentions_authentication(text, inside=False)


@pytest.mark.parametrize("text", [rb"\\x41", rb"\\\\u0041", rb"\x5c", rb"\x5cn"])
def test_text_of_strings_in_strings_is_decoded_once(text):
    assert not mentions_authentication(text, inside=True)


@pytest.mark.parametrize(
    "text", [b"", b"\xff\xd8\xff", b"an authentication", b"a webhook", b"webhook: {url: x}", b"%zz \\x \\u00"]
)
def test_text_mentions_no_webhook_when_one_of_the_two_names_is_missing(text):
    assert not mentions_authentication(text, inside=False)
    assert not must_be_signed(PathResolver().resolve(Request("POST", f"{ORIGIN}/adcp/update_media_buy", (), text)))


def test_text_sent_to_a_webhook_path_need_not_name_the_config():
    text = b"authentication: {schemes: [Bearer]}"
    assert mentions_authentication(text, inside=True)
    assert must_be_signed(PathResolver().resolve(Request("POST", f"{ORIGIN}/webhooks", (), text)))
    assert not must_be_signed(PathResolver().resolve(Request("POST", f"{ORIGIN}/adcp/update_media_buy", (), text)))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("Content-Encoding", "gzip"),
        ("Content-Encoding", "identity, br"),
        ("Content-Type", "text/plain; charset=utf-7"),
        ("Content-Type", "text/plain; charset=utf-16"),
        ("Content-Type", "text/plain; charset*=utf-8''cp037"),
        ("Content-Type", 'text/plain; charset="iso-2022-jp"'),
    ],
)
@pytest.mark.parametrize("body", [b"+AHs-", b"{}", b"\x1f\x8b\x08"])
def test_content_that_readers_decode_differently_must_be_signed(field, value, body):
    assert must_be_signed(PathResolver().resolve(Request("POST", f"{ORIGIN}/adcp/x", [(field, value)], body)))
    assert not must_be_signed(PathResolver().resolve(Request("POST", f"{ORIGIN}/adcp/x", [(field, value)])))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("Content-Encoding", "identity"),
        ("Content-Encoding", ""),
        ("Content-Type", "text/plain; charset=ISO-8859-15"),
        ("Content-Type", 'text/plain; charset="windows-1252"; format=flowed'),
        ("Content-Type", "text/plain; charset=utf-8"),
    ],
)
def test_content_that_readers_decode_alike_need_not_be_signed(field, value):
    assert not must_be_signed(PathResolver().resolve(Request("POST", f"{ORIGIN}/adcp/x", [(field, value)], b"caf\xe9")))


@pytest.mark.parametrize(
    ("encoding", "octets"),
    [
        ("utf-16-le", b"\xaf\xc0"),
        ("utf-16-be", b"\xc0\xaf"),
        ("utf-32-le", b"\xaf\0\0\xc0"),
        ("utf-32-be", b"\xc0\0\0\xaf"),
    ],
)
@pytest.mark.parametrize("name", ["webhook", "authentication"])
def test_json_must_be_signed_if_a_reader_that_drops_octets_finds_another_name_in_it(name, encoding, octets):
    text, width = json.dumps({"webhook": {"authentication": {}}}), len(octets)
    # A letter and one of the octets become another character, which UTF-8 does not.
    at = width * text.index(name) + (1 if encoding.endswith("le") else width - 1)
    encoded = text.encode(encoding)
    content = encoded[:at] + octets + encoded[at:]
    request = Request("POST", f"{ORIGIN}/adcp/x", [("Content-Type", "text/plain")], content)
    assert content.replace(b"\0", b"").decode("utf-8", "ignore") == text
    assert name not in json.dumps(request.json_if_any())
    assert must_be_signed(PathResolver().resolve(request))


def test_json_must_be_signed_if_a_reader_that_drops_surrogates_finds_json_in_a_string():
    string = json.dumps({"url": "https://x", "authentication": {}})
    text = json.dumps({"push_notification_config": f"\ud800{string}"}, ensure_ascii=False)
    content = text.encode("utf-8", "surrogatepass")
    request = Request("POST", f"{ORIGIN}/adcp/x", [("Content-Type", "text/plain")], content)
    assert json.loads(content.decode("utf-8", "ignore")) == {"push_notification_config": string}
    assert request.json_if_any() is not None
    assert must_be_signed(PathResolver().resolve(request))


@pytest.mark.parametrize("dropped", ["\0", "\x1f", "\x7f", "\xad", "\u200b", "\u2060\n\ufeff", "\ud800", "\U000e0001"])
def test_json_in_a_string_is_searched_after_characters_that_programs_drop(dropped):
    content = {"push_notification_config": dropped + json.dumps({"authentication": {}})}
    assert registers_authentication(content, inside=False)
    assert not registers_authentication({"note": f"{dropped}webhook authentication"}, inside=False)


def test_registration_over_plain_http_is_found_in_the_body():
    assert must_be_signed(read(PathResolver(), "/adcp/update_media_buy", {"push_notification_config": CONFIG}))


def test_registration_over_json_rpc_is_found_in_the_arguments():
    params = {"name": "update_media_buy", "arguments": {"push_notification_config": CONFIG}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    assert must_be_signed(read(JSONRPCResolver(), "/mcp", body))


@pytest.mark.parametrize("place", ["input", "configuration", "metadata"])
def test_registration_over_a2a_is_found_in_the_skill_input_and_the_configuration(place):
    config = {"pushNotificationConfig": CONFIG}
    data = {"skill": "update_media_buy", "input": config if place == "input" else {}}
    params = {"message": {"parts": [{"data": data}]}, **({place: config} if place != "input" else {})}
    body = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": params}
    assert must_be_signed(read(A2AResolver(), "/a2a", body))


@pytest.mark.parametrize("config", [CONFIG, PLAIN])
@pytest.mark.parametrize(
    ("method", "wrapped"),
    [
        ("CreateTaskPushNotificationConfig", lambda config: {"taskId": "7", **config}),
        ("CreateTaskPushNotificationConfig", lambda config: {"taskId": "7", "config": config}),
        ("tasks/pushNotificationConfig/set", lambda config: {"taskId": "7", "pushNotificationConfig": config}),
    ],
)
def test_registration_method_is_read_from_its_params(method, wrapped, config):
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": wrapped(config)}
    assert must_be_signed(read(A2AResolver(), "/a2a", body)) == (config is CONFIG)


def test_registration_over_http_json_is_recognised_by_its_path():
    assert must_be_signed(read(A2AResolver(), "/v1/tasks/7/pushNotificationConfigs", {**CONFIG, "id": "c"}))
    assert not must_be_signed(read(A2AResolver(), "/v1/tasks/7/pushNotificationConfigs", PLAIN))
    assert not must_be_signed(read(A2AResolver(), "/v1/tasks/7:cancel", CONFIG))


@pytest.mark.parametrize("target", ["/v1/webhooks", "/v1/webhooks/7/", "/tasks/7/pushNotificationConfigs", "/web_hook"])
def test_registration_over_plain_http_is_recognised_by_its_path(target):
    assert must_be_signed(read(PathResolver(), target, CONFIG))
    assert not must_be_signed(read(PathResolver(), target, PLAIN))


@pytest.mark.parametrize("target", ["/", "/v1/hooks", "/webhooks/v1/update_media_buy"])
def test_any_other_path_is_not_a_registration_by_itself(target):
    assert not must_be_signed(read(PathResolver(), target, CONFIG))


def test_registration_operation_is_read_from_its_content():
    assert must_be_signed(Operation("register_webhook", "tools/call", {"params": {"arguments": CONFIG}}))
    assert not must_be_signed(Operation("register_webhook", "tools/call", {"params": {"arguments": PLAIN}}))
    assert not must_be_signed(Operation("update_media_buy", "tools/call", {"params": {"arguments": CONFIG}}))


def test_custom_resolver_can_report_a_registration():
    assert must_be_signed(Operation(content=CONFIG, registers_webhook=True))
    assert not must_be_signed(Operation(content=CONFIG))


@pytest.mark.parametrize("name", ["notifications/initialized", "push_notification", "hook", "notify", ""])
def test_similar_member_name_is_not_a_webhook_config(name):
    assert not names_webhook(name)


def test_content_nested_deeper_than_the_recursion_limit_is_searched():
    content: object = {"push_notification_config": CONFIG}
    for _ in range(100_000):
        content = [content]
    try:
        assert registers(content)
    finally:
        while isinstance(content, list):
            content = content.pop()


@pytest.mark.parametrize(
    "content",
    [
        [0] * 10_000,
        [""] * 10_000,
        [{}] * 10_000,
        [[]] * 10_000,
        ["{a}"] * 10_000,
        {f"webhook_{number}": number for number in range(10_000)},
    ],
    ids=["numbers", "empty strings", "empty objects", "empty lists", "short strings", "members"],
)
def test_values_that_hold_no_registration_are_not_walked(content):
    assert lines_run(lambda: registers(content)) < 4 * 10_000 + 100


def test_no_character_folds_to_two_letters_of_webhook_or_authentication():
    folded = {chr(point).casefold() for point in range(0x110000)}
    letters = {re.sub(r"[^a-z0-9]", "", text) for text in folded if len(text) > 1}
    assert [text for text in letters if len(text) > 1 and (text in "webhook" or text in "authentication")] == []


values = st.recursive(
    st.none() | st.text(max_size=3) | st.booleans(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(around=values, data=st.data())
def test_registration_is_found_whatever_surrounds_it(around, data):
    key = data.draw(st.sampled_from(["push_notification_config", "pushNotificationConfig", "notification_configs"]))
    content: object = {key: data.draw(st.sampled_from([CONFIG, [CONFIG], {"x": CONFIG}]))}
    for _ in range(data.draw(st.integers(0, 3))):
        content = [around, content] if data.draw(st.booleans()) else {"a": around, "b": content, "c": around}
    assert registers(content)
