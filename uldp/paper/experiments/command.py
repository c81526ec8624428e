"""The command that repeats the paper's experiments."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path

from uldp._numerics.results import needed
from uldp.paper.experiments.runs import reproduce
from uldp.paper.experiments.settings import FIGURES, Settings, flag
from uldp.paper.experiments.tables import extra

__all__ = ["add_reproduce"]


def add_reproduce(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
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
    for option in fields(Settings):
        command.add_argument(flag(option.name), default=option.default, **option.metadata)
    command.add_argument("--out", type=Path, default=Path("results"), metavar="FOLDER")
    command.add_argument("--jobs", type=int, metavar="N", help="processes (all cores)")
    command.add_argument(
        "--dask",
        metavar="ADDRESS",
        help="of a Dask scheduler whose workers, of one thread each, measure instead",
    )


def _reproduce(given: argparse.Namespace) -> None:
    settings = Settings(**{option.name: getattr(given, option.name) for option in fields(Settings)})
    jobs = extra("joblib").cpu_count() if given.jobs is None else given.jobs
    try:
        with _cluster(given.dask):
            for table in dict.fromkeys(FIGURES[figure] for figure in given.figures):
                print(reproduce(table, settings, given.out, jobs))
    except KeyboardInterrupt:
        raise KeyboardInterrupt("the same command goes on from here") from None


@contextmanager
def _cluster(scheduler: str | None) -> Iterator[None]:
    """Let the workers of a Dask cluster do what joblib's processes do; None changes nothing."""
    if scheduler is None:
        yield
        return
    client = needed("distributed", "dask", "--dask").Client(scheduler)
    with client, extra("joblib").parallel_config("dask"):
        yield
