"""What Section 6 and Table 1 of the paper claim: for each claim the comparisons that it names.

The list and the rule, which is in `verdicts`, were fixed after the first tables had been seen and
before these verdicts. Since then claim 5 no longer counts points without any gain as if they were
for it, and four claims that "differed" are ties (3, 20) or not comparable (21, 28).

A claim is all comparisons that its sentence names: the data, budgets, estimators and sizes of the
figure that it speaks of, with the curves that the figure draws. Words are read alike everywhere:

- "one or two orders of magnitude": by a factor of 10 or more;
- "almost", "close", "very close": within 10%;
- "outperform", "best", "increases", "effective", "in between": by any factor above 1.

Each claim is a function that takes the tables by their names, and returns its comparisons. What
the section says of its machine's seconds, and its conclusion "very effective", name none.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations, product
from pathlib import Path
from typing import NamedTuple

import numpy as np
from IPython.display import HTML
from pandas import DataFrame, read_csv

import verdicts as v
from helpers import show
from uldp.paper.experiments import KNOWLEDGE, NO_PRIVACY, read_table

Tables = Mapping[str, DataFrame]
Comparisons = Callable[[Tables], DataFrame]

OLD, NEW = ("RR", "RAPPOR"), ("uRR", "uRAP")
MECHANISMS = (*OLD, *NEW)
THREE, TWO = ("empirical", "threshold", "em"), ("empirical", "em")
DRAWN = {"fig5": THREE, "fig6": TWO, "fig7": TWO, "fig8": THREE}
"""The estimators that the paper's figures draw: Figures 6 and 7 leave out emp+thr."""

NAMES = {"empirical": "emp", "threshold": "emp+thr", "em": "EM"}
NAMES |= dict(zip(KNOWLEDGE, ("(I)", "(II)", "(III)"), strict=True))
"""What tables call estimators and cases of knowledge, and what the paper does."""

CALLED = {
    "manhattan": "check-ins",
    "em": "EM",
    "mle": "maximum likelihood",
    "norm_sub": "Norm-Sub",
}
"""What tables call data and estimators, and what the text does."""

TEN, CLOSE = 10.0, 1.1
AT_POINT = ["data", "epsilon", "estimator"]
AT_SIZE = ["data", "epsilon", "estimator", "sensitive"]
AT_ATTRIBUTES = ["k", "epsilon", "estimator"]
AT_CASE = ["mechanism", "epsilon", "estimator"]
THR_BY_EM = [("threshold", "em")]


def called(name: str) -> str:
    """Return the text's word for a name in the tables."""
    return CALLED.get(name, name)


class Claim(NamedTuple):
    """A claim of the paper, where it stands, what is asked of each comparison, and these.

    A remark says what the verdict does not, or why what we measured is not comparable.
    """

    number: int
    where: str
    says: str
    asked: str
    comparisons: Comparisons
    remark: str
    comparable: bool


CLAIMS: list[Claim] = []


def claim(
    where: str, says: str, asked: str, remark: str = "", comparable: bool = True
) -> Callable[[Comparisons], Comparisons]:
    """Add a claim to the list, by a function that returns its comparisons."""

    def add(comparisons: Comparisons) -> Comparisons:
        number = len(CLAIMS) + 1
        CLAIMS.append(Claim(number, where, says, asked, comparisons, remark, comparable))
        return comparisons

    return add


def drawn(tables: Tables, figure: str, **wanted: object) -> DataFrame:
    """Return rows of the curves that the paper's figure draws."""
    return v.select(tables[figure], **{"estimator": DRAWN[figure]} | wanted)


def by(
    table: DataFrame,
    column: str,
    pairs: Sequence[tuple[str, str]],
    on: Sequence[str],
    loss: str = "tv",
) -> DataFrame:
    """Return the loss with one entry of a column by that with another, for several pairs of them.

    Rows are compared that agree in some columns.
    """
    parts = []
    for two in pairs:
        above, below = (v.select(table, **{column: each}) for each in two)
        pair = " / ".join(NAMES.get(each, each) for each in two)
        parts.append(v.ratios(above, below, on, loss).assign(pair=pair))
    return v.stacked(parts)


