"""Worker processes: whether this process is one of several that serve the same application.

No server says so in an environment variable, but on Linux the command lines of gunicorn, uvicorn, hypercorn and granian
do. A forked worker has the command line of its parent, or one that begins with `gunicorn: worker` (setproctitle). A
spawned worker was started by multiprocessing. The workers of one server have the same parent and, apart from numbers,
the same command line.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

_NUMBER = re.compile(rb"\d+")
_TITLE = b"gunicorn: worker"


def worker_count(proc: Path = Path("/proc")) -> int | None:
    """Return how many worker processes the server runs, this one included, or None if that cannot be found out.

    Args:
        proc: where the kernel shows processes.

    Returns:
        1 in a process that no server started as a worker. None on systems without `/proc`.
    """
    try:
        parent = _parent(proc / "self")
        command, above = _command(proc / "self"), _command(proc / str(parent))
        if not (command == above or command.startswith(_TITLE) or _is_spawned()):
            return 1
        processes = [process for process in proc.iterdir() if process.name.isdigit()]
    except (OSError, ValueError, IndexError):
        return None
    return sum(_is_like(process, parent, command) for process in processes)


def _is_spawned() -> bool:
    """Return whether multiprocessing started this process. If it did, it has imported the module already."""
    multiprocessing = sys.modules.get("multiprocessing.process")
    return multiprocessing is not None and multiprocessing.parent_process() is not None


def _is_like(process: Path, parent: int, command: bytes) -> bool:
    try:
        return _parent(process) == parent and _command(process) == command
    except (OSError, ValueError, IndexError):
        # The process ended while the others were read.
        return False


def _parent(process: Path) -> int:
    """Return the parent of `process`: the second field after the name, which may hold spaces and parentheses."""
    return int((process / "stat").read_bytes().rpartition(b")")[2].split()[1])


def _command(process: Path) -> bytes:
    return _NUMBER.sub(b"0", (process / "cmdline").read_bytes())
