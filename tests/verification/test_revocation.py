from __future__ import annotations

import math

import pytest

from undersigned import ConfigurationError, RevocationList


def test_a_list_is_stale_beyond_four_intervals_of_grace():
    listed = RevocationList(revoked=frozenset({"k"}), updated=1000, next_update=1600)
    assert not listed.is_stale(1600)
    assert not listed.is_stale(1600 + 4 * 600)
    assert listed.is_stale(1600 + 4 * 600 + 1)


@pytest.mark.parametrize(
    ("updated", "next_update"),
    [(1, 1), (2, 1), (0, math.nan), (math.nan, 1), (0, math.inf), (-math.inf, 0), (math.nan, math.nan)],
)
def test_a_list_that_is_never_updated_again_is_refused(updated, next_update):
    with pytest.raises(ConfigurationError, match="next_update"):
        RevocationList(revoked=frozenset(), updated=updated, next_update=next_update)