def at_each_size(table: DataFrame) -> DataFrame:
    """Return the table of Figure 6 with rows of levels, as RR's, at each number of values."""
    varying = table["mechanism"].isin(NEW)
    sizes = table.loc[varying, ["data", "sensitive"]].drop_duplicates()
    levels = table[~varying].drop(columns="sensitive").merge(sizes, on="data")
    return v.stacked([table[varying], levels])


def at_ln_k(table: DataFrame) -> DataFrame:
    """Return the rows with ε = ln k, and those without privacy."""
    here = np.isclose(table["epsilon"], np.log(table["k"]))
    return table[here | (table["mechanism"] == NO_PRIVACY)]


def attributes(table: DataFrame) -> DataFrame:
    """Return the table of Figure 7 with the number of attributes: 4, and each more doubles k."""
    return table.assign(attributes=np.rint(4 + np.log2(table["k"] / 400)).astype(int))


EACH_BY_EACH = list(product(OLD, NEW))


# Section 6.2, on Figure 5, which has ε from 0.1 to 10: "our mechanisms outperform the existing
# mechanisms by one or two orders of magnitude". All of ours by all of the existing, on both data
# sets, with all three estimators, at all ε of the figure.
@claim(
    "Figure 5",
    "uRR and uRAP outperform RR and RAPPOR by one or two orders of magnitude",
    "TV of RR and RAPPOR by that of uRR and uRAP: at least 10",
)
def orders_of_magnitude(tables: Tables) -> DataFrame:
    table = drawn(tables, "fig5")
    return v.at_least(by(table, "mechanism", EACH_BY_EACH, AT_POINT), TEN)


# The next sentence: "effective especially in the Foursquare dataset". The same factors, on the
# check-ins by those on the census, at each ε that both have (all but ln k).
@claim(
    "Figure 5",
    "they are effective especially on the check-ins",
    "these factors on the check-ins by those on the census: above 1",
)
def especially_on_checkins(tables: Tables) -> DataFrame:
    table = drawn(tables, "fig5")
    factors = by(table, "mechanism", EACH_BY_EACH, AT_POINT)
    on_data = {name: v.select(factors, data=name) for name in ("census", "manhattan")}
    shared = set(on_data["census"]["epsilon"]) & set(on_data["manhattan"]["epsilon"])
    here = v.select(on_data["manhattan"], epsilon=tuple(shared))
    there = v.select(on_data["census"], epsilon=tuple(shared))
    return v.at_least(v.quotients(here, there, ["epsilon", "estimator", "pair"]))


# "uRR provides almost the same performance as the non-private mechanism when ε = ln|X|, as
# described in Section 4.3", which has it for |X_S| much smaller than |X|.
@claim(
    "Figure 5",
    "at ε = ln k uRR is almost as good as no privacy, as in Section 4.3 (there for s ≪ k)",
    "TV of uRR by that without privacy: at most 1.1",
)
def as_good_as_no_privacy(tables: Tables) -> DataFrame:
    table = at_ln_k(drawn(tables, "fig5"))
    return v.at_most(by(table, "mechanism", [("uRR", NO_PRIVACY)], ["data"]), CLOSE)


# "emp+thr and EM significantly outperform emp": all four mechanisms, all ε, both data sets.
@claim(
    "Figure 5",
    "emp+thr and EM significantly outperform emp",
    "TV of emp by theirs: above 1",
)
def outperform_empirical(tables: Tables) -> DataFrame:
    table = drawn(tables, "fig5", mechanism=MECHANISMS)
    point = ["data", "mechanism", "epsilon"]
    pairs = [("empirical", "threshold"), ("empirical", "em")]
    return v.at_least(by(table, "estimator", pairs, point))


