"""Route resolvers: the operation of what a router says it will run, and what must be signed if it does not tell."""

from __future__ import annotations

from functools import partial, wraps
from io import BufferedReader

import pytest

from undersigned import ConfigurationError, Policy, Request, profiles
from undersigned.policy import (
    MatchedRoute,
    Operation,
    PathResolver,
    RouteResolver,
    UnreadContent,
    UnresolvedOperation,
)

ORIGIN = "https://seller.example.com"


def create_media_buy() -> None:
    """Stand for an endpoint."""


class Unhashable:
    __hash__ = None

    def __call__(self) -> None:
        """Stand for an endpoint."""


class Router(RouteResolver):
    """A resolver whose router answers with what it is given."""

    def __init__(self, answer, operations=None) -> None:
        super().__init__(operations)
        self.answer = answer
        self.asked: list[object] = []

    def find(self, dispatched):
        self.asked.append(dispatched)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def resolve(answer, operations=None, *, target="/adcp/x", body=b"") -> Operation:
    return Router(answer, operations).resolve_dispatched(Request("POST", ORIGIN + target, (), body), dict)


def test_operation_is_the_name_of_the_function():
    assert resolve(MatchedRoute(create_media_buy, ("another",))) == Operation("create_media_buy")
    assert resolve(MatchedRoute(partial(partial(create_media_buy)))) == Operation("create_media_buy")


def test_operation_is_the_name_of_the_route_if_the_function_has_none():
    assert resolve(MatchedRoute(lambda: None, ("adcp:buy", "create_media_buy"))) == Operation("create_media_buy")


@pytest.mark.parametrize("key", [create_media_buy, "plans.create", "create_media_buy"])
@pytest.mark.parametrize("operation", ["update_media_buy", lambda parameters: parameters["name"]])
def test_operation_is_what_the_mapping_says(key, operation):
    route = MatchedRoute(create_media_buy, ("plans.create",), {"name": "update_media_buy"})
    assert resolve(route, {key: operation}) == Operation("update_media_buy")


def wrapping(function):
    """A decorator of the application."""

    @wraps(function)
    def wrapper() -> None:
        function()

    return wrapper


class Plans:
    """The class of a view."""


def view_of(attribute: str):
    """A view that a framework made of the class."""

    def view() -> None:
        """Stand for a view."""

    setattr(view, attribute, Plans)
    return view


@pytest.mark.parametrize(
    ("endpoint", "key"),
    [
        (wrapping(wrapping(create_media_buy)), create_media_buy),
        (partial(wrapping(create_media_buy)), create_media_buy),
        (view_of("view_class"), Plans),
        (wrapping(view_of("cls")), Plans),
    ],
)
def test_endpoint_is_listed_as_what_it_wraps_or_by_its_class(endpoint, key):
    assert resolve(MatchedRoute(endpoint), {key: "update_media_buy"}) == Operation("update_media_buy")
    by_view = MatchedRoute(Plans, ("plans",), view=endpoint)
    assert resolve(by_view, {key: "update_media_buy"}) == Operation("update_media_buy")


def test_name_of_a_route_comes_before_the_class_of_its_view():
    route = MatchedRoute(view_of("cls"), ("plan-pay",))
    assert resolve(route, {Plans: None, "plan-pay": "pay"}) == Operation("pay")


@pytest.mark.parametrize(
    ("wrappers", "expected"), [(63, Operation("update_media_buy")), (64, Operation(is_unknown=True))]
)
def test_as_many_functions_around_each_other_are_looked_at_as_the_bound_says(wrappers, expected):
    endpoint = create_media_buy
    for _ in range(wrappers):
        endpoint = wrapping(endpoint)
    assert resolve(MatchedRoute(endpoint), {create_media_buy: "update_media_buy"}) == expected


def test_request_must_be_signed_if_the_endpoint_wraps_functions_without_end():
    def endless() -> None:
        """Stand for an endpoint."""

    endless.__wrapped__ = endless
    assert resolve(MatchedRoute(endless), {create_media_buy: "create_media_buy"}).is_unknown


@pytest.mark.parametrize("operation", [None, lambda _parameters: None])
def test_route_may_be_listed_without_an_operation(operation):
    assert resolve(MatchedRoute(create_media_buy), {create_media_buy: operation}) == Operation()


def test_request_that_runs_no_route_names_no_operation():
    assert resolve(None) == Operation()


@pytest.mark.parametrize(
    "answer",
    [
        MatchedRoute(lambda: None),
        MatchedRoute(Unhashable()),
        MatchedRoute(create_media_buy, ("create_media_buy",), is_opaque=True),
        LookupError(),
        ZeroDivisionError(),
    ],
    ids=["lambda", "instance", "mounted application", "lookup error", "any error"],
)
def test_request_must_be_signed_if_nobody_can_tell_what_runs(answer):
    operation = resolve(answer)
    assert operation == Operation(is_unknown=True)
    assert Policy().must_be_signed(operation)
    verdict = Policy().decide(operation, "unsigned", fallback=True, profile=profiles.ADCP_3_2)
    assert verdict.outcome == "reject"
    assert "the router does not tell" in verdict.error.detail


