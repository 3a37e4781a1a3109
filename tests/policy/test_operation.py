from __future__ import annotations

import dataclasses
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from undersigned import Request, UndersignedError, profiles
from undersigned.errors import MalformedSignature
from undersigned.policy import Operation, PathResolver, UnresolvedOperation

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
        "/adcp/create_media_buy/",
        "/adcp/create_media_buy//",
        "/adcp/create_media_buy%2F",
        "/adcp/x%2Fcreate_media_buy",
        "/adcp/x%2fcreate%5Fmedia_buy%2F",
    ],
)
def test_last_segment_of_the_decoded_canonical_path_is_the_operation_whatever_slashes_follow(target):
    assert resolve(target) == Operation("create_media_buy")


UNPRINTABLE = ["%00", "%0A", "%0D%0A", "%7F", "%C2%85", "%C2%A0", "%C2%AD", "%E2%80%8B", "%E2%80%A8", "%EF%BB%BF"]
NOT_UTF_8 = ["%FF", "%80", "%C0%AF", "%C3", "%E2%80", "%ED%A0%80", "%F4%90%80%80"]


@pytest.mark.parametrize(
    ("piece", "why"),
    [
        *((piece, "unprintable") for piece in UNPRINTABLE),
        *((piece, "not UTF-8") for piece in NOT_UTF_8),
        *((piece, "'.' or '..' segment") for piece in ("/x%2F..", "%2F.", "/x%2F..%2Fy/..%2F")),
    ],
)
@pytest.mark.parametrize("target", ["/adcp/create_media_buy{}", "/adcp{}/create_media_buy", "/a{}/b"])
def test_path_that_routers_may_read_differently_is_rejected(target, piece, why):
    with pytest.raises(UnresolvedOperation, match=why) as caught:
        resolve(target.format(piece))
    assert caught.value.reason == "target_uri_malformed"


@pytest.mark.parametrize(
    ("target", "name"),
    [
        ("/caf%C3%A9/%E2%82%AC%20x", "\u20ac x"),
        ("/adcp/Create_Media_Buy", "Create_Media_Buy"),
        ("/adcp/create_media_buy%20", "create_media_buy "),
        *((target, None) for target in ("", "/", "//", "/?a", "/%2F")),
    ],
)
def test_name_is_the_text_of_the_segment_and_none_without_one(target, name):
    assert resolve(target).name == name


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
