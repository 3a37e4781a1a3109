"""The published conformance data, read in place; without it, tests over it skip and say where it was looked for."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from undersigned.conformance import Corpus, find

if TYPE_CHECKING:
    from collections.abc import Callable

    from _pytest.mark import ParameterSet

    from undersigned.conformance import Gradable

ADCP = "adcp-3.2.4/"
_BESIDE = Path(__file__).resolve().parents[3] / "shared" / "vectors"
ROOT = Path(os.environ.get("UNDERSIGNED_VECTORS", _BESIDE))
HERE = (ROOT / ADCP).is_dir()
CORPUS = find(ROOT) if HERE else Corpus((), ())
OWN = find(Path(__file__).with_name("own"))
SIGNING = ("request-signing/profile-3.2", "request-signing", "webhook-signing")


def params(corpus: Corpus, *names: str, which: Callable[[Gradable], bool] = lambda _: True) -> list[ParameterSet]:
    """A parameter a vector, of the sets called `names`, of which `which` holds."""
    return [
        pytest.param(vector, id=f"{found.name.removeprefix(ADCP)}/{vector.name}")
        for found in corpus.sets
        if not names or found.name.removeprefix(ADCP) in names
        for vector in found.vectors
        if which(vector)
    ]


def published(*names: str, which: Callable[[Gradable], bool] = lambda _: True) -> list[ParameterSet]:
    """The same, of the published vectors."""
    return params(CORPUS, *names, which=which) or absent(ROOT)


def absent(path: Path) -> list[ParameterSet]:
    """One parameter that skips, and says where the data was looked for."""
    reason = f"no published vectors at {path}; set UNDERSIGNED_VECTORS to their directory"
    return [pytest.param(None, marks=pytest.mark.skip(reason=reason), id="absent")]


needs_published = pytest.mark.skipif(not HERE, reason=f"no published vectors at {ROOT}")
