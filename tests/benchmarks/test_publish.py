"""The chart and the tables of docs/performance.md are what the committed figures give."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from tests.benchmarks import chart, publish, record
from tests.benchmarks.figures import Figures, merge

DOCS = Path(__file__).parents[2] / "docs"
SVG = "{http://www.w3.org/2000/svg}"


def row(name: str, measured: float, *, benchmark: str = "verify", library: str | None = "OpenSSL", **parts) -> dict:
    common = {"floor": "", "unit": "x", "goal": None, "more_is_better": False, "holds": True, "runs": 5}
    return {
        "benchmark": benchmark,
        "library": library,
        "name": name,
        "measured": measured,
        "lowest": measured,
        "highest": measured,
        **common,
        **parts,
    }


def document(*rows: dict) -> dict:
    return {
        "machine": {"python": "CPython 3.11", "processor": "2 cores", "load": "0.1", "adcp": "9.2.0"},
        "rows": list(rows),
        "functions": [[0.125, "undersigned", "a.py: f"]],
    }


ROWS = [
    row("verify, Ed25519 by OpenSSL", 1.5, goal=1.35, holds=False, lowest=1.4, highest=1.75),
    row("verify, Ed25519 by libsodium", 0.8, library="libsodium", goal=0.85),
    row("verify, Ed25519, relative to a peer", 0.6, benchmark="peers", floor="adcp.signing"),
    row("uvicorn, 1 worker, bare: requests a second", 9876.5, benchmark="servers", unit="per s"),
    row("uvicorn, 1 worker, adcp: requests a second", 1000, benchmark="servers", unit="per s"),
    row("import undersigned", 42.4, benchmark="import", library=None, unit="ms more", goal=60),
]


@pytest.fixture
def figures() -> Figures:
    return Figures(document(*ROWS))


def test_committed_chart_and_tables_are_what_the_committed_figures_give():
    committed, page = Figures.read(DOCS / "performance.json"), (DOCS / "performance.md").read_text("utf-8")
    assert (DOCS / "performance.svg").read_text("utf-8") == chart.draw(committed)
    assert page == publish.write_tables(page, committed)
    assert publish.BEGIN in page


def test_publish_writes_the_chart_and_the_tables_next_to_the_file(tmp_path, figures):
    page = tmp_path / "figures.md"
    page.write_text(f"before\n{publish.BEGIN}\nold\n{publish.END}\nafter\n")
    (tmp_path / "figures.json").write_text(json.dumps(document(*ROWS)))
    for _ in range(2):
        assert publish.main([str(tmp_path / "figures.json")]) == 0
        assert (tmp_path / "figures.svg").read_text() == chart.draw(figures)
        assert page.read_text() == f"before\n{publish.BEGIN}\n\n{publish.tables(figures)}\n{publish.END}\nafter\n"


def test_tables_show_medians_ranges_goals_and_what_is_missed(figures):
    written = publish.tables(figures)
    assert "medians of 5 runs" in written
    assert "CPython 3.11, 2 cores, adcp 9.2.0. A load average of 0.1 before the first run." in written
    assert "| 1.35 | 1.50 (1.40 to 1.75), **missed** | 0.85 | 0.80 |" in written
    assert "| verify, Ed25519 | adcp.signing | 0.60 |  |" in written
    assert "| uvicorn, 1 worker | without verification | 9,876 |  |  |  |" in written
    assert "| 60 | 42 ms more |  |  |" in written
    assert "| 12.5% | undersigned | `a.py: f` |" in written


def test_tables_of_one_run_have_no_ranges():
    written = publish.tables(Figures(document(*({**row, "runs": 1} for row in ROWS))))
    assert written.startswith("One run. CPython 3.11")


def test_chart_shows_each_value_as_text_and_as_a_bar(figures):
    drawn = ET.fromstring(chart.draw(figures))  # noqa: S314 - our own text
    said = drawn.find(f"{SVG}desc").text
    texts = [text.text for text in drawn.findall(f"{SVG}text")]
    bars = {bar.get("width"): bar.get("class") for bar in drawn.findall(f"{SVG}rect")[1:]}
    for name, value in (
        ("undersigned", "1.50"),
        ("undersigned with libsodium", "0.80"),
        ("adcp", "2.50"),
        ("without verification", "9,876"),
    ):
        assert f"{name} {value}" in said
        assert texts[texts.index(name) + 1] == value
    assert [kind for kind in bars.values() if kind == "ours"] == ["ours", "ours"]
    assert bars["520"] == "other"


def test_names_of_bars_end_before_the_bars(figures):
    names = {name for name, *_ in (*chart.PEERS, *chart.SIDES)}
    left = int(ET.fromstring(chart.draw(figures)).findall(f"{SVG}rect")[1].get("x"))  # noqa: S314 - our own text
    assert all(24 + len(name) * 7.5 < left for name in names)


def test_chart_names_itself_for_screen_readers(figures):
    drawn = ET.fromstring(chart.draw(figures))  # noqa: S314 - our own text
    assert drawn.get("role") == "img"
    assert drawn.get("aria-labelledby").split() == [drawn.find(f"{SVG}{name}").get("id") for name in ("title", "desc")]


def test_chart_has_colours_for_dark_and_light(figures):
    style = ET.fromstring(chart.draw(figures)).find(f"{SVG}style").text  # noqa: S314 - our own text
    light, _, dark = style.partition("@media (prefers-color-scheme: dark)")
    coloured = {name for name, rule in re.findall(r"(\.?\w+) \{([^}]*)\}", light) if "#" in rule}
    assert coloured == {name for name, rule in re.findall(r"(\.?\w+) \{([^}]*)\}", dark) if "#" in rule}


def test_chart_refers_to_nothing_outside_itself(figures):
    text = chart.draw(figures).replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"https?:|href|url\(|@import|<script", text)


def test_merged_rows_have_the_median_the_range_and_the_name_of_the_median():
    runs = [
        [{"name": f"the worst: {kind}", "floor": "", "measured": measured}]
        for kind, measured in (("a", 1.0), ("b", 3.0), ("c", 2.0))
    ]
    assert merge(runs) == [
        {"name": "the worst: c", "floor": "", "measured": 2.0, "lowest": 1.0, "highest": 3.0, "runs": 3}
    ]


@pytest.mark.slow
def test_record_measures_by_each_library_and_keeps_the_rows_of_other_benchmarks(tmp_path):
    file = tmp_path / "figures.json"
    file.write_text(json.dumps(document(row("sign, old", 9.0, benchmark="sign"), *ROWS)))
    assert record.main(["--quick", "--runs", "1", str(file), "sign"]) == 0
    rows = json.loads(file.read_text())["rows"]
    assert rows[: len(ROWS)] == ROWS
    assert [made["name"] for made in rows[len(ROWS) :]] == [f"sign, Ed25519 by {by}" for by in record.libraries()]
    assert all(made["runs"] == 1 for made in rows[len(ROWS) :])
