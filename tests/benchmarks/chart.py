"""Draw the chart of docs/performance.md: what a verification costs, and how many requests servers answer."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from tests.benchmarks.figures import Figures

TITLE: Final = "undersigned compared with other libraries"
PEERS: Final = (
    ("adcp", "adcp.signing"),
    ("goassay (fewer checks)", "goassay-provider-verify, fewer checks, no JSON"),
    ("http-message-signatures (fewer checks)", "http-message-signatures, no replay store, no JSON"),
)
SIDES: Final = (
    ("without verification", "bare", "OpenSSL"),
    ("undersigned", "undersigned", "OpenSSL"),
    ("undersigned with libsodium", "undersigned", "libsodium"),
    ("adcp", "adcp", "OpenSSL"),
    ("goassay (fewer checks)", "goassay", "OpenSSL"),
)
SERVERS: Final = ("uvicorn, 1 worker", "uvicorn, 2 workers", "gunicorn, 1 worker", "gunicorn, 2 workers")
_WIDTH, _LEFT, _LONGEST, _TOP, _STEP, _BAR, _GAP = 960, 320, 520, 40, 26, 18, 54
_NAMED: Final = 'role="img" aria-labelledby="title desc"'
_STYLE: Final = """
  .ground { fill: #ffffff; stroke: #c9d1d9; }
  .other { fill: #c3cdd8; }
  .ours { fill: #4a8a61; }
  text { fill: #1f2328; font: 14px system-ui, sans-serif; }
  .heading { font-weight: 600; }
  @media (prefers-color-scheme: dark) {
    .ground { fill: #0d1117; stroke: #3d444d; }
    .other { fill: #57606a; }
    .ours { fill: #6fa985; }
    text { fill: #f0f6fc; }
  }
"""


class Bar(NamedTuple):
    """A bar of the chart.

    Attributes:
        name: what was measured.
        value: how much.
        shown: the value as text.
    """

    name: str
    value: float
    shown: str


class Group(NamedTuple):
    """Bars of one scale.

    Attributes:
        heading: what is compared.
        bars: at least one.
    """

    heading: str
    bars: list[Bar]


def groups(figures: Figures) -> list[Group]:
    """Return what the chart shows: nothing of what was not measured."""
    found = [Group("Verify a request, in checks of its Ed25519 signature by OpenSSL (less is better)", _costs(figures))]
    found += [Group(f"Requests a second: {served} (more is better)", _rates(figures, served)) for served in SERVERS]
    return [group for group in found if group.bars]


def _costs(figures: Figures) -> list[Bar]:
    ours = {library: figures.get("verify", f"verify, Ed25519 by {library}", library=library) for library in _LIBRARIES}
    bars = [Bar(name, ours[library].median, "") for library, name in _LIBRARIES.items() if ours[library]]
    if ours["OpenSSL"]:
        for name, floor in PEERS:
            relative = figures.get("peers", "verify, Ed25519, relative to a peer", floor)
            if relative:
                bars.append(Bar(name, ours["OpenSSL"].median / relative.median, ""))
    return [bar._replace(shown=f"{bar.value:.2f}") for bar in bars]


_LIBRARIES: Final = {"OpenSSL": "undersigned", "libsodium": "undersigned with libsodium"}


def _rates(figures: Figures, served: str) -> list[Bar]:
    bars = []
    for name, side, library in SIDES:
        figure = figures.get("servers", f"{served}, {side}: requests a second", library=library)
        if figure:
            bars.append(Bar(name, figure.median, f"{figure.median:,.0f}"))
    return bars


def draw(figures: Figures) -> str:
    """Return the chart as SVG: the same of the same figures."""
    shown, lines, top = groups(figures), [], _TOP
    for group in shown:
        lines.append(f'<text class="heading" x="24" y="{top}">{escape(group.heading)}</text>')
        most = max(bar.value for bar in group.bars)
        for number, bar in enumerate(group.bars):
            lines += _draw(bar, top + 12 + _STEP * number, most)
        top += _STEP * len(group.bars) + _GAP
    bottom = top - _GAP + 32
    said = " ".join(
        f"{group.heading}: {'; '.join(f'{bar.name} {bar.shown}' for bar in group.bars)}." for group in shown
    )
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {bottom}" {_NAMED}>',
            f'<title id="title">{TITLE}</title>',
            f'<desc id="desc">{escape(said)}</desc>',
            f"<style>{_STYLE}</style>",
            f'<rect class="ground" x="1" y="1" width="{_WIDTH - 2}" height="{bottom - 2}" rx="10"/>',
            *lines,
            "</svg>",
            "",
        ]
    )


def _draw(bar: Bar, top: int, most: float) -> list[str]:
    width = max(1, round(_LONGEST * bar.value / most))
    kind = "ours" if bar.name in _LIBRARIES.values() else "other"
    return [
        f'<text x="24" y="{top + 14}">{escape(bar.name)}</text>',
        f'<rect class="{kind}" x="{_LEFT}" y="{top}" width="{width}" height="{_BAR}" rx="3"/>',
        f'<text x="{_LEFT + width + 8}" y="{top + 14}">{bar.shown}</text>',
    ]
