"""`python -m tests.benchmarks.publish FILE` draws the chart and writes the tables of the page next to the file.

`docs/performance.json` gives `docs/performance.svg`, and the part of `docs/performance.md` between two comments.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from tests.benchmarks import chart
from tests.benchmarks.__main__ import LIBRARIES
from tests.benchmarks.bench_processor import ROOMS, SERVERS
from tests.benchmarks.figures import BY_LIBRARY, Figures

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tests.benchmarks.figures import Figure

BEGIN: Final = "<!-- The tables up to the next comment are written by python -m tests.benchmarks.publish -->"
END: Final = "<!-- End of the written tables -->"
_PLATFORM: Final = ("python", "processor")
_STORES: Final = (
    ("1 worker", "MemoryReplayStore"),
    ("4 workers", "MemoryReplayStore"),
    ("4 workers", "SqliteReplayStore"),
    ("4 workers", "SqliteReplayStore(survives_power_loss=False)"),
    ("4 workers", "RedisReplayStore (appendfsync always)"),
)
_OWNERS: Final = (
    ("the signature check", "signature check"),
    ("undersigned", "undersigned"),
    *((f"its `{room}`", f"undersigned.{room}") for room in ROOMS),
    ("`json`", "json"),
    ("the server", "server"),
)


class Reach(NamedTuple):
    """A goal of the project.

    Attributes:
        what: what is measured.
        floor: what it is compared with.
        benchmark: that measures it.
        name: of its row; `{}` is the library of Ed25519.
    """

    what: str
    floor: str
    benchmark: str
    name: str


_COLD, _WRAPPED = "verify, 1,000 senders, keys and URLs, cold", "middleware, request to 200, minus the bare app"
_REACHES: Final = (
    Reach(
        "verify Ed25519, five components, 1 KiB JSON, replay included",
        "OpenSSL verify",
        "verify",
        "verify, Ed25519 by {}",
    ),
    Reach(
        "1,000 senders, keys and URLs: first requests",
        "OpenSSL verify",
        "verify",
        f"{_COLD}: the first request of each key",
    ),
    Reach("1,000 senders, keys and URLs: next requests", "OpenSSL verify", "verify", f"{_COLD}: the next requests"),
    Reach("a recorded mix of spellings", "OpenSSL verify", "verify", "verify, a recorded mix of spellings"),
    Reach("verify ES256", "P-256 verify", "verify", "verify, ES256"),
    Reach("sign Ed25519", "OpenSSL sign", "sign", "sign, Ed25519 by {}"),
    Reach("ASGI request to 200, minus the bare app", "OpenSSL verify", "middleware", f"ASGI {_WRAPPED}"),
    Reach("WSGI request to 200, minus the bare app", "OpenSSL verify", "middleware", f"WSGI {_WRAPPED}"),
    Reach(
        "ASGI body of 10 MiB, covered",
        "sha-256 of the same chunks",
        "body",
        "ASGI, a covered body of 10 MiB, minus the bare app",
    ),
    Reach("canonicalize, canonical", "urlsplit, cold", "url", "canonicalize, canonical"),
    Reach("canonicalize, mixed", "urlsplit, cold", "url", "canonicalize, eight mixed spellings"),
    Reach("import of everything at the root", "its dependencies", "import", "import undersigned"),
)


def main(arguments: list[str] | None = None) -> int:
    """Write the chart and the tables."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.publish", description=__doc__)
    parser.add_argument("file", type=Path)
    file = parser.parse_args(arguments).file
    figures, page = Figures.read(file), file.with_suffix(".md")
    file.with_suffix(".svg").write_text(chart.draw(figures), "utf-8")
    page.write_text(write_tables(page.read_text("utf-8"), figures), "utf-8")
    return 0


