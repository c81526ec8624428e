"""Plans for asking the same people in several rounds, at one total level."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from uldp._numerics import checks
from uldp.domain import Domain
from uldp.kinds import MECHANISMS
from uldp.law import LARGEST_EPSILON
from uldp.mechanisms import Mechanism
from uldp.survey.repetition import Keep
from uldp.survey.survey_file import MOST_ROUNDS

__all__ = ["Plan", "plans_for_rounds"]

LEAST_OF_A_REPORT = 1e-6


@dataclass(frozen=True)
class Plan:
    """How a device answers in T rounds, with the resulting level and loss.

    Attributes
    ----------
    name : str
        The mechanism's name in `uldp.mechanisms.MECHANISMS`.
    mechanism : Mechanism
        What makes a report.
    rounds : int
        T.
    reports : int
        How many reports a user draws in all: 1 if her device keeps it, and otherwise the number of
        rounds in which she is asked, chosen for her beforehand by chance.
    users : int
        How many users answer in each round.
    keeps : {"nothing", "first"}
        What the device keeps between the rounds (see `uldp.survey.repetition.KEEPS`).
    loss : float
        The worst-case MSE of the estimate of each round.
    revealed : float
        The probability that a non-sensitive answer which stays is revealed at least once.
    """

    name: str
    mechanism: Mechanism
    rounds: int
    reports: int
    users: int
    keeps: Keep
    loss: float
    revealed: float

    @property
    def repeat(self) -> dict[str, Any]:
        """What `uldp.Survey` takes to say so in its file, of which each is a round."""
        if self.keeps == "first":
            return {"keep": "first", "rounds": self.rounds}
        return {"keep": "nothing", "rounds": self.rounds, "reports": self.reports}

    @property
    def advice(self) -> str:
        """What the device has to do, in a few sentences, and what its survey file says for it."""
        if self.keeps == "first":
            rule = (
                f"Draw one report at ε = {self.mechanism.epsilon:.4g}, keep it, and send it in "
                f"each of {self.rounds} rounds. Never look at the answer again."
            )
        else:
            every = self.reports == self.rounds
            which = "every round" if every else "the rounds drawn beforehand"
            rule = (
                f"Draw a new report at ε = {self.mechanism.epsilon:.4g} in {which}, {self.reports} "
                f"of {self.rounds}, whether or not the answer has changed. Then send no more."
            )
        return f"{rule} In the survey file: {json.dumps({'repeat': self.repeat})[1:-1]}."


def plans_for_rounds(
    domain: Domain,
    total: float,
    rounds: int,
    n: int,
    *,
    fixed: bool = False,
) -> list[Plan]:
    """Return all plans for T rounds of asking the same users at one total level, the best first.

    If the answers cannot change, a device draws one report at ε = L and sends it every time.
    Otherwise each user answers in m of the T rounds, which are chosen by chance before anybody has
    answered, with a new report at ε = L/m each: so about n m/T users answer in a round. The levels
    of the reports add up (Proposition 1), whatever the answers and however often they change.
    Another loss, as at a p that is known, is ``plan.mechanism.l1_loss(p, plan.users)``.

    Parameters
    ----------
    domain : Domain
        The possible answers, and which of them are sensitive.
    total : float
        The level L over all sequences of T answers, in nats.
    rounds : int
        T.
    n : int
        The number of users.
    fixed : bool, optional
        Whether no answer can change, or only those of the first day are asked for.

    Returns
    -------
    list of Plan
        In increasing order of the loss.
    """
    checks.instance(domain, "domain", Domain)
    level = checks.budget(total, "total")
    T = checks.whole(rounds, "rounds", least=1, most=MOST_ROUNDS)
    size = checks.whole(n, "n", least=1)
    once = checks.flag(fixed, "fixed")
    if not LEAST_OF_A_REPORT * T <= level <= LARGEST_EPSILON:
        raise ValueError(
            f"total must be at most {LARGEST_EPSILON} and at least {LEAST_OF_A_REPORT:g} for each "
            f"of {T} rounds, got {total!r}"
        )
    found = []
    for reports in [1] if once else range(1, T + 1):
        users = size if once else size * reports // T
        for name, make in MECHANISMS.items() if users else ():
            mechanism = make(domain, level / reports)
            worst = mechanism.l2_loss(mechanism.worst_case("l2"), users)
            shown = 1 - (1 - mechanism.revealed_share) ** reports
            found.append(
                Plan(
                    name=name,
                    mechanism=mechanism,
                    rounds=T,
                    reports=reports,
                    users=users,
                    keeps="first" if once else "nothing",
                    loss=worst,
                    revealed=shown,
                )
            )
    return sorted(found, key=lambda one: one.loss)
