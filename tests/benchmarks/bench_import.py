"""The cost of `import undersigned` relative to the import of its dependencies, in fresh interpreters."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.benchmarks.row import Row, Side, interleave

_DEPENDENCIES = (
    "import http_message_signatures, http_message_signatures.algorithms, http_sf, http_sf.compat, idna; "
    "from cryptography.hazmat.primitives.asymmetric import ec, ed25519"
)


def rows(*, quick: bool) -> list[Row]:
    """Measure the import."""
    floor, whole = interleave(
        2 if quick else 15,
        Side(lambda _: _run(_DEPENDENCIES)),
        Side(lambda _: _run(f"{_DEPENDENCIES}; import undersigned")),
    )
    return [Row("import undersigned", "its dependencies alone", 1000 * (whole - floor), None, "ms more")]


def _run(program: str) -> None:
    """Run `program` in a fresh interpreter."""
    # An installed package has its bytecode, so it is written here too, whatever the environment says.
    compiled = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, env=compiled)  # noqa: S603 - ours
