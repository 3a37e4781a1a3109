from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from undersigned import Policy, Request, profiles
from undersigned.policy import A2AResolver, Operation, UnresolvedOperation

RESOLVER = A2AResolver()
ENDPOINT = "https://seller.example.com/a2a/jsonrpc"
METHODS = ["SendMessage", "SendStreamingMessage", "message/send", "message/stream"]
BUY = {"skill": "create_media_buy", "input": {"plan_id": "plan_001"}}
READ = {"skill": "get_products", "input": {"brief": "spring"}}


def post(body: object, url: str = ENDPOINT, *, method: str = "POST") -> Request:
    content = body if isinstance(body, (str, bytes)) else json.dumps(body)
    return Request(method, url, [("Content-Type", "application/json")], content)


def carrier(*parts: object, **members: object) -> dict[str, object]:
    return {"message": {"messageId": "m-1", "role": "ROLE_USER", "parts": list(parts), **members}}


def envelope(params: object, method: object = "SendMessage") -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def resolve(*parts: object, **members: object) -> Operation:
    return RESOLVER.resolve(post(envelope(carrier(*parts, **members))))


def rejection_of(body: object, url: str = ENDPOINT) -> str:
    with pytest.raises(UnresolvedOperation) as caught:
        RESOLVER.resolve(post(body, url))
    assert caught.value.reason == "body_malformed"
    return str(caught.value)


def rejection_of_parts(*parts: object, **members: object) -> str:
    return rejection_of(envelope(carrier(*parts, **members)))


def test_operation_is_resolved_from_the_body_before_the_signature_is_verified():
    assert (RESOLVER.reads_body, RESOLVER.comes_first) == (True, True)


@pytest.mark.parametrize("method", METHODS)
def test_skill_of_the_only_data_part_is_the_operation(method):
    body = envelope(carrier({"data": BUY}), method)
    operation = RESOLVER.resolve(post(body))
    assert operation == Operation("create_media_buy", method)
    assert operation.content == body


@pytest.mark.parametrize("segment", ["message:send", "message:stream"])
@pytest.mark.parametrize("path", ["/{}", "/a2a/v1/{}", "/tenant/{}/", "/x%2F{}"])
def test_http_json_binding_is_recognised_by_its_path(path, segment):
    url = "https://seller.example.com" + path.format(segment)
    operation = RESOLVER.resolve(post(carrier({"data": BUY}), url))
    methods = (
        {"SendMessage", "message/send"} if segment == "message:send" else {"SendStreamingMessage", "message/stream"}
    )
    assert operation == Operation("create_media_buy", methods=frozenset(methods))


@pytest.mark.parametrize(
    ("method", "path", "listed"),
    [
        ("POST", "/tasks/7:cancel", "tasks/cancel"),
        ("POST", "/v1/tasks/7:cancel", "CancelTask"),
        ("POST", "/tenant/tasks/a:b:cancel", "CancelTask"),
        ("GET", "/tasks/7:cancel", "tasks/get"),
        ("HEAD", "/v1/tasks/7", "GetTask"),
        ("GET", "/tasks/7:subscribe", "tasks/resubscribe"),
        ("GET", "/tasks", "ListTasks"),
        ("POST", "/v1/tasks/7/pushNotificationConfigs", "tasks/pushNotificationConfig/set"),
        ("GET", "/tasks/7/pushNotificationConfigs", "ListTaskPushNotificationConfigs"),
        ("DELETE", "/tasks/7/pushNotificationConfigs/1", "DeleteTaskPushNotificationConfig"),
        ("GET", "/v1/card", "agent/getAuthenticatedExtendedCard"),
        ("POST", "/message:send", "message/send"),
    ],
)
@pytest.mark.parametrize("adcp", [True, False])
def test_http_json_binding_obeys_the_lists_of_json_rpc_methods(method, path, listed, adcp):
    """Both bindings are in one policy, whether the content is resolved or not."""
    policy = Policy(protocol_methods_required_for=[listed], resolver=A2AResolver(adcp=adcp))
    body = {"message": {"parts": [{"text": "hi"}]}} if "message:" in path else b""
    for content in (body, b"not json") if method == "POST" else (b"",):
        request = post(content, f"https://seller.example.com{path}", method=method)
        assert decided(policy, request) == "reject"
    other = Policy(protocol_methods_required_for=["tasks/other"], resolver=A2AResolver(adcp=False))
    assert decided(other, post(body, f"https://seller.example.com{path}", method=method)) == "accept"


