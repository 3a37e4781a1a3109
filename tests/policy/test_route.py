"""Route resolvers: the operation of a route that is about to run, and what must be signed if nothing names it."""

from __future__ import annotations

from functools import partial, wraps

import pytest

from undersigned import ConfigurationError, Policy, Request, profiles
from undersigned.policy import MatchedRoute, Operation, RouteResolver

ORIGIN = "https://seller.example.com"


def create_media_buy() -> None:
    """Stand for an endpoint."""


class Unhashable:
    __hash__ = None

    def __call__(self) -> None:
        """Stand for an endpoint."""


def resolve(route: MatchedRoute, operations=None) -> Operation:
    return RouteResolver(operations).operation_of(route)


def hooked() -> RouteResolver:
    """Return a resolver whose hook is in place."""
    resolver = RouteResolver()
    assert resolver.hook(create_media_buy) is create_media_buy
    return resolver


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


@pytest.mark.parametrize(
    "answer",
    [
        MatchedRoute(lambda: None),
        MatchedRoute(Unhashable()),
        MatchedRoute(create_media_buy, ("create_media_buy",), is_opaque=True),
    ],
    ids=["lambda", "instance", "mounted application"],
)
def test_request_must_be_signed_if_nobody_can_tell_what_runs(answer):
    operation = resolve(answer)
    assert operation == Operation(is_unknown=True)
    assert operation.is_unknown
    verdict = Policy().decide(
        operation, "unsigned", Request("POST", "https://a.example/x"), fallback=True, profile=profiles.ADCP_3_2
    )
    assert verdict.outcome == "reject"
    assert "nothing tells which operation" in verdict.error.detail


@pytest.mark.parametrize("returned", ["", "a\n", 7])
def test_request_must_be_signed_if_the_parameters_give_no_name(returned):
    operations = {"create_media_buy": lambda _parameters: returned}
    assert resolve(MatchedRoute(create_media_buy), operations).is_unknown


def test_mounted_application_may_be_listed():
    static = Unhashable()
    assert resolve(MatchedRoute(static, ("static",), is_opaque=True), {"static": None}) == Operation()


def raising(_parameters):
    raise ZeroDivisionError


def test_operation_is_unknown_if_the_function_of_the_parameters_raises():
    assert resolve(MatchedRoute(create_media_buy), {create_media_buy: raising}).is_unknown


@pytest.mark.parametrize(("target", "registers"), [("/webhooks", True), ("/webhooks/7/", True), ("/%FF/plans", False)])
def test_path_of_a_webhook_counts_whatever_the_route(target, registers):
    operation = hooked().resolve(Request("POST", ORIGIN + target, (), b"{}"))
    assert operation == Operation(registers_webhook=registers)


def test_every_request_must_be_signed_without_a_hook():
    assert RouteResolver().resolve(Request("POST", f"{ORIGIN}/adcp/x")).is_unknown
    assert not hooked().resolve(Request("POST", f"{ORIGIN}/adcp/x")).is_unknown


def test_policy_with_a_route_resolver_lists_no_methods_and_excuses_no_failed_signature():
    with pytest.raises(ConfigurationError, match="RouteResolver finds no JSON-RPC method"):
        Policy(protocol_methods_required_for=["tasks/cancel"], resolver=RouteResolver())
    with pytest.raises(ConfigurationError, match=r"^warn_for: a signature is rejected before the route is known"):
        Policy(warn_for=["create_media_buy"], resolver=RouteResolver())
    assert RouteResolver().reads_body is RouteResolver().comes_first is False
