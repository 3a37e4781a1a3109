"""Every snippet of the README is run, and every literal of it and of the page on verification is made again."""

from __future__ import annotations

import base64
import contextlib
import pathlib
import re
import shlex
import subprocess
import sys
import tomllib
from importlib import metadata
from typing import TYPE_CHECKING

import pytest
from fastapi import FastAPI
from tests.docs.pages import program, run
from tests.workers import free_port, started, wait_until

from undersigned import KeyPair, MemoryReplayStore, Operation, Request, Signer, SigningKey, Verifier, profiles
from undersigned.asgi import SignatureMiddleware

if TYPE_CHECKING:
    from collections.abc import Iterator

README = pathlib.Path(__file__).parent.parent / "README.md"
DOCS = README.parent / "docs"
SECTION = re.compile(r"^## (?P<title>.+?)$(?P<text>.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
SEED = bytes.fromhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")
PUBLIC = bytes.fromhex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")
BODY = b'{"plan_id":"plan_001"}'
ORIGIN = "https://seller.example.com"


def sections() -> dict[str, str]:
    text = README.read_text() + (DOCS / "verification.md").read_text()
    return {match["title"]: match["text"] for match in SECTION.finditer(text)}


def snippet(title: str, language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)\n```", sections()[title], re.DOTALL)
    assert found, title
    return found[1]


def b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


PUBLIC_JWK = {
    "kid": "buyer-2026",
    "kty": "OKP",
    "crv": "Ed25519",
    "alg": "EdDSA",
    "use": "sig",
    "key_ops": ["verify"],
    "adcp_use": "request-signing",
    "x": b64(PUBLIC),
}
PRIVATE_JWK = {**PUBLIC_JWK, "key_ops": ["sign"], "d": b64(SEED)}


def literal_request() -> tuple[dict[str, str], str]:
    """The fields and the base of the request the README shows."""
    signer = Signer(SigningKey.from_jwk(PRIVATE_JWK), profile=profiles.ADCP_3_2)
    signed = signer.sign(
        Request("POST", f"{ORIGIN}/adcp/create_media_buy", {"Content-Type": "application/json"}, BODY),
        created=1776520800,
        nonce="KXYnfEfJ0PBRZXQyVXfVQA",
    )
    return dict(signed.fields), signed.signature_base


BLOCK = re.compile(
    r"(?:as `(?P<file>[a-z.]+)`:\n\n)?```(?P<kind>[a-z]+)\n(?:# (?P<name>[a-z.]+)\n)?(?P<text>.*?)\n```", re.DOTALL
)
PROGRAMS = {"undersigned": ["-m", "undersigned"], "uvicorn": ["-m", "uvicorn"], "python": []}


class QuickStart:
    """The quick start in an empty folder, as somebody copies it. Only the port is another one.

    Attributes:
        log: the file with the output of the server.
        server: the server, once it was started.
    """

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder, self.port = folder, str(free_port())
        self.log = folder / "log"
        self.server = contextlib.ExitStack()

    def do(self, block: re.Match[str]) -> None:
        """Do what one block says, and compare what it prints."""
        text = block["text"].replace("8000", self.port)
        file = block["file"] or block["name"]
        if file:
            (self.folder / file).write_text(text + "\n")
        elif block["kind"] == "console":
            for command, printed in re.findall(r"^\$ (.*)((?:\n(?!\$ ).*)*)", text, re.MULTILINE):
                if not command.startswith("pip "):
                    self.run(shlex.split(command.removesuffix(" &")), printed.strip().splitlines())
        elif block["kind"] == "text":
            pattern = re.sub(r"\\\.\\\.\\\.", ".*", re.escape(" ".join(text.splitlines())))
            wait_until(lambda: self.has_logged(pattern), log=self.log)

    def run(self, command: list[str], printed: list[str]) -> None:
        command = [sys.executable, *PROGRAMS[command[0]], *command[1:]]
        if "uvicorn" not in command:
            done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)  # noqa: S603
            assert done.returncode == 0, done
            assert [
                line for line in printed if line not in {"...", *done.stdout.splitlines(), *done.stderr.splitlines()}
            ] == []
            return
        lines = (*printed, f"INFO:     Uvicorn running on http://127.0.0.1:{self.port} (Press CTRL+C to quit)")
        command += ["--port", self.port]
        self.server.enter_context(
            started(
                command,
                lambda _: all(self.has_logged(re.escape(line)) for line in lines),
                log=self.log,
                cwd=self.folder,
            )
        )

    def has_logged(self, line: str) -> bool:
        """Whether the server has written a line that a pattern matches."""
        return re.search(f"^{line}$", self.log.read_text(), re.MULTILINE) is not None


SITE = "https://undersigned.readthedocs.io/en/stable/"
FIRST_SCREEN = README.read_text().partition("\n## ")[0]
ADCP = (DOCS / "profiles" / "adcp.md").read_text()


