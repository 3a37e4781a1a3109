"""New files: created with their mode, or not at all."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def create_files(files: Mapping[Path, tuple[int, bytes]]) -> None:
    """Create all files or none. A file has its mode from the start and never replaces an existing file.

    Args:
        files: the mode and the content of each file.

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
    except OSError:
        for path in created:
            path.unlink()
        raise
