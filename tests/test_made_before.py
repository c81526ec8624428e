"""What earlier versions made is read, read when asked for, or refused with what to do."""

import importlib
import json
import operator
import pickle
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import uldp
from uldp import Survey, Tallies
from uldp._names import MOVED
from uldp.survey import parquet, wire

MADE = Path(__file__).parent / "made_by"
VERSIONS = ["1.0.0", "1.1.0"]
EDGES = sorted(path.stem for path in (MADE / "1.0.0" / "edges").glob("*.json"))


def numbers_of(tallies: dict[str, uldp.Tally]) -> dict[str, object]:
    """What the version wrote about its tallies, of these ones."""
    return {
        name: {
            "n": tally.n,
            "counts": tally.counts.tolist(),
            "estimate": pytest.approx(tally.law.estimate(tally).tolist(), rel=1e-12, abs=1e-12),
        }
        for name, tally in tallies.items()
    }


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.filterwarnings("ignore:uldp.* has moved")
def test_survey_messages_tallies_and_reports_are_read(version):
    folder = MADE / version
    survey = Survey.load(folder / "survey.json")
    assert survey.to_json().encode() == (folder / "survey.json").read_bytes()
    assert survey.repeat == {"keep": "nothing", "rounds": 12, "reports": 3}
    expected = json.loads((folder / "numbers.json").read_text(encoding="utf-8"))
    messages = wire.split((folder / "messages.bin").read_bytes(), survey.longest_message())
    reading = survey.read(messages)
    assert not reading.refused
    assert numbers_of(reading.tallies) == expected
    assert Tallies.load(folder / "tallies.json") == reading.tallies
    assert Tallies.from_json(reading.tallies.to_json()) == reading.tallies
    for name in ("uRR", "uBD"):
        counts, left_out, _ = parquet._count(survey, str(folder / f"{name}.parquet"), 1)
        n, numbers = counts.pop(name)
        assert uldp.Tally(survey.questions[name], n, numbers) == reading.tallies[name]
        assert (counts, left_out) == ({}, {})
    laws = pickle.loads((folder / "laws.pickle").read_bytes())
    assert numbers_of(laws) == {name: expected[name] for name in laws}
    assert all(laws[name] == reading.tallies[name] for name in laws)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.filterwarnings("ignore:uldp.* has moved")
def test_a_pickle_of_a_survey_is_read(version):
    survey = Survey.load(MADE / version / "survey.json")
    assert pickle.loads((MADE / version / "survey.pickle").read_bytes()) == survey
    tallies = pickle.loads((MADE / version / "tallies.pickle").read_bytes())
    assert (tallies["uRR"].n, tallies["uRR"].counts.tolist()) == (7, [3, 3, 1])


@pytest.mark.parametrize("edge", EDGES)
def test_what_1_0_0_alone_took_is_read_by_a_collector_who_asks(edge):
    """Devices refuse labels that look alike, of 600 letters, with quotation marks and the like."""
    path = MADE / "1.0.0" / "edges" / f"{edge}.json"
    text = json.loads(path.read_text(encoding="utf-8"))["survey"]
    for read, given in ((Survey.from_json, text), (Tallies.load, path)):
        with pytest.raises(
            ValueError, match=r"its collector reads with Survey\.load\(path, old=Tr"
        ):
            read(given)
    survey = Survey.from_json(text, old=True)
    with pytest.raises(ValueError, match="read with old=True is the collector's alone"):
        survey.privatize("q", survey.questions["q"].domain.labels[0], rng=1)
    reading = survey.read(wire.split(path.with_suffix(".bin").read_bytes(), 1000))
    assert (reading.tallies["q"].counts.tolist(), reading.messages) == ([2, 1], 3)
    assert Tallies.load(path, old=True) == reading.tallies
    assert pickle.loads(pickle.dumps(reading.tallies)) == reading.tallies
    with pytest.raises(ValueError, match="text must be that of a survey: questions"):
        Survey.from_json(text.replace('"uldp": 2', '"uldp": 3'), old=True)
    with pytest.raises(ValueError, match=r"questions\[0\]\.labels must"):
        Survey(survey.id, survey.questions)


def test_a_survey_of_1_0_0_may_be_larger_than_devices_take(tmp_path):
    """200,000 values, and a file of more than 2 MB."""
    path = tmp_path / "survey.json"
    labels: object
    for labels in (200_000, [f"{x:09}" for x in range(200_000)]):
        law = {"labels": labels, "sensitive": [], "mechanism": "uRR", "epsilon": 1.0}
        text = json.dumps({"uldp": 2, "id": "large", "questions": [{"name": "q", **law}]})
        path.write_text(text, encoding="utf-8")
        with pytest.raises(
            ValueError, match=r"must be at most 2097152 bytes|must have at most 131072"
        ):
            Survey.load(path)
        survey = Survey.load(path, old=True)
        tallies = Tallies(survey, {"q": survey.questions["q"].tally(np.arange(200_000))})
        tallies.save(tmp_path / "tallies.json")
        assert Tallies.load(tmp_path / "tallies.json", old=True) == tallies


@pytest.mark.parametrize("old", MOVED)
def test_a_name_that_has_moved_answers_with_the_new_one_and_says_so(old):
    """As an attribute and, if it is a module, to import, however often; it names the line."""
    parent, _, name = old.rpartition(".")
    sys.modules.pop(old, None)
    vars(importlib.import_module(parent)).pop(name, None)
    home = importlib.import_module(MOVED[old])
    with pytest.warns(FutureWarning, match=f"^{old} has moved to {MOVED[old]}$") as told:
        found = getattr(importlib.import_module(parent), name)
    assert [one.filename for one in told] == [__file__]
    assert found is getattr(home, name, home)
    if found is home:
        with pytest.warns(FutureWarning, match=f"^{old} has moved to {MOVED[old]}$") as told:
            assert importlib.import_module(old) is home
        assert [one.filename for one in told] == [__file__]
        assert home.__spec__.name == home.__name__


def test_the_names_that_other_code_calls_answer():
    """They stay where users find them, without a warning."""
    names = """
        Domain Domain.product Mechanism.privatize Mechanism.tally Mechanism.evidence
        Mechanism.simulate Mechanism.estimate Mechanism.maximum_likelihood
        Mechanism.transition_matrix Mechanism.outputs Mechanism.protected Mechanism.decoder
        Mechanism.second_moment Mechanism.l1_loss Mechanism.l2_loss Mechanism.worst_case
        RandomizedResponse Rappor UtilityOptimizedRR UtilityOptimizedRappor
        UtilityOptimizedBlockDesign UtilityOptimizedHadamard PersonalizedMechanism Tally
        fundamental_limit compare privacy.ldp_level privacy.uldp_level privacy.osldp_level
        privacy.pair_levels privacy.decompose privacy.Device privacy.Shuffled attributes.OneByOne
        inference.covariance inference.standard_errors inference.intervals inference.total
        inference.marginal inference.ratio inference.stratified inference.difference
        inference.Change.value inference.homogeneity inference.goodness_of_fit inference.summary
        personalized.summary
        Survey.to_json Survey.from_json Survey.load Survey.save Survey.message Survey.open
        Survey.read Survey.privatize Tallies.load Tallies.save paper.verify.agree
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in names.split():
            assert operator.attrgetter(name)(uldp), name
