"""What is not an application of the framework is rejected when it is set up."""

from __future__ import annotations

import pytest
from tests.keys import ORIGINS, verifier

import undersigned_falcon
import undersigned_litestar
import undersigned_quart
from undersigned import ConfigurationError


@pytest.mark.parametrize(
    "guard",
    [undersigned_falcon.SignatureMiddleware, undersigned_litestar.SignatureMiddleware, undersigned_quart.Undersigned],
)
def test_application_of_another_kind_is_rejected(guard):
    with pytest.raises(ConfigurationError, match=r"^app: pass the "):
        guard(object(), verifier=verifier(), origins=ORIGINS)
