"""The command line.

::

    python -m uldp tally survey.json FILES...     count messages; options stand before the survey
    python -m uldp estimate TALLIES               estimates from the counts, with their errors
    python -m uldp reproduce fig5                 the paper's experiments
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from uldp.paper.experiments.command import add_reproduce
from uldp.survey.commands import add_estimate, add_tally

INTERRUPTED = 130


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    top = argparse.ArgumentParser(
        prog="python -m uldp", description="Surveys, and the experiments of the paper."
    )
    commands = top.add_subparsers(required=True, metavar="command")
    add_tally(commands)
    add_estimate(commands)
    add_reproduce(commands)
    return top


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


if __name__ == "__main__":
    sys.exit(main())
