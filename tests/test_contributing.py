"""What CONTRIBUTING says is so: its example is a mechanism, and what it names exists."""

import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from cases import chi_square, domains, supports

import uldp
from uldp import decoders, mechanisms
from uldp._numerics import bits
from uldp.beyond import block_decoder, outcome_decoder
from uldp.mechanisms import base, index_reports, response, set_reports
from uldp.mechanisms.index_reports import IndexReports
from uldp.mechanisms.set_reports import SetReports

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
STEPS = TEXT.split("## A further mechanism")[1].split("\n## ")[0]
CODE = textwrap.dedent(STEPS.split("```python\n")[1].split("   ```")[0])
PLACES = (
    *(IndexReports, SetReports, uldp.Mechanism, np.random.Generator),
    *(
        uldp,
        uldp.domain,
        mechanisms,
        base,
        index_reports,
        set_reports,
        decoders,
        outcome_decoder,
        block_decoder,
        bits,
    ),
)


@pytest.fixture(scope="module")
def graded() -> type[IndexReports]:
    """The example, with no more than the imports that it is said to need."""
    names = dict(vars(response))
    exec(CODE, names)
    return names["GradedResponse"]


def test_the_example_is_unbiased_and_draws_what_its_matrix_says(graded):
    for domain in domains(4):
        mechanism = graded(domain, 0.7)
        matrix = mechanism.transition_matrix()
        rows = [mechanism.estimate(y[None]) for y in mechanism.outputs]
        np.testing.assert_allclose(matrix @ rows, np.eye(domain.size), atol=1e-12)
        np.testing.assert_array_equal(supports(mechanism), np.eye(domain.size))
        for x, law in enumerate(matrix):
            reports = mechanism.privatize(np.full(2000, x), rng=x, indices=True)
            assert chi_square(np.bincount(reports, minlength=domain.size), law) > 1e-7
            assert mechanism.check(reports).dtype == mechanism.report_dtype


def test_without_levels_the_example_is_uRR(graded):
    for domain in domains(4):
        urr = uldp.UtilityOptimizedRR(domain, 0.7)
        mechanism = graded(domain, 0.7)
        np.testing.assert_allclose(
            mechanism.transition_matrix(), urr.transition_matrix(), rtol=1e-12, atol=1e-15
        )
        assert mechanism.revealed_share == pytest.approx(urr.revealed_share)


def test_the_example_speaks_for_each_value_with_its_level(graded):
    levels = (0.5, 1.0, 2.0)
    mechanism = graded(uldp.Domain(5, sensitive=[0, 1, 2]), 2.0, levels)
    of_pairs = uldp.privacy.pair_levels(mechanism.transition_matrix(), mechanism.protected)
    apart = ~np.eye(5, dtype=bool)
    for x, level in enumerate((*levels, 0, 0)):
        np.testing.assert_allclose(of_pairs[x][apart[x]], level, atol=1e-12)
    tally = mechanism.simulate([3000] * 5, rng=1)
    assert uldp.inference.total(tally, [0, 1]).standard_error > 0
    for method in ("em", "mle"):
        with pytest.raises(TypeError, match="reports must be of a mechanism that has evidence"):
            mechanism.estimate(tally, method)


NEW_KIND = """
import json
import api, jsonschema, numpy as np, survey_vectors, uldp
from test_client import ask
from uldp.mechanisms.graded import GradedResponse
from uldp.paper.figures import curves
from uldp.survey import schema

answers = uldp.Domain(["a", "b", "c"], ["a", "b"])
for levels in ((), (0.5, 1.0)):
    survey = uldp.Survey("new", {"q": GradedResponse(answers, 1.0, levels)})
    text = survey.to_json()
    jsonschema.validate(json.loads(text), schema())
    assert uldp.Survey.from_json(text) == survey
    messages = [survey.privatize("q", answer) for answer in 50 * ["a", "c"]]
    tally = survey.read(messages).tallies["q"]
    assert tally.n == 100
    assert np.isclose(tally.estimate("norm_sub").sum(), 1)
    (wrong,) = ask("refusedSurveys", [text])
    assert wrong["message"].startswith("questions[0].mechanism must be one of RR, ")
    wrong = json.loads(text.replace("levels", "sizes"))
    assert not jsonschema.Draft202012Validator(schema()).is_valid(wrong)
assert "\\ngraded " in str(uldp.compare(answers, 1.0, 1000))
x = np.array([1, 2])
(panel,) = curves({"": {name: (x, x) for name in ("graded", "RR")}}, "n", "TV")
assert len({(line.get_linestyle(), line.get_color()) for line in panel.lines}) == 2
assert "| graded | `GradedResponse` | `levels` | A report speaks" in api.mechanisms()
(of_kind,) = [text for text in survey_vectors.surveys() if "graded" in text]
assert len(survey_vectors.survey_vectors(of_kind)["questions"]) > 9
"""


def test_the_first_two_steps_make_the_example_a_kind_of_its_own(tmp_path):
    """In a copy of the package: its file, and its line in the list."""
    shutil.copytree(ROOT / "uldp", tmp_path / "uldp", ignore=shutil.ignore_patterns("__pycache__"))
    folder = tmp_path / "uldp" / "mechanisms"
    imports = (folder / "response.py").read_text(encoding="utf-8").split("__all__")[0]
    (folder / "graded.py").write_text(imports + CODE, encoding="utf-8")
    kinds = tmp_path / "uldp" / "kinds.py"
    text = kinds.read_text(encoding="utf-8")
    text = text.replace(
        "    UtilityOptimizedHadamard,\n)", "    UtilityOptimizedHadamard,\n    GradedResponse,\n)"
    )
    text = text.replace("\n__all__", "from uldp.mechanisms.graded import GradedResponse\n\n__all__")
    kinds.write_text(text, encoding="utf-8")
    beside = (tmp_path, ROOT / "tools", ROOT / "book" / "_ext", ROOT / "tests")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, beside))}
    subprocess.run([sys.executable, "-c", NEW_KIND], cwd=tmp_path, env=environment, check=True)


@pytest.mark.parametrize("kind", [IndexReports, SetReports])
def test_what_a_mechanism_must_have_is_named(kind):
    first = STEPS.split("\n2. ")[0]
    assert kind.__abstractmethods__ <= set(re.findall(r"`(\w+)`", first))


def test_what_is_named_for_a_mechanism_exists(graded):
    prose = re.sub(r"```python.*?   ```", "", STEPS, flags=re.S)
    for name in re.findall(r"`(\w+)`", prose):
        assert any(hasattr(place, name) for place in (*PLACES, graded)), name


def test_the_files_and_folders_that_are_named_exist():
    tops = ROOT, ROOT / "uldp", ROOT / "tests"
    for name in re.findall(r"`((?:\w+/)+[\w.]*)`", TEXT):
        is_to_be_made = "yours" in name or "NAME" in name
        assert is_to_be_made or any((top / name).exists() for top in tops), name
