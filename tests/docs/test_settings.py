"""The page of settings: its table has every setting of Django and of Flask, and no other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import tests.integrations.django_site  # noqa: F401 - it configures Django
from django.test import override_settings

from undersigned import ConfigurationError
from undersigned.middleware import WSGIOptions
from undersigned_django.requirement import read_setting

PAGE = (Path(__file__).parents[2] / "docs" / "settings.md").read_text("utf-8")
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in re.findall(r"^\| `.*\|$", PAGE, re.MULTILINE)]


@pytest.fixture
def settings_of_django() -> set[str]:
    """The names that the error for an unknown setting lists."""
    with override_settings(UNDERSIGNED={"NO": 1}), pytest.raises(ConfigurationError) as caught:
        read_setting()
    return set(str(caught.value).rpartition("use ")[2].split(", "))


def test_table_has_every_setting_of_flask():
    listed = {row[0].strip("`") for row in ROWS if row[4] == "yes"}
    assert listed == {
        "VERIFIER",
        "JWKS",
        "PROFILE",
        "ORIGINS",
        *(name.upper() for name in WSGIOptions.__optional_keys__),
    }


def test_table_has_every_setting_of_django(settings_of_django):
    assert {row[0].strip("`") for row in ROWS if row[3] == "yes"} == settings_of_django