def test_malformed_path_of_a_listed_method_must_be_signed():
    policy = Policy(protocol_methods_required_for=["CancelTask"], resolver=A2AResolver(adcp=False))
    assert decided(policy, post(b"", "https://seller.example.com/tasks/7:cancel%0A")) == "reject"


def decided(policy: Policy, request: Request) -> str:
    try:
        operation = policy.resolver.resolve(request)
    except UnresolvedOperation as unresolved:
        operation = unresolved
    return policy.decide(operation, "unsigned", request, fallback=False, profile=profiles.UCP).outcome


def test_encoded_colon_does_not_hide_the_binding():
    url = "https://seller.example.com/v1/message%3Asend"
    assert RESOLVER.resolve(post(carrier({"data": BUY}), url)).name == "create_media_buy"


@pytest.mark.parametrize(
    "method", ["sendmessage", "sendMessage", "SENDMESSAGE", "message/Send", "tasks/cancel", "GetTask"]
)
def test_any_other_method_names_no_operation(method):
    assert RESOLVER.resolve(post(envelope(carrier({"data": BUY}), method))) == Operation(None, method)


def test_tools_call_on_the_same_endpoint_names_its_operation():
    body = envelope({"name": "create_media_buy", "arguments": {}}, "tools/call")
    assert RESOLVER.resolve(post(body)) == Operation("create_media_buy", "tools/call")


def test_text_and_metadata_name_no_operation():
    parts = [{"text": "AdCP task: create_media_buy", "mediaType": "text/plain"}, {"data": READ}, {"text": "skill"}]
    assert resolve(*parts, metadata={"skill": "create_media_buy"}).name == "get_products"


def test_kind_that_matches_the_content_changes_nothing():
    parts = [{"kind": "text", "text": "hello"}, {"kind": "data", "data": BUY}]
    assert resolve(*parts, kind="message").name == "create_media_buy"


@pytest.mark.parametrize("more", [{"parameters": {"brief": "spring"}}, {"Input": 1, "skills": 2}])
@pytest.mark.parametrize("skill", ["get_products", "Create_Media_Buy", " ", "\u00e9"])
def test_only_the_skill_is_read_exactly_as_it_is_written(more, skill):
    assert resolve({"data": {"skill": skill, **more}}).name == skill


DATA = {"data": READ}


@pytest.mark.parametrize(
    ("parts", "why"),
    [
        ([DATA, {"data": BUY}], "the message has 2 DataParts: expected one"),
        ([DATA, {"data": {"note": "extra"}}], "the message has 2 DataParts: expected one"),
        ([DATA, {"data": None}], "the message has 2 DataParts: expected one"),
        ([{"text": "Please create a media buy"}], "the message has 0 DataParts: expected one"),
        ([{"text": ""}] * 1000, "the message has 0 DataParts: expected one"),
        ([{"text": ""}] * 1001, "the message has no list of at most 1000 parts"),
        ([], "the message has 0 DataParts: expected one"),
        *(([DATA, {name: "AAAA", "mediaType": "video/mp4"}], "a part is a file") for name in ("raw", "url", "file")),
        *(
            ([part], "a part has several contents, or none")
            for part in ({**DATA, "text": None}, {**DATA, "raw": "AAAA"}, {**DATA, "url": ""}, {**DATA, "file": {}})
        ),
        ([DATA, {"metadata": {}}], "a part has several contents, or none"),
        *(
            ([{"kind": kind, **DATA}], "the kind of a part does not match its content")
            for kind in ("text", "Data", "file", "", None, 7, ["data"], {"data": 1})
        ),
        *(
            ([{"data": data}], "the DataPart's data is not an object")
            for data in (["create_media_buy", {}], "create_media_buy", 7, None, True)
        ),
        *(
            ([{"data": {"skill": skill}}], "the skill is not a name")
            for skill in (7, "", None, True, ["a"], {"a": 1}, "create_media_buy\x00", "a\u200b", "\ufeffa", "\ud800")
        ),
        ([{"data": {"input": BUY["input"]}}], "the skill is not a name"),
        *(
            ([{"data": {**READ, key: "b"}}], "a member of the DataPart's data has a name that readers read differently")
            for key in ("Skill", "SKILL", "\u017fkill", "s\u212aill", "skill\x00", "other\ud800")
        ),
        *(
            ([{**DATA, key: BUY}], "a member of the part has a name that readers read differently")
            for key in ("Text", "Data", "RAW", "Url", "\ufb01le", "Kind")
        ),
        ([{**DATA, "unknown": BUY}], "a member of the part is not a known one"),
    ],
)
def test_parts_in_which_readers_may_find_different_skills_are_rejected(parts, why):
    assert rejection_of_parts(*parts) == why


