"""Pages of the site that are made from other files: docstrings, and pages that are not in this folder.

- A page that is only a link to another Markdown file of the repository becomes that file, and links to it lead there.
- A line `.. package:: NAME` becomes the reference of the public names of a package, from its `__all__`. Names after it
  are a part of them, as in `.. package:: undersigned: Signer SigningKey`.
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import inspect
import os
import re
from dataclasses import is_dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from docutils.nodes import Element
    from sphinx.addnodes import pending_xref
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

DOCS = Path(__file__).parent
ROOT = DOCS.parent

_ONLY_LINK = re.compile(r"\[[^\]]*\]\(([^)#:]+)\)\s*")
_LINK = re.compile(r"(?P<before>\]\()(?P<file>[^)#:\s]+)(?P<anchor>#[^)\s]*)?(?=\))")
_PACKAGE = re.compile(r"^\.\. package:: ([\w.]+)(?:: ([\w ]+))?$", re.MULTILINE)
_CODE = re.compile(r"""(?<![:\w"])(``.+?``|`[^`]+`|b?""(?!"))(?=(\w?))""", re.DOTALL)
_NAME = re.compile(r"`[A-Za-z_][\w.]*(?:\(\))?`")
_ANNOTATED = re.compile(r"[~\w.]*\bAnnotated\[([~\w.]+), .*\)\]")
_ALIAS = re.compile(r"TypeAliasForwardRef\('(\w+)'\)")
_ALONE = {"class", "exception", "function", "data"}
_FOLDERS = {ROOT / "examples": DOCS / "examples.md", ROOT / "README.md": DOCS / "quickstart.md"}


@cache
def borrowed() -> Mapping[Path, Path]:
    """Return the pages that are only a link, each with the file that it shows."""
    found: dict[Path, Path] = {}
    for page in sorted(DOCS.rglob("*.md")):
        only = _ONLY_LINK.fullmatch(page.read_text("utf-8"))
        if only is not None:
            found[page] = (page.parent / only[1]).resolve()
    return found


def anchor(heading: str) -> str:
    """Return the anchor of a heading, as GitHub and MyST make it."""
    kept = re.sub(r"[^\w\- ]", "", re.sub(r"\]\([^)]*\)", "", heading).lower())
    return kept.strip().replace(" ", "-")


def relinked(text: str, written: Path, page: Path) -> str:
    """Return `text` with its links to files of the repository as they are on the site.

    Args:
        text: a page, in Markdown.
        written: the file that the text is from; its links are relative to the file's folder.
        page: the page of the site that shows it.
    """
    shown = {file: at for at, file in borrowed().items()} | _FOLDERS

    def moved(link: re.Match[str]) -> str:
        file = (written.parent / link["file"]).resolve()
        target = os.path.relpath(shown.get(file, file), page.parent)
        return f"{link['before']}{Path(target).as_posix()}{link['anchor'] or ''}"

    return _LINK.sub(moved, text)


def reference(package: str, part: str = "") -> str:
    """Return the reference of a package in reStructuredText: what its docstring says, and each public name.

    Args:
        package: the package.
        part: the names to describe, with spaces between them; if it is empty, all of them after the docstring.
    """
    module = importlib.import_module(package)
    lines = [f".. py:currentmodule:: {package}", ""] if part else [f".. automodule:: {package}", "   :no-members:", ""]
    elsewhere: list[str] = []
    for name in part.split() or public_names(module):
        value: object = getattr(module, name)
        is_data = not (inspect.isclass(value) or inspect.isroutine(value))
        defined, said = _assigned(module, name) if is_data else (value.__module__, inspect.getdoc(value) or "")
        home = _home(package, name, defined)
        if home != package:
            summary = said.partition("\n")[0]
            elsewhere.append(f"* :py:obj:`{name} <{home}.{name}>`: {summary}")
        elif is_data:
            lines += [f".. py:data:: {name}", "", *(f"   {line}" for line in closed(said.split("\n"))), ""]
        elif inspect.isclass(value):
            lines += [f".. autoclass:: {package}.{name}", "   :members:", ""]
        else:
            lines += [f".. autofunction:: {package}.{name}", ""]
    if elsewhere:
        lines += ["The same names as in other packages:", "", *elsewhere, ""]
    return "\n".join(lines)


def public_names(module: ModuleType) -> list[str]:
    """Return the public names of a module that are not modules: those of `__all__`, or those that it defines."""
    listed = getattr(module, "__all__", None)
    if listed is None:
        own = [name for name, value in vars(module).items() if getattr(value, "__module__", None) == module.__name__]
        listed = [name for name in own if not name.startswith("_")]
    return [name for name in listed if not isinstance(getattr(module, name), ModuleType)]


def _home(package: str, name: str, defined: str) -> str:
    """Return the package whose page describes a name: the root, or the nearest public one around its module."""
    root = importlib.import_module("undersigned")
    if name in root.__all__ and getattr(root, name) is getattr(importlib.import_module(package), name):
        return "undersigned"
    for home in [defined.rsplit(".", dots)[0] for dots in range(defined.count(".") + 1)]:
        if home in documented() and name in public_names(importlib.import_module(home)):
            return home
    return package


@cache
def documented() -> frozenset[str]:
    """Return the packages and modules that the reference describes."""
    pages = [page.read_text("utf-8") for page in DOCS.rglob("*.md")]
    return frozenset(name for text in pages for name, _ in _PACKAGE.findall(text))


def _assigned(module: ModuleType, name: str) -> tuple[str, str]:
    """Return the module that assigns a name, and the text after the assignment, or "" for none."""
    written = ast.parse(inspect.getsource(module)).body
    # An integration imports its framework in a `try`, which names the extra that is missing.
    body = [inner for outer in written for inner in (outer.body if isinstance(outer, ast.Try) else [outer])]
    for statement, after in _pairs(body):
        if isinstance(statement, ast.ImportFrom) and any((at.asname or at.name) == name for at in statement.names):
            source = f"{'.' * statement.level}{statement.module}"
            return _assigned(importlib.import_module(source, module.__package__), name)
        target = statement.targets[0] if isinstance(statement, ast.Assign) else getattr(statement, "target", None)
        if isinstance(target, ast.Name) and target.id == name and isinstance(after, ast.Expr):
            return module.__name__, inspect.cleandoc(str(ast.literal_eval(after.value)))
    return module.__name__, ""


def _pairs(body: list[ast.stmt]) -> Iterator[tuple[ast.stmt, ast.stmt | None]]:
    return zip(body, [*body[1:], None], strict=True)


def _read(app: Sphinx, name: str, source: list[str]) -> None:
    """Make the page `name` from its source, which Sphinx has read."""
    from sphinx.ext.autodoc.mock import mock  # noqa: PLC0415 - the tests make pages without Sphinx

    page = DOCS / f"{name}.md"
    file = borrowed().get(page, page)
    text = source[0] if file == page else file.read_text("utf-8")
    text = relinked(text, file, page)
    with mock(app.config.autodoc_mock_imports):
        source[0] = _PACKAGE.sub(lambda at: reference(at[1], at[2] or ""), text)


def closed(lines: list[str], words: Collection[str] = ()) -> list[str]:
    """Return lines of a docstring whose code is reStructuredText.

    Code that is not a name is a literal: a role would cut off a dot at its beginning. So is "", whose quotes Sphinx
    would bend. Code that a letter follows has a mark after it.

    Args:
        lines: the lines.
        words: names that mean something here, such as parameters, and so must not become links to something else.
    """

    def written(code: re.Match[str]) -> str:
        inner, is_name = code[1].strip("`"), _NAME.fullmatch(code[1])
        is_done = code[1].startswith("``") or (is_name and inner not in words)
        return (code[1] if is_done else f"``{inner}``") + ("\\ " if code[2] else "")

    return _CODE.sub(written, "\n".join(lines)).split("\n")


def _described(*event: object) -> None:
    """Close the code in a docstring that autodoc has read: its lines are the last part of the event."""
    lines = cast("list[str]", event[-1])
    words: Collection[str] = ()
    with contextlib.suppress(TypeError, ValueError):  # an attribute has no parameters
        words = inspect.signature(cast("Any", event[3])).parameters.keys()
    lines[:] = closed(lines, words)
    if event[1] in {"attribute", "data", "property"}:
        # Napoleon takes the words before a colon of the first line for a type. So the first line is an empty comment.
        lines[:0] = ["..", ""]


def _typed(*event: object) -> None:
    """Show the types of attributes by their names alone, after napoleon has written them with their modules."""
    lines = cast("list[str]", event[-1])
    for at, line in enumerate(lines):
        if line.startswith(":vartype "):
            lines[at] = re.sub(r"(?<![\w.~])(?:\w+\.)+(?=\w)", r"~\g<0>", line)


class _Elsewhere:
    """A default that is not written in the signature."""

    def __repr__(self) -> str:
        return "..."


def _whole(_app: Sphinx, value: object, *_: object) -> None:
    """Take back the signature that autodoc keeps for a method of an object: without `self`, Python drops one more."""
    if inspect.ismethod(value) and not inspect.isclass(value.__self__):
        vars(value.__func__).pop("__signature__", None)


def _signed(*event: object) -> tuple[str, object] | None:
    """Return no parameters for a protocol, which nobody makes an object of, and types without what frameworks add.

    The constructor of a data class or a named tuple has no source to take defaults from. So a default that is not a
    plain value becomes an ellipsis. A parameter whose name is private is left out.
    """
    value = event[3]
    if getattr(value, "_is_protocol", False):
        return "", None
    if inspect.isclass(value) and (is_dataclass(value) or hasattr(value, "_fields")) and event[5]:
        return _generated(value), None
    shown = _ALIAS.sub(r"\1", str(event[6])) if event[6] else None
    return (_ALIAS.sub(r"\1", _ANNOTATED.sub(r"\1", str(event[5]))), shown) if event[5] else None


def _generated(value: type) -> str:
    from sphinx.util.inspect import stringify_signature  # noqa: PLC0415 - the tests make pages without Sphinx

    plain = (type(None), bool, int, float, str)
    signature = inspect.signature(value)
    shown = [
        parameter
        if parameter.default is parameter.empty or isinstance(parameter.default, plain) or parameter.default == ()
        else parameter.replace(default=_Elsewhere())
        for name, parameter in signature.parameters.items()
        if not name.startswith("_")
    ]
    return stringify_signature(signature.replace(parameters=shown, return_annotation=signature.empty))


def _skipped(*event: object) -> bool | None:
    """Skip the fields of a named tuple, which its docstring describes."""
    return True if type(event[3]).__name__ == "_tuplegetter" else None


def _linked(app: Sphinx, env: BuildEnvironment, node: pending_xref, shown: Element) -> Element | None:
    """Link code in a docstring to what it names, if only one thing of the library has that name.

    A word such as `url` is the name of many attributes, so a name without a dot is not one.
    """
    from sphinx.util.nodes import make_refnode  # noqa: PLC0415 - the tests make pages without Sphinx

    name = str(node.get("reftarget", ""))
    if node.get("refdomain") != "py" or not name.replace(".", "").isidentifier():
        return None
    found = {
        full: at
        for full, at in env.domains.python_domain.objects.items()
        if not at.aliased and f".{full}".endswith(f".{name}") and ("." in name or at.objtype in _ALONE)
    }
    own = found.get(f"undersigned.{name}") or (next(iter(found.values())) if len(found) == 1 else None)
    return own and make_refnode(app.builder, node["refdoc"], own.docname, own.node_id, shown)


def _unlinked(app: Sphinx, doctree: Element) -> None:
    """Remove the links of `Request` and `Response` in the integrations: there, they are those of the framework."""
    from sphinx.addnodes import pending_xref  # noqa: PLC0415 - the tests make pages without Sphinx

    if app.env.docname in {"reference/clients", "reference/frameworks"}:
        for node in list(doctree.findall(pending_xref)):
            if node.get("reftarget") in {"Request", "Response"}:
                node.replace_self(node.children[-1:])


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension with Sphinx."""
    app.connect("source-read", _read)
    app.connect("autodoc-before-process-signature", _whole, priority=600)
    app.connect("autodoc-process-signature", _signed)
    app.connect("autodoc-process-docstring", _described, priority=400)
    app.connect("autodoc-process-docstring", _typed, priority=600)
    app.connect("autodoc-skip-member", _skipped)
    app.connect("doctree-read", _unlinked)
    app.connect("missing-reference", _linked)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
