from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from undersigned import ConfigurationError, Request, profiles
from undersigned.policy import A2AResolver, JSONRPCResolver, Operation, PathResolver, Policy, UnresolvedOperation

REQUEST = Request("POST", "https://a.example/x")
OPERATIONS = ("required_for", "warn_for", "supported_for")
METHODS = tuple(f"protocol_methods_{option}" for option in OPERATIONS)
MCP = JSONRPCResolver()
DEMANDS = ("required", "warn", "supported")


def policy(**options) -> Policy:
    return Policy(**{"resolver": MCP, **options})


def rejection(**options) -> str:
    with pytest.raises(ConfigurationError) as caught:
        policy(**options)
    return str(caught.value)


def test_default_policy_requires_nothing_and_reads_the_path():
    default = Policy()
    assert default.resolver == PathResolver()
    assert default.demand(Operation("create_media_buy")) == "none"
    assert hash(default) == hash(Policy())


def test_policy_is_frozen_and_copies_its_lists():
    names = ["create_media_buy"]
    made = Policy(required_for=names)
    names.append("get_products")
    assert made.required_for == {"create_media_buy"}
    with pytest.raises(dataclasses.FrozenInstanceError):
        made.required_for = ()  # type: ignore[misc]


@pytest.mark.parametrize("given", [["a_b"], ("a_b",), {"a_b"}, frozenset({"a_b"}), iter(["a_b"]), ["a_b", "a_b"]])
def test_any_collection_of_names_is_accepted_as_a_list(given):
    assert Policy(supported_for=given).supported_for == {"a_b"}


@pytest.mark.parametrize("option", OPERATIONS + METHODS)
@pytest.mark.parametrize("given", ["create_media_buy", b"create_media_buy", None, 7, {"create_media_buy": True}])
def test_value_is_rejected_with_its_option_name_when_it_is_not_a_list(option, given):
    assert rejection(**{option: given}) == f"{option}: give a list of names, such as ['create_media_buy']"


@pytest.mark.parametrize("option", OPERATIONS + METHODS)
@pytest.mark.parametrize("name", ["", None, 7, b"create_media_buy", ["create_media_buy"]])
def test_name_is_rejected_with_its_option_name_when_it_is_empty_or_not_text(option, name):
    assert rejection(**{option: [name]}).startswith(f"{option}: {name!r} is not a")


@pytest.mark.parametrize("option", OPERATIONS)
@pytest.mark.parametrize("name", ["tasks/cancel", "CancelTask", "tools/call", "message/send", "SendMessage"])
def test_method_among_the_operations_is_rejected_and_the_error_names_its_list(option, name):
    message = rejection(**{option: ["create_media_buy", name]})
    assert message.startswith(f"{option}: {name!r} is not an operation")
    assert message.endswith(f"list methods in protocol_methods_{option}")


@pytest.mark.parametrize("option", OPERATIONS)
@pytest.mark.parametrize(
    "name",
    [
        *("sendMessage", "Create_Media_Buy", " create_media_buy", "create_media_buy\n", "*", "/adcp/create_media_buy"),
        *("1a", "_a", "a_", "a b", "A_b", "a/b_"),
    ],
)
def test_misspelled_operation_is_rejected(option, name):
    assert rejection(**{option: [name]}).startswith(f"{option}: {name!r} is not an operation")


@pytest.mark.parametrize(
    "name", ["tasks", "get-products", "v2.get_products", "a", "a1", "a_b", "a.b", "a__b", "a_-.b1", "z9"]
)
def test_operation_is_lower_case_words_with_digits_and_separators_inside(name):
    assert Policy(required_for=[name]).demand(Operation(name)) == "required"


@pytest.mark.parametrize("option", METHODS)
@pytest.mark.parametrize("name", ["create_media_buy", "tasks", "get-products", "tools/call"])
def test_operation_among_the_methods_is_rejected_and_the_error_names_its_list(option, name):
    why, twin = rejection(**{option: [name]}), option.removeprefix("protocol_methods_")
    told = "calls an operation: list the" if name == "tools/call" else "is not a JSON-RPC method"
    assert why.startswith(f"{option}: {name!r} {told}")
    assert why.endswith(f"operations in {twin}")


