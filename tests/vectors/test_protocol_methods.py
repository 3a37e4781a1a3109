"""The published names of JSON-RPC methods: which may be declared, and what they match."""

from __future__ import annotations

import json

import pytest
from tests.vectors.published import ROOT, absent, cases, read

from undersigned import ConfigurationError, Request
from undersigned.a2a import A2AOperation
from undersigned.jsonrpc import JSONRPCOperation
from undersigned.policy import Policy

PATH = "protocol-method-names.json"
HERE = (ROOT / PATH).is_file()
OPTIONS = {
    "protocol_methods_required_for": "required",
    "protocol_methods_warn_for": "warn",
    "protocol_methods_supported_for": "supported",
}
RESOLVERS = [JSONRPCOperation(), A2AOperation()]
VALID = cases(PATH, "valid_declarations", "family")
EXACT = cases(PATH, "exact_match_cases", "id")
INVALID = [pytest.param(name, id=name) for name in read(PATH)["invalid_declarations"]] if HERE else absent()


def carrying(method: str) -> Request:
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": _params(method)})
    return Request("POST", "https://seller.example.com/rpc", [("Content-Type", "application/json")], body)


def _params(method: str) -> object:
    carries_message = method in {"message/send", "message/stream", "SendMessage", "SendStreamingMessage"}
    return {"message": {"parts": [{"data": {"skill": "get_products"}}]}} if carries_message else {}


@pytest.mark.parametrize("resolver", RESOLVERS)
@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize("family", VALID)
def test_every_valid_declaration_is_accepted_and_matched_on_the_wire(family, option, resolver):
    policy = Policy(**{option: family["methods"]}, resolver=resolver)
    for method in family["methods"]:
        assert policy.demand(resolver.resolve(carrying(method))) == OPTIONS[option]


@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize("name", INVALID)
def test_every_invalid_declaration_is_refused_alone_and_among_valid_ones(name, option):
    for names in ([name], ["tasks/cancel", name]):
        with pytest.raises(ConfigurationError, match=f"^{option}: "):
            Policy(**{option: names}, resolver=JSONRPCOperation())


@pytest.mark.parametrize("family", VALID)
def test_no_method_may_stand_among_the_operations(family):
    for option in ("required_for", "warn_for", "supported_for"):
        for method in family["methods"]:
            with pytest.raises(ConfigurationError, match=f"^{option}: .*protocol_methods_{option}$"):
                Policy(**{option: [method]})


@pytest.mark.parametrize("resolver", RESOLVERS)
@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize("case", EXACT)
def test_a_declared_method_matches_itself_and_nothing_else(case, option, resolver):
    policy = Policy(**{option: case["declared_methods"]}, resolver=resolver)
    expected = OPTIONS[option] if case["matches"] else "none"
    assert policy.demand(resolver.resolve(carrying(case["wire_method"]))) == expected
