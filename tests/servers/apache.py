"""Apache with mod_wsgi: its configuration, and a directory that its unprivileged processes can read."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from pathlib import Path

MODULES = Path("/usr/lib/apache2/modules")
MOD_WSGI = MODULES / "mod_wsgi.so"
ROOT = Path(__file__).parents[2]
PACKAGES = (
    "undersigned",
    "http_message_signatures",
    "http_sf",
    "cryptography",
    "_cffi_backend",
    "h11",
    "idna",
    "typing_extensions",
)
CONFIGURATION = """
ServerRoot {directory}
DefaultRuntimeDir {directory}
PidFile {directory}/apache.pid
ErrorLog {directory}/error.log
ServerName seller.example.com
Listen 127.0.0.1:{port}
LoadModule mpm_event_module {modules}/mod_mpm_event.so
LoadModule authz_core_module {modules}/mod_authz_core.so
LoadModule wsgi_module {modules}/mod_wsgi.so
User www-data
Group www-data
LimitRequestLine 16384
AllowEncodedSlashes NoDecode
MergeSlashes Off
WSGIChunkedRequest On
WSGISocketPrefix {directory}/wsgi
WSGIDaemonProcess probe processes=1 threads=4 python-path={directory}
WSGIProcessGroup probe
WSGIApplicationGroup %{{GLOBAL}}
WSGIScriptAlias / {directory}/tests/servers/probe.py
<Directory {directory}>
Require all granted
</Directory>
"""


def serves_this_python() -> bool:
    """Return whether mod_wsgi is installed for the Python that has the packages."""
    python = "libpython{}.{}".format(*sys.version_info[:2]).encode()
    return MOD_WSGI.exists() and python in MOD_WSGI.read_bytes()


def prepare(directory: Path, port: int) -> None:
    """Write the packages, the probe and the configuration into `directory`, readable for everyone."""
    directory.chmod(0o755)
    for package in PACKAGES:
        found = importlib.util.find_spec(package)
        origin = Path(found.origin)
        if found.submodule_search_locations is None:
            shutil.copy(origin, directory)
        else:
            shutil.copytree(origin.parent, directory / package)
    for file in ("keys.py", "wire.py", "servers/probe.py"):
        (directory / "tests" / file).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / "tests" / file, directory / "tests" / file)
    (directory / "apache.conf").write_text(CONFIGURATION.format(directory=directory, port=port, modules=MODULES))
