"""A bot's site that publishes the directory of its keys, which each of them signs (`WEB_BOT_AUTH_DIRECTORY`).

With a key that `undersigned keygen --out keys` wrote:

    python examples/web_bot_auth_directory.py --jwks keys/public.jwks.json --key keys/private.jwk.json \
        --origin https://bot.example --port 8000

Sites fetch it: `fastapi_web_bot_auth_app.py`.
"""

import argparse
import json
from collections.abc import Mapping
from pathlib import Path

import uvicorn
from starlette.applications import Starlette

from undersigned import SigningKey
from undersigned_starlette import directory_route


def bot_site(public_jwks: Mapping[str, object], key: SigningKey, origin: str) -> Starlette:
    return Starlette(routes=[directory_route(public_jwks, [key], origin=origin)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--jwks", type=Path, required=True, help="the bot's public key, a JWK set; its kid is its thumbprint"
    )
    parser.add_argument("--key", required=True, help="the bot's private JWK")
    parser.add_argument("--origin", required=True, help="the bot's public origin, such as https://bot.example")
    parser.add_argument("--port", type=int, default=8000)
    options = parser.parse_args()
    key = SigningKey.from_file(options.key)
    site = bot_site(json.loads(options.jwks.read_text()), key, options.origin)
    uvicorn.run(site, host="127.0.0.1", port=options.port)


if __name__ == "__main__":
    main()
