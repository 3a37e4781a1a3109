"""The examples of docs/shell.md, run by bash from top to bottom in an empty folder, against a real service."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.command import invoke
from tests.seller import selling_at

PAGE = Path(__file__).parents[2] / "docs/shell.md"
KEYGEN = "undersigned keygen --out keys\n"
ORIGIN = "http://localhost:8000"
COMMAND = 'set -euo pipefail\nundersigned() { "$PYTHON" -m undersigned "$@"; }\n'

pytestmark = pytest.mark.skipif(
    not all(map(shutil.which, ("bash", "curl", "openssl"))), reason="the examples are for bash, curl and openssl"
)


def test_examples_of_the_shell_page_work_as_they_are_printed(tmp_path):
    blocks = re.findall(r"```sh\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    first, *others = blocks
    assert first.startswith(KEYGEN)
    assert invoke("keygen", "--out", str(tmp_path / "keys")).exit_code == 0
    with selling_at(tmp_path / "keys/public.jwks.json") as origin:
        script = "".join((COMMAND, first.removeprefix(KEYGEN), *others)).replace(ORIGIN, origin)
        done = subprocess.run(
            ["/bin/bash", "--norc"],
            input=script.encode(),
            capture_output=True,
            check=False,
            timeout=120,
            cwd=tmp_path,
            env={**os.environ, "PYTHON": sys.executable, "UNDERSIGNED_PROFILE": "adcp-3.2"},
        )
    assert done.returncode == 0, done.stderr.decode()
    shown = done.stdout.decode()
    assert done.stderr.count(b"HTTP/1.1 200 OK\n") == 2
    assert shown.count(f'"body": "{(tmp_path / "body.json").read_bytes().hex()}"') == 3
    assert [json.loads(line)["ok"] for line in re.findall(r'\{"ok".*', shown)] == [True]
    assert shown.count("Signature-Input: sig1=") == 2
