"""The command line, ``uldp`` or ``python -m uldp``.

::

    uldp describe survey.json              what a survey promises, and what to expect of it
    uldp tally survey.json FILES...        count messages; options stand before the survey
    uldp add TALLIES TALLIES...            add up counts
    uldp estimate TALLIES                  estimates from the counts, with their errors
    uldp reproduce fig5                    the paper's experiments
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from io import TextIOWrapper
from typing import NoReturn

from uldp._numerics import VERSION
from uldp.paper.experiments.command import add_reproduce
from uldp.survey.commands import add_survey_commands

INTERRUPTED = 130
BROKEN_PIPE = 141


class Parser(argparse.ArgumentParser):
    """One whose errors show what is not printed, such as a code for the terminal, as an escape."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong, and exit with 2."""
        super().error("".join(c if c.isprintable() else ascii(c)[1:-1] for c in message))


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    top: argparse.ArgumentParser = Parser(
        prog="uldp", description="Surveys, and the experiments of the paper."
    )
    top.add_argument("--version", action="version", version=f"uldp {VERSION}")
    commands = top.add_subparsers(required=True, metavar="command")
    add_survey_commands(commands)
    add_reproduce(commands)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return its status, 2 after an error, 130 after an interruption.

    The reader of the output may stop before its end. The status is then 141, and no error is told.
    """
    _write_utf8()
    try:
        try:
            given = parser().parse_args(arguments)
            status: int = given.run(given) or 0
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except (ValueError, OSError, ModuleNotFoundError) as error:
        print(f"uldp: {error}", file=sys.stderr)
        return 2
    except MemoryError:
        print("uldp: this takes more memory than there is", file=sys.stderr)
        return 2
    except KeyboardInterrupt as stopped:
        print("; ".join(["Stopped", *stopped.args]) + ".", file=sys.stderr)
        return INTERRUPTED
    return status


def _write_utf8() -> None:
    """Write UTF-8 into pipes and files, whatever the code page; a console takes what it takes."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper) and not stream.isatty():
            stream.reconfigure(encoding="utf-8", errors=stream.errors)


if __name__ == "__main__":
    sys.exit(main())
