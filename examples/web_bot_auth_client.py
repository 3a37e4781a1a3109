"""A bot that signs what httpx sends, and names its keys to each site in the form that the site reads.

Run it where `undersigned keygen --out keys` wrote its key, with a directory of the key at BOT, and the example site
running:

    python examples/web_bot_auth_client.py

`web_bot_auth_directory.py` publishes the directory.
"""

import httpx

from undersigned import Signer, SigningKey, profiles
from undersigned.client import BotAuth
from undersigned.message import DIRECTORY_PATH, SignatureAgentForm
from undersigned_httpx import SignatureTransport

BOT = "https://bot.example"
SITE = "http://127.0.0.1:8000"
FORM: SignatureAgentForm = "string"
PROFILES = {
    "string": profiles.WEB_BOT_AUTH_STRING,
    "typed": profiles.WEB_BOT_AUTH_TYPED,
    "jwks": profiles.WEB_BOT_AUTH_JWKS,
}


def crawler(key: SigningKey) -> httpx.Client:
    # In the form `jwks`, the field has the URL of the set itself, and a directory is one.
    agent = BOT + DIRECTORY_PATH if FORM == "jwks" else BOT
    signer = BotAuth(Signer(key, profile=PROFILES[FORM]), agent=agent, form=FORM)
    # A crawler visits sites that nobody listed, so it signs for every origin.
    transport = SignatureTransport(httpx.HTTPTransport(), signer, origins=lambda _origin: True)
    return httpx.Client(transport=transport, follow_redirects=True)


def main() -> int:
    with crawler(SigningKey.from_file("keys/private.jwk.json")) as client:
        answer = client.get(f"{SITE}/")
    print(answer.status_code, answer.text)
    return 0 if answer.is_success else 1


if __name__ == "__main__":
    raise SystemExit(main())
