"""The picture of what is signed, verified and seen: it is what its script draws, and it is true of the profile."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from undersigned import profiles

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
SVG = "{http://www.w3.org/2000/svg}"
WIDEST, PADDING = 7, 24
sys.path.insert(0, str(DOCS))

import picture  # noqa: E402 - a module of docs/


@pytest.fixture
def drawn() -> ET.Element:
    return ET.fromstring((DOCS / "picture.svg").read_text("utf-8"))  # noqa: S314 - our own file


def test_committed_picture_is_what_the_script_draws():
    assert (DOCS / "picture.svg").read_text("utf-8") == picture.draw()


def test_picture_names_and_describes_itself_for_screen_readers(drawn):
    labels = {drawn.find(f"{SVG}{name}").get("id"): drawn.find(f"{SVG}{name}").text for name in ("title", "desc")}
    assert drawn.get("role") == "img"
    assert drawn.get("aria-labelledby").split() == list(labels)
    assert labels["title"] == picture.TITLE
    assert all(cell.replace("`", "") in labels["desc"] for row in (*picture.ROWS, picture.UNSIGNED) for cell in row)


def test_picture_has_colours_for_dark_and_light(drawn):
    light, _, dark = drawn.find(f"{SVG}style").text.partition("@media (prefers-color-scheme: dark)")
    coloured = {name for name, rule in re.findall(r"(\.?\w+) \{([^}]*)\}", light) if "#" in rule}
    assert coloured == {name for name, rule in re.findall(r"(\.?\w+) \{([^}]*)\}", dark) if "#" in rule}


def test_picture_refers_to_nothing_outside_itself():
    text = picture.draw().replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"https?:|href|url\(|@import|<script", text)


def test_text_of_each_cell_fits_into_it(drawn):
    for cell, text in zip(drawn.findall(f"{SVG}rect")[1:], drawn.findall(f"{SVG}text")[4:], strict=True):
        assert len("".join(text.itertext())) * WIDEST + PADDING <= int(cell.get("width")), "".join(text.itertext())


def test_signed_column_has_the_components_and_parameters_of_the_profile():
    signed = [name for row in picture.ROWS for name in re.findall("`([^`]+)`", row.signed)]
    rule = profiles.ADCP_3_2.parameters
    components = profiles.ADCP_3_2.required_components[True]
    assert sorted(signed) == sorted([*components, *rule.required - {"tag"}])
    assert "tag" in rule.required
