"""A Django service that knows who calls it, in one file.

Run it where `undersigned keygen --out keys` wrote the callers' public keys:

    python examples/django_app.py

`POST /plans/<plan>` needs a signature; `GET /` does not.
"""

import django
from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import HttpRequest, JsonResponse
from django.urls import path
from waitress import serve

from undersigned import KeySet, MemoryReplayStore, Verifier, profiles
from undersigned_django import signature_required, verified_signature


def welcome(_request: HttpRequest) -> JsonResponse:
    return JsonResponse({"service": "plans"})


@signature_required
def buy(request: HttpRequest, plan: str) -> JsonResponse:
    signature = verified_signature(request)
    return JsonResponse({"plan": plan, "caller": signature.signer, "signed": signature.target_uri})


urlpatterns = [path("", welcome), path("plans/<str:plan>", buy)]


def main() -> None:
    keys = KeySet.from_file("keys/public.jwks.json", owner="acme")
    verifier = Verifier(profiles.ADCP_3_2, keys=keys, replay=MemoryReplayStore())
    settings.configure(
        ROOT_URLCONF=__name__,
        ALLOWED_HOSTS=["127.0.0.1"],
        INSTALLED_APPS=["undersigned_django"],
        MIDDLEWARE=[
            "undersigned_django.middleware.SignatureMiddleware",
            "django.middleware.common.CommonMiddleware",
        ],
        UNDERSIGNED={
            "VERIFIER": verifier,
            # Give the public origin: if a proxy ends TLS, that is https and the name that callers use.
            "ORIGINS": ["http://127.0.0.1:8000"],
            "MODE": "optional",
        },
    )
    django.setup()
    serve(get_wsgi_application(), host="127.0.0.1", port=8000)


if __name__ == "__main__":
    main()
