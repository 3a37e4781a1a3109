"""The programs of the examples: one as a module, one as a process of its own."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "examples"


def example(name: str):
    """Return an example as a module: the examples are no package."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def ran(name: str, **options) -> subprocess.CompletedProcess[str]:
    """Return an example that has run with these options; True is a flag. Warnings are errors."""
    command = [sys.executable, "-W", "error", str(EXAMPLES / f"{name}.py")]
    for option, value in options.items():
        command += [f"--{option.replace('_', '-')}", *([] if value is True else [str(value)])]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)  # noqa: S603 - ours


def ran_in(folder: Path, name: str, seller: str, *, bearer: str = "t0k3n") -> subprocess.CompletedProcess[str]:
    """Return an example that has run in a folder with its keys, with another seller. Warnings are errors."""
    program = folder / f"{name}.py"
    text = (EXAMPLES / program.name).read_text()
    program.write_text(text.replace("http://127.0.0.1:8000", seller).replace("t0k3n", bearer))
    command = [sys.executable, "-W", "error", str(program)]
    return subprocess.run(command, capture_output=True, text=True, timeout=180, check=False, cwd=folder)  # noqa: S603
