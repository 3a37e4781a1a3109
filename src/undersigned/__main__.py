"""The command line's entry point: `undersigned`, or `python -m undersigned`."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line. If the extra `cli` is not installed, write one line and exit with code 2."""
    try:
        from undersigned.cli.group import undersigned  # noqa: PLC0415 - absent without the extra
    except ModuleNotFoundError as missing:
        if missing.name != "click":
            raise
        sys.stderr.write(f"undersigned: {missing.name} is not installed: pip install 'undersigned[cli]'\n")
        sys.exit(2)
    undersigned(prog_name="undersigned")


if __name__ == "__main__":
    main()