# The same sentence's reason: "since the estimates ... are always non-negative". The projection to
# the simplex, which adds to emp that it is a distribution and nothing else, then makes more than
# half of their gain, in the logarithm of the TV; at all points. Where they gain nothing, nothing
# can be said of its half, and the comparison is undecided.
@claim(
    "Figure 5",
    "... because their estimates are never negative",
    "this alone (Norm-Sub) makes more than half of their gain; undecided where there is none",
)
def because_not_negative(tables: Tables) -> DataFrame:
    table = v.select(tables["fig5"], mechanism=MECHANISMS)
    of = {name: v.select(table, estimator=name) for name in (*THREE, "norm_sub")}
    rows = {name: part.set_index(["data", "mechanism", "epsilon"]) for name, part in of.items()}
    errors = {name: part["tv_error"] / part["tv"] for name, part in rows.items()}
    parts = []
    for name in ("threshold", "em"):
        halfway = np.sqrt(rows["empirical"]["tv"] * rows[name]["tv"])
        error = np.hypot(np.hypot(errors["empirical"], errors[name]) / 2, errors["norm_sub"])
        gains = rows[name]["tv"] < rows["empirical"]["tv"]
        columns = {"ratio": halfway / rows["norm_sub"]["tv"], "error": error.where(gains, math.inf)}
        parts.append(DataFrame(columns).reset_index().assign(estimator=name))
    return v.at_least(v.stacked(parts))


# "Although EM outperforms emp+thr for the RAPPOR and uRAP when ε was large": the right half of
# the figure's axis, from 1 to 10.
@claim(
    "Figure 5",
    "EM outperforms emp+thr for RAPPOR and uRAP when ε is large",
    "TV of emp+thr by that of EM for ε from 1 to 10: above 1",
)
def better_at_large_budgets(tables: Tables) -> DataFrame:
    table = drawn(tables, "fig5", mechanism=("RAPPOR", "uRAP"))
    table = table[table["epsilon"] >= 1]
    return v.at_least(by(table, "estimator", THR_BY_EM, ["data", "mechanism", "epsilon"]))


# "... the two estimation methods provide very close performance as a whole": the whole figure.
@claim(
    "Figure 5",
    "emp+thr and EM are very close as a whole",
    "TV of emp+thr by that of EM: within 10% of 1",
)
def close_in_figure_5(tables: Tables) -> DataFrame:
    table = drawn(tables, "fig5", mechanism=MECHANISMS)
    ratios = by(table, "estimator", THR_BY_EM, ["data", "mechanism", "epsilon"])
    return v.within(ratios, CLOSE)


# On Figure 6: "we omit the performance of emp+thr, since it is very close to that of EM". All
# points of that figure, which shows ε = 0.1 and ln|X|, and |X_S| from 1 to |X|.
@claim(
    "Figure 6",
    "emp+thr is left out, since it is very close to EM",
    "TV of emp+thr by that of EM: within 10% of 1",
)
def close_in_figure_6(tables: Tables) -> DataFrame:
    table = v.select(tables["fig6"], mechanism=MECHANISMS)
    point = ["data", "mechanism", "epsilon", "sensitive"]
    return v.within(by(table, "estimator", THR_BY_EM, point), CLOSE)


def apart(pairs: DataFrame) -> DataFrame:
    """Return comparisons of mechanisms but those of one with itself: if every value is sensitive.

    uRR is then RR, and uRAP is RAPPOR.
    """
    same = pairs["pair"].isin([f"{old} / {new}" for old, new in zip(OLD, NEW, strict=True)])
    return pairs[~(same & (pairs["sensitive"] == pairs["k"]))]


def best(table: DataFrame, name: str) -> DataFrame:
    """Return the TV of each other mechanism by that of one, in rows of Figure 6."""
    table = at_each_size(table)
    pairs = [(other, name) for other in MECHANISMS if other != name]
    return v.at_least(apart(by(table, "mechanism", pairs, AT_SIZE)))


# "uRAP and uRR provide the best performance when ε = 0.1 and ln|X|, respectively": each against
# the three others, at each number of sensitive values. Two claims.
@claim(
    "Figure 6",
    "uRAP is best at ε = 0.1",
    "TV of the three others by that of uRAP: above 1",
)
def best_at_high_privacy(tables: Tables) -> DataFrame:
    return best(drawn(tables, "fig6", epsilon=0.1), "uRAP")