@pytest.mark.parametrize("option", METHODS)
@pytest.mark.parametrize(
    "name",
    [
        *("sendMessage", "/tasks/cancel", "tasks//cancel", "tasks/cancel/", "Cancel_Task", "tasks/cancel ", "Tasks/x"),
        *("tasks/", "/get", "1/a", "a/1", "a/B", "a/b-c"),
    ],
)
def test_misspelled_method_is_rejected(option, name):
    assert rejection(**{option: [name]}).startswith(f"{option}: {name!r} is not a JSON-RPC method")


@pytest.mark.parametrize("option", METHODS)
def test_list_of_methods_is_rejected_when_the_resolver_never_finds_methods(option):
    message = rejection(**{option: ["tasks/cancel"], "resolver": PathResolver()})
    assert message.startswith(f"{option}: PathResolver finds no JSON-RPC method")
    assert policy(**{option: ["tasks/cancel"], "resolver": A2AResolver()})


class _Own:
    reads_body = False
    comes_first = False

    def resolve(self, _request):
        return Operation("own", "own/method")


def test_custom_resolver_is_accepted():
    made = Policy(required_for=["own"], protocol_methods_warn_for=["own/method"], resolver=_Own())
    assert made.demand(made.resolver.resolve(None)) == "required"


def test_names_are_matched_exactly():
    made = policy(required_for=["create_media_buy"], protocol_methods_required_for=["tasks/cancel"])
    for name in ["Create_Media_Buy", "create-media-buy", "create_media_buy ", "create_media_bu", None]:
        assert made.demand(Operation(name)) == "none"
    for method in ["Tasks/Cancel", "tasks/cancel/", "CancelTask", None]:
        assert made.demand(Operation(None, method)) == "none"


operation_names = st.sampled_from(["a_b", "c_d", "e_f", "g_h"])
method_names = st.sampled_from(["tasks/cancel", "CancelTask", "tasks/get", "GetTask"])
policies = st.builds(
    Policy,
    **{option: st.sets(operation_names) for option in OPERATIONS},
    **{option: st.sets(method_names) for option in METHODS},
    resolver=st.just(MCP),
)
operations = st.builds(
    Operation, st.none() | operation_names | method_names, st.none() | method_names | operation_names
)


@given(made=policies, operation=operations)
def test_strictest_list_applies_when_operation_and_method_are_both_listed(made, operation):
    found = [
        demand
        for demand, names, methods in zip(DEMANDS, OPERATIONS, METHODS, strict=True)
        if operation.name in getattr(made, names) or operation.method in getattr(made, methods)
    ]
    assert made.demand(operation) == (found or ["none"])[0]


@given(made=policies, operation=operations, option=st.sampled_from(OPERATIONS), name=operation_names)
def test_adding_a_name_to_a_list_never_weakens_a_requirement(made, operation, option, name):
    order = ("required", "warn", "supported", "none")
    more = dataclasses.replace(made, **{option: getattr(made, option) | {name}})
    assert order.index(more.demand(operation)) <= order.index(made.demand(operation))


UNRESOLVED = UnresolvedOperation("the skill is not a name")
FAILED = profiles.ADCP_3_2.error("signature_header_malformed", step=1, detail="")


@pytest.mark.parametrize(
    ("resolver", "code"),
    [
        (PathResolver(), "request_signature_header_malformed"),
        (MCP, "request_signature_header_malformed"),
        (A2AResolver(), "request_body_malformed"),
    ],
)
def test_operation_is_resolved_first_only_when_the_resolver_asks_for_it(resolver, code):
    verdict = Policy(resolver=resolver).decide(UNRESOLVED, FAILED, REQUEST, fallback=True, profile=profiles.ADCP_3_2)
    assert (verdict.outcome, verdict.error and verdict.error.code) == ("reject", code)


@pytest.mark.parametrize("name", ["tasks/get", "a/b/c", "a1/bC_9", "zZ_0/a", "CancelTask", "A", "Z9a", "AZ"])
def test_method_may_be_a_path_or_a_capitalized_word(name):
    assert policy(protocol_methods_required_for=[name]).protocol_methods_required_for == {name}
