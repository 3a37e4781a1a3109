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


def of_sets(cases: list[Case]) -> list[ParameterSet]:
    """Return one parameter for each set: its cases. A test of each case would take longer than the case."""
    sets: dict[str, list[Case]] = {}
    for case in cases:
        sets.setdefault(case.set, []).append(case)
    return [pytest.param(held, id=name) for name, held in sets.items()]


def check_each(cases: list[Case], check: Callable[[Case], object]) -> None:
    """Check every case.

    Raises:
        AssertionError: some failed. It names them all, and its cause is the first.
    """
    failed: dict[str, Exception] = {}
    for case in cases:
        try:
            check(case)
        except Exception as error:  # noqa: BLE001 - whatever it is, the other cases are checked too
            failed[case.name] = error
    if failed:
        raise AssertionError(f"{len(failed)} of {len(cases)} failed: {', '.join(failed)}") from next(
            iter(failed.values())
        )


def vectors(corpus: Corpus, *names: str, which: Callable = lambda _: True) -> list[ParameterSet]:
    """Return one parameter for what each of the cases that `which` accepts was read from.

    Args:
        corpus: the corpus.
        names: how the paths of the sets end.
        which: says whether a vector is one of them.
    """
    cases = [case for case in corpus.sets(*names) if which(case.vector)]
    return [pytest.param(case.vector, id=f"{case.set.rpartition('/')[2]}/{case.name}") for case in cases]