@claim(
    "Figure 6",
    "uRR is best at ε = ln k",
    "TV of the three others by that of uRR: above 1",
)
def best_at_low_privacy(tables: Tables) -> DataFrame:
    return best(at_ln_k(drawn(tables, "fig6")), "uRR")


def close_to_no_privacy(tables: Tables, name: str, below: int) -> DataFrame:
    """Return the TV of a mechanism by that without privacy, at ε = ln k and small s."""
    table = at_each_size(at_ln_k(drawn(tables, "fig6")))
    table = table[table["sensitive"] < below]
    return v.at_most(by(table, "mechanism", [(name, NO_PRIVACY)], ["data", "sensitive"]), CLOSE)


# "uRR provides the performance close to the non-private mechanism when ε = ln|X| and the number
# |X_S| ... is less than 100. The performance of uRAP is also close ... when |X_S| is less than 20".
@claim(
    "Figure 6",
    "at ε = ln k uRR is close to no privacy for less than 100 sensitive values",
    "TV of uRR by that without privacy: at most 1.1",
)
def close_below_100(tables: Tables) -> DataFrame:
    return close_to_no_privacy(tables, "uRR", 100)


@claim(
    "Figure 6",
    "... and uRAP for less than 20",
    "TV of uRAP by that without privacy: at most 1.1",
)
def close_below_20(tables: Tables) -> DataFrame:
    return close_to_no_privacy(tables, "uRAP", 20)


# "However, it [uRAP's TV] rapidly increases with increase in |X_S|": from 20 to each larger number
# by a larger factor than that of uRR, which the sentences before set beside it.
@claim(
    "Figure 6",
    "beyond, the TV of uRAP increases rapidly",
    "its rise from 20 sensitive values on by that of uRR: above 1",
    "asked is only whether it rises faster than uRR's, not how rapidly",
)
def rises_rapidly(tables: Tables) -> DataFrame:
    table = at_ln_k(drawn(tables, "fig6", mechanism=NEW))
    start = table[table["sensitive"] == 20]
    rise = {
        name: v.ratios(
            v.select(table[table["sensitive"] > 20], mechanism=name),
            v.select(start, mechanism=name),
            ["data", "estimator"],
        )
        for name in NEW
    }
    return v.at_least(v.quotients(rise["uRAP"], rise["uRR"], ["data", "estimator", "sensitive"]))


# "Overall, our theoretical results in Section 4.3 hold for the two real datasets": what the
# formulas say of the l1 and the l2 loss of emp, beside what was measured for Figures 5, 6, 10, 11.
@claim(
    "Figures 5, 6",
    "the theoretical results hold for the two data sets",
    "TV and MSE of emp by what the formulas say: within 10% of 1",
)
def theory_holds(tables: Tables) -> DataFrame:
    parts = []
    for figure, loss in product(("fig5", "fig6"), ("tv", "mse")):
        rows = v.select(tables[figure], mechanism=MECHANISMS, estimator="empirical")
        ratio = rows[loss] / rows[f"expected_{loss}"]
        error = rows[f"{loss}_error"] / rows[loss]
        parts.append(rows.assign(ratio=ratio, error=error, figure=figure, loss=loss))
    return v.within(v.stacked(parts), CLOSE)


# On Figure 7: "we omit the performance of emp+thr in the same way as Figure 6".
@claim(
    "Figure 7",
    "emp+thr is left out in the same way",
    "TV of emp+thr by that of EM: within 10% of 1",
)
def close_in_figure_7(tables: Tables) -> DataFrame:
    table = attributes(v.select(tables["fig7"], mechanism=MECHANISMS))
    point = ["mechanism", "epsilon", "k"]
    return v.within(by(table, "estimator", THR_BY_EM, point), CLOSE)


# "the TV increases with an increase in the number of attributes": with each attribute more.
@claim(
    "Figure 7",
    "the TV increases with the number of attributes",
    "TV with an attribute more by that without it: above 1",
)
def increases_with_attributes(tables: Tables) -> DataFrame:
    table = attributes(drawn(tables, "fig7", mechanism=MECHANISMS))
    more = table[table["attributes"] > 4].assign(fewer=lambda rows: rows["attributes"] - 1)
    fewer = table.assign(fewer=table["attributes"])
    return v.at_least(v.ratios(more, fewer, ["mechanism", "epsilon", "estimator", "fewer"]))


