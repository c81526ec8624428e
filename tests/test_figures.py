"""The figures show the numbers that they are given, and refuse those that they cannot show."""

import re
import runpy
import sys
from pathlib import Path
from xml.etree import ElementTree

import matplotlib.pyplot as plt
import numpy as np
import pytest
from drawn import lines, looks, names
from fontTools.ttLib import TTFont
from matplotlib import font_manager
from matplotlib.collections import PatchCollection
from matplotlib.text import Text
from matplotlib.textpath import TextPath

import uldp
from uldp import inference
from uldp.paper import datasets, figures
from uldp.paper.figures import diagrams, style
from uldp.paper.figures.style import (
    DOTS,
    MUTED,
    NARROW,
    OTHER,
    SENSITIVE,
    SPACING,
    SPARE,
    STYLES,
    WIDE,
    number_axes,
)
from uldp.paper.figures.svg import PLATE, SVG

TRUTH = np.array([0.1, 0.5, 0.0, 0.4])
ESTIMATE = np.array([0.2, 0.7, -0.3, 0.4])


@pytest.fixture
def ax() -> plt.Axes:
    return plt.figure().subplots()


def test_estimates_stand_at_the_rank_of_their_value_in_percent() -> None:
    axes = figures.estimates_by_rank(TRUTH, {"RR": ESTIMATE}, sensitive=[3])
    others, sensitive, truth = lines(axes[0])
    assert others == ([1, 3, 4], pytest.approx([0.7, 0.2, -0.3]))
    assert sensitive == ([2], pytest.approx([0.4]))
    assert truth == ([1, 2, 3, 4], pytest.approx([0.5, 0.4, 0.1, 0]))
    assert [line.get_color() for line in axes[0].lines[:2]] == [OTHER, SENSITIVE]


def test_each_mechanism_has_a_panel_and_the_panels_share_their_axes() -> None:
    estimates = {"RR": TRUTH, "uRR": ESTIMATE, "uRAP": 3 * ESTIMATE}
    axes = figures.estimates_by_rank(TRUTH, estimates, sensitive=[])
    assert [ax.get_title("left") for ax in axes] == list(estimates)
    assert len({ax.get_ylim() for ax in axes}) == 1
    assert axes[0].get_ylim()[0] < 3 * ESTIMATE.min()


@pytest.mark.parametrize(
    ("truth", "estimates", "sensitive", "message"),
    [
        (TRUTH, {}, [0], "at least one panel to draw, got none"),
        (TRUTH, {"RR": ESTIMATE[:3]}, [0], r"estimates\['RR'\] must have shape"),
        (ESTIMATE, {"RR": TRUTH}, [0], "truth must not be negative"),
        (TRUTH, {"RR": TRUTH}, [4], "sensitive must lie in 0..3"),
    ],
)
def test_estimates_that_cannot_be_shown(truth, estimates, sensitive, message) -> None:
    with pytest.raises(ValueError, match=message):
        figures.estimates_by_rank(truth, estimates, sensitive)


def test_the_kinds_of_a_mechanism_have_its_color_and_one_name() -> None:
    drawn = ([0.1, 1, 10], [3, 2, 1]), ([1], [2.1]), ([1], [0.5])
    kinds = {"forecast": {}, "empirical": DOTS, "threshold": DOTS | {"markerfacecolor": "white"}}
    panel = {("uRR", kind): curve for kind, curve in zip(kinds, drawn, strict=True)}
    (ax,) = figures.curves({"": panel}, "ε", "TV", kinds=kinds, level=0.25)
    assert lines(ax) == [([0, 1], [0.25, 0.25]), *drawn]
    color = STYLES["uRR"]["color"]
    assert looks(ax)[1:] == [(color, "-", "None"), (color, "None", "o"), (color, "None", "o")]
    assert names(ax) == ["uRR"]
    note = ax.figure.get_suptitle()
    assert note == "lines: forecast · dots: empirical · rings: threshold"


def test_measured_curves_have_dots_and_bars_of_two_standard_errors() -> None:
    steps = list(range(1, 21))
    measured = steps, [0.5] * 20, [0.05] * 10 + [0.01] * 10
    (ax,) = figures.curves({"": {"(I)": measured, "(II)": measured[:2]}}, "ε", "TV")
    ((_, _, (bars,)),) = ax.containers
    ends = [(float(low[1]), float(high[1])) for low, high in bars.get_segments()]
    assert ends == [pytest.approx((0.4, 0.6))] * 10 + [pytest.approx((0.48, 0.52))] * 10
    assert [marker for *_, marker in looks(ax)] == ["o", "None"]


