"""A buyer who signs what urllib sends, with only the standard library and this one.

With a key that `undersigned keygen --out keys` wrote, and one of the example services running:

    python examples/sign_with_urllib.py --key keys/private.jwk.json --seller http://127.0.0.1:8000
"""

import argparse
import json
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, build_opener

from undersigned import Signer, SigningKey, profiles
from undersigned_urllib import SignatureHandler


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--key", type=Path, required=True, help="the buyer's private JWK")
    parser.add_argument("--seller", required=True, help="the seller's origin, such as https://seller.example.com")
    options = parser.parse_args()
    key = SigningKey.from_jwk(json.loads(options.key.read_text()))
    opener = build_opener(SignatureHandler(Signer(key, profile=profiles.ADCP_3_2), origins=[options.seller]))
    status = 0
    for plan in ("gold", "silver"):
        body = json.dumps({"budget": 1000}).encode()
        url, fields = f"{options.seller}/plans/{plan}", {"Content-Type": "application/json"}
        request = Request(url, body, fields)  # noqa: S310 - the signer rejects any other scheme
        try:
            with opener.open(request, timeout=10) as answer:
                print(answer.status, answer.read().decode())
        except HTTPError as rejected:
            with rejected:
                print(rejected.code, rejected.read().decode())
            status = 1
    return status


if __name__ == "__main__":
    raise SystemExit(main())