# "overall our utility-optimized mechanisms remain effective, compared to the existing mechanisms.
# One exception is the case where ε = 0.1 and the number of attributes is 9", of uRR with EM. Its
# comparisons are left out here, as the sentence does.
@claim(
    "Figure 7",
    "uRR and uRAP remain effective (the paper's exception, uRR with EM at ε = 0.1, apart)",
    "TV of RR and RAPPOR by that of uRR and uRAP: above 1",
)
def remain_effective(tables: Tables) -> DataFrame:
    table = attributes(drawn(tables, "fig7"))
    factors = by(table, "mechanism", EACH_BY_EACH, AT_ATTRIBUTES)
    excepted = factors["pair"].str.endswith("uRR") & (factors["estimator"] == "em")
    excepted &= (factors["epsilon"] == 0.1) & (factors["attributes"] == 9)
    return v.at_least(factors[~excepted])


def at_nine(tables: Tables, **wanted: object) -> DataFrame:
    """Return the TV with EM at ε = 0.1 and nine attributes."""
    rows = attributes(v.select(tables["fig7"], estimator="em", epsilon=0.1, **wanted))
    rows = rows[rows["attributes"] == 9]
    return rows.assign(ratio=rows["tv"], error=rows["tv_error"] / rows["tv"])


# "the TV of the RR (EM), RAPPOR (EM), and uRR (EM) is almost 1", its largest.
@claim(
    "Figure 7",
    "at ε = 0.1, with nine attributes and EM, the TV of RR, RAPPOR and uRR is almost 1",
    "TV: within 10% of 1",
)
def almost_one(tables: Tables) -> DataFrame:
    return v.within(at_nine(tables, mechanism=("RR", "RAPPOR", "uRR")), CLOSE)


# "the TV of uRAP (EM) is much smaller than 1 even in this case".
@claim(
    "Figure 7",
    "... and that of uRAP much smaller than 1",
    "TV: at most 0.3",
)
def much_smaller_than_one(tables: Tables) -> DataFrame:
    return v.at_most(at_nine(tables, mechanism="uRAP"), 0.3)


# "Overall, uRAP is robust to the increase of the attributes at the same value of ε": from 4 to
# each larger number its TV grows by no more than √k, as the worst case does without privacy.
@claim(
    "Figure 7",
    "uRAP is robust to more attributes at the same ε",
    "its TV by that with four attributes: at most the square root of how many times the values",
)
def robust_to_attributes(tables: Tables) -> DataFrame:
    table = attributes(drawn(tables, "fig7", mechanism="uRAP"))
    four = table[table["attributes"] == 4]
    growth = v.ratios(table[table["attributes"] > 4], four, ["mechanism", "epsilon", "estimator"])
    return v.at_most(growth, np.sqrt(growth["k"] / 400))


def seconds(table: DataFrame) -> DataFrame:
    """Return times with the range of their runs for two standard errors on both sides."""
    middle = np.sqrt(table["lowest"] * table["highest"])
    reach = np.log(table["highest"] / table["lowest"]) / 2
    return table.assign(time=middle, time_error=middle * reach / v.ERRORS, realizations=2)


# "the running time [of EM] increases roughly linearly with the number of attributes": from 4 to
# each larger number no more than 10% faster than the attributes. A step of EM is a pass over the
# reports; RR and uRR have no times of one, since it takes next to none.
@claim(
    "Running time",
    "the time of EM increases roughly linearly with the number of attributes",
    "a step's time by that with four attributes: at most 1.1 times the attributes over four",
    "the paper timed whole runs, we time steps",
    comparable=False,
)
def linear_in_attributes(tables: Tables) -> DataFrame:
    steps = v.select(tables["time"], series="by k", quantity="one pass")
    steps = attributes(seconds(steps))
    four = steps[steps["attributes"] == 4]
    growth = v.ratios(steps[steps["attributes"] > 4], four, ["mechanism"], "time")
    return v.at_most(growth, CLOSE * growth["attributes"] / 4)


