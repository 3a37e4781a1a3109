"""`python -m tests.attack.pywsgi PORT`: gevent's own server, as its operator starts it: patched before every import."""

# ruff: noqa: E402 - that is the point
from gevent import monkey

monkey.patch_all()

import sys

from gevent.pywsgi import WSGIServer
from tests.attack.crowd import wsgi_app

from undersigned_gevent import RawTargetHandler

WSGIServer(("127.0.0.1", int(sys.argv[1])), wsgi_app, handler_class=RawTargetHandler, log=None).serve_forever()
