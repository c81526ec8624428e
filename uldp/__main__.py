"""The command line: ``python -m uldp reproduce fig5``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

try:
    import joblib

    from uldp.experiments import FIGURES, METHODS, Settings, reproduce
except ModuleNotFoundError as missing:
    sys.exit(f'python -m uldp needs the package {missing.name}: pip install "uldp[experiments]"')

INTERRUPTED = 130


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    top = argparse.ArgumentParser(prog="python -m uldp", description="Experiments of the paper.")
    commands = top.add_subparsers(required=True, metavar="command")
    command = commands.add_parser(
        "reproduce",
        help="measure what figures of the paper show and write their tables",
        description="Measure what figures and Table 1 of the paper show and write FOLDER/NAME.csv. "
        "If it is stopped, the same command goes on from FOLDER/NAME.jsonl.",
    )
    command.add_argument(
        "figures", nargs="+", choices=FIGURES, metavar="figure", help=", ".join(FIGURES)
    )
    command.add_argument(
        "--realizations", type=int, metavar="N", help="of each point (the paper's 100 or 10)"
    )
    command.add_argument(
        "--likelihood-realizations",
        type=int,
        metavar="N",
        help="of em and mle for RAPPOR and uRAP, may be 0 (up to an hour's on two cores)",
    )
    command.add_argument(
        "--methods",
        nargs="+",
        choices=METHODS,
        default=METHODS,
        metavar="M",
        help=", ".join(METHODS),
    )
    command.add_argument(
        "--seed", type=int, default=Settings.seed, metavar="N", help="(%(default)s)"
    )
    command.add_argument(
        "--sampling",
        choices=("iid", "halves"),
        default=Settings.sampling,
        help="users independent, or half of the people without replacement (%(default)s)",
    )
    command.add_argument("--us-census-1990", metavar="FILE", help="USCensus1990.data.txt")
    command.add_argument(
        "--foursquare",
        nargs=2,
        metavar=("POIS", "CHECKINS"),
        help="dataset_TIST2015_POIs.txt and dataset_TIST2015_Checkins.txt",
    )
    command.add_argument("--quick", action="store_true", help="a look in seconds, 1000 users")
    command.add_argument("--out", type=Path, default=Path("results"), metavar="FOLDER")
    command.add_argument(
        "--jobs", type=int, default=joblib.cpu_count(), metavar="N", help="processes (all cores)"
    )
    command.add_argument(
        "--dask",
        metavar="ADDRESS",
        help="of a Dask scheduler whose workers, of one thread each, measure instead",
    )
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return 2 after a wrong argument and 130 after an interruption."""
    chosen = parser().parse_args(arguments)
    try:
        settings = Settings(
            realizations=chosen.realizations,
            likelihood_realizations=chosen.likelihood_realizations,
            methods=tuple(method for method in METHODS if method in chosen.methods),
            sampling=chosen.sampling,
            us_census_1990=chosen.us_census_1990,
            foursquare=chosen.foursquare and tuple(chosen.foursquare),
            quick=chosen.quick,
            seed=chosen.seed,
        )
        with _cluster(chosen.dask):
            for table in dict.fromkeys(FIGURES[figure] for figure in chosen.figures):
                print(reproduce(table, settings, chosen.out, chosen.jobs))
    except (ValueError, OSError, ModuleNotFoundError) as error:
        print(f"python -m uldp: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("Stopped; the same command goes on from here.", file=sys.stderr)
        return INTERRUPTED
    return 0


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
    with client, joblib.parallel_config("dask"):
        yield


if __name__ == "__main__":
    sys.exit(main())
