"""`undersigned conformance`: run a directory of vectors."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from undersigned import profiles
from undersigned.cli.lines import write_object
from undersigned.cli.report import Report, SetGrades
from undersigned.conformance import find, grade
from undersigned.errors import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from undersigned.conformance import Corpus, Grade


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object only.")
@click.option("--profile", type=click.Choice(list(profiles.BY_NAME)), help="Run only what this profile verifies.")
@click.argument("directory", metavar="DIR", type=click.Path(exists=True, file_okay=False, path_type=Path))
def conformance(*, directory: Path, as_json: bool, profile: str | None) -> None:
    """Run the vectors in DIR.

    DIR contains files in a published form: vectors of AdCP, of RFC 9421, or of another profile. A file is known by its
    shape, so names and subdirectories do not matter. Request vectors of AdCP are verified in the same way as by the
    middlewares. Outcome, code and signature base must match to the byte. What was accepted is also signed again.

    The exit code is 1 if a vector fails, 2 if DIR contains no vectors. With --json, write

    \b
    {"passed", "failed", "sets": [..], "not_run": [..], "failures": [..]}

    \b
    Example:
      undersigned conformance tests/vectors/published
    """  # noqa: D301 - click needs the escape to keep the line breaks
    try:
        corpus = find(directory)
    except OSError as failure:
        raise click.BadParameter(f"a directory cannot be read: {failure.strerror}", param_hint="DIR") from None
    if profile is not None:
        corpus = corpus.by(profile)
    if not len(corpus):
        name, of = click.format_filename(directory), "" if profile is None else f" of {profile}"
        raise click.BadParameter(
            f"{name} contains no vectors{of}: give a directory with JSON files in a form that is published, such as "
            "tests/vectors/published",
            param_hint="DIR",
        )
    report = Report(list(_run(corpus, Console(stderr=True))), corpus.set_aside)
    if as_json:
        write_object(report.json())
    else:
        report.show(Console(highlight=False))
    click.get_current_context().exit(int(report.failed > 0))


def _run(corpus: Corpus, console: Console) -> Iterator[SetGrades]:
    """Run the sets one after the other, and report the progress on standard error."""
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("", total=len(corpus))
        for vectors in corpus.sets:
            name = printable(vectors.name)
            progress.update(task, description=name)
            grades: list[Grade] = []
            for vector in vectors.vectors:
                grades.append(grade(vector))
                progress.advance(task)
            if not console.is_terminal:
                click.echo(f"{name}: {len(grades)} run", err=True)
            yield SetGrades(vectors.name, grades)
