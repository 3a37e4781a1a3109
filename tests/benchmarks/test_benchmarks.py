"""Every benchmark runs and its rows are well-formed; how fast anything is, is for `--check` on a quiet machine."""

from __future__ import annotations

import json
import math

import pytest
from tests.benchmarks.__main__ import NAMES, main
from tests.benchmarks.row import Row, table


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_benchmark_runs_and_its_rows_are_well_formed(name, capsys):
    assert main([name, "--quick", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert rows
    for row in rows:
        assert set(row) == {"name", "floor", "measured", "unit", "goal", "holds"}
        assert row["name"]
        assert math.isfinite(row["measured"])
        assert isinstance(row["holds"], bool)
    assert len({(row["name"], row["floor"]) for row in rows}) == len(rows)


def test_unknown_benchmark_is_rejected(capsys):
    with pytest.raises(SystemExit):
        main(["nothing"])
    assert "no benchmark nothing" in capsys.readouterr().err


def test_table_says_which_row_is_over():
    held, over = Row("a", "b", 1.0, 1.0), Row("c", "d", 1.2, 1.0)
    lines = table([held, over, Row("e", "", 12.0, None, "us")]).splitlines()
    assert lines[1].endswith("ok")
    assert lines[2].endswith("OVER")
    assert "12 us" in lines[3]
