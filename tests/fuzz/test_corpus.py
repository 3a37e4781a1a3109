"""The kept corpus through every harness: inputs that once reached a new part of the code."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.fuzz.harnesses import HARNESSES, check_work

CORPUS = Path(__file__).parent / "corpus"
INPUTS = [
    pytest.param(name, path, id=f"{name}-{path.name}") for name in HARNESSES for path in (CORPUS / name).iterdir()
]


def test_every_harness_has_a_corpus():
    assert {path.name for path in CORPUS.iterdir()} == set(HARNESSES)


@pytest.mark.parametrize(("name", "path"), INPUTS)
def test_kept_input_fails_no_harness_and_takes_bounded_work(name, path):
    check_work(HARNESSES[name], path.read_bytes())