def test_mechanisms_differ_in_colour_or_line_and_blue_and_orange_are_taken() -> None:
    every = [(look["color"], look["linestyle"]) for look in (*STYLES.values(), *SPARE)]
    assert len(set(every)) == len(every)
    assert not {SENSITIVE, OTHER} & {color for color, _ in every}


def test_names_stand_beside_the_ends_of_their_lines_and_none_overlaps_another() -> None:
    for end, at in (("start", 0), ("end", -1)):
        panel = {name: ([1, 2, 3], [2 + i / 99, 1, 2 + i / 99]) for i, name in enumerate("abcde")}
        (ax,) = figures.curves({"": panel}, "x", "y", names=end, log="", level=4)
        ax.figure.canvas.draw()
        assert names(ax) == list("abcde")
        boxes = [Text.get_window_extent(text) for text in ax.texts]
        assert all(ax.figure.bbox.contains(*corner) for b in boxes for corner in (b.min, b.max))
        assert all(text.arrow_patch.get_visible() for text in ax.texts)
        places = np.array([(box.y0 + box.y1) / 2 for box in boxes])
        ends = [ax.transData.transform(line.get_xydata()[at])[1] for line in ax.lines[1:]]
        assert (np.diff(places) >= SPACING * ax.figure.dpi / 72 - 0.01).all()
        assert places.mean() == pytest.approx(np.mean(ends), abs=1)


def test_names_that_have_room_have_no_leaders() -> None:
    (ax,) = figures.curves({"": {"a": ([1, 2], [1, 1]), "b": ([1, 2], [2, 2])}}, "x", "y")
    ax.figure.canvas.draw()
    assert not any(text.arrow_patch.get_visible() for text in ax.texts)


def test_no_name_stands_below_its_panel() -> None:
    panel = {name: ([1, 2, 3], [9, 5, 1 + i / 99]) for i, name in enumerate("abcde")}
    (ax,) = figures.curves({"": panel}, "x", "y", log="")
    ax.figure.canvas.draw()
    lowest = min(text.get_window_extent().y0 for text in ax.texts)
    assert lowest == pytest.approx(ax.bbox.y0, abs=SPACING / 4 * ax.figure.dpi / 72)


def test_a_narrow_figure_has_its_panels_one_below_the_other() -> None:
    above, below = figures.curves(CURVES, "x", "y")
    picture = above.figure
    assert [ax.yaxis.label.get_visible() for ax in (above, below)] == [True, False]
    picture.narrow()
    picture.canvas.draw()
    assert picture.get_figwidth() == NARROW
    assert above.get_position().y0 > below.get_position().y1
    assert [ax.xaxis.label.get_visible() for ax in (above, below)] == [False, True]
    assert all(ax.yaxis.label.get_visible() for ax in (above, below))


def test_a_label_of_its_own_that_a_panel_gets_later_is_in_the_wide_drawing() -> None:
    _, second = figures.curves(CURVES, "x", "y", sharey=False)
    second.set_ylabel("other")
    wide = ElementTree.fromstring(second.figure.svg())
    assert {"y", "other"} <= {text.text for text in wide.findall(f"./{SVG}g//{SVG}text")}


def test_a_drawing_has_its_narrow_form_inside_and_is_the_same_each_time() -> None:
    text, again = (figures.curves(CURVES, "ε", "loss")[0].figure.svg() for _ in range(2))
    assert text == again
    wide = ElementTree.fromstring(text)
    (narrow,) = wide.findall(f"{SVG}svg[@class='narrow']")
    widths = [float(svg.get("viewBox").split()[2]) / 72 for svg in (wide, narrow)]
    assert widths == pytest.approx([WIDE, NARROW])
    for svg in (wide, narrow):
        assert {"one", "two", "loss"} <= words(svg)
    assert "metadata" not in text


def words(element: ElementTree.Element) -> set[str]:
    return {text.text.strip() for text in element.iter(f"{SVG}text")}


