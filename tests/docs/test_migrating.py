"""The page about migrating: every name of ours in its tables is one that a package has."""

from __future__ import annotations

import hmac
import json
import re
import sys
import time
from base64 import b64encode
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import pytest
from starlette.testclient import TestClient
from tests.docs.pages import page, program, run, snippets

from undersigned import KeyPair, Request, SignatureError, Signer
from undersigned.cavage import CavageSigner

if TYPE_CHECKING:
    from collections.abc import Callable

JSON = ("Content-Type", "application/json")
PAGE = page("docs/migrating.md")
PACKAGES = [
    import_module(f"undersigned{name}")
    for name in ("", ".asgi", ".discovery", ".replay", ".signature.rules", "_httpx", "_postgres", "_redis", "_requests")
]
DJANGO = next(iter(find_spec("undersigned_django").submodule_search_locations))
REST_FRAMEWORK = (Path(DJANGO) / "rest_framework.py").read_text("utf-8")
"""It cannot be imported without the settings of a site."""

ROWS = [row.strip("|").split("|")[1] for row in PAGE.splitlines() if row.startswith("| `")]
WORDS = re.compile(r"\b(?:undersigned\w*\.)?([A-Z][a-z]\w+|signature_required)\b(?!=)")
CODE = [code for row in ROWS for code in re.findall("`([^`]+)`", row)]
NAMES = sorted({name for code in CODE for name in WORDS.findall(code)})


@pytest.mark.parametrize("name", NAMES)
def test_name_in_a_table_is_one_that_a_package_has(name):
    assert any(hasattr(package, name) for package in PACKAGES) or f"\nclass {name}(" in REST_FRAMEWORK


def test_tables_have_names():
    assert {"Signer", "Verifier", "RemoteJWKS", "SqliteReplayStore", "signature_required"} <= {*NAMES}


LEGACY, MAIN = (program("docs/migrating.md", file) for file in ("legacy.py", "main.py"))
SECRET, BODY, SITE = b"the secret that both sides still have", b'{"a": 1}', "https://shop.example"
DOCUMENTED = {
    "github": lambda _at: {"x-hub-signature-256": "sha256=" + mac(BODY).hex()},
    "stripe": lambda at: {"stripe-signature": f"t={at},v1={mac(f'{at}.'.encode() + BODY).hex()},v0=x"},
    "standard_webhooks": lambda at: {
        "webhook-id": "m1",
        "webhook-timestamp": str(at),
        "webhook-signature": f"v1,AAAA v1,{b64encode(mac(f'm1.{at}.'.encode() + BODY)).decode()}",
    },
}


def mac(signed: bytes) -> bytes:
    return hmac.new(SECRET, signed, "sha256").digest()


@pytest.fixture
def legacy(monkeypatch) -> ModuleType:
    module = ModuleType("legacy")
    exec(LEGACY, vars(module))  # noqa: S102 - the page's own words
    monkeypatch.setitem(sys.modules, "legacy", module)
    return module


@pytest.mark.parametrize("scheme", DOCUMENTED)
def test_function_of_the_page_verifies_the_header_of_its_scheme(scheme, legacy):
    check, fields = getattr(legacy, scheme), DOCUMENTED[scheme](int(time.time()))
    assert check(SECRET, fields, BODY)
    assert not check(SECRET, fields, BODY + b" ")
    assert not check(b"another", fields, BODY)
    assert not check(SECRET, {}, BODY)
    assert not check(SECRET, dict.fromkeys(fields, "\xe9,t=\xb2,v1=\xe9"), BODY)
    if scheme != "github":
        assert not check(SECRET, DOCUMENTED[scheme](int(time.time()) - 400), BODY)


@pytest.mark.usefixtures("legacy")
def test_both_schemes_are_accepted_on_one_path_until_the_switch(tmp_path, monkeypatch):
    pair = KeyPair.generate()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "keys").mkdir()
    (tmp_path / "keys/public.jwks.json").write_text(json.dumps(pair.public))

    def client(source: str) -> Callable[[dict], int]:
        module = ModuleType("hooks")
        monkeypatch.setitem(sys.modules, "hooks", module)
        exec(source, vars(module))  # noqa: S102 - the page's own words
        http = TestClient(vars(module)["app"], base_url=SITE)
        return lambda fields: http.post("/hooks", content=BODY, headers=dict([JSON]) | fields).status_code

    def signed() -> dict:
        return dict(Signer(pair.signing_key()).sign(Request("POST", f"{SITE}/hooks", [JSON], BODY)))

    old = DOCUMENTED["github"](0)
    both = client(MAIN)
    assert [both(old), both(signed()), both(old | signed())] == [200] * 3
    assert [
        both({}),
        both(old | signed() | {"Content-Digest": "sha-256=:AAAA:"}),
        both({"x-hub-signature-256": "x"}),
    ] == [401] * 3
    switched = client(re.sub(r"    if github.*\n.*\n", "", MAIN))
    assert [switched(old), switched(signed())] == [401, 200]


def test_verifier_of_the_page_reads_the_old_header_and_the_new_one(tmp_path, monkeypatch):
    pairs = [KeyPair.generate("rsa-v1_5-sha256", keyid="old"), KeyPair.generate(keyid="new")]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "keys").mkdir()
    (tmp_path / "keys/public.jwks.json").write_text(json.dumps({"keys": [pair.public["keys"][0] for pair in pairs]}))
    made = run(snippets(PAGE)[-1])
    request = Request("POST", f"{SITE}/hooks", [JSON, ("Host", "shop.example")], BODY)
    for signer in (CavageSigner(pairs[0].signing_key()), Signer(pairs[1].signing_key())):
        fields = [*request.fields, *signer.sign(request)]
        assert made["verifier"].verify(Request("POST", request.url, fields, BODY)).signer == "acme"
        with pytest.raises(SignatureError):
            made["verifier"].verify(Request("POST", request.url, fields, BODY + b" "))
