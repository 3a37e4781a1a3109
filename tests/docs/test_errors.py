"""The page of error codes: every code and every exception is there, and what it quotes from the log is so."""

from __future__ import annotations

import ast
import re
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import pytest
from tests.keys import BODY, NOW, replace_parts, signed_request, verifier
from tests.packages import PACKAGES

from undersigned import Claim, MemoryReplayStore, RevocationList, SignatureError, profiles
from undersigned.errors import Reason
from undersigned.reasons import UNREAD

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "errors.md").read_text("utf-8")
SOURCES = [file for folder in PACKAGES.values() for file in folder.rglob("*.py")]
SECTIONS = re.findall(r"^## .+?(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
ENTRIES = dict(re.findall(r"^### ([a-z_]+)\n\n.+\n\n((?:- .+\n)+)", PAGE, re.MULTILINE))
CAUSE = re.compile(r"^\d\. \*\*.+?\*\*\n   See: (.+)\n   Fix: .+\n", re.MULTILINE)
sys.path.insert(0, str(ROOT / "docs"))

import error_codes  # noqa: E402 - a module of docs/
import site_pages  # noqa: E402 - as above


def test_page_has_every_reason_and_no_other():
    assert sorted(ENTRIES) == sorted([*get_args(Reason), *UNREAD])


def test_page_says_of_each_code_what_the_library_does():
    assert error_codes.rewritten(PAGE) == PAGE, "run `python docs/error_codes.py`"


def test_code_is_the_anchor_of_its_entry():
    assert {code: site_pages.anchor(code) for code in ENTRIES} == {code: code for code in ENTRIES}


@pytest.mark.parametrize(
    ("code", "shown"),
    [
        ("signature_key_unknown", "`request_signature_key_unknown` (AdCP)"),
        ("signature_key_unknown", "Step 7. Status 401; 400 (WIMSE), 403 (Web Bot Auth).\n- The sender: give"),
        ("signature_rate_abuse", "Steps 9a and 13."),
        ("signature_store_unavailable", "Steps 9a, 12 and 13."),
        ("body_malformed", "Steps 0 and 14."),
        ("signature_jwks_unavailable", "Status 503; 424 (UCP)."),
    ],
)
def test_line_of_a_reason_has_its_codes_steps_and_statuses(code, shown):
    assert shown in ENTRIES[code]


def test_page_has_every_code_of_every_profile():
    told = {profile.answers.code(reason) for reason in get_args(Reason) for profile in profiles.BY_NAME.values()}
    assert [code for code in told if f"`{code}`" not in PAGE] == []


def is_text(quoted: str) -> bool:
    """Return whether the page quotes a text, and not a command or a name."""
    return " " in quoted and not quoted.startswith("undersigned ")


def quoted_in(text: str) -> list[str]:
    """Return what the causes in a text quote from the log."""
    return [quoted for see in CAUSE.findall(text) for quoted in re.findall(r"`([^`]+)`", see) if is_text(quoted)]


@cache
def nodes() -> list[tuple[Path, ast.AST]]:
    """Return all nodes of the source, each with its file."""
    return [(path, node) for path in SOURCES for node in ast.walk(ast.parse(path.read_text("utf-8")))]


@cache
def texts() -> list[str]:
    """Return the texts of the source, with the value of an f-string as three dots."""
    found: list[str] = []
    for _, node in nodes():
        if isinstance(node, ast.JoinedStr):
            found.append("".join(str(part.value) if isinstance(part, ast.Constant) else "..." for part in node.values))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.append(node.value)
    return found


def test_texts_that_the_page_quotes_are_texts_of_the_library():
    written = "\0".join(texts())
    assert [quoted for quoted in sorted(set(quoted_in(PAGE))) if quoted not in written] == []


def exceptions() -> set[str]:
    """Return every exception of the library that a caller or a source may meet, by the classes in its source."""
    bases: dict[str, set[str]] = {}
    for path, node in nodes():
        if isinstance(node, ast.ClassDef) and not {"cli", "undersigned_inspector"}.intersection(path.parts):
            bases.setdefault(node.name, set()).update(ast.unparse(base) for base in node.bases)
    found, more = {"UndersignedError"}, {"UndersignedError"}
    while more:
        more = {name for name, named in bases.items() if named & found} - found
        found |= more
    return found


def test_page_has_every_exception_and_no_other():
    rows = re.findall(r"^\| `(\w+)` \| ", SECTIONS[-1], re.MULTILINE)
    assert sorted(rows) == sorted(exceptions())


def change(name: str, old: str, new: str) -> Callable[[list[tuple[str, str]]], list[tuple[str, str]]]:
    """Return a change of one signature field."""
    return lambda fields: [(field, value.replace(old, new) if field == name else value) for field, value in fields]


STALE = """{
    "issuer": "a",
    "updated": "2020-01-01T00:00:00Z",
    "next_update": "2020-01-01T00:15:00Z",
    "revoked_kids": []
}"""

FAULTS = {
    "unsigned": lambda fields: fields[:1],
    "malformed": lambda fields: fields[:-1],
    "profile": change("signature-input", ' "content-digest"', ""),
    "time": change("signature-input", f";created={NOW}", f";created={NOW + 200}"),
    "key": change("signature-input", 'keyid="buyer-ed25519"', 'keyid="stranger"'),
    "invalid": change("signature-input", f";created={NOW}", f";created={NOW + 1}"),
}
"""One fault of each kind that a changed signature field can cause."""


class Down(MemoryReplayStore):
    def claim(self, *_: object, **__: object) -> Claim:
        raise OSError


TWICE = b'{"plan":"gold","plan":"lead"}'


@pytest.mark.parametrize("name", [*FAULTS, "changed body", "repeated key", "replay", "broken store", "stale list"])
def test_page_explains_a_rejection_by_a_cause_that_quotes_the_log(name):
    signed = signed_request(body=TWICE if name == "repeated key" else BODY)
    fields, body = FAULTS.get(name, list)(list(signed.fields)), signed.body + b" " * (name == "changed body")
    options = {"revocations": RevocationList.from_json(STALE)} if name == "stale list" else {}
    subject = verifier(replay=Down() if name == "broken store" else MemoryReplayStore(), **options)
    if name == "replay":
        subject.verify(signed)
    with pytest.raises(SignatureError) as caught:
        subject.verify(replace_parts(signed, fields=fields, body=body))
    error = caught.value
    section = next(text for text in SECTIONS if f"### {error.reason}\n" in text)
    steps = re.search(r"Steps? ([^.]+)\.", ENTRIES[error.reason])[1]
    assert str(error.step) in re.findall(r"\w+", steps)
    patterns = [".+".join(re.escape(part) for part in text.split("...")) for text in quoted_in(section)]
    assert any(re.search(pattern, error.detail) for pattern in patterns), error.detail
