from __future__ import annotations

import pytest

from undersigned import ConfigurationError
from undersigned.message import LENIENT, STRICT, Reading


def test_strict_reading_is_the_default():
    assert Reading() == STRICT
    assert (STRICT.lower_case_methods, STRICT.repeated_keys) == (False, False)
    assert (LENIENT.lower_case_methods, LENIENT.repeated_keys) == (True, True)
    assert len({STRICT, LENIENT, Reading(field_types={"x": "item"})}) == 3


@pytest.mark.parametrize("types", [{"X": "item"}, {"x": "map"}])
def test_field_types_of_another_shape_are_rejected(types):
    with pytest.raises(ConfigurationError, match=r"^field_types: "):
        Reading(field_types=types)
