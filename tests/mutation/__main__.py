"""`python -m tests.mutation [--sample N] [--seed S] [--module M] [--minutes M]`: does a test notice every change?

Each mutant of the sample is a module of the checking code with one small change. The tests of its own room run first,
then those of the rooms near it. It prints the mutants that survive: a rule without a test, or code that nothing needs.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from random import Random
from typing import Final

from tests.mutation.mutants import Mutant, mutants_of, place
from tests.mutation.trial import Trials

ROOT: Final = Path(__file__).parents[2]

_REQUEST: Final = ("message", "policy", "verification", "middleware", "asgi", "wsgi", "observations")
_OTHERS: Final = frozenset(
    f"undersigned_{name}" for name in ("demo", "inspector", "opentelemetry", "postgres", "redis")
)
"""The integrations that check no request, or whose tests need a server."""

NEAR: Final = {
    "url": ("url", "message", "policy", "middleware", "normalization", "properties", "vectors"),
    "normalization": ("normalization", "docs"),
    "message": (*_REQUEST, "signature", "explanation", "properties", "vectors"),
    "signature": ("signature", "profiles", *_REQUEST, "cli", "conformance", "properties", "vectors"),
    "profiles": ("profiles", *_REQUEST, "signature", "conformance", "vectors"),
    "policy": ("policy", "middleware", "asgi", "wsgi", "properties", "vectors", "integrations"),
    "cavage": ("cavage", "activitypub", "explanation", "integrations"),
    "tokens": ("tokens", "profiles"),
    "replay": ("replay", "verification", "testing", "properties"),
    "verification": ("verification", "profiles", "middleware", "asgi", "wsgi", "explanation", "properties", "vectors"),
    "client": ("client", "integrations"),
    "activitypub": ("activitypub", "explanation"),
    "pasted": ("pasted", "explanation", "cli"),
    "publishing": ("publishing", "discovery", "integrations"),
    "discovery": ("discovery", "tokens", "profiles", "publishing", "activitypub"),
    "middleware": ("middleware", "asgi", "wsgi", "observations", "integrations"),
    "asgi": ("asgi", "middleware", "observations", "integrations"),
    "wsgi": ("wsgi", "middleware", "observations", "integrations"),
    **{
        path.name: ("integrations", "middleware", "wsgi")
        for path in sorted((ROOT / "integrations").glob("undersigned_*"))
        if path.name not in _OTHERS
    },
}
"""The rooms whose tests run a package of the checking code or an integration, its own first."""


def main() -> int:
    """Try a sample of the mutants, and print those that survive. Return 2 if the tests fail without a mutant."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("--sample", type=int, default=100, metavar="N", help="how many mutants to try")
    parser.add_argument("--seed", default="1", metavar="S", help="another seed tries other mutants")
    parser.add_argument("--module", default="", metavar="M", help="only those, such as url/path or undersigned_flask")
    parser.add_argument("--minutes", type=float, default=60, metavar="M", help="try no further mutant after this time")
    parser.add_argument("--seconds", type=float, default=300, metavar="S", help="how long the tests of a room may take")
    given = parser.parse_args()
    sample = draw_sample(ROOT, given.module, count=given.sample, seed=given.seed)
    if not sample:
        return _say(f"--module {given.module}: no module has a name that starts so", code=2)
    tried, survivors = 0, []
    with tempfile.TemporaryDirectory() as copy:
        trials = Trials(ROOT, Path(copy), seconds=given.seconds)
        rooms = {room: None for mutant in sample for room in NEAR[package_of(mutant)]}
        if not trials.warm_up([f"tests/{room}" for room in rooms]):
            return _say(f"the tests fail without a mutant:\n{(Path(copy) / 'log').read_text()[-4000:]}", code=2)
        end = time.monotonic() + 60 * given.minutes
        for mutant in sample:
            if time.monotonic() > end:
                break
            tried += 1
            rooms = [f"tests/{room}" for room in NEAR[package_of(mutant)]]
            if trials.survives(mutant, rooms[:1]) and trials.survives(mutant, rooms[1:]):
                survivors.append(mutant)
                _say(_describe(mutant))
    return _say(f"{tried} mutants, {tried - len(survivors)} killed, {len(survivors)} survive")


def package_of(mutant: Mutant) -> str:
    """Return the package that a mutant is in."""
    return mutant.module.partition("/")[0]


def draw_sample(root: Path, start: str, *, count: int, seed: str) -> list[Mutant]:
    """Return a sample of the mutants of the modules in the tree `root` whose name starts with `start`."""
    every: list[Mutant] = []
    for module in modules(root):
        if module.startswith(start):
            every += mutants_of(module, (root / place(module)).read_bytes())
    return Random(seed).sample(every, min(count, len(every)))  # noqa: S311 - it has to be repeatable


def modules(root: Path) -> list[str]:
    """Return the modules that a sample is drawn from, as a `Mutant` names them."""
    folders = [(package, root / place(package)) for package in NEAR]
    return sorted(
        f"{package}/{path.relative_to(folder).as_posix()}"
        for package, folder in folders
        for path in folder.rglob("*.py")
    )


def _describe(mutant: Mutant) -> str:
    return f"{mutant.module}:{mutant.line}\n- {mutant.code}\n+ {mutant.becomes}"


def _say(text: str, *, code: int = 0) -> int:
    print(text, flush=True)  # noqa: T201 - the output
    return code


if __name__ == "__main__":
    sys.exit(main())
