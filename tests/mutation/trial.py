"""Trials: the tests against one mutant, in a process of their own and in a copy of the tree."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import shutil
import signal
import sys
import time
from typing import TYPE_CHECKING, Final

import pytest
from tests.mutation.mutants import place

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from tests.mutation.mutants import Mutant

_COPIED: Final = ("src", "integrations", "tests", "docs", "examples", "pyproject.toml", "LICENSE", "*.cff", "*.md")
_OURS: Final = ("undersigned", "tests", "conftest", "test_", "__")
_OPTIONS: Final = ("-x", "-q", "-p", "no:cacheprovider", "-p", "no:cov", "-p", "no:xdist", "--hypothesis-seed=1")
# What is imported before the tests start cannot be rewritten for them, and need not be.
_IMPORTED: Final = ("-W", "ignore::pytest.PytestAssertRewriteWarning")


class Trials:
    """Runs tests against mutants in a copy of the tree, so that the tree itself never has one.

    Args:
        root: the tree.
        copy: an empty directory for the copy.
        seconds: how long the tests of one mutant may take: a mutant that never ends is noticed.
    """

    def __init__(self, root: Path, copy: Path, *, seconds: float) -> None:
        self._copy = copy
        self._seconds = seconds
        for pattern in _COPIED:
            for path in root.glob(pattern):
                copied = shutil.copytree if path.is_dir() else shutil.copy2
                copied(path, copy / path.name)

    def warm_up(self, rooms: Sequence[str]) -> bool:
        """Import once what the tests of `rooms` import of others; return whether they pass without a mutant then."""
        names = self._copy / "imported.json"
        self._pass([*rooms, "--collect-only"], names)
        for name in json.loads(names.read_text("utf-8")):
            with contextlib.suppress(Exception):
                importlib.import_module(name)
        passed = self._pass(rooms, seconds=self._seconds * len(rooms))
        sys.dont_write_bytecode = True
        return passed

    def survives(self, mutant: Mutant, rooms: Sequence[str]) -> bool:
        """Return whether no test of `rooms` fails with the mutant."""
        module = self._copy / place(mutant.module)
        known = module.stat()
        module.write_bytes(mutant.mutated)
        try:
            return self._pass(rooms)
        finally:
            module.write_bytes(mutant.source)
            # As before, the compiled module is the one of this time.
            os.utime(module, ns=(known.st_atime_ns, known.st_mtime_ns))

    def _pass(self, rooms: Iterable[str], names: Path | None = None, *, seconds: float = 0) -> bool:
        child = os.fork()
        if child == 0:
            self._test(rooms, names)
        end = time.monotonic() + (seconds or self._seconds)
        while time.monotonic() < end:
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                return os.waitstatus_to_exitcode(status) == 0
            time.sleep(0.05)
        os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return False

    def _test(self, rooms: Iterable[str], names: Path | None) -> None:
        """Run the tests in this process, and end it."""
        os.setsid()
        log = os.open(self._copy / "log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.chdir(self._copy)
        paths = [str(self._copy / part) for part in ("src", "integrations")]
        os.environ["PYTHONPATH"] = os.pathsep.join(paths)
        sys.path[:1] = [*paths, str(self._copy)]
        for name in [name for name in sys.modules if name.partition(".")[0] in {"tests", "undersigned"}]:
            del sys.modules[name]
        code = 1
        try:
            code = pytest.main([*_OPTIONS, *_IMPORTED, *rooms])
            if names is not None:
                loaded = [name for name in sys.modules if not name.startswith(_OURS)]
                # In their order: asyncio is another one if a private module of it is imported first.
                names.write_text(json.dumps(loaded), "utf-8")
        finally:
            os._exit(code)
