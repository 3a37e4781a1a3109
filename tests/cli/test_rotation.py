from __future__ import annotations

import pytest
from tests.keys import EC_PUBLIC, PUBLIC

from undersigned.cli.rotation import LEAST_OVERLAP, begin_rotation
from undersigned.errors import ConfigurationError


def test_overlap_lasts_until_receivers_know_the_new_key_and_the_last_signature_has_expired():
    rotation = begin_rotation({"keys": [PUBLIC]}, EC_PUBLIC, now=5, overlap=LEAST_OVERLAP)
    assert rotation.retiring == {PUBLIC["kid"]: 5 + 900 + 300 + 60}
    with pytest.raises(ConfigurationError, match=r"^overlap: "):
        begin_rotation({"keys": [PUBLIC]}, EC_PUBLIC, now=5, overlap=LEAST_OVERLAP - 1)


def test_rotation_leaves_the_set_it_was_given_as_it_is():
    jwks = {"keys": [PUBLIC]}
    assert begin_rotation(jwks, EC_PUBLIC, now=5, overlap=3600).jwks != jwks
    assert jwks == {"keys": [PUBLIC]}
    assert "exp" not in PUBLIC