# "emp and emp+thr ... required less than one second even when the number of attributes is 9".
@claim(
    "Running time",
    "emp and emp+thr take less than a second, even with nine attributes",
    "seconds from 240,000 reports: at most 1",
)
def less_than_a_second(tables: Tables) -> DataFrame:
    quantities = tuple(f"{name} from the reports" for name in ("empirical", "threshold"))
    rows = v.select(tables["time"], series="table", quantity=quantities, k=12_800)
    return v.at_most(rows.assign(ratio=rows["highest"], error=0.0), 1.0)


# "if EM requires too much time for a large number of attributes, emp+thr would be a good
# alternative": with nine attributes at most a quarter more.
@claim(
    "Running time",
    "for many attributes emp+thr is a good alternative to EM",
    "TV of emp+thr by that of EM with nine attributes: at most 1.25",
)
def good_alternative(tables: Tables) -> DataFrame:
    table = attributes(v.select(tables["fig7"], mechanism=MECHANISMS))
    table = table[table["attributes"] == 9]
    return v.at_most(by(table, "estimator", THR_BY_EM, ["mechanism", "epsilon"]), 1.25)


# On Figure 8: "the performance of (II) lies in between that of (I) and (III)", at all ε.
@claim(
    "Figure 8",
    "(II) lies in between (I) and (III)",
    "TV in case (I) by that in (II), and in (II) by that in (III): above 1",
)
def in_between(tables: Tables) -> DataFrame:
    pairs = [("none", "places"), ("places", "true")]
    return v.at_least(by(drawn(tables, "fig8"), "knowledge", pairs, AT_CASE))


# "when ε is smaller than 1, all of (I), (II), and (III) provide almost the same performance".
@claim(
    "Figure 8",
    "for ε below 1 all three are almost the same",
    "TV in one case by that in another: within 10% of 1",
)
def alike_below_one(tables: Tables) -> DataFrame:
    table = drawn(tables, "fig8")
    pairs = list(combinations(KNOWLEDGE, 2))
    return v.within(by(table[table["epsilon"] < 1], "knowledge", pairs, AT_CASE), CLOSE)


# The same sentence's reason: "the effect of the estimation error of π̂ does not depend on ε". The
# second term at each ε is that at the largest one; in case (III) there is none.
@claim(
    "Figure 8",
    "... since the effect of the error of π̂ does not depend on ε",
    "second term by that at ε = 10: within 10% of 1",
)
def second_term_is_constant(tables: Tables) -> DataFrame:
    table = drawn(tables, "fig8", knowledge=("none", "places"))
    last = table["epsilon"] == table["epsilon"].max()
    curve = ["mechanism", "estimator", "knowledge"]
    return v.within(v.ratios(table[~last], table[last], curve, "second"), CLOSE)


# On Table 1, at ε = ln|X| with EM: "l1 is smaller than the summation of the first and second
# terms in all of the methods".
@claim(
    "Table 1",
    "the ℓ₁ loss is smaller than the sum of the two terms",
    "sum by loss: above 1",
)
def smaller_than_the_sum(tables: Tables) -> DataFrame:
    rows = v.select(tables["table1"], estimator="em")
    total = rows["first"] + rows["second"]
    errors = np.hypot(rows["first_error"], rows["second_error"]) / total
    relative = np.hypot(errors, rows["tv_error"] / rows["tv"])
    return v.at_least(rows.assign(ratio=total / (2 * rows["tv"]), error=relative))


TABLE_1 = {
    ("uRR", "none"): (6.73, 2.70, 7.34),
    ("uRR", "places"): (4.24, 2.70, 2.96),
    ("uRR", "true"): (2.62, 2.70, 0),
    ("uRAP", "none"): (6.77, 2.76, 7.35),
    ("uRAP", "places"): (4.28, 2.76, 2.96),
    ("uRAP", "true"): (2.67, 2.76, 0),
}
"""Its numbers in hundredths: the l1 loss, the first and the second term."""


