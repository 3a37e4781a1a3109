"""Comparison of two signature bases, the signer's and the rebuilt one: the first difference and its likely cause."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from undersigned.explanation import causes

_DRAFT_LINE: Final = re.compile(r"(\([a-z-]+\)|[a-z0-9!#$%&'*+.^_`|~-]+): (.*)", re.DOTALL)
"""A line of a signing string of draft-cavage-12: its names have no quotes."""

_LINE: Final = re.compile(
    r"""("[^"]*"(?>(?:;[a-z*][a-z0-9_.*-]*(?:="(?>(?:[^"\\]|\\.)*)"|=[^":;\s]++)?)*)): (.*)""", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class BaseDifference:
    """The first difference of two signature bases.

    Attributes:
        offset: the number of leading bytes that the two have in common.
        line: the number of the first line that differs, from 1.
        column: the number of the first byte that differs in that line, from 1.
        component: the component identifier of that line in the rebuilt base; empty if the rebuilt base has ended.
        rebuilt: the line of the rebuilt base; empty if the rebuilt base has ended.
        signers: the line of the signer's base; empty if the signer's base has ended.
        cause: the likely cause, in a sentence.
    """

    offset: int
    line: int
    column: int
    component: str
    rebuilt: str
    signers: str
    cause: str


def compare_bases(rebuilt: str, signers: bytes, *, body: bytes = b"") -> BaseDifference | None:
    """Return the first difference of two bases, or `None` if they are equal.

    A line feed after the last line is ignored: editors add one, and a base never ends with one.

    Args:
        rebuilt: the base rebuilt from the request.
        signers: the base that the signer signed.
        body: the content as received, to find the content that another digest belongs to.
    """
    # Latin-1 maps each byte to one character, so positions in the text are positions in bytes.
    theirs = signers.decode("latin-1").removesuffix("\n")
    if "\r\n" not in theirs:
        theirs = theirs.removesuffix("\r")
    if theirs == rebuilt:
        return None
    ours, others = rebuilt.split("\n"), theirs.split("\n")
    shared = range(min(len(ours), len(others)))
    at = next((number for number in shared if ours[number] != others[number]), len(shared))
    our_line, their_line = _nth(ours, at), _nth(others, at)
    return BaseDifference(
        offset=_common(rebuilt, theirs),
        line=at + 1,
        column=_common(our_line, their_line) + 1,
        component=_split(our_line)[0],
        rebuilt=our_line,
        signers=their_line,
        cause=_cause(ours, others, at, body),
    )


def _cause(ours: list[str], others: list[str], at: int, body: bytes) -> str:
    if [line.removesuffix("\r") for line in others] == ours:
        return "the lines of the signer's base end with CRLF: expected LF (RFC 9421 section 2.5)"
    (ours_named, our_value), (theirs_named, their_value) = _split(_nth(ours, at)), _split(_nth(others, at))
    if ours_named == theirs_named and ours_named:
        return causes.of_component(ours_named, our_value, their_value, body=body)
    listed = "Signature-Input" if _LINE.fullmatch(ours[-1]) else "headers parameter"
    our_names, their_names = ([_split(line)[0] for line in lines] for lines in (ours, others))
    if sorted(our_names) == sorted(their_names):
        return f"the signer's base has its components in another order than its {listed}"
    if ours_named and ours_named not in their_names:
        return f"the signer's base lacks {ours_named}, which its {listed} covers"
    if theirs_named and theirs_named not in our_names:
        return f"the signer's base has {theirs_named}, which its {listed} does not cover"
    return f"the signer's base does not have the lines that its {listed} covers (RFC 9421 section 2.5)"


def _split(line: str) -> tuple[str, str]:
    """Return the component identifier of a line and its value; two empty texts if it is not a line of a base."""
    match = _LINE.fullmatch(line)
    if match is not None:
        return match[1], match[2]
    match = _DRAFT_LINE.fullmatch(line)
    return (f'"{match[1]}"', match[2]) if match is not None else ("", "")


def _nth(lines: list[str], at: int) -> str:
    return lines[at] if at < len(lines) else ""


def _common(one: str, other: str) -> int:
    shorter = min(len(one), len(other))
    return next((at for at in range(shorter) if one[at] != other[at]), shorter)