def test_a_drawing_has_two_decimals_and_names_that_are_numbers() -> None:
    ax, _ = figures.curves({"a": {"one": ([1, 2], [3, 4.123456789])}, "b": {}}, "x", "y")
    text = ax.figure.svg()
    coordinates = " ".join(re.findall(r' (?:d|x|y|transform)="([^"]*)"', text))
    assert re.search(r"\.\d\d\b", coordinates)
    assert not re.search(r"\.\d{3}", coordinates)
    used = re.findall(r'(?:url\(|href=")#([^)"]+)', text)
    assert set(used) == set(re.findall(r'\bid="([^"]+)', text))
    assert all(re.fullmatch(r"n\d+", name) for name in used)


def plates(ax: plt.Axes) -> list[ElementTree.Element]:
    """What a dark page turns as a whole."""
    drawn = ElementTree.fromstring(ax.figure.svg()).iter()
    return [element for element in drawn if element.get("id", "").startswith(PLATE)]


def test_a_map_is_turned_as_a_whole_and_the_words_around_it_are_not() -> None:
    grid = datasets.manhattan()
    (ax,) = figures.maps({"truth": grid.frequencies}, grid, "share", words={"truth": "below"})
    kept = plates(ax)
    assert f"{SVG}image" in [plate.tag for plate in kept]
    assert set().union(*map(words, kept)) == set()


def test_a_matrix_takes_the_colours_of_the_page() -> None:
    ax = style.one_axes(2)
    marked = np.array([True, False])
    diagrams.draw_matrix(ax, np.array([[0.25, 0.75], [0, 1.0]]), (marked, marked), [["a", "b"]] * 2)
    assert plates(ax) == []


def test_letters_can_be_read_in_every_colour() -> None:
    assert style.readable(style.FAINT) == style.INK
    for color in (*style.SHADES, *(look["color"] for look in STYLES.values())):
        assert style.readable(color) == color


def test_a_text_is_as_long_on_every_computer() -> None:
    found = font_manager.findfont(font_manager.FontProperties(family="uldp Sans", weight="bold"))
    assert Path(found).parent == Path(style.__file__).parent / "fonts"
    text = "share estimated wrongly"
    font = TTFont(found)
    advances = font["hmtx"]
    glyphs = font.getBestCmap()
    length = sum(advances[glyphs[ord(letter)]][0] for letter in text) / font["head"].unitsPerEm
    path = TextPath((0, 0), text, 10, prop=font_manager.FontProperties(fname=found))
    assert path.get_extents().width == pytest.approx(10 * length, abs=1)
    ax = figures.curves({text: {"a": ([1, 2], [1, 2])}}, "x", "y")[0]
    drawn = ElementTree.fromstring(ax.figure.svg()).iter(f"{SVG}text")
    said = [float(one.get("textLength", 0)) for one in drawn if one.text == text]
    # FreeType takes an i for a thousandth wider than the font says.
    assert said == pytest.approx([style.SIZE * (length + 0.001)] * 2, abs=0.005)


def test_below_an_epsilon_stands_where_it_is_private() -> None:
    (ax,) = figures.curves({"": {"a": ([1, 2], [1, 2])}}, "ε", "y")
    assert ax.get_xlabel().split() == ["←", "more", "private", "ε", "more", "exact", "→"]


CURVES = {"a": {"one": ([1, 2], [3, 4]), "two": ([1, 2], [5, 6])}, "b": {"two": ([1], [7])}}


def test_curves_are_drawn_as_given_and_a_label_has_one_look() -> None:
    axes = figures.curves(CURVES, "x", "y", level=2, level_label="gray")
    for ax, (title, curves) in zip(axes, CURVES.items(), strict=True):
        level, *drawn = lines(ax)
        assert level[1] == [2, 2]
        assert drawn == list(curves.values())
        assert ax.get_title("left") == title
        assert (ax.get_xscale(), ax.get_yscale(), ax.get_xlabel()) == ("log", "log", "x")
    assert names(axes[0]) == ["one", "two"]
    assert axes[0].texts[0].get_text() == "gray"
    _, one, two = looks(axes[0])
    assert looks(axes[1])[1] == two
    assert one != two
    assert axes[0].get_ylim() == axes[1].get_ylim()


def test_curves_of_mechanisms_have_their_styles() -> None:
    panel = {"no privacy": ([1, 2], [1, 1]), "uBD": ([1, 2], [3, 2]), "uRR": ([1, 2], [4, 2])}
    (ax,) = figures.curves({"": panel}, "ε", "loss", log="x")
    assert names(ax) == ["no privacy", "uBD", "uRR"]
    for (color, line, _), name in zip(looks(ax)[1:], ("uBD", "uRR"), strict=True):
        assert (color, line) == (STYLES[name]["color"], STYLES[name]["linestyle"])
    assert ax.lines[0].get_color() == MUTED
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "linear")


