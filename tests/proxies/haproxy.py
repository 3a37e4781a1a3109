"""HAProxy: the configurations under test, and the file that runs them all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.proxies.fronts import BACKENDS, Front

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from tests.proxies.fronts import Served

KEPT = """
    default_backend app
"""

STRIPPED = r"""
    http-request replace-path /api(/.*) \1
    default_backend app
"""

FRONTS = (
    Front("kept", KEPT),
    Front("stripped", STRIPPED, prefix="/api"),
    Front("tls", KEPT, tls=True),
    Front("tls-for-an-http-origin", KEPT, tls=True, origin_scheme="http"),
    Front("merges-slashes", "    http-request normalize-uri path-merge-slashes" + KEPT),
    Front("sorts-the-query", "    http-request normalize-uri query-sort-by-name" + KEPT),
    Front("rewrites-host", "    http-request set-header Host app.internal" + KEPT),
    Front("prefix-nobody-strips", KEPT, prefix="/api"),
    Front("adds-to-content-type", '    http-request set-header Content-Type "%[req.hdr(content-type)]; v=1"' + KEPT),
)


def configuration(_directory: Path, served: Iterable[Served], ports: dict[str, int], certificate: Path) -> str:
    """Return the whole configuration."""
    backends = "\n".join(f"backend {name}\n    server app 127.0.0.1:{ports[name]}" for name in BACKENDS)
    frontends = "\n".join(_frontend(one, certificate) for one in served)
    return f"""
global
    expose-experimental-directives
defaults
    mode http
    timeout connect 5s
    timeout client 30s
    timeout server 30s
{backends}
{frontends}
"""


def command(program: str, _directory: Path, file: Path) -> list[str]:
    return [program, "-db", "-f", str(file)]


def _frontend(served: Served, certificate: Path) -> str:
    tls = f" ssl crt {certificate}" if served.front.tls else ""
    return f"frontend {served.front.name}-{served.backend}\n    bind 127.0.0.1:{served.port}{tls}\n{served.rules}"
