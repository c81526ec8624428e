"""The experiments of Section 6: plan, measure, record, tabulate.

A `Point` is one setting, such as uRR at ε = 0.1 on the census. It is measured in realizations: each
draws users, has them report and compares estimates with the truth. A `PersonalizedPoint` is one of
the personalized mechanism, with users at home and at work in Manhattan. `plan` lists the points of
a figure, `run` measures those that its `Record` does not hold yet, and `reproduce` does both and
writes the table.
"""

from uldp.experiments.personalized import (
    KNOWLEDGE,
    PersonalizedPoint,
    checkin_law,
    place_distributions,
)
from uldp.experiments.plans import FIGURES, Settings, plan
from uldp.experiments.points import MECHANISMS, METHODS, NO_PRIVACY, Point, measure
from uldp.experiments.record import Record
from uldp.experiments.rows import CellRow, PersonalizedRow, Row
from uldp.experiments.runs import reproduce, run
from uldp.experiments.tables import read_personalized_table, read_table, write_table

__all__ = [
    "FIGURES",
    "KNOWLEDGE",
    "MECHANISMS",
    "METHODS",
    "NO_PRIVACY",
    "CellRow",
    "PersonalizedPoint",
    "PersonalizedRow",
    "Point",
    "Record",
    "Row",
    "Settings",
    "checkin_law",
    "measure",
    "place_distributions",
    "plan",
    "read_personalized_table",
    "read_table",
    "reproduce",
    "run",
    "write_table",
]
