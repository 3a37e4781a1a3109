"""The command line's entry point: `undersigned`, or `python -m undersigned`."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line. If an extra is not installed, write one line that names it, and exit with code 2.

    Commands name the file that they cannot read or write. What is left is standard output, on a full disk: exit code 1.
    """
    try:
        from undersigned.cli import undersigned  # noqa: PLC0415 - absent without the extra

        undersigned(prog_name="undersigned")
    except ModuleNotFoundError as missing:
        sys.stderr.write(f"undersigned: {missing}\n")
        sys.exit(2)
    except OSError as failure:
        sys.stderr.write(f"undersigned: the output cannot be written: {failure.strerror}\n")
        sys.exit(1)


if __name__ == "__main__":
    main()
