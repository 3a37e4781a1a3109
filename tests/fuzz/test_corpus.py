"""The kept corpus through every harness: inputs that once reached a new part of the code."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.fuzz.harnesses import HARNESSES, TEMPLATES, check_work, seeds

CORPUS = Path(__file__).parent / "corpus"
INPUTS = [
    pytest.param(name, path, id=f"{name}-{path.name}") for name in HARNESSES for path in (CORPUS / name).iterdir()
]


def test_every_harness_has_a_corpus_and_places_for_extremes():
    assert {path.name for path in CORPUS.iterdir()} == set(HARNESSES) == set(TEMPLATES)


@pytest.mark.parametrize("name", HARNESSES)
def test_extremes_of_each_type_in_each_place_raise_only_the_errors_of_the_library(name):
    for seed in seeds(name):
        HARNESSES[name](seed)


@pytest.mark.parametrize(("name", "path"), INPUTS)
def test_kept_input_fails_no_harness_and_takes_bounded_work(name, path):
    check_work(HARNESSES[name], path.read_bytes())
