"""The names of JSON-RPC methods, published and our own: what `test_published` and `test_own` do not ask of them."""

from __future__ import annotations

import pytest
from tests.vectors.corpora import OWN, PUBLISHED, params

from undersigned import ConfigurationError
from undersigned.conformance.method_names import OPTIONS, RESOLVERS, MethodDeclaration, MethodMatch, carrying, listing
from undersigned.policy.policy import Policy

SET = "request-signing/protocol-method-names"


def all_of(kind: type) -> list:
    return [param for corpus in (PUBLISHED, OWN) for param in params(corpus, SET, which=lambda v: isinstance(v, kind))]


@pytest.mark.parametrize("resolver", RESOLVERS)
@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize("match", all_of(MethodMatch))
def test_a_declared_method_matches_itself_and_nothing_else(match, option, resolver):
    demand = listing(option, match.declared, resolver).demand(resolver.resolve(carrying(match.wire)))
    assert demand == (option if match.matches else "none")


@pytest.mark.parametrize("option", [f"protocol_methods_{option}_for" for option in OPTIONS])
@pytest.mark.parametrize("declaration", all_of(MethodDeclaration))
def test_an_invalid_declaration_is_refused_by_the_name_of_its_list(declaration, option):
    for names in ([declaration.method], ["tasks/cancel", declaration.method]):
        with pytest.raises(ConfigurationError, match=f"^{option}: "):
            Policy(**{option: names}, resolver=RESOLVERS[0])


@pytest.mark.parametrize("match", all_of(MethodMatch))
def test_no_method_may_stand_among_the_operations(match):
    for option in ("required_for", "warn_for", "supported_for"):
        for method in match.declared:
            with pytest.raises(ConfigurationError, match=f"^{option}: .*protocol_methods_{option}$"):
                Policy(**{option: [method]})