# The numbers of Table 1 themselves, but the two that are 0 by definition.
@claim(
    "Table 1",
    "its numbers: the loss and the two terms, by mechanism and knowledge",
    "ours by the paper's: within 10% of 1",
    "ours are of other data",
    comparable=False,
)
def numbers_of_table_1(tables: Tables) -> DataFrame:
    of = v.select(tables["table1"], estimator="em").set_index(["mechanism", "knowledge"])
    cells = []
    for (name, knowledge), printed in TABLE_1.items():
        row = of.loc[(name, knowledge)]
        ours = {"tv": 200, "first": 100, "second": 100}
        for (what, scale), paper in zip(ours.items(), printed, strict=True):
            if paper:
                ratio = scale * row[what] / paper
                error = row[f"{what}_error"] / row[what]
                cells.append([name, knowledge, what, ratio, error])
    columns = ["mechanism", "knowledge", "number", "ratio", "error"]
    return v.within(DataFrame(cells, columns=columns), CLOSE)


def same_order(pairs: DataFrame, squares: DataFrame) -> DataFrame:
    """Return ratios of MSEs, turned so that they are above 1 where the TVs have the same order.

    Where the order of the TVs is undecided, so is the comparison. The ratio of the TVs, the larger
    one above, is beside it.
    """
    order = v.outcomes(v.at_least(pairs))
    agreeing = np.log(squares["ratio"].to_numpy()) * order
    error = np.where(order == 0, math.inf, squares["error"])
    apart = np.exp(np.abs(np.log(pairs["ratio"].to_numpy())))
    return v.at_least(squares.assign(ratio=np.exp(agreeing), error=error, of_tv=apart))


# Appendix C.2, on Figures 10 to 13: "a tendency similar to the results of the TV is obtained".
# Any two curves of a panel, mechanisms or cases (I) to (III), are in the same order in both.
@claim(
    "Figures 10 to 13",
    "the MSE shows a tendency similar to the TV",
    "two curves of a panel that the TV orders have the same order in the MSE",
)
def similar_in_mse(tables: Tables) -> DataFrame:
    parts = []
    for figure, on in (("fig5", AT_POINT), ("fig6", AT_SIZE), ("fig7", AT_ATTRIBUTES)):
        table = drawn(tables, figure, mechanism=MECHANISMS)
        table = at_each_size(table) if figure == "fig6" else table
        for one, other in combinations(MECHANISMS, 2):
            rows = table
            if figure == "fig6" and {one, other} == set(OLD):  # two levels are one comparison
                rows = table[table["sensitive"] == table["k"]]
            two = [(one, other)]
            losses = [by(rows, "mechanism", two, on, loss) for loss in ("tv", "mse")]
            found = same_order(*losses).assign(figure=figure)
            parts.append(apart(found) if figure == "fig6" else found)
    cases, pairs = drawn(tables, "fig8"), list(combinations(KNOWLEDGE, 2))
    losses = [by(cases, "knowledge", pairs, AT_CASE, loss) for loss in ("tv", "mse")]
    parts.append(same_order(*losses).assign(figure="fig8"))
    point = ["knowledge", "estimator", "epsilon"]
    losses = [by(cases, "mechanism", [NEW], point, loss) for loss in ("tv", "mse")]
    parts.append(same_order(*losses).assign(figure="fig8"))
    return v.stacked(parts)


class Judged(NamedTuple):
    """A claim with its comparisons and how many are for it, against it and undecided."""

    claim: Claim
    comparisons: DataFrame
    counts: v.Counts


ACROSS = {
    "Figure 6": ("sensitive", "s"),
    "Figure 7": ("attributes", "attributes"),
    "Running time": ("attributes", "attributes"),
    "Table 1": ("epsilon", "ε"),
}
APART = ("figure", "number", "pair", "mechanism", "knowledge", "estimator")


ROLES = {"US Census 1990": "census", "Foursquare": "manhattan"}
"""The names that tables made from the paper's own files have, and what the claims call these."""


