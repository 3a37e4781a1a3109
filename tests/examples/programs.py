"""The programs of the examples: one as a module, one as a process of its own."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.workers import answers, free_port, started, workers

EXAMPLES = Path(__file__).parents[2] / "examples"


def example(name: str):
    """Return an example as a module: the examples are no package."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def pair_in(folder: Path, name: str, pair) -> None:
    """Write the files of `undersigned keygen --out NAME`."""
    (folder / name).mkdir(exist_ok=True)
    (folder / name / "private.jwk.json").write_text(json.dumps(pair.private))
    (folder / name / "public.jwks.json").write_text(json.dumps(pair.public))


def copied(folder: Path, name: str, **constants: object) -> Path:
    """Copy an example into the folder where it runs, with other constants; return its path."""
    text = (EXAMPLES / f"{name}.py").read_text()
    for constant, value in constants.items():
        line = re.compile(rf"^({constant}(?:: \w+)?) = .*$", re.MULTILINE)
        assert len(line.findall(text)) == 1, (name, constant)
        text = line.sub(lambda match, value=value: f"{match[1]} = {value!r}", text)
    path = folder / f"{name}.py"
    path.write_text(text)
    return path


def ran_in(
    folder: Path,
    name: str,
    seller: str = "http://127.0.0.1:8000",
    *,
    bearer: str = "t0k3n",
    environment=None,
    **constants: object,
) -> subprocess.CompletedProcess[str]:
    """Return an example that has run in a folder with its keys, with other constants. Warnings are errors."""
    program = copied(folder, name, **constants)
    program.write_text(program.read_text().replace("http://127.0.0.1:8000", seller).replace("t0k3n", bearer))
    command = [sys.executable, "-W", "error", str(program)]
    return subprocess.run(  # noqa: S603 - ours
        command,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
        cwd=folder,
        env={**os.environ, **(environment or {})},
    )


@contextlib.contextmanager
def start_service(module: str, folder: Path, *arguments: str, count: int = 0, fails: bool = False, **environment: str):
    """Run an example by uvicorn, as its file says; yields its port, which `{port}` in its environment names.

    It logs no traceback, unless it `fails` in the test.
    """
    port, log = free_port(), folder / "log"
    given = {name: value.format(port=port) for name, value in environment.items()}
    served = ("--app-dir", str(EXAMPLES), "--factory", f"{module}:app", "--port", str(port))
    with workers("uvicorn", *served, *arguments, port=port, log=log, count=count, **given):
        yield port
    assert fails or "Traceback" not in log.read_text()


READ = {
    "jwks": "keys/public.jwks.json",
    "key": "keys/private.jwk.json",
    "server": "server/private.jwk.json",
    "certificate": "localhost.pem",
}
"""The files that examples read, by what they are."""


@contextlib.contextmanager
def start_example(example: str, said: list[str] | None = None, **files: Path):
    """Run an example in a process of its own; yields its port.

    It is copied into an empty folder with the files that it reads. Only the port is another one.
    """
    port, text = free_port(), (EXAMPLES / example).read_text()
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, example).write_text(text.replace("8000", str(port)))
        for name, path in files.items():
            read = Path(folder, READ[name])
            read.parent.mkdir(exist_ok=True)
            read.write_bytes(path.read_bytes())
        log = Path(folder, "log")
        with started([sys.executable, example], lambda _: answers(port), log=log, cwd=folder):
            yield port
        output = log.read_text()
    assert "Traceback" not in output
    if said is not None:
        said += output.splitlines()
