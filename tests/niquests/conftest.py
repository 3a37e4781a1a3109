"""niquests is not among the extras of the tests, because its urllib3 replaces the one of requests."""

from __future__ import annotations

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("niquests") else ["test_*.py"]
