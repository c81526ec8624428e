"""The command line.

::

    python -m uldp tally survey.json FILES...     count messages; options stand before the survey
    python -m uldp estimate TALLIES               estimates from the counts, with their errors
    python -m uldp reproduce fig5                 the paper's experiments
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from uldp import inference
from uldp._numerics import checks
from uldp.paper.experiments import FIGURES, reproduce
from uldp.paper.experiments._extra import extra
from uldp.paper.experiments.settings import add_options, chosen
from uldp.survey import wire
from uldp.survey.surveys import MOST_BYTES, Survey, Tallies

INTERRUPTED = 130
FORMULAS = ("=", "+", "-", "@", "\t", "\r")
COLUMNS = ("question", "value", "estimate", "standard_error", "low", "high")


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    top = argparse.ArgumentParser(
        prog="python -m uldp", description="Surveys, and the experiments of the paper."
    )
    commands = top.add_subparsers(required=True, metavar="command")
    _add_tally(commands)
    _add_estimate(commands)
    _add_reproduce(commands)
    return top


def _add_tally(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = commands.add_parser(
        "tally",
        help="count the reports in messages",
        description="Count the reports in messages, for each question of a survey, and write the "
        "counts as JSON. What is refused is counted by reason, on the error output. Options stand "
        "before the survey; a file whose name begins with a minus is given as ./-name.",
    )
    command.set_defaults(run=_tally)
    command.add_argument("survey", type=Path, help="the survey file")
    command.add_argument(
        "files",
        nargs=argparse.REMAINDER,
        metavar="FILE",
        help="of one message, or of many, one behind the other; nothing here is an option",
    )
    command.add_argument(
        "--max-reports", type=int, default=1, metavar="N", help="reports in a message (1)"
    )
    command.add_argument("--out", type=Path, metavar="FILE", help="where to write (the output)")


def _add_estimate(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = commands.add_parser(
        "estimate",
        help="estimate shares from the counts",
        description="Print the estimated share of each value, its standard error and interval.",
    )
    command.set_defaults(run=_estimate)
    command.add_argument("tallies", type=Path, help="what the command tally wrote")
    command.add_argument(
        "--question", action="append", metavar="NAME", help="this question alone; may be repeated"
    )
    command.add_argument("--level", type=float, default=0.95, help="of the intervals (0.95)")
    command.add_argument(
        "--csv",
        action="store_true",
        help="print CSV instead of tables; a text that begins with =, +, - or @ gets an apostrophe",
    )


def _add_reproduce(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = commands.add_parser(
        "reproduce",
        help="measure what figures of the paper show and write their tables",
        description="Measure what figures and Table 1 of the paper show and write FOLDER/NAME.csv. "
        "If it is stopped, the same command goes on from FOLDER/NAME.jsonl.",
    )
    command.set_defaults(run=_reproduce)
    command.add_argument(
        "figures", nargs="+", choices=FIGURES, metavar="figure", help=", ".join(FIGURES)
    )
    add_options(command)
    command.add_argument("--out", type=Path, default=Path("results"), metavar="FOLDER")
    command.add_argument("--jobs", type=int, metavar="N", help="processes (all cores)")
    command.add_argument(
        "--dask",
        metavar="ADDRESS",
        help="of a Dask scheduler whose workers, of one thread each, measure instead",
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return 2 after a wrong argument and 130 after an interruption."""
    given = parser().parse_args(arguments)
    try:
        given.run(given)
    except (ValueError, OSError, ModuleNotFoundError) as error:
        print(f"python -m uldp: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("Stopped; the same command goes on from here.", file=sys.stderr)
        return INTERRUPTED
    return 0


def _tally(given: argparse.Namespace) -> None:
    with checks.regular_file(given.survey, "survey") as file:
        survey = Survey.from_json(file.read(MOST_BYTES))
    messages = _messages(given.files, survey.longest_message(given.max_reports))
    reading = survey.read(messages, given.max_reports)
    print(f"{reading.messages:,} messages accepted", file=sys.stderr)
    for reason, times in reading.refused.most_common():
        print(f"{times:,} refused: {reason}", file=sys.stderr)
    if reading.impossible:
        print(f"{reading.impossible:,} impossible reports left out", file=sys.stderr)
    text = reading.tallies.to_json()
    if given.out is None:
        print(text, end="")
    else:
        given.out.write_bytes(text.encode())


def _messages(names: Sequence[str], longest: int) -> Iterator[bytes]:
    """Yield the messages of files that are given once, whatever the names that senders chose."""
    if not names:
        raise ValueError("FILE must be one or more, got none")
    for name in names:
        if name.startswith("-"):
            raise ValueError(
                f"FILE must not begin with a minus, got {name!r}: options stand before the survey, "
                f"and a file of this name is ./{name}"
            )
    read: dict[tuple[int, int], str] = {}
    for name in names:
        with checks.regular_file(name, "FILE") as file:
            status = os.fstat(file.fileno())
            identity = status.st_dev, status.st_ino
            if identity in read:
                raise ValueError(
                    f"FILE must not repeat a file, got {name!r} after {read[identity]!r}"
                )
            read[identity] = name
            yield from wire.split(file, longest)


def _estimate(given: argparse.Namespace) -> None:
    with checks.regular_file(given.tallies, "tallies") as file:
        tallies = Tallies.from_json(file.read(MOST_BYTES + 1))
    names = given.question or [*tallies]
    for name in names:
        checks.choice(name, "question", tallies)
    counted = [name for name in names if tallies[name].n]
    tables = {name: inference.summary(tallies[name], given.level) for name in counted}
    if given.csv:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(COLUMNS)
        for name, table in tables.items():
            numbers = (table.estimate, table.standard_error, table.low, table.high)
            for label, *row in zip(table.domain.labels, *numbers, strict=True):
                writer.writerow([_as_text(name), _as_text(label), *row])
            for note in table.notes:
                print(f"{name}: {note}", file=sys.stderr)
        return
    for name in names:
        print(f"{name}\n{tables.get(name, 'no reports')}\n")


def _as_text(cell: str | int) -> str | int:
    """Put an apostrophe before a text that a spreadsheet would compute."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULAS) else cell


def _reproduce(given: argparse.Namespace) -> None:
    settings = chosen(given)
    jobs = extra("joblib").cpu_count() if given.jobs is None else given.jobs
    with _cluster(given.dask):
        for table in dict.fromkeys(FIGURES[figure] for figure in given.figures):
            print(reproduce(table, settings, given.out, jobs))


@contextmanager
def _cluster(scheduler: str | None) -> Iterator[None]:
    """Let the workers of a Dask cluster do what joblib's processes do; None changes nothing."""
    if scheduler is None:
        yield
        return
    try:
        from distributed import Client
    except ModuleNotFoundError:
        raise ModuleNotFoundError('--dask needs Dask: pip install "uldp[dask]"') from None
    client = Client(scheduler)  # type: ignore[no-untyped-call]
    with client, extra("joblib").parallel_config("dask"):
        yield


if __name__ == "__main__":
    sys.exit(main())
