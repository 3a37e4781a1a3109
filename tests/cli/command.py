"""The real command, in its own process, or in this process for branch coverage."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import warnings

from click.testing import CliRunner
from hypothesis import strategies as st

from undersigned.cli import undersigned

URL = "https://seller.example.com/orders"
GET = {"method": "GET", "url": URL}
POST = {"method": "POST", "url": URL, "headers": {"Content-Type": "application/json"}, "body": "{}"}
NOTHING = "Error: standard input has no request: there is nothing to verify\n"


def run(*args: str, stdin: bytes = b"", **options) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(  # noqa: S603 - our own command, with arguments a test chose
        [sys.executable, "-m", "undersigned", *args],
        input=stdin,
        capture_output=True,
        timeout=60,
        check=False,
        **options,
    )


def invoke(*args: str, stdin: bytes = b""):
    result = CliRunner().invoke(undersigned, list(args), input=stdin, prog_name="undersigned")
    if result.exit_code == 2:
        # click leaves a file open if another option is wrong. It is closed here, before another test is blamed for it.
        result.exception = result.exc_info = None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)
            gc.collect()
    return result


def usage_error(*args: object) -> str:
    """Return what a command says of its wrong usage, in one line."""
    result = invoke(*map(str, args))
    assert (result.exit_code, result.stdout) == (2, "")
    return " ".join(result.stderr.split())


def objects(output: bytes) -> list[dict[str, object]]:
    """Return the objects that a command wrote, one per line."""
    return [json.loads(line) for line in output.decode("ascii").splitlines()]


def answers(*args: str, stdin: bytes) -> list[dict[str, object]]:
    """Return a command's answers to lines in this process, and check that its exit code is right."""
    result = invoke(*args, stdin=stdin)
    found = objects(result.stdout_bytes)
    is_verified = all("error" not in answer for answer in found)
    if args[0] == "verify":
        is_verified = bool(found) and all(answer["ok"] for answer in found)
    assert (result.exit_code, result.stderr) == (int(not is_verified), "" if found or is_verified else NOTHING)
    return found


def lines(*values: object) -> bytes:
    """Return JSON values, one per line."""
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def not_blank(stdin: bytes) -> int:
    return sum(1 for line in stdin.split(b"\n") if line.strip())


TEXT = st.text(alphabet=st.characters(), max_size=8) | st.text(
    alphabet='aZ:/@[]%2F?#., "\\\t\r\n\0\u00fc\ud800', max_size=8
)
METHODS = st.sampled_from(["GET", "POST", "CONNECT", "get", ""]) | TEXT
URLS = st.just(URL) | TEXT.map(URL.__add__) | TEXT
NAMES = st.sampled_from(["Content-Type", "Host", ":authority", "Content-Digest", "Signature-Input", "Signature"]) | TEXT
HEADERS = st.dictionaries(NAMES, TEXT, max_size=3) | st.lists(st.tuples(NAMES, TEXT), max_size=3)
REQUESTS = st.fixed_dictionaries(
    {"method": METHODS, "url": URLS}, optional={"headers": HEADERS, "body": TEXT, "body_b64": TEXT}
)
