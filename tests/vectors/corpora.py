"""The published vectors and the project's own vectors, as corpora and as parameters of tests.

The published vectors are in `tests/vectors/published`; UNDERSIGNED_VECTORS names another directory with the same files.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from undersigned.conformance import find

if TYPE_CHECKING:
    from collections.abc import Callable

    from _pytest.mark import ParameterSet

    from undersigned.conformance import Corpus, Gradable

ADCP = "adcp-3.2.4/"
HERE = Path(__file__).parent
ROOT = Path(os.environ.get("UNDERSIGNED_VECTORS", HERE / "published"))
PUBLISHED = find(ROOT)
OWN = find(HERE / "own")

SIGNING = ("request-signing/profile-3.2", "request-signing", "webhook-signing")


def params(corpus: Corpus, *names: str, which: Callable[[Gradable], bool] = lambda _: True) -> list[ParameterSet]:
    """Return one parameter for each vector of the named sets, or of all sets, that `which` accepts."""
    return [
        pytest.param(vector, id=f"{found.name.removeprefix(ADCP)}/{vector.name}")
        for found in corpus.sets
        if not names or found.name.removeprefix(ADCP) in names
        for vector in found.vectors
        if which(vector)
    ]


def published_params(*names: str, which: Callable[[Gradable], bool] = lambda _: True) -> list[ParameterSet]:
    """Return the parameters for published vectors."""
    return params(PUBLISHED, *names, which=which)
