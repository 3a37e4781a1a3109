from __future__ import annotations

import pytest
from tests.replay.clocks import check_skew, check_steps
from tests.stores.kinds import KINDS, kind_of


@pytest.mark.parametrize("check", [check_steps, check_skew])
@pytest.mark.parametrize("name", [name for name in KINDS if name != "sqlite"])
def test_wrong_clocks_admit_no_replay(name, check, request):
    with kind_of(name, request).opened() as store:
        check(store)
