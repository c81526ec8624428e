"""The commands of a survey: count the reports in messages, and estimate from the counts."""

from __future__ import annotations

import argparse
import csv
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from uldp import inference
from uldp._numerics import checks
from uldp.survey import wire
from uldp.survey.surveys import MOST_BYTES, Survey, Tallies

__all__ = ["add_estimate", "add_tally"]

FORMULAS = ("=", "+", "-", "@", "\t", "\r")
COLUMNS = ("question", "value", "estimate", "standard_error", "low", "high")


def add_tally(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command that counts."""
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


def add_estimate(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command that estimates."""
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
    command.add_argument(
        "--confidence", type=float, default=0.95, metavar="P", help="of the intervals (0.95)"
    )
    command.add_argument(
        "--csv",
        action="store_true",
        help="print CSV instead of tables; a text that begins with =, +, - or @ gets an apostrophe",
    )


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
    tables = {name: inference.summary(tallies[name], given.confidence) for name in counted}
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
