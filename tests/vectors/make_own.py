"""Our own vectors: `documents` makes them, and `python -m tests.vectors.make_own DIR` writes them into a directory.

They are made by hand-signed recipes (`tests/vectors/recipes`), not by the library that they test. Ed25519 signatures
are the same each time, ECDSA signatures differ.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tests.vectors.recipes import accepted, flavors, keyed, keys, operations, particular, proven, screened
from tests.vectors.recipes.message import Message


def documents() -> dict[str, dict]:
    """Every file, by its path, as its reader gets it."""
    made: dict[str, dict[str, object]] = {
        "request-signing/keys.json": _keys(keys.REQUEST_KEYS),
        "webhook-signing/keys.json": _keys(keys.WEBHOOK_KEYS),
    }
    for message in messages():
        kind = "positive" if message.recipe.code is None else "negative"
        path = f"{message.flavor.folder}/{kind}/{message.recipe.name}.json"
        if path in made:
            raise ValueError(f"two recipes are called {path}")
        made[path] = message.vector
    return json.loads(json.dumps(made))


def messages() -> list[Message]:
    """Every recipe at its endpoint."""
    everywhere = [
        Message(recipe, flavor)
        for flavor in flavors.PROFILES
        for part in (accepted, screened, keyed, proven, particular)
        for recipe in part.recipes(flavor)
    ]
    return [*everywhere, *operations.messages()]


def main(directory: str) -> None:
    """Write the files."""
    made = documents()
    for name, document in made.items():
        path = Path(directory, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(document, indent=2) + "\n", "utf-8")
    sys.stdout.write(f"{len(made)} files\n")


def _keys(ring: tuple[keys.Key, ...]) -> dict[str, object]:
    return {"_WARNING": keys.WARNING, "keys": [key.jwk for key in ring]}


if __name__ == "__main__":
    main(*sys.argv[1:])
