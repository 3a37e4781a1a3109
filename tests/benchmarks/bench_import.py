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
_FRAMEWORKS = [
    "starlette",
    "fastapi",
    "flask",
    "werkzeug",
    "requests",
    "httpx",
    "httpx2",
    "redis",
    "uvicorn",
    "waitress",
    "gunicorn",
    "django",
    "aiohttp",
    "asyncio",
]


def rows(*, quick: bool) -> list[Row]:
    """Measure the import, and count the frameworks it loads."""
    floor, whole = interleave(
        2 if quick else 15,
        Side(lambda _: run_import(_DEPENDENCIES)),
        Side(lambda _: run_import(f"{_DEPENDENCIES}; import undersigned")),
    )
    loaded = run_import(f"import sys, undersigned; print(len(sys.modules.keys() & set({_FRAMEWORKS!r})))")
    return [
        Row("import undersigned", "its dependencies alone", 1000 * (whole - floor), None, "ms more"),
        Row("frameworks it loads, including asyncio", "none", float(loaded), 0, "modules"),
    ]


def run_import(program: str) -> str:
    """Run `program` in a fresh interpreter; return what it prints."""
    # An installed package has its bytecode, so it is written here too, whatever the environment says.
    compiled = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=compiled)  # noqa: S603 - our own program
    return done.stdout or "0"
