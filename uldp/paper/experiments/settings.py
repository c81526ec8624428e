"""What can be chosen about an experiment, in Python and on the command line."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import get_args

from uldp._numerics import checks
from uldp.paper.experiments.points import Sampling
from uldp.tallies import METHODS as ALL_METHODS

__all__ = ["FIGURES", "METHODS", "Settings", "flag"]

FIGURES = {name: name for name in ("fig5", "fig6", "fig7", "fig8", "fig9", "table1")} | {
    "fig10": "fig5",
    "fig11": "fig6",
    "fig12": "fig7",
    "fig13": "fig8",
}
"""The table of each figure: those of the MSE, 10 to 13, share theirs with those of the TV."""

METHODS = tuple(method for method in ALL_METHODS if method != "adjusted")
"""The estimators of the experiments: the paper's, and those that are distributions."""


@dataclass(frozen=True)
class Settings:
    """What can be chosen about an experiment.

    Parameters
    ----------
    realizations : int, optional
        How often each point is measured; by default as often as in the paper.
    likelihood_realizations : int, optional
        The same for "em" and "mle" with RAPPOR and uRAP, which need each user's report; may be 0.
    methods : tuple of str, optional
        The estimators, of `METHODS` and in their order, whatever the order given.
    sampling : {"iid", "halves"}, optional
        "iid" draws users independently from the frequencies of the people, as many as the paper
        has; "halves" draws half of the people without replacement, which is the paper's way (for
        Figures 7 and 12, 240,000 of them).
    us_census_1990 : str, optional
        The paper's census file, in place of `datasets.census` (see
        `datasets.load_us_census_1990`).
    foursquare : (str, str), optional
        The paper's files of places and of check-ins, in place of `datasets.manhattan` (see
        `datasets.load_foursquare`).
    quick : bool, optional
        A look in seconds: few values on the horizontal axis, 1000 users, few realizations.
    seed : int, optional
        0 or more; it determines all results. NumPy draws alike before version 2.5, and from it on.
    """

    # The metadata are what `ArgumentParser.add_argument` takes.
    realizations: int | None = field(
        default=None,
        metadata={"type": int, "metavar": "N", "help": "of each point (the paper's 100 or 10)"},
    )
    likelihood_realizations: int | None = field(
        default=None,
        metadata={
            "type": int,
            "metavar": "N",
            "help": "of em and mle for RAPPOR and uRAP, may be 0",
        },
    )
    methods: tuple[str, ...] = field(
        default=METHODS,
        metadata={"nargs": "+", "choices": METHODS, "metavar": "M", "help": ", ".join(METHODS)},
    )
    sampling: Sampling = field(
        default="iid",
        metadata={
            "choices": get_args(Sampling),
            "help": "users independent, or half of the people without replacement (%(default)s)",
        },
    )
    us_census_1990: str | None = field(
        default=None, metadata={"metavar": "FILE", "help": "USCensus1990.data.txt"}
    )
    foursquare: tuple[str, str] | None = field(
        default=None,
        metadata={
            "nargs": 2,
            "metavar": ("POIS", "CHECKINS"),
            "help": "dataset_TIST2015_POIs.txt and dataset_TIST2015_Checkins.txt",
        },
    )
    quick: bool = field(
        default=False, metadata={"action": "store_true", "help": "a look in seconds, 1000 users"}
    )
    seed: int = field(default=2019, metadata={"type": int, "metavar": "N", "help": "(%(default)s)"})

    def __post_init__(self) -> None:
        if self.realizations is not None:
            checks.whole(self.realizations, "realizations", least=1)
        if self.likelihood_realizations is not None:
            checks.whole(self.likelihood_realizations, "likelihood_realizations", least=0)
        checks.whole(self.seed, "seed", least=0)
        methods = checks.items(self.methods, "methods")
        if not methods:
            raise ValueError(f"methods must be among {', '.join(METHODS)}, got none")
        for method in methods:
            checks.choice(method, "methods", METHODS)
        object.__setattr__(self, "methods", tuple(m for m in METHODS if m in methods))
        checks.choice(self.sampling, "sampling", get_args(Sampling))
        if self.us_census_1990 is not None:
            checks.path(self.us_census_1990, "us_census_1990")
        if self.foursquare is not None:
            files = tuple(checks.items(self.foursquare, "foursquare"))
            for file in files:
                checks.path(file, "foursquare")
            if len(files) != 2:
                raise ValueError(f"foursquare must be two files, got {len(files)}")
            object.__setattr__(self, "foursquare", files)
        checks.flag(self.quick, "quick")

    def command(self, figure: str) -> str:
        """Return the command that reproduces a figure's table, whatever the number of jobs.

        It names files without their folders.

        Parameters
        ----------
        figure : str
            A name in `FIGURES`.
        """
        checks.choice(figure, "figure", FIGURES)
        words = ["python", "-m", "uldp", "reproduce", figure]
        for option in fields(self):
            value = getattr(self, option.name)
            if value != option.default or option.name == "seed":
                values = value if isinstance(value, tuple) else (value,)
                names = () if "action" in option.metadata else values
                words += [flag(option.name), *(Path(str(name)).name for name in names)]
        return shlex.join(words)


def flag(name: str) -> str:
    """Return the option of the command line that sets this."""
    return f"--{name.replace('_', '-')}"
