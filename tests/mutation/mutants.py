"""Mutants: small changes to a module, each of which some test must notice."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_COMPARISONS: Final = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
}
_OPERATORS: Final = {ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.BitOr: ("|", "&"), ast.BitAnd: ("&", "|")}
_SWAPPED_NAMES: Final = {"any": "all", "all": "any", "min": "max", "max": "min"}

_RAW_STRING: Final = re.compile(rb"""\br[bf]?("(?:""|)|')((?:\\.|[^\\])+?)\1""", re.DOTALL)
_CLASS: Final = re.compile(rb"\[\^?((?:\\.|[^\]\\])+)\]")
_MEMBER: Final = re.compile(rb"(?:\\x..|\\.|[^\\])(?:-(?:\\x..|\\.|[^\\]))?", re.DOTALL)
_REPETITION: Final = re.compile(rb"(?<=[\])}a-z0-9])([*+?])|\{(\d+)(?:,(\d+))?\}(?!\})")


@dataclass(frozen=True)
class Mutant:
    """A module with one change.

    Attributes:
        module: the path of the module below `src/undersigned`, or below `integrations`.
        source: its text.
        start: where the changed part begins, in octets.
        end: where it ends.
        new: what replaces it.
    """

    module: str
    source: bytes
    start: int
    end: int
    new: bytes

    @cached_property
    def mutated(self) -> bytes:
        """The text of the module with the change."""
        return self.source[: self.start] + self.new + self.source[self.end :]

    @cached_property
    def code(self) -> str:
        """The changed lines as they are, which name the mutant wherever they move."""
        return self._lines(self.source, self.end)

    @cached_property
    def becomes(self) -> str:
        """The changed lines with the change."""
        return self._lines(self.mutated, self.start + len(self.new))

    @property
    def line(self) -> int:
        """The number of the first changed line."""
        return self.source.count(b"\n", 0, self.start) + 1

    def _lines(self, text: bytes, end: int) -> str:
        begins = text.rfind(b"\n", 0, self.start) + 1
        ends = text.find(b"\n", end)
        return text[begins:ends].decode().strip()


def place(module: str) -> str:
    """Return the path of a module, or of a package, below the root of the tree."""
    return f"integrations/{module}" if module.startswith("undersigned_") else f"src/undersigned/{module}"


def mutants_of(module: str, source: bytes) -> list[Mutant]:
    """Return every mutant of a module that is still Python, in the order of its text."""
    finder = _Finder(source)
    finder.visit(ast.parse(source))
    edits = {*finder.edits, *_patterns(source)}
    found = [Mutant(module, source, *edit) for edit in sorted(edits)]
    return [mutant for mutant in found if _compiles(mutant)]


