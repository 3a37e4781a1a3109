"""What a change must pass, one session for each kind of check: `nox -l` lists them, `nox -s tests-3.13` runs one.

`nox` alone runs the linters, the types and the tests. `.ci/run` runs all sessions but `tests`, whose tests `coverage`
runs too, and those of the night: `lowest` and `newest`. Arguments after `--` go to pytest.
"""

from __future__ import annotations

import os
import shutil
import zipfile
from pathlib import Path

import nox

nox.options.default_venv_backend = "uv|virtualenv"
nox.options.download_python = "never"
nox.options.error_on_missing_interpreters = False
nox.options.sessions = ["lint", "types", "tests"]

PYTHONS = ["3.11", "3.12", "3.13", "3.14"]
REPORTS = Path(os.environ.get("UNDERSIGNED_REPORTS", ".nox/reports")).absolute()
CONSTRAINTS = ("-c", ".ci/constraints.txt")
# Many tests wait for a server or a thread: four processes keep two processors busy.
PARALLEL = ("-n", "4", "--dist", "worksteal")
# Some lines run only with real stores. So the coverage is checked after the tests of the stores.
COVERED = ("--cov", "--cov-branch", "--cov-report=", "--cov-fail-under=0", "--cov-append")
ROOMS = {
    "servers": ["--group", "servers", "--group", "proxies"],
    "attack": ["--group", "attack"],
    "browser": ["--group", "browser"],
    "hsm": ["-e", ".[hsm]"],
}
"""What each directory of tests that needs more than the extra `test` installs beside it."""


def pytest(session: nox.Session, name: str, *arguments: str) -> None:
    """Run tests, with a report for the summary of `.ci/run`.

    In CI, what failed is run once more, alone: a real server that had a second too little beside the other tests then
    passes, and what is wrong fails again. The summary names both.
    """
    environment = {
        "PYTHONDONTWRITEBYTECODE": None
    }  # hundreds of processes import the library, and each would compile it
    REPORTS.mkdir(parents=True, exist_ok=True)
    command = ["pytest", "-q", "-o", f"cache_dir={REPORTS}/{name}.cache", *arguments, *session.posargs]
    try:
        session.run(*command, f"--junitxml={REPORTS}/{name}.xml", env=environment)
    except nox.command.CommandFailed:
        # Without a test that failed, such as when none was found, there is nothing to run again.
        if "CI" not in os.environ or not (REPORTS / f"{name}.cache/v/cache/lastfailed").exists():
            raise
        again = ["-n", "0", "--last-failed", "--lfnf=none", f"--junitxml={REPORTS}/{name}.again.xml"]
        session.run(*command, *again, env=environment)


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """Run the tests of the library itself."""
    session.install(*CONSTRAINTS, "-e", ".[test]")
    pytest(session, session.name, *PARALLEL)


@nox.session(python="3.13" if shutil.which("python3.13") else None)
def newest(session: nox.Session) -> None:
    """Run them with the newest version of every dependency, not with those of `.ci/constraints.txt`."""
    session.install("-U", "-e", ".[test]")
    pytest(session, session.name, *PARALLEL)


@nox.session(python="3.12" if shutil.which("python3.12") else None)
def lowest(session: nox.Session) -> None:
    """Run them with the lowest versions. An old framework on a newer library may warn when it is imported."""
    session.install("uv")
    session.run("uv", "pip", "install", "-q", "--resolution", "lowest-direct", "-e", ".[test]")
    pytest(session, session.name, *PARALLEL, "-W", "ignore::DeprecationWarning")


@nox.session
@nox.parametrize("part", [nox.param(part, id=part) for part in ("tests", "rooms")])
def coverage(session: nox.Session, part: str) -> None:
    """Check that the tests run every line: what README says to run, and after it the rooms beside it."""
    if part == "tests":
        session.install(*CONSTRAINTS, "-e", ".[test]")
        for old in Path().glob(".coverage*"):
            old.unlink()
        pytest(session, session.name, *PARALLEL, *COVERED)
        return
    session.install(*CONSTRAINTS, "-e", ".[test,sodium]", "--group", "stores", "--group", "attack")
    rooms = (f"--room={room}" for room in ("stores", "examples", "sodium"))
    pytest(session, session.name, *PARALLEL, *COVERED, *rooms)
    session.run("coverage", "report")


