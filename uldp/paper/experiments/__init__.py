"""The experiments of Section 6: plan, measure, record, tabulate.

A `Point` is one setting, such as uRR at ε = 0.1 on the census. It is measured in realizations: each
draws users, has them report and compares estimates with the truth. A `PersonalizedPoint` is one of
the personalized mechanism, with users at home and at work in Manhattan. `plan` lists the points of
a figure, `run` measures those that its `Record` does not hold yet, and `reproduce` does both and
writes the table, which `read_table` reads. Tables are data frames of pandas; they and runs need the
extra "experiments".
"""

from uldp.paper.experiments.personalized import (
    KNOWLEDGE,
    PersonalizedPoint,
    checkin_law,
    place_distributions,
)
from uldp.paper.experiments.plans import plan
from uldp.paper.experiments.points import NO_PRIVACY, Point, measure
from uldp.paper.experiments.runs import Record, reproduce, run
from uldp.paper.experiments.settings import FIGURES, METHODS, Settings
from uldp.paper.experiments.tables import read_table, write_table

__all__ = [
    "FIGURES",
    "KNOWLEDGE",
    "METHODS",
    "NO_PRIVACY",
    "PersonalizedPoint",
    "Point",
    "Record",
    "Settings",
    "checkin_law",
    "measure",
    "place_distributions",
    "plan",
    "read_table",
    "reproduce",
    "run",
    "write_table",
]
