"""Asking people: a survey and its file, messages, files of reports, and what forgers can do.

`Survey` holds the questions of a survey, and `Tallies` what is kept of the reports. `wire` has the
bytes of a message, and `attacks` what forged reports do to an estimate. `choosing` says which
mechanism to take, and `plans_for_rounds` how to ask the same people again. Two modules are imported
when they are asked for, because each needs an extra: `uldp.survey.secure`, random numbers for real
answers, and `uldp.survey.parquet`, reports in files on many machines.
"""

from typing import Any as _Any

from uldp._names import found as _found
from uldp.survey import attacks, choosing, wire
from uldp.survey.plans import Plan, plans_for_rounds
from uldp.survey.surveys import Reading, Survey, Tallies, schema

__all__ = [
    "Plan",
    "Reading",
    "Survey",
    "Tallies",
    "attacks",
    "choosing",
    "plans_for_rounds",
    "schema",
    "wire",
]


def __getattr__(name: str) -> _Any:
    return _found("uldp.survey", name)
