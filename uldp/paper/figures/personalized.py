"""Figures on the personalized mechanism."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from uldp._numerics import checks
from uldp.mechanisms import UtilityOptimizedRR
from uldp.paper.figures import style
from uldp.personalized import PersonalizedMechanism

__all__ = ["overview"]

SECRET: style.Look = {"color": style.ACCENT, "linewidth": 2.4, "linestyle": "-."}
SAME: style.Look = {"color": style.MUTED, "linewidth": 1.3, "linestyle": "-"}


def overview(user: PersonalizedMechanism) -> Axes:
    """Draw a user's pre-processor and the common mechanism that follows it (Figure 4).

    Reports that she never sends are grey.

    Parameters
    ----------
    user : PersonalizedMechanism
        Her mechanism, with a uRR in common; small enough to read, up to about ten values and bots.
    """
    common = user.common
    checks.instance(common, "the common mechanism", UtilityOptimizedRR)
    labels = [str(label) for label in common.domain.labels]
    shielded = [labels[index] for index in common.sensitive]
    free = [labels[index] for index in common.nonsensitive]
    mapped = user.intermediate(np.arange(user.domain.size), indices=True).tolist()
    secret = {labels[x]: labels[z] for x, z in enumerate(mapped) if x != z}
    values = labels[: user.domain.size]
    common_to_all = {
        r"$\mathcal{X}_S$": (
            style.SENSITIVE,
            [x for x in values if x in shielded and x not in secret],
        ),
        r"$\mathcal{X}_S^{(i)}$": (style.ACCENT, list(secret)),
        "others": (style.OTHER, [x for x in values if x in free and x not in secret]),
    }
    middle, outer = (
        {
            rf"$\mathcal{{{of}}}_{p}$": (style.SENSITIVE, shielded),
            rf"$\mathcal{{{of}}}_{i}$": (style.OTHER, free),
        }
        for of, p, i in ("ZSN", "YPI")
    )
    columns = (
        style.Column(common_to_all, r"personal data $\mathcal{X}$"),
        style.Column(middle, r"intermediate $\mathcal{Z}$", secret),
        style.Column(outer, r"reports $\mathcal{Y}$", secret),
    )
    arrows = [style.Arrow(0, x, secret.get(x, x), SECRET if x in secret else SAME) for x in values]
    for row, column in np.argwhere(common.transition_matrix() > 0):
        if labels[row] not in secret:
            own = style.BOLD_SENSITIVE if labels[row] in shielded else style.BOLD_OTHER
            stroke = own if row == column else style.DOTTED
            arrows.append(style.Arrow(1, labels[row], labels[column], stroke))
    words = (
        "dash-dotted: her secret, to a bot · thin: unchanged\n"
        "thick: kept · dotted: another report · grey: never sent by her"
    )
    return style.arrow_diagram(columns, arrows, words)
