"""Make our own vectors: `python -m tests.vectors.make_own`, with `--check` to compare only.

They are made by hand-signed recipes (`tests/vectors/recipes`), not by the library that they test. Ed25519 signatures
are the same each time. ECDSA signatures differ, so each is kept as it was made first, as long as its signed bytes stay
the same.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tests.vectors.recipes import (
    accepted,
    canonicalization,
    exchanges,
    flavors,
    keyed,
    keys,
    operations,
    particular,
    policy,
    proven,
    screened,
)
from tests.vectors.recipes.message import Message

OWN = Path(__file__).with_name("own")


def documents() -> dict[str, dict[str, object]]:
    """Every file of the directory, by its path."""
    made: dict[str, dict[str, object]] = {
        "request-signing/keys.json": _keys(keys.REQUEST_KEYS),
        "webhook-signing/keys.json": _keys(keys.WEBHOOK_KEYS),
        "request-signing/canonicalization.json": canonicalization.document(),
        "request-signing/body-integrity-policy.json": policy.body_integrity(),
        "request-signing/protocol-method-names.json": policy.method_names(),
        "profiles/wire-examples.json": exchanges.document(),
    }
    for message in messages():
        kind = "positive" if message.recipe.code is None else "negative"
        path = f"{message.flavor.folder}/{kind}/{message.recipe.name}.json"
        if path in made:
            raise ValueError(f"two recipes are called {path}")
        made[path] = message.vector
    return made


def messages() -> list[Message]:
    """Every recipe at its endpoint."""
    everywhere = [
        Message(recipe, flavor)
        for flavor in flavors.PROFILES
        for part in (accepted, screened, keyed, proven, particular)
        for recipe in part.recipes(flavor)
    ]
    return [*everywhere, *operations.messages()]


def main(*arguments: str) -> int:
    """Write the files, or with `--check` say which differ."""
    stored = {path.relative_to(OWN).as_posix(): path for path in sorted(OWN.rglob("*.json"))}
    made = {path: _text(_keep(document, stored.get(path))) for path, document in documents().items()}
    wrong = [path for path, text in made.items() if path not in stored or stored[path].read_text("utf-8") != text]
    stale = sorted(stored.keys() - made.keys())
    if "--check" in arguments:
        for path in (*wrong, *stale):
            sys.stdout.write(f"not as its recipe makes it: {path}\n")
        return int(bool(wrong or stale))
    for path in stale:
        stored[path].unlink()
    for path in wrong:
        (OWN / path).parent.mkdir(parents=True, exist_ok=True)
        (OWN / path).write_text(made[path], "utf-8")
    sys.stdout.write(f"{len(made)} files, {len(wrong)} written, {len(stale)} removed\n")
    return 0


def _keys(ring: tuple[keys.Key, ...]) -> dict[str, object]:
    return {"_WARNING": keys.WARNING, "keys": [key.jwk for key in ring]}


def _keep(document: dict[str, object], stored: Path | None) -> dict[str, object]:
    """The stored document if the two differ only in the ECDSA signature."""
    if stored is None or 'alg="ecdsa-p256-sha256"' not in json.dumps(document).replace("\\", ""):
        return document
    before = json.loads(stored.read_text("utf-8"))
    return before if _drop_signature(before) == _drop_signature(json.loads(_text(document))) else document


def _drop_signature(document: dict) -> dict:
    request = document["request"]
    return {**document, "request": {**request, "headers": {**request["headers"], "Signature": ""}}}


def _text(document: dict[str, object]) -> str:
    return json.dumps(document, indent=2) + "\n"


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
