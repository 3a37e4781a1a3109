"""The page about other languages: each program signs what the quick start accepts, and a wrong line is explained."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.workers import answers, free_port, started

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "other-languages.md").read_text("utf-8")
PROGRAM = re.compile(r"```\w+\n(?P<text>(?:<\?php )?(?://|#) (?P<name>\S+)\n.*?)```", re.DOTALL)
PROGRAMS = {found["name"]: found["text"] for found in PROGRAM.finditer(PAGE)}
RUNTIMES = {"mjs": "node", "go": "go run", "java": "java", "php": "php", "rb": "ruby", "sh": "sh"}
ROWS = re.findall(r"^\| `(\S+)` \| `(.+?)` → `(.+?)` \| `(.+?)` \|$", PAGE, re.MULTILINE)
SIGNERS = [name for name in PROGRAMS if name != "verify.mjs"]


class Place:
    """A folder with the keys and the quick start, which logs each rejected request as docs/explain.md says."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port, self.log = folder, str(free_port()), folder / "log"
        for file, page in (("main.py", "quickstart.md"), ("client.py", "quickstart.md")):
            self.write(file, (DOCS / page).read_text("utf-8"))
        logging = re.search(r"```python\n(.*?)```", (DOCS / "explain.md").read_text("utf-8"), re.DOTALL)[1]
        quick_start = (folder / "main.py").read_text()
        assert quick_start.count('mode="optional"') == 1
        (folder / "main.py").write_text(
            logging + quick_start.replace('mode="optional"', 'mode="optional", log_whole=True')
        )
        self.undersigned("keygen", "--out", "keys")

    def write(self, name: str, page: str, *change: str) -> None:
        text = next(found["text"] for found in re.finditer(PROGRAM.pattern, page, re.DOTALL) if found["name"] == name)
        if change:
            assert text.count(change[0]) == 1, change
            text = text.replace(*change)
        (self.folder / name).write_text(text.replace("8000", self.port))

    def undersigned(self, *arguments: str) -> subprocess.CompletedProcess:
        command = [sys.executable, "-m", "undersigned", *arguments]
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)  # noqa: S603 - ours

    def run(self, name: str) -> str:
        program, *options = RUNTIMES[name.rpartition(".")[2]].split()
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")
        npm = os.environ.get("UNDERSIGNED_INTEROP_NPM")
        if name == "library.mjs":
            if npm is None:
                pytest.skip("UNDERSIGNED_INTEROP_NPM does not name packages of npm")
            if not (self.folder / "node_modules").exists():
                (self.folder / "node_modules").symlink_to(f"{npm}/node_modules")
        command = [program, *options, name]
        environment = {**os.environ, "GOCACHE": f"{self.folder}/.go", "GOFLAGS": "-mod=mod"}
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False, env=environment)  # noqa: S603
        assert done.returncode == 0, done
        return done.stdout

    def start(self, *command: str) -> AbstractContextManager[None]:
        """Run a server from when it accepts connections."""
        return started(command, lambda _: answers(int(self.port)), log=self.log, cwd=self.folder)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    place = Place(tmp_path_factory.mktemp("place"))
    with place.start(sys.executable, "-m", "uvicorn", "main:app", "--port", place.port):
        yield place


@pytest.fixture
def quick_start(place) -> Place:
    """The quick start, with an empty log."""
    os.truncate(place.log, 0)
    return place


@pytest.mark.parametrize("name", PROGRAMS)
def test_program_has_at_most_40_lines(name):
    assert len(PROGRAMS[name].splitlines()) <= 40


@pytest.mark.parametrize("name", SIGNERS)
def test_program_signs_a_request_that_the_quick_start_accepts(name, quick_start):
    quick_start.write(name, PAGE)
    said = quick_start.run(name)
    assert '{"accepted":{"item":"tea"},"from":"billing"}' in said
    assert "200" in said.split()


def test_server_in_node_verifies_our_client_and_nothing_else(tmp_path):
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    place = Place(tmp_path)
    place.write("verify.mjs", PAGE)
    quick_start = (DOCS / "quickstart.md").read_text("utf-8")
    place.write("attack.py", quick_start, "print(", "rejected.status_code == 401 or exit(rejected.text)\n    print(")
    sends = """
for method, sent in [("GET", {}), ("POST", {}), ("POST", {"data": {"a": "b c"}}), ("DELETE", {"params": {"q": "%7e"}})]:
    print(requests.request(method, "http://localhost:8000/orders", auth=auth, **sent).text)
"""
    attack = place.folder / "attack.py"
    attack.write_text(attack.read_text() + "from client import auth" + sends.replace("8000", place.port))
    with place.start("node", "verify.mjs"):
        done = subprocess.run(
            [sys.executable, "attack.py"], cwd=place.folder, capture_output=True, text=True, check=False
        )
    assert done.returncode == 0, done
    told = [json.loads(line[line.index("{") :]) for line in done.stdout.splitlines()]
    errors = [{"error": text} for text in ("the body was changed", "replayed", "no Signature-Input with one signature")]
    accepted = [{"from": "billing", "body": text} for text in ('{"item": "tea"}', "", "", "a=b+c", "")]
    assert told == [accepted[0], *errors, *accepted[1:]]


def test_each_program_has_a_wrong_line():
    assert [name for name, *_ in ROWS] == SIGNERS


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_wrong_line_is_explained_as_the_page_says(row, quick_start):
    name, right, wrong, told = row
    quick_start.write(name, PAGE, right, wrong)
    assert "401" in quick_start.run(name).split()
    explained = quick_start.undersigned("explain", "log", "--profile", "default", "--jwks", "keys/public.jwks.json")
    pattern = re.escape(told.replace("8000", quick_start.port)).replace(r"\.\.\.", ".*")
    assert re.search(pattern, explained.stdout), explained.stdout
