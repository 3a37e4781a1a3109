"""The published vectors and the project's own vectors, as corpora and as parameters of tests.

The published vectors are in `tests/vectors/published`; UNDERSIGNED_VECTORS names another directory with the same files.
"""

from __future__ import annotations

import os
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

import pytest
from tests.conformance.corpus import Corpus, find, read
from tests.vectors import make_own

if TYPE_CHECKING:
    from collections.abc import Callable

    from _pytest.mark import ParameterSet
    from tests.conformance.case import Case

ROOT = Path(os.environ.get("UNDERSIGNED_VECTORS", Path(__file__).with_name("published")))
PUBLISHED = find(read(ROOT))
OWN = find({PurePath(path): document for path, document in make_own.documents().items()})

SIGNING = ("request-signing/profile-3.2", "request-signing", "webhook-signing")


def params(corpus: Corpus, *names: str, which: Callable[[Case], bool] = lambda _: True) -> list[ParameterSet]:
    """Return one parameter for each case of the sets whose paths end so, or of all sets, that `which` accepts."""
    cases = corpus.sets(*names) if names else corpus.cases
    return [pytest.param(case, id=f"{case.set.rpartition('/')[2]}/{case.name}") for case in cases if which(case)]


def vectors(corpus: Corpus, *names: str, which: Callable = lambda _: True) -> list[ParameterSet]:
    """Return one parameter for what each of these cases was read from."""
    found = params(corpus, *names, which=lambda case: which(case.vector))
    return [pytest.param(param.values[0].vector, id=param.id) for param in found]