@nox.session
@nox.parametrize("room", [nox.param(room, id=room) for room in ROOMS])
def real(session: nox.Session, room: str) -> None:
    """Run the tests of one room, with what they need beside the extra `test`."""
    session.install(*CONSTRAINTS, "-e", ".[test]", *ROOMS[room])
    pytest(session, session.name, f"--room={room}")


@nox.session
def interop(session: nox.Session) -> None:
    """Sign and verify with other implementations. Those of PyPI need other versions of the SDKs of agents than ours."""
    peers, npm = Path(session.create_tmp(), "peers"), Path(session.create_tmp(), "npm")
    session.install(*CONSTRAINTS, "-e", ".[test]", "--group", "attack")
    make, install = ["python", "-m", "venv"], [f"{peers}/bin/pip", "install"]
    if session.venv_backend == "uv":
        make, install = ["uv", "venv"], ["uv", "pip", "install", "--python", str(peers)]
    session.run(*make, "--clear", str(peers), external=True)
    session.run(*install, "-q", "-r", "tests/interop/pypi.txt", external=True)
    npm.mkdir(exist_ok=True)
    shutil.copy("tests/interop/package.json", npm)
    options = ("--no-package-lock", "--no-audit", "--no-fund", "--silent", "--prefix", str(npm))
    session.run("npm", "install", *options, external=True)
    session.env.update(UNDERSIGNED_INTEROP_NPM=str(npm), UNDERSIGNED_INTEROP_PYTHON=f"{peers}/bin/python")
    pytest(session, session.name, "--room=interop")


@nox.session
def slow(session: nox.Session) -> None:
    """Run each benchmark once, and the type checkers over the applications."""
    session.install(*CONSTRAINTS, "-e", ".[test,hsm,sodium]", "--group", "lint")
    pytest(session, session.name, "-m", "slow")


@nox.session
def lint(session: nox.Session) -> None:
    """Check the style, the format, and which package imports which."""
    session.install(*CONSTRAINTS, "-e", ".[all]", "--group", "lint")
    session.run("ruff", "check")
    session.run("ruff", "format", "--check")
    session.run("lint-imports", "--no-logo")


@nox.session
def types(session: nox.Session) -> None:
    """Check the types by both type checkers."""
    session.install(*CONSTRAINTS, "-e", ".[test,hsm,sodium]", "--group", "lint")
    session.run("mypy")
    session.run("pyright")


@nox.session
def docs(session: nox.Session) -> None:
    """Build the documentation site into `site/`; a broken link fails."""
    session.install(*CONSTRAINTS, "-e", ".[test]", "--group", "docs")
    session.run("sphinx-build", "-q", "-W", "--keep-going", "docs", "site")


@nox.session
def vectors(session: nox.Session) -> None:
    """Run the published vectors as another implementation would: by the command."""
    session.install(*CONSTRAINTS, "-e", ".[test]")
    session.run("python", "-m", "tests.conformance", "tests/vectors/published")


@nox.session
def wheel(session: nox.Session) -> None:
    """Check the built wheel: it has our packages only, every one imports, and README's first command runs."""
    away = Path(session.create_tmp()).absolute()
    shutil.rmtree(away)
    session.install("build>=1.2")
    session.run("python", "-m", "build", "-q", "--outdir", f"{away}/dist")
    (built,) = away.glob("dist/*.whl")
    with zipfile.ZipFile(built) as archive:
        others = [name for name in archive.namelist() if not name.startswith("undersigned")]
    if others:
        session.error(f"the wheel also has {others}")
    session.install(f"undersigned[test] @ file://{built}")
    files = (*Path().glob("*.md"), "CITATION.cff", "LICENSE", "pyproject.toml")
    for held in ("docs", "examples", "tests", *files):
        copy = shutil.copytree if Path(held).is_dir() else shutil.copy
        copy(held, away / held)
    session.chdir(away)
    session.run("python", "-c", "import undersigned; assert 'site-packages' in undersigned.__file__, undersigned")
    session.run("undersigned", "demo")
    pytest(session, session.name, "tests/test_imports.py", "tests/test_readme.py")