@pytest.mark.parametrize("key", ["Parts", "part\u017f", "TaskId", "taskid", "unknown"])
def test_unknown_member_and_second_spelling_of_a_message_member_are_rejected(key):
    rejection_of_parts({"data": READ}, **{key: [{"data": BUY}]})


def test_second_spelling_of_the_message_is_rejected():
    rejection_of(envelope({**carrier({"data": READ}), "Message": carrier({"data": BUY})["message"]}))


@pytest.mark.parametrize(
    "text",
    [
        '{"data":{"skill":"get_products","skill":"create_media_buy"}}',
        '{"data":{"skill":"get_products","sk\\u0069ll":"create_media_buy"}}',
        '{"data":{"skill":"get_products"},"d\\u0061ta":{"skill":"create_media_buy"}}',
        '{"data":{"skill":"get_products","input":{"a":1,"a":2}}}',
    ],
)
def test_repeated_key_is_rejected_at_any_depth_after_decoding(text):
    body = json.dumps(envelope(carrier("PART"))).replace('"PART"', text)
    assert rejection_of(body) == "a JSON object has duplicate keys"


@pytest.mark.parametrize("member", [BUY, [BUY], {"data": {"Skill": "x"}}, {"a": [1, {"skill\0": "x"}]}])
def test_second_skill_that_an_sdk_may_unwrap_is_rejected(member):
    """The official SDK takes data["value"] for the data if the metadata has `data_part_compat`."""
    metadata = {"data_part_compat": True}
    rejection_of_parts({"data": {**READ, "value": member}, "metadata": metadata})
    assert resolve({"data": {**READ, "input": {"list": [BUY]}}, "metadata": metadata}).name == "get_products"


@pytest.mark.parametrize("params", [None, [], "x", {}, {"message": None}, {"message": []}, {"message": {}}])
def test_message_method_without_a_message_is_rejected(params):
    rejection_of(envelope(params))


@pytest.mark.parametrize("parts", [None, {}, "x", {"data": BUY}, [None], ["data"], [[]]])
def test_parts_are_rejected_when_they_are_not_a_list_of_objects(parts):
    rejection_of(envelope({"message": {"parts": parts}}))


def test_protobuf_names_of_a2a_0_3_are_rejected_alone_and_next_to_json_names():
    other = carrier({"data": BUY})["message"]
    rejection_of(envelope({**carrier({"data": READ}), "request": other}))
    rejection_of_parts({"data": READ}, content=[{"data": BUY}])
    rejection_of_parts({"data": {"skill": "get_products", "data": BUY}})
    rejection_of({"request": other}, "https://seller.example.com/v1/message:send")


def test_body_for_both_bindings_is_rejected_at_either_path():
    both = {**carrier({"data": READ}), **envelope(carrier({"data": BUY}))}
    rejection_of(both, "https://seller.example.com/v1/message:send")
    rejection_of({**envelope({}, "tasks/get"), **carrier({"data": BUY})})


