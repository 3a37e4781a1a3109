"""Django's routes: they are a module, and so is what they run."""

from __future__ import annotations

from tests.attack.frameworks import HARMLESS, MOUNTED, OPERATION, SLASHED, STATIC

urlpatterns: list = []


def show(ran, response) -> None:
    """Make the routes run what `ran` records."""
    from django.urls import clear_url_caches, path, re_path

    def buy(_request, name: str = OPERATION, **_parameters):
        return response(ran.dispatch(name.rsplit("/", 1)[-1]))

    def harmless(_request):
        return response("products")

    urlpatterns[:] = [
        path(STATIC[1:], buy),
        path(SLASHED[1:], buy),
        path(f"adcp/<str:account>/{OPERATION}", buy),
        path("op/<str:name>", buy),
        re_path(rf"^{MOUNTED[1:]}$", buy),
        re_path(r"^pattern/(?P<name>.*)$", buy),
        path(HARMLESS[1:], harmless),
    ]
    clear_url_caches()
