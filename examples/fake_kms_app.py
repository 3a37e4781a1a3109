"""A key management service for testing: it keeps one private key, signs with it, and does not hand it out.

    uvicorn fake_kms_app:app --app-dir examples --port 9000

`GET /keys/buyer-kms` returns the public JWK set, and `POST /keys/buyer-kms/sign` signs `{"message": <Base64>}`. As most
such services do, it returns an ECDSA signature in DER. A real one checks who asks.
"""

import base64

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from undersigned import KeyPair

KEYID = "buyer-kms"
private = ec.generate_private_key(ec.SECP256R1())


def public_keys(_: Request) -> JSONResponse:
    return JSONResponse(KeyPair.from_private_key(private, keyid=KEYID).public)


async def sign(request: Request) -> JSONResponse:
    message = base64.b64decode((await request.json())["message"])
    signature = private.sign(message, ec.ECDSA(hashes.SHA256()))
    return JSONResponse({"signature": base64.b64encode(signature).decode()})


app = Starlette(
    routes=[Route(f"/keys/{KEYID}", public_keys), Route(f"/keys/{KEYID}/sign", sign, methods=["POST"])],
)