def _compiles(mutant: Mutant) -> bool:
    try:
        compile(mutant.mutated, mutant.module, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return mutant.mutated != mutant.source


def _patterns(source: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Yield the changes of regular expressions: a member of a class dropped, a repetition changed by one."""
    for string in _RAW_STRING.finditer(source):
        for group in _CLASS.finditer(source, *string.span(2)):
            members = list(_MEMBER.finditer(source, *group.span(1)))
            if len(members) > 1:
                yield from ((*member.span(), b"") for member in members)
        for found in _REPETITION.finditer(source, *string.span(2)):
            if found[1]:
                yield *found.span(1), {b"*": b"+", b"+": b"*", b"?": b""}[found[1]]
                continue
            for count in (2, 3):
                if found[count]:
                    yield *found.span(count), str(int(found[count]) + 1).encode()


class _Finder(ast.NodeVisitor):
    """Finds the changes of code: operators, constants, members, conditions, returns, statements."""

    def __init__(self, source: bytes) -> None:
        self.edits: list[tuple[int, int, bytes]] = []
        self._source = source
        self._starts = [0]
        for line in source.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    def visit(self, node: ast.AST) -> None:
        """Visit a node, and what is below it, in so far as it runs and is not text for people."""
        getattr(self, f"_in_{type(node).__name__.lower()}", lambda _: None)(node)
        for name, value in ast.iter_fields(node):
            if name in {"annotation", "returns", "decorator_list"} or self._is_left_out(node, name):
                continue
            is_cast = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "cast"
            children = value if isinstance(value, list) else [value]
            for child in children[1:] if is_cast and name == "args" else children:
                if isinstance(child, ast.AST) and not isinstance(child, (ast.JoinedStr, ast.Import, ast.ImportFrom)):
                    self.visit(child)

    def _is_left_out(self, node: ast.AST, field: str) -> bool:
        match node:
            case ast.If(test=ast.Name(id="TYPE_CHECKING")) | ast.FunctionDef(name="__repr__"):
                return field in {"test", "body"}
            case (
                ast.Subscript(value=ast.Name(id="Literal"))
                | ast.Call(func=ast.Name(id="TypeVar"))
                | ast.Assign(targets=[ast.Name(id="__slots__" | "__all__")])
                | ast.keyword(arg="detail", value=ast.Constant())
                | ast.Expr(value=ast.Constant())
            ):
                return True
        return False

    def _span(self, node: ast.AST) -> tuple[int, int]:
        begins = self._starts[node.lineno - 1] + node.col_offset
        return begins, self._starts[node.end_lineno - 1] + node.end_col_offset

    def _text(self, node: ast.AST) -> bytes:
        begins, ends = self._span(node)
        return self._source[begins:ends]

    def _replace(self, node: ast.AST, new: bytes) -> None:
        self.edits.append((*self._span(node), new))

    def _between(self, left: ast.AST, right: ast.AST, old: str, new: str) -> None:
        """Replace the operator between two operands."""
        begins, ends = self._span(left)[1], self._span(right)[0]
        at = self._source.find(old.encode(), begins, ends)
        if at >= 0:
            self.edits.append((at, at + len(old), new.encode()))

    def _in_compare(self, node: ast.Compare) -> None:
        for (left, right), operator in zip(pairwise([node.left, *node.comparators]), node.ops, strict=True):
            self._between(left, right, *_COMPARISONS[type(operator)])

    def _in_boolop(self, node: ast.BoolOp) -> None:
        old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in pairwise(node.values):
            self._between(left, right, old, new)

    def _in_binop(self, node: ast.BinOp) -> None:
        if type(node.op) in _OPERATORS:
            self._between(node.left, node.right, *_OPERATORS[type(node.op)])

    def _in_unaryop(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not):
            self._replace(node, b"(" + self._text(node.operand) + b")")

    def _in_constant(self, node: ast.Constant) -> None:
        value = node.value
        if isinstance(value, bool):
            self._replace(node, str(not value).encode())
        elif isinstance(value, int):
            self._replace(node, str(value + 1).encode())
            self._replace(node, f"({value - 1})".encode())
        elif isinstance(value, str) and value.count(" ") < 2:
            self._replace(node, f"({f'{value}!' if value else 'x'!r})".encode())
        elif isinstance(value, bytes):
            self._replace(node, f"({value + b'!'!r})".encode())

    def _in_name(self, node: ast.Name) -> None:
        if node.id in _SWAPPED_NAMES:
            self._replace(node, _SWAPPED_NAMES[node.id].encode())

    def _members(self, node: ast.Tuple | ast.List | ast.Set, parts: Sequence[bytes]) -> None:
        text = self._text(node)
        if len(parts) < 2 or text[:1] not in {b"(", b"[", b"{"}:
            return
        for at in range(len(parts)):
            left = b", ".join([*parts[:at], *parts[at + 1 :]])
            self._replace(node, text[:1] + left + (b"," if isinstance(node, ast.Tuple) else b"") + text[-1:])

    def _in_set(self, node: ast.Set) -> None:
        self._members(node, [self._text(member) for member in node.elts])

    def _in_list(self, node: ast.List) -> None:
        if isinstance(node.ctx, ast.Load):
            self._in_set(node)

    _in_tuple = _in_list

    def _in_dict(self, node: ast.Dict) -> None:
        pairs = zip(node.keys, node.values, strict=True)
        self._members(
            node, [b"**" + self._text(v) if k is None else self._text(k) + b": " + self._text(v) for k, v in pairs]
        )

    def _in_return(self, node: ast.Return) -> None:
        if node.value is not None and not (isinstance(node.value, ast.Constant) and node.value.value is None):
            self._replace(node, b"return None")

    def _in_if(self, node: ast.If) -> None:
        if not isinstance(node.test, ast.Name) or node.test.id != "TYPE_CHECKING":
            self._replace(node.test, b"not (" + self._text(node.test) + b")")

    def _in_ifexp(self, node: ast.IfExp) -> None:
        self._replace(node, b"(" + self._text(node.body) + b")")
        self._replace(node, b"(" + self._text(node.orelse) + b")")

    def _in_comprehension(self, node: ast.comprehension) -> None:
        for test in node.ifs:
            self._replace(test, b"True")

    def _in_expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):
            self._replace(node, b"pass")

    def _removed(self, node: ast.stmt) -> None:
        self._replace(node, b"pass")

    _in_raise = _in_augassign = _in_break = _in_continue = _removed
