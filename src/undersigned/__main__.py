"""The command line's entry point: `undersigned`, or `python -m undersigned`."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line. If an extra is not installed, write one line that names it, and exit with code 2."""
    try:
        from undersigned.cli import undersigned  # noqa: PLC0415 - absent without the extra

        undersigned(prog_name="undersigned")
    except ModuleNotFoundError as missing:
        sys.stderr.write(f"undersigned: {missing}\n")
        sys.exit(2)


if __name__ == "__main__":
    main()
