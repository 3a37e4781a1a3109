"""Draw docs/picture.svg: what is signed, what is verified, and what the application sees.

`python docs/picture.py` writes the file. It needs nothing but Python, and its output is the same in every run.
"""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Final, NamedTuple

TITLE: Final = "What is signed, what is verified, and what the application sees"
HEADINGS: Final = ("The request", "What is signed", "What is verified", "What the application sees")


class Row(NamedTuple):
    """One part of a request, on its way through the four columns. A cell in backticks is code.

    Attributes:
        request: the part of the request.
        signed: the covered component, or the parameters of the signature.
        verified: what the middleware checks.
        seen: what the application gets.
    """

    request: str
    signed: str
    verified: str
    seen: str


ROWS: Final = (
    Row("the method", "`@method`", "the method as it arrived", "the method"),
    Row("the path and query", "`@target-uri`", "the target as it was on the wire", "canonical path, and the query"),
    Row("Host", "`@authority`", "it is one of your origins", "`signature.authority`"),
    Row("Content-Type", "`content-type`", "the value as it arrived", "the value as it arrived"),
    Row("the body", "`content-digest`", "the digest of every byte", "the same bytes, from memory"),
    Row("the key", "`keyid`, `alg`", "it is known, and not revoked", "`signature.keyid`"),
    Row("the time", "`created`, `expires`", "the signature is valid now", "`signature.created`"),
    Row("the nonce", "`nonce`", "it was never used before", "the request, once"),
)
"""A request with the profile ADCP_3_2, part by part."""

UNSIGNED: Final = Row("other header fields", "not signed", "not verified", "the fields as they arrived")
"""What the signature does not cover."""

_LEFT: Final = (24, 220, 424, 694)
_RIGHT: Final = (200, 404, 674, 936)
_TOP, _STEP, _HEIGHT = 72, 44, 34
_STYLE: Final = """
  .ground { fill: #ffffff; stroke: #c9d1d9; }
  .cell { fill: #eef4fb; stroke: #7d9fc5; }
  .seen { fill: #e8f5ec; stroke: #6fa985; }
  .open { fill: none; stroke: #6e7781; stroke-dasharray: 5 4; }
  .arrow { stroke: #57606a; stroke-width: 1.5; fill: none; }
  text { fill: #1f2328; font: 14px system-ui, sans-serif; }
  .heading { font-weight: 600; }
  .quiet { fill: #57606a; }
  .code { font: 13px ui-monospace, monospace; }
  @media (prefers-color-scheme: dark) {
    .ground { fill: #0d1117; stroke: #3d444d; }
    .cell { fill: #15243a; stroke: #4c78b0; }
    .seen { fill: #12281b; stroke: #4a8a61; }
    .open { stroke: #9198a1; }
    .arrow { stroke: #9198a1; }
    text { fill: #f0f6fc; }
    .quiet { fill: #9198a1; }
  }
"""


def description() -> str:
    """Return the picture in words, for those who do not see it."""
    parts = [f"{row.request}: signed as {row.signed}; verified: {row.verified}; seen: {row.seen}." for row in ROWS]
    last = f"{UNSIGNED.request}: {UNSIGNED.signed}, {UNSIGNED.verified}; seen: {UNSIGNED.seen}."
    return " ".join([*parts, last]).replace("`", "")


def draw() -> str:
    """Return the picture as SVG."""
    bottom = _TOP + _STEP * (len(ROWS) + 1) + 14
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 960 {bottom}" role="img" aria-labelledby="title desc">',
        f'<title id="title">{TITLE}</title>',
        f'<desc id="desc">{escape(description())}</desc>',
        f"<style>{_STYLE}</style>",
        f'<rect class="ground" x="1" y="1" width="958" height="{bottom - 2}" rx="10"/>',
    ]
    for heading, left in zip(HEADINGS, _LEFT, strict=True):
        lines.append(f'<text class="heading" x="{left}" y="44">{heading}</text>')
    for number, row in enumerate((*ROWS, UNSIGNED)):
        lines += _drawn(row, _TOP + _STEP * number, is_signed=row is not UNSIGNED)
    return "\n".join([*lines, "</svg>", ""])


def _drawn(row: Row, top: int, *, is_signed: bool) -> list[str]:
    middle = top + _HEIGHT // 2
    lines: list[str] = []
    for column, (text, left, right) in enumerate(zip(row, _LEFT, _RIGHT, strict=True)):
        kind = "open" if not is_signed else "seen" if column == len(row) - 1 else "cell"
        lines.append(
            f'<rect class="{kind}" x="{left}" y="{top}" width="{right - left}" height="{_HEIGHT}" rx="6"/>'
            f'<text{"" if is_signed else _QUIET} x="{left + 12}" y="{middle + 5}">{_spans(text)}</text>'
        )
        if column:
            before = _RIGHT[column - 1]
            lines.append(f'<path class="arrow" d="M{before + 2} {middle}H{left - 3}m-5 -4l5 4l-5 4"/>')
    return lines


_QUIET: Final = ' class="quiet"'


def _spans(text: str) -> str:
    """Return text with its code in backticks as spans."""
    parts = escape(text).split("`")
    return "".join(f'<tspan class="code">{part}</tspan>' if at % 2 else part for at, part in enumerate(parts) if part)


if __name__ == "__main__":
    Path(__file__).with_suffix(".svg").write_text(draw(), "utf-8")
