"""The published vectors over A2A: the signature is valid even where the message is rejected."""

from __future__ import annotations

import pytest
from tests.vectors.corpora import PUBLISHED, vectors

from undersigned import Verifier

A2A = "request-signing/a2a"


@pytest.mark.parametrize("vector", vectors(PUBLISHED, A2A, which=lambda vector: vector.base is not None))
def test_published_signature_is_valid_for_its_base_even_when_the_message_is_rejected(vector):
    assert (
        Verifier(vector.profile, **vector.sources()).verify(vector.request).signature_base
        == vector.base
        == vector.rebuilt_base()
    )