@pytest.mark.parametrize(
    "path", ["/v1/tasks/7:cancel", "/tenant/tasks/7:subscribe", "/tasks/7/pushNotificationConfigs/"]
)
@pytest.mark.parametrize("body", ["", "{}", '{"id":"7","metadata":{}}'])
def test_http_json_request_about_a_task_names_no_operation(path, body):
    operation = RESOLVER.resolve(post(body, "https://seller.example.com" + path))
    assert (operation.name, operation.method) == (None, None)
    assert operation.registers_webhook == (bool(body) and "push" in path)


@pytest.mark.parametrize("path", ["/tasks/7:cancel", "/tasks/7/pushNotificationConfigs"])
def test_task_path_does_not_hide_an_operation(path):
    url = "https://seller.example.com" + path
    assert RESOLVER.resolve(post(envelope(carrier({"data": BUY})), url)).name == "create_media_buy"
    rejection_of(carrier({"data": BUY}), url)
    rejection_of([envelope(carrier({"data": BUY}))], url)
    with pytest.raises(UnresolvedOperation):
        RESOLVER.resolve(Request("POST", url, has_body=True))


@pytest.mark.parametrize(
    "path", ["/tasks/7", "/tasks/7:Cancel", "/xtasks/7:cancel", "/tasks/:cancel", "/tasks/a/b:cancel"]
)
def test_post_without_content_is_rejected_at_any_other_path(path):
    rejection_of(b"", "https://seller.example.com" + path)


def test_request_that_needs_no_content_names_no_operation():
    assert RESOLVER.resolve(post(b"", "https://seller.example.com/v1/other", method="GET")) == Operation()


@pytest.mark.parametrize("path", ["/a2a", "/tasks/7:subscribe"])
def test_handshake_of_a_websocket_leaves_open_what_runs(path):
    request = Request("GET", f"https://seller.example.com{path}", {"Upgrade": "websocket"})
    assert RESOLVER.resolve(request).is_unknown


def test_url_without_canonical_form_is_rejected_as_malformed():
    with pytest.raises(UnresolvedOperation) as caught:
        RESOLVER.resolve(post(carrier({"data": BUY}), "https://b\u00fccher.example/message:send"))
    assert caught.value.reason == "target_uri_malformed"


# What other programs could make of the same bytes. An object is kept as its pairs; a reader picks among them.

Pairs = tuple


def pairs_of(text: bytes) -> object:
    try:
        return json.loads(text, object_pairs_hook=tuple)
    except (ValueError, RecursionError):
        return None


def first_wins(value: object, name: str) -> object:
    return next((found for key, found in value if key == name), None) if isinstance(value, Pairs) else None


def last_wins(value: object, name: str) -> object:
    return next((found for key, found in reversed(value) if key == name), None) if isinstance(value, Pairs) else None


def any_case_wins(value: object, name: str) -> object:
    keys = reversed(value) if isinstance(value, Pairs) else ()
    return next((found for key, found in keys if key.casefold() == name.casefold()), None)


def until_nul_wins(value: object, name: str) -> object:
    keys = value if isinstance(value, Pairs) else ()
    return next((found for key, found in keys if key.split("\0")[0] == name), None)


def read_skill_by(get, pick, body: bytes) -> object:
    """The operation a dispatcher runs that finds members by `get` and the part by `pick`, trusting what it reads."""
    whole = pairs_of(body)
    for content in whole if isinstance(whole, list) else [whole]:
        if get(content, "method") == "tools/call":
            return get(get(content, "params"), "name")
        if get(content, "method") not in METHODS:
            continue
        parts = get(get(get(content, "params"), "message"), "parts")
        skills = [get(get(part, "data"), "skill") for part in parts] if isinstance(parts, list) else []
        named = [skill for skill in skills if isinstance(skill, str)]
        return pick(named) if named else None
    return None


READERS = [
    (get, pick)
    for get in (first_wins, last_wins, any_case_wins, until_nul_wins)
    for pick in (lambda skills: skills[0], lambda skills: skills[-1])
]


