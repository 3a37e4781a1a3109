"""The names of JSON-RPC methods, published and our own, in the lists of operations."""

from __future__ import annotations

import pytest
from tests.vectors.corpora import OWN, PUBLISHED, params

from undersigned import ConfigurationError
from undersigned.conformance.method_names import MethodMatch
from undersigned.policy.policy import Policy

METHODS = sorted(
    {
        method
        for corpus in (PUBLISHED, OWN)
        for param in params(corpus, which=lambda vector: isinstance(vector, MethodMatch))
        for method in param.values[0].declared
    }
)


@pytest.mark.parametrize("option", ["required_for", "warn_for", "supported_for"])
@pytest.mark.parametrize("method", METHODS)
def test_protocol_method_is_not_listed_among_the_operations(method, option):
    with pytest.raises(ConfigurationError, match=f"^{option}: .*protocol_methods_{option}$"):
        Policy(**{option: [method]})
