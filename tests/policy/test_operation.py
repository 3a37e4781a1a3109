from __future__ import annotations

import dataclasses
import json
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from undersigned import Request, UndersignedError, profiles
from undersigned.errors import MalformedSignature
from undersigned.policy import A2AResolver, Operation, PathResolver, UnresolvedOperation

ORIGIN = "https://seller.example.com"
RESOLVER = PathResolver()


def resolve(target: str, body: bytes | str = b"", *types: str) -> Operation:
    return RESOLVER.resolve(Request("POST", ORIGIN + target, [("Content-Type", value) for value in types], body))


def test_path_is_resolved_after_the_signature_and_without_the_body():
    assert (RESOLVER.reads_body, RESOLVER.comes_first) == (False, False)


@pytest.mark.parametrize(
    "target",
    [
        "/adcp/create_media_buy",
        "/create_media_buy",
        "/adcp/create_media_buy?a=/b",
        "/adcp/create_media_buy#/b",
        "/adcp/./create_media_buy",
        "/adcp/x/../create_media_buy",
        "/adcp/create%5Fmedia%5fbuy",
        "/adcp//create_media_buy",
    ],
)
def test_last_segment_of_the_canonical_path_is_the_operation(target):
    assert resolve(target) == Operation("create_media_buy")


@pytest.mark.parametrize("target", ["/adcp/create_media_buy/", "/adcp/create_media_buy//", "/adcp/create_media_buy%2F"])
def test_trailing_slash_that_a_router_forgives_does_not_hide_the_operation(target):
    assert resolve(target).name == "create_media_buy"


@pytest.mark.parametrize("target", ["/adcp/x%2Fcreate_media_buy", "/adcp/x%2fcreate%5Fmedia_buy%2F"])
def test_encoded_slash_does_not_hide_the_operation_from_a_router_of_decoded_paths(target):
    assert resolve(target).name == "create_media_buy"


@pytest.mark.parametrize(
    "target", ["/adcp/create_media_buy/x%2F..", "/adcp/create_media_buy%2F.", "/create_media_buy/x%2F..%2Fy/..%2F"]
)
def test_dot_segment_made_by_decoding_is_rejected(target):
    with pytest.raises(UnresolvedOperation) as caught:
        resolve(target)
    assert caught.value.reason == "target_uri_malformed"


@pytest.mark.parametrize(
    "piece",
    ["%00", "%0A", "%0D%0A", "%7F", "%C2%85", "%C2%A0", "%C2%AD", "%E2%80%8B", "%E2%80%A8", "%EF%BB%BF"],
    ids=lambda piece: piece.strip("%"),
)
@pytest.mark.parametrize("target", ["/adcp/create_media_buy{}", "/adcp{}/create_media_buy", "/{}/adcp/", "/a{}b"])
def test_path_with_an_unprintable_character_is_rejected(target, piece):
    with pytest.raises(UnresolvedOperation, match="unprintable") as caught:
        resolve(target.format(piece))
    assert caught.value.reason == "target_uri_malformed"


@pytest.mark.parametrize("piece", ["%FF", "%80", "%C0%AF", "%C3", "%E2%80", "%ED%A0%80", "%F4%90%80%80"])
@pytest.mark.parametrize("target", ["/adcp/create_media_buy{}", "/adcp{}/create_media_buy", "/create_media{}_buy"])
def test_path_that_is_not_utf_8_is_rejected(target, piece):
    with pytest.raises(UnresolvedOperation, match="not UTF-8") as caught:
        resolve(target.format(piece))
    assert caught.value.reason == "target_uri_malformed"


def test_path_of_other_printable_characters_is_read():
    assert resolve("/caf%C3%A9/%E2%82%AC%20x").name == "\u20ac x"


@pytest.mark.parametrize("target", ["", "/", "//", "/?a", "/%2F"])
def test_path_without_segments_names_no_operation(target):
    assert resolve(target).name is None


def test_name_is_compared_with_its_letter_case():
    assert resolve("/adcp/Create_Media_Buy").name == "Create_Media_Buy"
    assert resolve("/adcp/create_media_buy%20").name == "create_media_buy "


@pytest.mark.parametrize("url", ["", "/adcp/create_media_buy", "https://b\u00fccher.example/x", "https://a/%2e%2e/x"])
def test_url_without_canonical_form_is_rejected_as_malformed(url):
    with pytest.raises(UnresolvedOperation) as caught:
        RESOLVER.resolve(Request("POST", url))
    assert caught.value.reason == "target_uri_malformed"