def write_tables(page: str, figures: Figures) -> str:
    """Return a page with its tables written from figures."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{tables(figures)}\n{END}{after}"


def tables(figures: Figures) -> str:
    """Return the tables as Markdown. A cell is empty if nothing was measured."""
    relative = "Our time divided by theirs: below 1, this library is faster."
    served = ("server", "application", "requests a second", "p50", "p99", "processor time of a request")
    shares = ("share", "goal", *(f"{server}, by {library}" for server in SERVERS for library in LIBRARIES))
    stores = ("gunicorn", "store", "requests a second", "p50", "p99", "a claim adds to p99")
    return "\n".join(
        [
            *(_machine(figures), "### The goals"),
            _table(("what", "floor", "goal", "measured", "goal with libsodium", "measured"), _reaches(figures)),
            "### Other goals",
            _table(("what", "against", "goal", "by OpenSSL", "by libsodium"), _others(figures)),
            *("### Other libraries", "", relative),
            _table(("what", "against", "by OpenSSL", "by libsodium"), _peers(figures)),
            "### Real servers",
            _table(served, _sides(figures)),
            _table(("server", "what", "goal", "by OpenSSL", "by libsodium"), _list_compared(figures)),
            "### The processor time of a request",
            _table(shares, _shares(figures)),
            _table(("share", "whose", "function"), _functions(figures)),
            "### Workers that share a store",
            _table(stores, _stores(figures)),
        ]
    )


def _machine(figures: Figures) -> str:
    machine = dict(figures.machine)
    many = f"The medians of {figures.runs} runs, with the lowest and the highest in brackets."
    load = f"A load average of {machine.pop('load')} before the first run."
    packages = (f"{name} {version}" for name, version in machine.items() if name not in _PLATFORM)
    said = ", ".join([*(machine[name] for name in _PLATFORM), *packages])
    return f"{many if figures.runs > 1 else 'One run.'} {said}. {load}\n"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n" + "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def _reaches(figures: Figures) -> Iterator[Sequence[str]]:
    for reach in _REACHES:
        pure = figures.get(reach.benchmark, reach.name.format("OpenSSL"))
        sodium = figures.get(reach.benchmark, reach.name.format("libsodium"), library="libsodium")
        if reach.benchmark not in BY_LIBRARY:
            sodium = None
        yield reach.what, reach.floor, _goal(pure), _judge(pure), _goal(sodium), _judge(sodium)


def _others(figures: Figures) -> Iterator[Sequence[str]]:
    """Yield the rows that have a goal and that no other table has."""
    listed = {reach.name.format(library) for reach in _REACHES for library in LIBRARIES}
    for benchmark in ("verify", "middleware", "url", "body", "import", "memory"):
        for name, floor in figures.compared(benchmark):
            by = [figures.get(benchmark, name, floor, library=library) for library in LIBRARIES]
            if name in listed or _goal(by[0]) == "":
                continue
            yield name, floor, _goal(by[0]), _judge(by[0]), _judge(by[1]) if benchmark in BY_LIBRARY else ""


def _peers(figures: Figures) -> Iterator[Sequence[str]]:
    for name, floor in figures.compared("peers"):
        by = [figures.get("peers", name, floor, library=library) for library in LIBRARIES]
        yield name.removesuffix(", relative to a peer"), floor, *map(_show, by)


def _sides(figures: Figures) -> Iterator[Sequence[str]]:
    for served in chart.SERVERS:
        for name, side, library in chart.SIDES:
            yield (
                served,
                name,
                *_list_served(figures, "servers", f"{served}, {side}", library),
                _show(figures.get("servers", f"{served}, {side}: processor time of a request", library=library)),
            )


def _list_served(figures: Figures, benchmark: str, what: str, library: str) -> list[str]:
    names = ("requests a second", "half of the requests take", "99 % of the requests take")
    return [_show(figures.get(benchmark, f"{what}: {name}", "", library=library)) for name in names]


def _list_compared(figures: Figures) -> Iterator[Sequence[str]]:
    for served in chart.SERVERS:
        for what, name, floor in (
            ("requests a second, relative to adcp", "requests a second", "adcp"),
            ("requests a second, relative to goassay", "requests a second", "goassay"),
            ("requests a second, relative to no verification", "requests a second", "without the middleware"),
            ("p99, relative to p50", "p99", "p50"),
        ):
            by = [figures.get("servers", f"{served}: {name}", floor, library=library) for library in LIBRARIES]
            yield served, what, _goal(by[0]), *map(_judge, by)


def _shares(figures: Figures) -> Iterator[Sequence[str]]:
    for owner, name in _OWNERS:
        row = f"share of {name}"
        by = [figures.get("processor", f"{server}: {row}", library=each) for server in SERVERS for each in LIBRARIES]
        yield owner, _goal(by[0]), *map(_judge, by)


def _functions(figures: Figures) -> Iterator[Sequence[str]]:
    for share, owner, place in figures.functions:
        yield f"{share:.1%}", owner, f"`{place}`"


def _stores(figures: Figures) -> Iterator[Sequence[str]]:
    for workers, store in _STORES:
        what = f"gunicorn, {workers}, {store}"
        added = figures.get("shared", f"{what}: 99 % of the requests take", "MemoryReplayStore")
        yield workers, f"`{store}`", *_list_served(figures, "shared", what, "OpenSSL"), _show(added)


def _goal(figure: Figure | None) -> str:
    return "" if figure is None or figure.goal is None else f"{figure.goal:g}"


def _judge(figure: Figure | None) -> str:
    return f"{_show(figure)}{'' if figure is None or figure.holds else ', **missed**'}"


def _show(figure: Figure | None) -> str:
    if figure is None:
        return ""
    form = ".2f" if figure.unit == "x" else ",.0f"
    unit = "" if figure.unit in {"x", "per s"} else f" {figure.unit}"
    shown = f"{figure.median:{form}}{unit}"
    return shown if figure.lowest == figure.highest else f"{shown} ({figure.lowest:{form}} to {figure.highest:{form}})"


if __name__ == "__main__":
    sys.exit(main())