@pytest.mark.parametrize("returned", ["", "a\n", 7])
def test_request_must_be_signed_if_the_parameters_give_no_name(returned):
    operations = {"create_media_buy": lambda _parameters: returned}
    assert resolve(MatchedRoute(create_media_buy), operations).is_unknown


class Listing(Router):
    """A resolver that knows its routes, or fails to tell them."""

    def __init__(self, routes, operations=None) -> None:
        super().__init__(None, operations)
        self.listed = routes

    def routes(self):
        if isinstance(self.listed, Exception):
            raise self.listed
        return self.listed


KNOWN = [MatchedRoute(create_media_buy), MatchedRoute(None, ("update",))]
MOUNT = MatchedRoute(object(), ("mounted",), is_opaque=True)


@pytest.mark.parametrize(
    ("routes", "operations", "missing"),
    [
        (KNOWN, None, {"create", "delete"}),
        (KNOWN, {"update": "create", create_media_buy: None}, {"create_media_buy", "delete", "update"}),
        ([], None, {"create", "create_media_buy", "delete", "update"}),
        (None, None, set()),
        (RuntimeError("no routes"), None, set()),
        ([*KNOWN, MOUNT], None, set()),
        ([*KNOWN, MOUNT], {"mounted": "create"}, {"delete"}),
        (KNOWN, {"update": lambda _parameters: "create"}, set()),
    ],
    ids=["routes", "listed", "no routes", "unknown", "failing", "opaque", "listed mount", "function"],
)
def test_operations_that_no_route_has_are_missing_if_all_are_known(routes, operations, missing):
    listed = ["create", "create_media_buy", "delete", "update"]
    assert Listing(routes, operations).missing(listed) == missing


def test_resolver_that_does_not_list_its_routes_misses_nothing():
    assert Router(None).missing(["create"]) == set()


def test_mounted_application_may_be_listed():
    static = Unhashable()
    assert resolve(MatchedRoute(static, ("static",), is_opaque=True), {"static": None}) == Operation()


def test_rules_for_paths_hold_whatever_the_router_says():
    with pytest.raises(UnresolvedOperation):
        resolve(None, target="/adcp/create_media_buy%0A")
    registration = b'{"authentication": {"schemes": []}}'
    assert Policy().must_be_signed(resolve(None, target="/webhooks", body=registration))


def test_router_is_not_asked_about_a_path_that_is_rejected():
    router = Router(None)
    with pytest.raises(UnresolvedOperation):
        router.resolve_dispatched(Request("GET", f"{ORIGIN}/%FF"), dict)
    assert router.asked == []


def test_request_must_be_signed_outside_of_a_middleware():
    assert Router(None).resolve(Request("POST", f"{ORIGIN}/adcp/x")).is_unknown


@pytest.mark.parametrize(
    ("operations", "error"),
    [
        (["create_media_buy"], "operations: give a mapping"),
        ({"a": 7}, "operations: the operation of 'a' is not a name"),
        ({"a": ""}, "operations: the operation of 'a' is not a name"),
    ],
)
def test_operations_that_are_no_mapping_to_names_are_rejected(operations, error):
    with pytest.raises(ConfigurationError, match=error):
        Router(None, operations)


def test_policy_with_a_route_resolver_lists_no_methods():
    with pytest.raises(ConfigurationError, match="Router finds no JSON-RPC method"):
        Policy(protocol_methods_required_for=["tasks/cancel"], resolver=Router(None))
    assert Router(None).reads_body is Router(None).comes_first is False


@pytest.mark.parametrize(
    ("runs", "expected"),
    [
        (MatchedRoute(create_media_buy), True),
        (MatchedRoute(Unhashable, ("create_media_buy",)), False),
        (MatchedRoute(lambda: None, ("create_media_buy",)), True),
        (MatchedRoute(lambda: None), False),
        (MatchedRoute(create_media_buy, is_opaque=True), False),
    ],
    ids=["the same", "another name", "the same name", "without a name", "unknown"],
)
def test_operation_knows_whether_it_is_of_the_route_that_runs(runs, expected):
    assert resolve(MatchedRoute(create_media_buy)).is_of(runs) is expected


def test_operation_of_the_parameters_is_of_a_route_with_these_parameters():
    operation = resolve(MatchedRoute(dict, (), {"name": "a", "n": 1}), {dict: lambda parameters: parameters["name"]})
    assert operation.is_of(MatchedRoute(dict))
    assert operation.is_of(MatchedRoute(dict, (), {"name": "a", "n": 2}))
    assert not operation.is_of(MatchedRoute(dict, (), {"name": "b"}))


def test_no_operation_is_of_any_route_if_it_is_unknown_or_no_router_was_asked():
    assert resolve(LookupError()).is_of is None
    assert PathResolver().resolve(Request("POST", ORIGIN)).is_of is None
    assert not resolve(None).is_of(MatchedRoute(create_media_buy))


def test_router_cannot_read_the_content():
    with pytest.raises(LookupError, match="the router reads the content"):
        BufferedReader(UnreadContent()).read()
