"""Figures on the personalized mechanism."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

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
    labels = [str(label) for label in common.domain.labels]
    shielded = [labels[index] for index in common.sensitive]
    free = [labels[index] for index in common.nonsensitive]
    mapped = user.intermediate(np.arange(user.domain.size), indices=True).tolist()
    secret = {labels[x]: labels[z] for x, z in enumerate(mapped) if x != z}
    values = labels[: user.domain.size]
    common_to_all = {
        "sensitive": (
            style.SENSITIVE,
            [x for x in values if x in shielded and x not in secret],
        ),
        "secret": (style.ACCENT, list(secret)),
        "others": (style.OTHER, [x for x in values if x in free and x not in secret]),
    }
    middle, outer = (
        {of_shielded: (style.SENSITIVE, shielded), of_free: (style.OTHER, free)}
        for of_shielded, of_free in (("sensitive", "others"), ("protected", "revealing"))
    )
    columns = (
        style.Column(common_to_all, "personal data"),
        style.Column(middle, "intermediate", secret),
        style.Column(outer, "reports", secret),
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
