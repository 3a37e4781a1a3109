"""Peers: other implementations of RFC 9421, each in a process of its own, told what to do line by line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tests.interop.wire import Wire

HERE = Path(__file__).parent
NPM = "UNDERSIGNED_INTEROP_NPM"
"""The environment variable that names the directory with the node_modules of the packages in package.json."""
PYTHON = "UNDERSIGNED_INTEROP_PYTHON"
"""The environment variable that names the interpreter that has the packages in pypi.txt; by default this one."""


@dataclass(frozen=True)
class Order:
    """What a client signs and sends."""

    components: Sequence[str]
    keyid: str
    method: str = "POST"
    target: str = "/orders/%7E1/a%2Fb/plan=gold?plan=gold"
    fields: Mapping[str, str | Sequence[str]] = field(
        default_factory=lambda: {"Content-Type": "application/json", "X-Plan": "gold"}
    )
    body: str = '{"plan":"gold"}'
    answered: bool = False
    """whether the response must be signed"""


class Peer:
    """A peer that was started. It is waited for when it is first used."""

    def __init__(self, process: subprocess.Popen[str], keys: Sequence[Mapping[str, object]]) -> None:
        self._process = process
        self._say(keys)

    @cached_property
    def port(self) -> int:
        return self._hear()["port"]

    def send(self, order: Order, wire: Wire) -> Mapping[str, Any]:
        """Tell the peer's client to sign and send a request over the wire; return what it got, or its error."""
        asked = {
            "method": order.method, "url": f"{wire.origin}{order.target}", "fields": dict(order.fields),
            "body": order.body, "components": order.components, "keyid": order.keyid, "created": int(time.time()),
            "answered": order.answered,
        }  # fmt: skip
        assert self.port
        self._say(asked)
        return self._hear()

    def _say(self, told: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{json.dumps(told)}\n")
        self._process.stdin.flush()

    def _hear(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, f"the peer ended: {self._process.wait(10)}"
        return json.loads(line)


def command(name: str) -> list[str]:
    """The command that starts a peer: a script of its name, for node or for Python."""
    if (HERE / "peers" / f"{name}.mjs").exists():
        directory = os.environ.get(NPM, "")
        assert directory, (
            f"{NPM} is not set: copy tests/interop/package.json to a new directory, run `npm install` there, "
            "and name it"
        )
        return [
            str(Path(directory) / "node_modules" / ".bin" / "node"),
            str(HERE / "peers" / "peer.mjs"),
            name,
            directory,
        ]
    return [os.environ.get(PYTHON, sys.executable), str(HERE / "peers" / "peer.py"), name]


@contextmanager
def running(name: str, keys: Sequence[Mapping[str, object]]) -> Iterator[Peer]:
    process = subprocess.Popen(  # noqa: S603 - our own scripts
        command(name), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    with process:
        try:
            yield Peer(process, keys)
        finally:
            assert process.stdin is not None
            process.stdin.close()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
