"""The published names of JSON-RPC methods, in the lists of operations."""

from __future__ import annotations

import pytest
from tests.vectors.corpora import PUBLISHED

from undersigned import ConfigurationError
from undersigned.policy import Policy

METHODS = sorted({method for case in PUBLISHED.sets("protocol-method-names") for method in case.vector or ()})


@pytest.mark.parametrize("option", ["required_for", "warn_for", "supported_for"])
@pytest.mark.parametrize("method", METHODS)
def test_protocol_method_is_not_listed_among_the_operations(method, option):
    with pytest.raises(ConfigurationError, match=f"^{option}: .*protocol_methods_{option}$"):
        Policy(**{option: [method]})