@contextlib.contextmanager
def done(text: str, folder: pathlib.Path) -> Iterator[QuickStart]:
    """Do what the blocks of a text say, in their order, and keep the server until the end."""
    start = QuickStart(folder)
    with start.server:
        # What is logged is compared last: the first screen shows it, and does not say what to send.
        for block in sorted(BLOCK.finditer(text), key=lambda block: block["kind"] == "text" and text is FIRST_SCREEN):
            if block["kind"] == "text" and text is FIRST_SCREEN:
                source = program("docs/quickstart.md", "attack.py")
                (folder / "attack.py").write_text(source.replace("8000", start.port))
                start.run(["python", "attack.py"], [])
            start.do(block)
        yield start


@pytest.mark.parametrize(
    "text",
    [FIRST_SCREEN, (DOCS / "quickstart.md").read_text(), re.search("## Quick start\n(.*?)\n## ", ADCP, re.DOTALL)[1]],
    ids=["README", "quick start", "AdCP"],
)
def test_page_works_as_printed_in_an_empty_folder(text, tmp_path):
    with done(text, tmp_path) as start:
        assert {path.name for path in tmp_path.iterdir()} >= {"keys", "main.py", "client.py"}
        assert "401 Unauthorized" in start.log.read_text()


def test_programs_of_the_readme_are_those_of_the_quick_start():
    for file in ("main.py", "client.py"):
        assert f"# {file}\n{program('docs/quickstart.md', file)}" in FIRST_SCREEN


def test_python_comes_within_80_words():
    before = re.sub(r"\(https?:[^)]*\)", "", FIRST_SCREEN.partition("```python")[0])
    assert len(before.split()) <= 80


def test_commands_of_the_first_screen_work_after_the_install_before_them():
    extras = set(re.search(r"pip install 'undersigned\[([a-z,]+)\]' uvicorn", FIRST_SCREEN)[1].split(","))
    assert extras == {"cli", "fastapi", "requests"}


def test_table_of_extras_has_every_extra_that_adds_an_integration():
    listed = set(re.findall(r"`([a-z0-9]+)`", "".join(re.findall(r"^\| `.*? \|", sections()["Install"], re.MULTILINE))))
    declared = set(tomllib.loads((README.parent / "pyproject.toml").read_text())["project"]["optional-dependencies"])
    assert declared - listed == {"all", "demo", "test"}
    assert listed <= declared


def test_page_of_an_index_links_to_pages_that_the_site_has():
    described, again = metadata.metadata("undersigned").get_payload(), "install this package again"
    assert described.startswith("# undersigned"), again
    links = re.findall(r"\]\(([^)]*)\)", described)
    pages = [link.removeprefix(SITE) for link in links if link.startswith(SITE)]
    assert len(pages) > 20, again
    assert [link for link in links if not link.startswith("https://")] == []
    assert [page for page in pages if not (DOCS / page.partition("#")[0]).with_suffix(".md").exists()] == []


def test_index_shows_where_to_go_and_whom_it_is_for():
    shown, project = (
        metadata.metadata("undersigned"),
        tomllib.loads((README.parent / "pyproject.toml").read_text())["project"],
    )
    urls = dict(url.split(", ") for url in shown.get_all("Project-URL") or [])
    assert urls == project["urls"], "install this package again"
    assert all(url.startswith(SITE) for url in urls.values())
    assert {"Documentation", "Changelog", "Report a vulnerability"} <= urls.keys()
    assert {"Framework :: Django", "Framework :: FastAPI", "Framework :: Flask"} <= set(shown.get_all("Classifier"))
    assert {"webhooks", "hmac", "authentication"} <= set(shown["Keywords"].split(","))


def test_literal_fields_equal_the_output_of_the_signer():
    shown = snippet("What is on the wire", "http")
    fields, _ = literal_request()
    for name, value in fields.items():
        assert f"{name}: {value}\n" in shown
    assert shown.endswith(BODY.decode())


def test_literal_base_equals_the_signed_base():
    assert snippet("What is on the wire", "text") == literal_request()[1]


def test_two_commands_do_all_the_set_up():
    commands = re.findall(r"```sh\n(.*?)\n```", README.read_text())
    assert commands == ["pip install -e '.[demo]' && undersigned demo", "pip install -e '.[test]' && pytest -n auto"]


def test_policy_on_the_page_decides_as_described():
    page = (README.parent / "docs" / "policy.md").read_text()
    source = re.search(r"```python\n(.*?)\n```", page, re.DOTALL)
    verifier = Verifier(keys=KeyPair.generate().key_set(), replay=MemoryReplayStore())
    names = run(source[1], app=FastAPI(), verifier=verifier)
    assert names["policy"].demand(Operation("create_media_buy")) == "required"
    assert names["policy"].demand(Operation("sync_creatives")) == "warn"
    assert isinstance(names["app"], SignatureMiddleware)