def test_levels_go_by_panel() -> None:
    axes = figures.curves(CURVES, "x", "y", level={"a": 1, "b": 2}, sharey=False)
    assert [lines(ax)[0][1] for ax in axes] == [[1, 1], [2, 2]]


def test_curves_that_cannot_be_shown() -> None:
    with pytest.raises(ValueError, match="at least one panel to draw, got none"):
        figures.curves({}, "x", "y")
    with pytest.raises(ValueError, match=r"heights of 'a' must have shape \(2,\), got \(1,\)"):
        figures.curves({"": {"a": ([1, 2], [1])}}, "x", "y")
    with pytest.raises(ValueError, match=r"errors of 'a' must have shape \(1,\), got \(2,\)"):
        figures.curves({"": {"a": ([1], [1], [0, 0])}}, "x", "y")
    with pytest.raises(ValueError, match="heights of 'a' must be finite"):
        figures.curves({"": {"a": ([1], [np.nan])}}, "x", "y")


@pytest.mark.parametrize(
    ("curve", "log", "message"),
    [
        (([0, 1], [1, 1]), "x", "x of 'a' must be greater than 0, got 0"),
        (([1, 1], [1, -1]), "xy", "y of 'a' must be greater than 0, got -1"),
    ],
)
def test_logarithmic_axes_take_what_is_above_0(curve, log: str, message: str) -> None:
    panels = {"": {"a": curve}}
    with pytest.raises(ValueError, match=message):
        figures.curves(panels, "x", "y", log=log)
    (ax,) = figures.curves(panels, "x", "y", log="")
    assert lines(ax) == [curve]


def test_a_level_on_a_logarithmic_axis_is_above_0() -> None:
    with pytest.raises(ValueError, match="level must be greater than 0, got 0"):
        figures.curves(CURVES, "x", "y", level=0)
    assert lines(figures.curves(CURVES, "x", "y", level=0, log="x")[0])[0][1] == [0, 0]


def test_numbers_on_logarithmic_axes_are_plain_unless_they_are_long(ax: plt.Axes) -> None:
    ax.plot([0.1, 1], [1e-7, 1])
    number_axes([ax])
    ax.figure.draw_without_rendering()
    ticks = [label.get_text() for label in ax.get_xticklabels()]
    assert {"0.1", "0.2", "0.5", "1"} <= set(ticks)
    assert {"10⁻⁶", "0.01"} <= {label.get_text() for label in ax.get_yticklabels()}


def test_numbers_between_powers_of_ten_have_their_digit(ax: plt.Axes) -> None:
    ax.plot([1, 2], [6e-5, 9e-4])
    number_axes([ax])
    ax.figure.draw_without_rendering()
    ticks = zip(ax.get_yticks(), ax.get_yticklabels(), strict=True)
    said = {f"{tick:.0e}": label.get_text() for tick, label in ticks}
    assert said.items() >= {"2e-05": "2·10⁻⁵", "1e-04": "10⁻⁴", "5e-04": "5·10⁻⁴"}.items()


def test_shares_are_in_percent(ax: plt.Axes) -> None:
    ax.plot([0, 1], [-0.5, 0.5])
    number_axes([ax], "", "y")
    ax.figure.draw_without_rendering()
    assert {"−40%", "0%", "20%"} <= {label.get_text() for label in ax.get_yticklabels()}


def corner(cell: int) -> np.ndarray:
    """Everybody in one cell of the grid."""
    return np.eye(625)[cell]


def test_maps_share_one_scale_and_cells_stand_in_their_place() -> None:
    grid = datasets.manhattan()
    panels = {"truth": grid.frequencies, "corner": corner(24)}  # the south-eastern cell
    axes = figures.maps(panels, grid, "share", words={"corner": "all in one"})
    assert [ax.get_title("left") for ax in axes] == ["truth", "corner"]
    assert [ax.texts[0].get_text() for ax in axes] == ["", "all in one"]
    images = [ax.images[0] for ax in axes]
    assert images[0].norm is images[1].norm
    assert (images[0].norm.vmin, images[0].norm.vmax) == (0, 1)
    np.testing.assert_allclose(images[0].get_array(), grid.frequencies.reshape(25, 25))
    assert images[1].get_array()[0, 24] == 1
    assert images[1].origin == "lower"
    assert images[1].get_extent() == [-74.04, -73.92, 40.7, 40.8]


