"""Our packages, wherever they are: in the checkout, or in site-packages when a built wheel is tested."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules

PACKAGES = {
    found.name: Path(find_spec(found.name).origin).parent
    for found in iter_modules()
    if found.ispkg and found.name.partition("_")[0] == "undersigned"
}
"""The folder of each package."""
