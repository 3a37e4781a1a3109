"""A visitor who gets a bot's key directory from somebody else, and verifies that its own keys signed it.

With `web_bot_auth_directory.py` running, whose public origin is https://bot.example:

    python examples/web_bot_auth_visitor.py --bot https://bot.example --copy http://127.0.0.1:8000

It prints the keys that the directory proves, with the URL that a verified request of the bot has as its signer.
"""

import argparse

import httpx

from undersigned import Request, Response, SignatureError
from undersigned.discovery.web_bot_auth import verify_directory
from undersigned.message import DIRECTORY_PATH


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bot", required=True, help="the bot's origin, such as https://bot.example")
    parser.add_argument("--copy", required=True, help="the origin that has the directory, or a copy of it")
    options = parser.parse_args()
    answer = httpx.get(options.copy + DIRECTORY_PATH)
    # The signatures cover the authority of the bot, so it counts for whom the directory is, not who sent it.
    request = Request("GET", options.bot + DIRECTORY_PATH)
    response = Response(answer.status_code, answer.headers.items(), answer.content, request=request)
    try:
        keys = verify_directory(response)
    except SignatureError as error:
        print(error.code)
        return 1
    for key in keys:
        print(key.keyid, key.owner)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