def test_a_logarithmic_map_begins_at_its_lowest_share_and_strikes_out_what_is_impossible() -> None:
    grid = datasets.manhattan()
    shares = 0.9 * corner(26) + 0.1 * corner(30)
    (ax,) = figures.maps({"": shares}, grid, "belief", lowest=1e-3, ringed=26, struck=True)
    assert (ax.images[0].norm.vmin, ax.images[0].norm.vmax) == (1e-3, 0.9)
    assert ax.images[0].get_array().min() == 1e-3
    (ring,) = ax.lines
    np.testing.assert_allclose(ring.get_data(), [[-74.04 + 1.5 * 0.0048], [40.7 + 1.5 * 0.004]])
    struck = ax.collections[-1]
    assert struck.get_hatch() is not None
    assert len(struck.get_paths()) == 623


def test_outlines_on_a_map_surround_their_cells() -> None:
    grid = datasets.manhattan()
    (ax,) = figures.maps({"": grid.frequencies}, grid, "share", outlined=True)
    (outlines,) = (c for c in ax.collections if isinstance(c, PatchCollection))
    centres = [path.get_extents().get_points().mean(axis=0) for path in outlines.get_paths()]
    cells = [datasets.manhattan_cell(latitude, longitude) for longitude, latitude in centres]
    assert cells == grid.hospital_cells.tolist()


@pytest.mark.parametrize(
    ("panels", "message"),
    [
        ({}, "at least one panel"),
        ({"a": np.full(624, 1 / 624)}, r"panels\['a'\] must have shape"),
        ({"a": np.full(625, 1 / 624)}, r"panels\['a'\] must sum to 1"),
    ],
)
def test_maps_that_cannot_be_shown(panels, message) -> None:
    with pytest.raises(ValueError, match=message):
        figures.maps(panels, datasets.manhattan(), "share")


def test_without_matplotlib_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ModuleNotFoundError, match='of the extra "figures"'):
        runpy.run_path(figures.__file__)


def test_estimates_with_errors_show_intervals_of_the_values_asked_for() -> None:
    domain = uldp.Domain(["a", "b", "c"], sensitive=["b"])
    tallies = {
        name: make(domain, 1.0).simulate([30, 20, 10], rng=1)
        for name, make in (("uRR", uldp.UtilityOptimizedRR), ("RR", uldp.RandomizedResponse))
    }
    truth = [0.5, 0.3, 0.2]
    ax = figures.estimates_with_errors(tallies, ["c", "b"], truth, confidence=0.9)
    written = {text.get_text(): text.get_color() for text in ax.texts}
    assert written == {name: STYLES[name]["color"] for name in ("RR", "uRR")}
    rows = {tick.get_text(): tick.get_color() for tick in ax.get_yticklabels()}
    assert rows == {"c": OTHER, "b": SENSITIVE}
    of_mechanisms = zip(("RR", "uRR"), ax.collections[1:], ax.lines[1:], strict=True)
    for name, bars, points in of_mechanisms:
        ends = inference.intervals(tallies[name], 0.9)[[2, 1]]
        segments = np.array(bars.get_segments())
        np.testing.assert_allclose(segments[:, :, 0], ends)
        estimate = tallies[name].law.estimate(tallies[name])[[2, 1]]
        np.testing.assert_allclose(points.get_xdata(), estimate)
        np.testing.assert_allclose(points.get_ydata(), segments[:, 0, 1])
        assert points.get_color() == STYLES[name]["color"]
    strokes = np.array(ax.collections[0].get_segments())
    np.testing.assert_allclose(strokes[:, 0, 0], [0.2, 0.3])


def test_estimates_with_errors_of_surveys_that_are_no_mechanisms() -> None:
    tally = uldp.Rappor(uldp.Domain(4), 1.0).simulate([3, 2, 1, 0], rng=1)
    ax = figures.estimates_with_errors({"May": tally, "June": tally})
    assert [text.get_text() for text in ax.texts] == ["May", "June"]
    assert len({line.get_color() for line in ax.lines[1:]}) == 2
    with pytest.raises(ValueError, match="tallies must not be empty"):
        figures.estimates_with_errors({})
    other = uldp.Rappor(uldp.Domain(3), 1.0).simulate([3, 2, 1], rng=1)
    with pytest.raises(ValueError, match="tallies must be over the same values"):
        figures.estimates_with_errors({"a": tally, "b": other})
