from __future__ import annotations

from undersigned.message import LENIENT, STRICT, Reading


def test_strict_reading_is_the_default():
    assert Reading() == STRICT
    assert (STRICT.lower_case_methods, STRICT.repeated_keys) == (False, False)
    assert (LENIENT.lower_case_methods, LENIENT.repeated_keys) == (True, True)
