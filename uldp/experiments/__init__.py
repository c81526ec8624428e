"""The common-mechanism experiments of Section 6: plan, measure, record, tabulate.

A `Point` is one setting, such as uRR at ε = 0.1 on the census. It is measured in realizations: each
draws users, has them report and compares estimates with the truth. `plan` lists the points of a
figure, `run` measures those that its `Record` does not hold yet, and `reproduce` does both and
writes the table.
"""

from uldp.experiments.plans import FIGURES, Settings, plan
from uldp.experiments.points import MECHANISMS, METHODS, NO_PRIVACY, Point, measure
from uldp.experiments.record import Record
from uldp.experiments.runs import reproduce, run
from uldp.experiments.tables import Row, read_table, write_table

__all__ = [
    "FIGURES",
    "MECHANISMS",
    "METHODS",
    "NO_PRIVACY",
    "Point",
    "Record",
    "Row",
    "Settings",
    "measure",
    "plan",
    "read_table",
    "reproduce",
    "run",
    "write_table",
]
