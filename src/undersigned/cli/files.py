"""Files that commands write: whole or not at all, with their mode from the start, and through no symbolic link."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

PRIVATE_MODE = 0o600


def json_text(content: Mapping[str, object]) -> bytes:
    """Return the text of a key file."""
    return json.dumps(content, indent=2).encode("ascii") + b"\n"


def create_files(files: Mapping[Path, tuple[int, bytes]]) -> None:
    """Create all files or none, each with its mode and content. None ever replaces an existing file.

    Raises:
        OSError: a file cannot be written, or it exists already.
    """
    created: list[Path] = []
    try:
        for path, (mode, content) in files.items():
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
            created.append(path)
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(descriptor)
    except BaseException as failure:
        for path in created:
            path.unlink(missing_ok=True)
        if isinstance(failure, OSError) and created:
            failure.filename = failure.filename or str(created[-1])
        raise


def write_file(path: Path, mode: int, text: bytes, *, is_new: bool = False) -> None:
    """Write a file as a whole. No symbolic link is followed, and a new file replaces none.

    Raises:
        OSError: it cannot be written.
    """
    whole = path.with_name(f"{path.name}.new")
    try:
        whole.unlink(missing_ok=True)
        create_files({whole: (PRIVATE_MODE, text)})
        whole.chmod(mode)
        if is_new:
            os.link(whole, path)
        else:
            whole.replace(path)
    finally:
        whole.unlink(missing_ok=True)