def read_tables(folder: Path, results: str = "results") -> dict[str, DataFrame]:
    """Return the tables that the claims are judged from, in a clone of the repository."""
    names = ("fig5", "fig6", "fig7", "fig8", "table1")
    tables = {name: read_table(folder / results / f"{name}.csv") for name in names}
    tables = {name: table.replace({"data": ROLES}) for name, table in tables.items()}
    time = read_csv(folder / "benchmarks/results/running_time.csv", comment="#")
    return tables | {"time": time}


def judge(tables: Tables) -> dict[int, Judged]:
    """Return all claims by their numbers, judged from the tables."""
    judged = {}
    for each in CLAIMS:
        comparisons = each.comparisons(tables)
        judged[each.number] = Judged(each, comparisons, v.tally(comparisons, each.comparable))
    return judged


def words_with(judged: Mapping[int, Judged], close: float) -> dict[int, str]:
    """Return the verdicts if "almost" and "close" mean another factor than `CLOSE`."""
    words = {}
    for number, (claim, comparisons, counts) in judged.items():
        if re.search(r"within 10%|at most 1\.1\b", claim.asked):
            favour = comparisons["favour"] * close / CLOSE
            counts = v.tally(comparisons.assign(favour=favour), claim.comparable)
        words[number] = counts.word
    return words


def summary(judged: Mapping[int, Judged]) -> str:
    """Write which claims have which verdict."""
    lines = []
    for word in v.WORDS:
        numbers = [str(number) for number, each in judged.items() if each.counts.word == word]
        if numbers:
            lines.append(f"{word} ({len(numbers)}): {', '.join(numbers)}")
    return "\n".join(lines)


def told_apart_by(table: DataFrame) -> list[str]:
    """Return two columns that tell comparisons apart, neither of which follows from the other."""
    found: list[str] = []
    groups = 1
    for name in APART:
        if name in table:
            finer = len(table[[*found, name]].drop_duplicates())
            if finer > groups:
                found.append(name)
                groups = finer
    return found[:2]


def exceptions(judged: Judged) -> str:
    """Write how many comparisons are against a claim, by what tells them apart, and where."""
    table = judged.comparisons
    against = table[v.outcomes(table) < 0]
    across, letter = ACROSS.get(judged.claim.where, ("epsilon", "ε"))
    written = []
    for key, rows in against.groupby(told_apart_by(table), sort=False):
        name = ", ".join(NAMES.get(str(each), str(each)) for each in key)
        ends = sorted({f"{end:.3g}" for end in (rows[across].min(), rows[across].max())}, key=float)
        written.append(f"{name}: {len(rows)} ({letter} = {' to '.join(ends)})")
    return "; ".join(written)


def plain(number: float) -> str:
    """Write three digits of a number without an exponent."""
    return f"{number:.3g}" if number < 1000 else f"{float(f'{number:.3g}'):,.0f}"


def rows(judged: Mapping[int, Judged], numbers: Sequence[int]) -> list[list[object]]:
    """Return a row of HTML for each of some claims: what it says, its verdict, and by how much.

    The exceptions are listed for those that hold mostly.
    """
    table: list[list[object]] = []
    for number in numbers:
        claim, comparisons, counts = judged[number]
        ratio = comparisons["ratio"]
        typical, least, largest = map(plain, (ratio.median(), ratio.min(), ratio.max()))
        decides = "; one comparison decides" if counts.by_one else ""
        lines = [f"<b>{counts.word}</b>: {counts}{decides}"]
        lines.append(f"typically {typical}; {least} to {largest}")
        if counts.word == v.MOSTLY:
            lines.append(f"against: {exceptions(judged[number])}")
        if claim.remark:
            lines.append(claim.remark)
        table.append([number, f"{claim.says}<br><em>{claim.asked}</em>", "<br>".join(lines)])
    return table


def report(judged: Mapping[int, Judged], *numbers: int) -> HTML:
    """Return the table of some claims with their verdicts."""
    headers = ("", "the paper, and what is asked", "here")
    return show(rows(judged, numbers), headers, tablefmt="unsafehtml")
