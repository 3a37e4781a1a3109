"""The public names of the package. Signing uses one rule set only."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import undersigned
from undersigned import normalization, url

PACKAGE = Path(undersigned.__file__).parent
FOR_SIGNING = {
    "CanonicalURL",
    "ConfiguredOrigins",
    "MalformedURL",
    "Origin",
    "Origins",
    "URL",
    "canonicalize",
    "canonicalize_authority",
    "comparable_authority",
    "is_address",
    "remove_dot_segments",
    "same_url",
}


def find_imports(path):
    """Return the names that a module imports from `undersigned.url`, with the names of imported submodules."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            module = ("undersigned." if node.level else "") + (node.module or "")
            if module == "undersigned.url" or module.startswith("undersigned.url."):
                yield from (alias.name for alias in node.names)
            elif module in {"undersigned", "undersigned."}:
                yield from (alias.name for alias in node.names if alias.name == "url")
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("undersigned.url"))


def test_every_public_name_exists_and_is_listed():
    for package in (url, normalization):
        assert all(getattr(package, name) is not None for name in package.__all__)
        assert len(package.__all__) == len(set(package.__all__))


def test_only_explanations_and_the_command_line_use_other_rule_sets_than_signing():
    for path in PACKAGE.rglob("*.py"):
        if path.relative_to(PACKAGE).parts[0] not in {"url", "normalization", "explanation", "cli"}:
            assert set(find_imports(path)) <= FOR_SIGNING, path


def test_rule_set_of_signing_is_pinned_and_received_urls_have_one_more_rule():
    assert ([rule.name for rule in url.ADCP_RECEIVED[:1]], url.ADCP_RECEIVED[1:]) == (["as-received"], url.ADCP)
    assert [rule.name for rule in url.ADCP] == [
        *("characters", "scheme-case", "web-scheme", "authority", "userinfo", "ip-literal", "a-labels", "host-case"),
        *("root-dot", "reg-name", "port-number", "default-port", "triplets", "dot-segments", "empty-path"),
        *("unreserved", "hex-case", "encoded-dots", "fragment"),
    ]


def test_signing_imports_no_other_rule_set():
    code = (
        "import sys, undersigned, undersigned.url\n"
        "undersigned.canonicalize('https://[::1]/%41')\n"
        "print(sorted(name for name in sys.modules if name.startswith('undersigned.')))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)  # noqa: S603 - ours
    found = ast.literal_eval(done.stdout)
    assert "undersigned.url.rule_set" in found
    assert not [name for name in found if name.startswith("undersigned.normalization")]


def test_package_imports_without_cryptography_and_rich():
    code = (
        "import sys\n"
        "class Only:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.partition('.')[0] in {'cryptography', 'http_sf', 'http_message_signatures', 'rich'}:\n"
        "            raise ImportError(name)\n"
        "import types\n"
        "sys.meta_path.insert(0, Only())\n"
        "package = types.ModuleType('undersigned'); package.__path__ = [sys.argv[1]]\n"
        "sys.modules['undersigned'] = package\n"
        "from undersigned.url import *\n"
        "from undersigned.normalization import compare\n"
        "assert compare('http://b\\u00fccher.example', 'http://xn--bcher-kva.example').rung == 'scheme'\n"
    )
    command = [sys.executable, "-c", code, str(PACKAGE)]
    subprocess.run(command, check=True)  # noqa: S603 - ours