def spellings(*names: str) -> st.SearchStrategy[str]:
    """JSON text of a member name: mostly as it is, at times with an escape, in another case, or ended by a NUL."""
    plain = st.sampled_from([json.dumps(name) for name in names])
    other = st.sampled_from(
        [
            text
            for name in names
            for text in (
                '"' + "".join(f"\\u{ord(char):04x}" for char in name) + '"',
                json.dumps(name.title()),
                json.dumps(name.replace("s", "\u017f")),
                json.dumps(name.replace("k", "\u212a")),
                json.dumps(name + "\0x"),
            )
        ]
    )
    return st.integers(0, 9).flatmap(lambda roll: other if roll == 0 else plain)


def objects(*members: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """JSON text of an object of these members, at times of one of them once more."""
    whole = st.tuples(*members)
    more = st.integers(0, 9).flatmap(lambda roll: st.one_of(*members) if roll == 0 else st.none())
    return st.tuples(whole, more).map(lambda drawn: "{" + ",".join(filter(None, (*drawn[0], drawn[1]))) + "}")


def member(name: str, *values: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.tuples(spellings(name), st.one_of(*values)).map(":".join)


def texts(*values: object) -> st.SearchStrategy[str]:
    return st.sampled_from([json.dumps(value) for value in values])


skills = texts("create_media_buy", "get_products", "", 7)
datas = objects(member("skill", skills)) | objects(member("skill", skills), member("input", texts({}, 1)))
parts = st.one_of(
    objects(member("data", datas)),
    objects(member("kind", texts("data", "text", "file")), member("data", datas)),
    objects(member("text", texts("create_media_buy"))),
    objects(member("url", texts("https://a.example"))),
)
lists = st.lists(parts, min_size=1, max_size=3).map(lambda drawn: "[" + ",".join(drawn) + "]")
messages = objects(member("role", texts("user")), member("parts", lists))
params = objects(member("message", messages)) | objects(member("name", skills), member("arguments", texts({})))
envelopes = objects(
    member("jsonrpc", texts("2.0")),
    member("method", texts(*METHODS, "tools/call", "tasks/get", "sendmessage")),
    member("params", params),
)
bodies = (envelopes | st.lists(envelopes, max_size=2).map(lambda drawn: "[" + ",".join(drawn) + "]")).map(str.encode)


@given(body=bodies)
def test_every_reader_of_an_accepted_message_runs_the_operation_that_was_verified(body):
    try:
        operation = RESOLVER.resolve(post(body))
    except UnresolvedOperation:
        return
    assert {read_skill_by(get, pick, body) for get, pick in READERS} == {operation.name}


def test_readers_in_the_property_disagree_on_some_messages():
    body = b'{"method":"message/send","params":{"message":{"parts":[%s]}}}'
    attacks = [
        b'{"data":{"skill":"a","skill":"b"}}',
        b'{"data":{"skill":"a","Skill":"b"}}',
        b'{"data":{"skill\\u0000":"a","skill":"b"}}',
        b'{"data":{"skill":"a"}},{"data":{"skill":"b"}}',
    ]
    for attack in attacks:
        assert {read_skill_by(get, pick, body % attack) for get, pick in READERS} == {"a", "b"}


@given(
    body=st.binary() | bodies | bodies.map(lambda body: body[: len(body) // 2]),
    path=st.sampled_from(["", "message:send", "tasks/1:cancel", "tasks/1/pushNotificationConfigs"]) | st.text(),
    method=st.sampled_from(["POST", "GET", "post"]),
)
def test_resolver_raises_only_unresolved_operation_for_any_content(body, path, method):
    try:
        operation = RESOLVER.resolve(post(body, f"https://seller.example.com/{path}", method=method))
    except UnresolvedOperation as unresolved:
        message = str(unresolved)
    else:
        message = ""
        assert operation.name is None or operation.name.isprintable()
    assert message.isprintable()


@pytest.mark.parametrize(
    "path", ["/v1/message:send%0A", "/tasks/7/pushNotificationConfigs%0A", "/tasks/7%0A:cancel", "/v1/message:send%FF"]
)
def test_path_is_rejected_when_a_router_may_read_it_as_another_one(path):
    with pytest.raises(UnresolvedOperation) as caught:
        RESOLVER.resolve(post(carrier({"data": READ}), f"https://seller.example.com{path}"))
    assert caught.value.reason == "target_uri_malformed"