def test_name_is_resolved_when_the_content_is_not_json():
    assert resolve("/adcp/upload", b"\x89PNG", "image/png") == Operation("upload")


def test_unresolved_operation_is_our_error_with_the_code_of_the_profile():
    error = UnresolvedOperation("the skill is not a name")
    assert isinstance(error, UndersignedError)
    answer = error.as_error(profiles.ADCP_3_2)
    assert isinstance(answer, MalformedSignature)
    assert (answer.code, answer.step) == ("request_body_malformed", 0)
    assert (
        answer.explain() == "request_body_malformed (presence of a signature): "
        "the operation cannot be resolved: the skill is not a name"
    )
    malformed = UnresolvedOperation("x", reason="target_uri_malformed")
    assert malformed.as_error(profiles.ADCP_WEBHOOK).code == "webhook_target_uri_malformed"


def test_operation_is_frozen_and_does_not_show_its_content():
    operation = Operation("get_products", "tools/call", {"token": "hunter2"})
    assert "hunter2" not in repr(operation)
    with pytest.raises(dataclasses.FrozenInstanceError):
        operation.name = "other"  # type: ignore[misc]


def test_operations_are_compared_by_what_they_name():
    assert hash(Operation("a", None, {"b": []})) == hash(Operation("a"))
    assert Operation("a", "tools/call") != Operation("a")


def invoke(data: object) -> Operation:
    """The operation of an A2A message with this data."""
    content = json.dumps({"message": {"parts": [{"data": data}]}})
    return A2AResolver().resolve(
        Request("POST", f"{ORIGIN}/message:send", [("Content-Type", "application/json")], content)
    )


@pytest.mark.parametrize("value", [None, 7, True, "", "a\x00", "a\u200b", "a\ud800", "\ufeffa", ["a"], {"a": 1}])
def test_text_is_not_a_name_when_programs_store_it_differently(value):
    with pytest.raises(UnresolvedOperation, match="the skill is not a name"):
        invoke({"skill": value})


@pytest.mark.parametrize("value", ["a", "Create_Media_Buy", " ", "\u00e9"])
def test_printable_text_is_a_name(value):
    assert invoke({"skill": value}).name == value


@pytest.mark.parametrize("key", ["Skill", "SKILL", "\u017fkill", "s\u212aill", "skill\x00", "other\ud800"])
def test_second_spelling_of_a_member_is_rejected(key):
    with pytest.raises(UnresolvedOperation, match="of the DataPart's data has a name that readers read differently"):
        invoke({"skill": "a", key: "b"})


def test_unrecognised_members_are_ignored():
    assert invoke({"skill": "a", "Input": 1, "skills": 2}).name == "a"


@pytest.mark.parametrize("value", [None, [], "x", 1])
def test_value_that_is_not_an_object_has_no_members(value):
    with pytest.raises(UnresolvedOperation, match="the DataPart's data is not an object"):
        invoke(value)


targets = st.text(alphabet=string.ascii_letters + "/.%25fF2eE?#\\;\u00e9\x00", max_size=40)


@given(url=st.one_of(st.text(), targets.map((ORIGIN + "/").__add__)), body=st.binary(), types=st.lists(st.text()))
def test_resolver_raises_only_unresolved_operation_for_any_content(url, body, types):
    request = Request("POST", url, [("Content-Type", value) for value in [*types, "application/json"]], body)
    try:
        operation = RESOLVER.resolve(request)
    except UnresolvedOperation as unresolved:
        message = str(unresolved)
    else:
        message = ""
        assert operation.method is None
    assert message.isprintable()


@given(target=targets)
def test_router_that_decodes_and_ignores_slashes_finds_the_same_name(target):
    try:
        name = RESOLVER.resolve(Request("GET", f"{ORIGIN}/{target}")).name
    except UnresolvedOperation:
        return
    assert name is None or (name not in {"", ".", ".."} and "/" not in name)


@given(st.sampled_from(["create_media_buy", "get_products"]), st.sampled_from(["", "/", "//", "%2F", "%2f/"]))
def test_name_does_not_depend_on_whether_the_body_was_read(name, slashes):
    head = resolve(f"/adcp/{name}{slashes}")
    whole = resolve(f"/adcp/{name}{slashes}", "{}", "application/json")
    assert head == whole
