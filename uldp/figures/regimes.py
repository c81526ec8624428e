"""The figure on regimes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from uldp.figures import style
from uldp.figures.style import Curve, Look, Panels

__all__ = ["ratios_by_epsilon"]


def ratios_by_epsilon(
    ratios: Mapping[str, Mapping[tuple[str, str], Curve]],
    reference: float,
    ylabel: str,
    axes: Panels = None,
    *,
    log: str = "x",
) -> NDArray[Any]:
    """Draw ratios over ε, one panel for each loss.

    Parameters
    ----------
    ratios : mapping of str to mapping of (str, str) to (ε, ratios)
        By the title of their panel, and by the mechanism's name and a label for the domain; each
        domain, of at most four, has its own marker.
    reference : float
        The ratio at which a grey line is drawn.
    ylabel : str
        What the ratio is.
    axes : (number of panels,) array_like of Axes, optional
        Where to draw.
    log : str
        Which axes are logarithmic, "x" or "xy".

    Returns
    -------
    (number of panels,) ndarray of Axes

    Raises
    ------
    ValueError
        If there are no panels or ε and the ratios of a curve differ in length.
    """
    pairs = list(dict.fromkeys(pair for curves in ratios.values() for pair in curves))
    names = style.mechanism_looks(name for name, _ in pairs)
    markers = dict(zip(dict.fromkeys(label for _, label in pairs), style.MARKERS, strict=False))
    looks = {(name, label): names[name] | {"marker": markers[label]} for name, label in pairs}
    axes = style.make_axes(len(ratios), (style.WIDTH, 3.6), axes=axes)
    style.draw_curves(ratios, axes, looks, reference)
    style.log_axes(axes, log)
    style.name_axes(axes, "ε", ylabel)
    keys: dict[str, Look] = {name: look | {"marker": ""} for name, look in names.items()}
    for label, marker in markers.items():
        keys[label] = {"color": "0.3", "marker": marker, "linestyle": ""}
    style.legend_above(axes, keys)
    return axes
