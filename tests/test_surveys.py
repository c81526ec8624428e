"""The survey file: what is written is read, by the schema too, and what is no survey is named."""

import hashlib
import json
import math
import pickle
import re
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import jsonschema
import mpmath
import numpy as np
import pytest
from cases import MECHANISMS, module_at, reasons_of
from hypothesis import given, settings, strategies as st

import uldp
from uldp.personalized import PersonalizedMechanism, SecretMaps, TaggedDomain
from uldp.survey import survey_file, surveys, wire
from uldp.survey.surveys import Survey, Tallies

ROOT = Path(__file__).parents[1]
DOMAIN = uldp.Domain(["good", "fair", "bad", "café"], sensitive=["bad", "good"])
CELLS = uldp.Domain.product(
    age=["18-29", "30+"], doses=[0, 1, 2], sensitive=lambda age, doses: doses > 0
)
PLACES = TaggedDomain(uldp.Domain(["park", "clinic", "elm street"], ["clinic"]), ["home", "others"])
DOMAINS = {
    "labels": DOMAIN,
    "a number": uldp.Domain(5, sensitive=[0, 3, 4]),
    "whole numbers": uldp.Domain([30, -(2**53) + 1, 2**53 - 1], sensitive=[30]),
    "nothing sensitive": uldp.Domain(["a", "b"]),
    "all sensitive": uldp.Domain(3, sensitive=range(3)),
    "one value": uldp.Domain(1),
    "a product": CELLS,
    "with tags": PLACES,
    "a product with tags": TaggedDomain(CELLS, ["home"]),
    "numbers with tags": TaggedDomain(uldp.Domain(3), ["home"]),
}
SCHEMA = jsonschema.Draft202012Validator(surveys.schema())


def questions(domain: uldp.Domain, epsilon: float = 1.0) -> dict[str, uldp.Mechanism]:
    """Every mechanism over a domain."""
    return {name: make(domain, epsilon) for name, make in MECHANISMS.items()}


SURVEYS = [
    *(Survey(name, questions(domain)) for name, domain in DOMAINS.items()),
    *(Survey(f"ε = {e}", questions(DOMAIN, e)) for e in (1e-9, 0.1, 30, 80, 500)),
]


@pytest.mark.parametrize("survey", SURVEYS, ids=lambda survey: survey.id)
def test_a_survey_comes_back(survey):
    text = survey.to_json()
    for other in (Survey.from_json(text), Survey.from_json(text.encode("utf-8"))):
        assert other == survey
        assert hash(other) == hash(survey)
        assert other.to_json() == text
        assert other.digest == hashlib.sha256(text.encode("utf-8")).hexdigest()
        assert other.id == survey.id
        assert dict(other.questions) == dict(survey.questions)
        assert [*other.questions] == [*survey.questions]
        kinds = [type(one.domain) for one in other.questions.values()]
        assert kinds == [type(one.domain) for one in survey.questions.values()]
    SCHEMA.validate(json.loads(text))


def test_the_mechanisms_are_those_that_were_given():
    """With every parameter, so that their laws are the same to the last digit."""
    rappor = {
        f"{theta}, {epsilon}": uldp.UtilityOptimizedRappor(DOMAIN, epsilon, theta)
        for theta in (None, 0.5, 0.1, 1e-80, 1 - 2**-53)
        for epsilon in (1e-9, 0.3, 1, 10.5)
    }
    survey = Survey("θ", rappor)
    for name, given_one in rappor.items():
        read = survey.questions[name]
        assert (read.theta, read.epsilon) == (given_one.theta, given_one.epsilon)
        for law in ("true_support", "not_true_support", "false_support", "not_false_support"):
            np.testing.assert_allclose(
                getattr(read.decoder, law), getattr(given_one.decoder, law), rtol=1e-14
            )
    weights = {1: 0.1 + 0.2, 2: 1 - (0.1 + 0.2)}
    survey = Survey("λ", {"uBD": uldp.UtilityOptimizedBlockDesign(DOMAIN, 1 / 3, weights)})
    assert survey.questions["uBD"].sizes == tuple(weights.items())
    assert survey.questions["uBD"].epsilon == 1 / 3


def test_the_default_theta_is_not_written_and_fits_any_epsilon():
    survey = Survey("θ", {"RAPPOR": uldp.Rappor(DOMAIN, 300.0)})
    assert "theta" not in survey.to_json()
    assert survey.questions["RAPPOR"].decoder.not_true_support[0] == pytest.approx(
        math.exp(-150), rel=1e-12
    )


def test_the_documented_example():
    page = (ROOT / "book" / "survey_format.md").read_text(encoding="utf-8")
    example = page.split("```json\n")[1].split("```")[0]
    survey = Survey.from_json(example)
    assert survey.to_json() == example
    mood = uldp.Domain(["good", "fair", "bad"], sensitive=["bad"])
    places = uldp.Domain(["park", "clinic", "elm street", "oak street"], sensitive=["clinic"])
    expected = {
        "mood": uldp.UtilityOptimizedRR(mood, 1.0),
        "place": uldp.UtilityOptimizedRappor(TaggedDomain(places, ["home", "others"]), 0.5, 0.5),
    }
    texts = {"mood": "How are you today?"}
    assert Survey("wellbeing-2026-w47", expected, texts=texts) == survey
    assert survey.texts == texts
    SCHEMA.validate(json.loads(example))


def test_the_text_is_kept_to_the_last_byte():
    """And so a file that asks the same with other bytes is another survey."""
    survey = SURVEYS[0]
    text = survey.to_json()
    for other in (
        text.replace("\n", "\r\n"),
        text + " ",
        json.dumps(json.loads(text)),
        text.replace('"epsilon": 1.0', '"epsilon": 1'),
    ):
        read = Survey.from_json(other)
        assert read.to_json() == other
        assert read != survey
        assert read.digest != survey.digest
        assert dict(read.questions) == dict(survey.questions)


def test_a_survey_is_a_value():
    survey = SURVEYS[0]
    assert pickle.loads(pickle.dumps(survey)) == survey
    assert deepcopy(survey) == survey
    assert survey != survey.to_json()
    with pytest.raises(AttributeError, match="make a new one to set id"):
        survey.id = "another"
    with pytest.raises(TypeError):
        survey.questions["mood"] = MECHANISMS["uRR"](DOMAIN, 1.0)
    assert (
        repr(survey)
        == f"Survey('labels', {len(survey.questions)} questions, {survey.digest[:12]}...)"
    )


def test_a_question_has_a_text():
    questions = SURVEYS[0].questions
    name = [*questions][1]
    survey = Survey("s", questions, texts={name: "How are you?"})
    assert survey.texts == Survey.from_json(survey.to_json()).texts == {name: "How are you?"}
    assert dict(survey.questions) == dict(questions)
    with pytest.raises(TypeError):
        survey.texts[name] = "Why?"
    with pytest.raises(ValueError, match="each name in texts must be one of"):
        Survey("s", questions, texts={"nobody": "How are you?"})
    with pytest.raises(TypeError, match="texts must map names of questions to strings"):
        Survey("s", questions, texts="How are you?")
    for wrong in ("", "two\nlines", "\u202e"):
        with pytest.raises(ValueError, match=r"(questions\[1\].text|the texts of questions) must"):
            Survey("s", questions, texts={name: wrong})


def test_nothing_secret_is_in_the_file():
    """The personalized mechanism is over tags, which all users share; a user's own does not fit."""
    alice = uldp.PersonalizedMechanism(uldp.UtilityOptimizedRR(PLACES, 1.0), {"park": "home"})
    with pytest.raises(TypeError, match=r"questions\['q'\] must be a Mechanism"):
        Survey("s", {"q": alice})
    keys = {key for one in json.loads(SURVEYS[7].to_json())["questions"] for key in one}
    known = {"name", "labels", "sensitive", "tags", "mechanism", "epsilon"}
    assert keys == known.union(*survey_file.OWN_FIELDS.values())


def test_mechanisms_that_no_file_knows():
    class Own(uldp.UtilityOptimizedRR):
        pass

    class Named(uldp.Domain):
        def __eq__(self, other: object) -> bool:
            return self is other

        __hash__ = uldp.Domain.__hash__

    with pytest.raises(
        ValueError, match=r"questions must have mechanisms of RR, RAPPOR, .*got Own"
    ):
        Survey("s", {"q": Own(DOMAIN, 1.0)})
    with pytest.raises(ValueError, match=r"questions\['q'\] must be as its file says"):
        Survey("s", {"q": uldp.UtilityOptimizedRR(Named(["a"]), 1.0)})


# --- the schema ----------------------------------------------------------------------------------


def test_the_schema_is_one_and_knows_every_mechanism():
    SCHEMA.check_schema(SCHEMA.schema)
    names = SCHEMA.schema["$defs"]["question"]["properties"]["mechanism"]["enum"]
    assert names == [kind.wire_name for kind in uldp.mechanisms.KINDS]


def paths(value: Any, path: tuple = ()) -> list[tuple]:
    """The places of everything in a JSON value."""
    if not isinstance(value, list | dict):
        return [path]
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    return [path, *(p for key, v in inner for p in paths(v, (*path, key)))]


def changed(value: Any, path: tuple, new: Any) -> Any:
    """A copy with something else at a place, or nothing if `new` is `...`."""
    copy = deepcopy(value)
    if not path:
        return new
    inner = copy
    for key in path[:-1]:
        inner = inner[key]
    if new is ...:
        del inner[path[-1]]
    else:
        inner[path[-1]] = new
    return copy


SMALL = Survey(
    "small",
    {
        "mood": uldp.UtilityOptimizedRappor(DOMAIN, 1.0, 0.5),
        "place": uldp.UtilityOptimizedBlockDesign(PLACES, 1.0, {1: 0.5, 2: 0.5}),
        "cell": uldp.UtilityOptimizedRR(CELLS, 1.0),
        "number": uldp.Rappor(uldp.Domain(3, [1]), 1.0),
    },
    {"keep": "nothing", "rounds": 3, "reports": 2},
    {"mood": "How are you today?"},
)
CONTENT = json.loads(SMALL.to_json())
KEPT = [
    {"keep": "first", "rounds": 1},
    {"keep": "first", "rounds": 1000},
    {"keep": "nothing", "rounds": 1, "reports": 1},
    {"keep": "nothing", "rounds": 1000, "reports": 1},
    {"keep": "nothing", "rounds": 1000, "reports": 1000},
]
PLACES_OF_CONTENT = paths(CONTENT)
SCALARS = [
    *(..., None, True, False, 0, 1, 2, 3, -1, 0.5, 1.5, 1e-10, 501, 2**53, 1e308, "", "a", "bad"),
    *("café", "home", "uRR", "uBD", "a\0b", "\ud800", "⊥home", [], {}, [1], ["a"], [[1, 1]]),
    *([[1, 0.5], [2, 0.5]], [[2, 1]], {"a": 1}, [None], ["bad", "bad"], 10**400),
]


def refusal(read: Callable[[Any], object], text: str | bytes) -> str:
    """The error that a text is refused with, "" if it is not."""
    try:
        read(text)
    except ValueError as error:
        return str(error)
    return ""


def is_survey(text: str | bytes) -> bool:
    """Whether a text is read; if not, the error names the text and can be printed."""
    said = refusal(Survey.from_json, text)
    assert said == "" or said.startswith("text must be that of a survey: ")
    assert len(said) < 1000
    assert said == "" or said.isprintable()
    return not said


def are_tallies(text: str | bytes) -> bool:
    said = refusal(Tallies.from_json, text)
    assert said == "" or said.startswith("text must be that of tallies: ")
    assert said == "" or said.isprintable()
    return not said


def test_every_place_with_every_wrong_value():
    """What is read fits the schema; what the schema refuses is refused."""
    read = 0
    for path in PLACES_OF_CONTENT:
        for new in SCALARS:
            if new is ... and not path:
                continue
            content = changed(CONTENT, path, new)
            fits = SCHEMA.is_valid(content)
            accepted = is_survey(json.dumps(content))
            assert fits or not accepted, (path, new)
            read += accepted
    assert 100 < read < 400


@settings(max_examples=300)
@given(st.data())
def test_fuzzed_surveys(data):
    """Several changes at once, also of keys."""
    content = CONTENT
    for _ in range(data.draw(st.integers(1, 3))):
        places = paths(content)
        path = data.draw(st.sampled_from(places))
        others = [inner for inner in SCALARS if inner is not ... or path]
        content = changed(content, path, data.draw(st.sampled_from(others)))
    text = json.dumps(content)
    if is_survey(text):
        assert SCHEMA.is_valid(content)
        survey = Survey.from_json(text)
        same = Survey(survey.id, survey.questions, survey.repeat, survey.texts)
        assert same.texts == survey.texts
        assert dict(same.questions) == dict(survey.questions)
        assert same.repeat == survey.repeat


@pytest.mark.parametrize("repeat", KEPT, ids=str)
def test_a_survey_says_how_it_is_asked_again(repeat):
    survey = Survey("panel", SMALL.questions, repeat)
    for other in (survey, Survey.from_json(survey.to_json()), pickle.loads(pickle.dumps(survey))):
        assert other.repeat == repeat
        assert [*other.repeat] == [*repeat]
        assert other == survey
    SCHEMA.validate(json.loads(survey.to_json()))
    with pytest.raises(TypeError):
        survey.repeat["rounds"] = 2000
    once = Survey("panel", SMALL.questions)
    assert once.repeat is None
    assert once.digest != survey.digest
    assert '"repeat"' not in once.to_json()


@pytest.mark.parametrize("repeat", KEPT, ids=str)
def test_every_place_of_a_repetition_with_every_wrong_value(repeat):
    """What the schema cannot say is that there are no more reports than rounds."""
    right = {**CONTENT, "repeat": repeat}
    for path in paths(repeat):
        for new in [*SCALARS, 1000, 1001, "first", "nothing", "per value"]:
            content = changed(right, ("repeat", *path), new)
            fits, accepted = SCHEMA.is_valid(content), is_survey(json.dumps(content))
            assert fits or not accepted, (path, new)
            one = content.get("repeat")
            if fits and isinstance(one, dict):
                assert accepted == (one.get("reports", 1) <= one["rounds"])


def test_the_documented_repetition():
    page = (ROOT / "book" / "survey_format.md").read_text(encoding="utf-8")
    line = page.split("(survey-format-rounds)=")[1].split("```json\n")[1].split("```")[0]
    survey = Survey("panel", SMALL.questions, json.loads(f"{{{line}}}")["repeat"])
    assert f"  {line.strip()},\n" in survey.to_json()


@given(st.text(max_size=60), st.integers(0, 1000), st.integers(0, 30))
def test_fuzzed_texts(inserted, place, removed):
    text = SMALL.to_json()
    place %= len(text)
    text = text[:place] + inserted + text[place + removed :]
    if is_survey(text):
        assert Survey.from_json(text).to_json() == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" * 100_000, "it must be JSON of a few levels"),
        ('{"uldp": 2, "uldp": 2}', "no object repeats a key"),
        ('{"uldp": 4, "note": 1}', 'its format "uldp" must be 2 or 3, got 4'),
        ('{"uldp": 2, "id": "a", "questions": [Infinity]}', "JSON, which has no Infinity"),
        (
            '{"uldp": 2, "id": "a", "questions": []}',
            "questions must have 1 or more entries, got 0",
        ),
        ('{"uldp": ' + "9" * 5000 + "}", "text must be"),
        (b"\xff\xfe{\0}\0", "codec can't decode"),
        (b"\xef\xbb\xbf{}", "BOM"),
    ],
)
def test_what_is_no_survey(text, message):
    with pytest.raises(ValueError, match="text must be that of a survey") as caught:
        Survey.from_json(text)
    assert message in str(caught.value)


def test_a_survey_that_is_too_large_says_of_which_question_and_what_to_do():
    mood = uldp.UtilityOptimizedRR(DOMAIN, 1.0)
    ticks = {f"drug {i}": ["no", "yes"] for i in range(15)}
    crossed = uldp.Domain.product(**ticks, sensitive=lambda **own: "yes" in own.values())
    long = uldp.Domain([f"{label:0>400}" for label in range(6000)], sensitive=range(1))
    for domain in (crossed, long):
        law = uldp.UtilityOptimizedRR(domain, 1.0)
        why = rf"of at most 2097152 bytes, got \d+: 'it' takes \d+, as all its {domain.size} labels"
        with pytest.raises(ValueError, match=f"{why}.* Shorten labels, or ask the factors of a pr"):
            Survey("s", {"mood": mood, "it": law, "again": mood})


def test_a_file_takes_no_longer_to_be_refused_than_to_be_read():
    """At most twice as long, wherever it is wrong."""
    towns = [f"town {place}" for place in range(10_000)]
    even = {*towns[::2]}
    domain = uldp.Domain.product(town=towns, sensitive=lambda town: town in even)
    law = uldp.UtilityOptimizedRR(domain, 1.0)
    survey = Survey("s", {"q": law})
    tallies = Tallies(survey, {"q": law.simulate([3] * len(towns), 1)})

    wrong = {
        "questions": [
            *({"labels": [*towns[:-1], last]} for last in (towns[0], towns[0].upper(), 1, "“", "")),
            {"sensitive": [*towns[2:], towns[2]]},
            {"sensitive": [*towns[2:], "elsewhere"]},
            {"factors": [{"name": "town", "labels": [*towns[:-1], towns[0]]}]},
            {"tags": [*towns[:5000], towns[0]]},
        ],
        "tallies": [
            {"counts": [*tallies["q"].counts.tolist()[:-1], last]} for last in (-1, "1", 1.0)
        ]
        + [{"n": 1}, {"counts": [[3]] * len(towns)}, {"question": "r"}],
    }
    for place, read, text in (
        ("questions", Survey.from_json, survey.to_json()),
        ("tallies", Tallies.from_json, tallies.to_json()),
    ):
        least = min(timed(read, text) for _ in range(3))
        for change in wrong[place]:
            file = json.loads(text)
            file[place][0].update(change)
            changed_text = json.dumps(file)
            assert refusal(read, changed_text)
            assert min(timed(refusal, read, changed_text) for _ in range(3)) <= 2 * least


def timed(action: Callable[..., Any], *given: Any) -> float:
    start = time.process_time()
    action(*given)
    return time.process_time() - start


def test_a_misspelt_key_does_not_go_unnoticed():
    """An answer would be sent in clear."""
    content = changed(CONTENT, ("questions", 0, "sensitive"), ...)
    content["questions"][0]["sensitiv"] = ["bad"]
    with pytest.raises(ValueError, match=r"questions\[0\] must have the key 'sensitive'"):
        Survey.from_json(json.dumps(content))
    content["questions"][0]["sensitive"] = ["bad"]
    keys = "epsilon, factors, labels, mechanism, name, sensitive, tags, text, theta"
    with pytest.raises(ValueError, match=f"must have no key but {keys}, got 'sensitiv'"):
        Survey.from_json(json.dumps(content))


def test_what_is_sensitive_is_a_label_and_no_index():
    """Of labels that are strings an index is taken elsewhere; here it would protect another one."""
    law = {"name": "q", "mechanism": "uRR", "epsilon": 1.0}
    for labels, wrong in ((["a", "b"], 0), (["a", "b"], True), ([1, 2], "1"), (3, "0"), (3, True)):
        question = law | {"labels": labels, "sensitive": [wrong]}
        text = json.dumps({"uldp": 3, "id": "s", "questions": [question]})
        with pytest.raises(ValueError, match=rf"sensitive must hold labels, got {wrong!r}"):
            Survey.from_json(text)


def test_an_error_shows_so_much_of_what_was_found():
    for length, shown in ((96, "'" + "a" * 96 + "'"), (98, "'" + "a" * 98 + "'")):
        said = refusal(Survey.from_json, json.dumps(CONTENT | {"uldp": "a" * length}))
        assert said.endswith(f", got {shown}")
    said = refusal(Survey.from_json, json.dumps(CONTENT | {"uldp": "a" * 99}))
    assert said.endswith(", got '" + "a" * 99 + "...")


def test_factors_have_as_many_cells_as_there_are_labels():
    question = CONTENT["questions"][2] | {"sensitive": []}
    for labels in (question["labels"][:1], [*question["labels"], "one more"]):
        content = changed(CONTENT, ("questions", 2), question | {"labels": labels})
        with pytest.raises(ValueError, match="factors must have as many cells as there are labels"):
            Survey.from_json(json.dumps(content))


def test_factors_have_names_of_their_own():
    factors = CONTENT["questions"][2]["factors"]
    for repeated in factors:
        content = changed(CONTENT, ("questions", 2, "factors"), [*factors, repeated])
        with pytest.raises(ValueError, match=f"not repeat a name, got '{repeated['name']}'"):
            Survey.from_json(json.dumps(content))


# --- tallies -------------------------------------------------------------------------------------


def test_counts_in_a_file_are_an_array():
    survey = Survey("s", {"q": uldp.RandomizedResponse(uldp.Domain(["no", "yes"]), 1.0)})
    tallies = Tallies(survey, {"q": uldp.Tally(survey.questions["q"], 3, {"yes": 2, "no": 1})})
    text = tallies.to_json()
    assert Tallies.from_json(text) == tallies
    labelled = text.replace("[1, 2]", '{"yes": 2, "no": 1}')
    assert labelled != text
    with pytest.raises(ValueError, match=r"tallies\[0\].counts must be an array, got"):
        Tallies.from_json(labelled)


def tallies_of(survey: Survey, users: int) -> Tallies:
    tallies = {}
    for name, one in survey.questions.items():
        values = [one.domain.labels[user % one.domain.size] for user in range(users)]
        tallies[name] = one.tally(one.privatize(values, rng=users))
    return Tallies(survey, tallies)


@pytest.mark.parametrize("survey", SURVEYS[:10], ids=lambda survey: survey.id)
def test_tallies_come_back(survey):
    tallies = tallies_of(survey, 20)
    text = tallies.to_json()
    for again in (Tallies.from_json(text), Tallies.from_json(text.encode())):
        assert again == tallies
        assert again.survey.to_json() == survey.to_json()
        assert again.to_json() == text
    assert json.loads(text)["survey"] == survey.to_json()


def test_tallies_add_up():
    parts = [tallies_of(SMALL, users) for users in (3, 0, 8)]
    total = sum(parts)
    assert {name: tally.n for name, tally in total.items()} == dict.fromkeys(SMALL.questions, 11)
    assert total["mood"] == parts[0]["mood"] + parts[2]["mood"]
    assert 0 + parts[0] == parts[0] + Tallies(SMALL) == parts[0]
    assert parts[0] != parts[2]
    assert len(total) == 4
    with pytest.raises(ValueError, match="tallies must be of one survey, got Survey"):
        parts[0] + Tallies(SURVEYS[0])
    with pytest.raises(TypeError, match="unsupported operand"):
        parts[0] + 1


def test_tallies_are_tied_to_their_survey():
    tallies = tallies_of(SMALL, 5)
    other = Survey.from_json(SMALL.to_json() + " ")
    assert Tallies(other, dict(tallies)) != tallies
    swapped = json.loads(tallies.to_json())
    swapped["tallies"].reverse()
    with pytest.raises(ValueError, match=r"tallies\[0\].question must be 'mood', got 'number'"):
        Tallies.from_json(json.dumps(swapped))
    for wrong in (4, {}, [], swapped["tallies"][:3], [*swapped["tallies"], {}]):
        with pytest.raises(ValueError, match=r"tallies must be an array(, got| of 4)"):
            Tallies.from_json(json.dumps(swapped | {"tallies": wrong}))
    with pytest.raises(ValueError, match=r"tallies\['mood'\] must be of UtilityOptimizedRappor"):
        Tallies(SMALL, {"mood": tallies["cell"]})


TALLIES = json.loads(tallies_of(SMALL, 7).to_json())


def test_every_place_of_tallies_with_every_wrong_value():
    for path in paths(TALLIES):
        for new in SCALARS:
            if new is ... and not path:
                continue
            text = json.dumps(changed(TALLIES, path, new))
            if are_tallies(text):
                assert Tallies.from_json(text).survey == SMALL


@given(st.data())
def test_fuzzed_tallies(data):
    text = json.dumps(TALLIES)
    place = data.draw(st.integers(0, len(text)))
    inserted = data.draw(st.text(max_size=9))
    text = text[:place] + inserted + text[place + data.draw(st.integers(0, 9)) :]
    if are_tallies(text):
        read = Tallies.from_json(text)
        assert read == Tallies.from_json(read.to_json())


# --- the vectors that clients are tested with ----------------------------------------------------

VECTORS = json.loads((ROOT / "client" / "vectors.json").read_text(encoding="utf-8"))


def tool() -> Any:
    return module_at("tools/survey_vectors.py")


def differences(stored: Any, made: Any, where: str = "", scale: float = 0.0) -> list[str]:
    """Where two JSON values differ, numbers by more than 1e-9 of the largest one of their list."""
    if isinstance(stored, dict) and isinstance(made, dict) and stored.keys() == made.keys():
        return [d for key in stored for d in differences(stored[key], made[key], f"{where}.{key}")]
    if isinstance(stored, list) and isinstance(made, list) and len(stored) == len(made):
        scale = max((abs(x) for x in stored if isinstance(x, float)), default=0.0)
        pairs = enumerate(zip(stored, made, strict=True))
        return [d for i, (a, b) in pairs for d in differences(a, b, f"{where}[{i}]", scale)]
    if isinstance(stored, float) and isinstance(made, float):
        return [] if abs(stored - made) <= 1e-9 * max(scale, abs(stored)) else [where]
    return [] if stored == made else [where]


def test_the_vectors_are_true():
    assert differences(VECTORS, json.loads(json.dumps(tool().vectors()))) == []


def test_the_vectors_have_every_mechanism_and_reason():
    texts = "".join(one["text"] for one in VECTORS["surveys"])
    for kind in uldp.mechanisms.KINDS:
        assert f'"mechanism": "{kind.wire_name}"' in texts
    reasons = {one["reason"] for one in VECTORS["refused_messages"]}
    assert reasons == {*wire.Reason} - {wire.Reason.NOT_BYTES}


@pytest.mark.parametrize("one", VECTORS["sure_answers"], ids=str)
def test_sure_answers_of_the_vectors(one):
    """A whole number is a label, for a device with secrets of its own and for one without."""
    survey = Survey.from_json(VECTORS["surveys"][one["survey"]]["text"])
    common, secrets = survey.questions[one["question"]], dict(one["secrets"])
    user = PersonalizedMechanism(common, secrets)
    maps = SecretMaps(common.domain, [0] * len(secrets), [*secrets], [*secrets.values()])
    reports = [user.privatize(one["answer"]), *maps.privatize(common, [one["answer"]])]
    if not secrets:
        reports.append(common.privatize(one["answer"]))
    assert {f"{report:02x}" for report in reports} == {one["report"]}


def test_refused_surveys_of_the_vectors():
    assert not [one for one in VECTORS["refused_surveys"] if is_survey(one["text"])]


def test_refused_messages_of_the_vectors():
    for one in VECTORS["refused_messages"]:
        survey = Survey.from_json(VECTORS["surveys"][one["survey"]]["text"])
        reading = survey.read([bytes.fromhex(one["message"])])
        assert [*reasons_of(reading)] == [one["reason"]]


@mpmath.workdps(400)
def test_the_formulas_of_the_page():
    """Every decision of the vectors, computed by them with more digits than a double has."""
    for one in VECTORS["surveys"]:
        asked = json.loads(one["text"])["questions"]
        for question, entry in zip(one["questions"], asked, strict=True):
            s, law = len(question["sensitive_values"]), question["decisions"] or {}
            shrink = mpmath.exp(-mpmath.mpf(entry["epsilon"]))
            expected: dict = {}
            if entry["mechanism"] in ("RR", "uRR") and s:
                expected = {"replaced": s * shrink / (1 - shrink + s * shrink)}
            elif entry["mechanism"] == "uHR":
                expected = {"replaced": 2 * shrink / (1 + shrink)}
            elif entry["mechanism"] in ("RAPPOR", "uRAP"):
                theta = (
                    mpmath.mpf(entry["theta"])
                    if "theta" in entry
                    else 1 / (1 + mpmath.sqrt(shrink))
                )
                expected = {
                    "own": theta,
                    "other": theta / ((1 - theta) / shrink + theta),
                    "shown": theta * (1 - shrink),
                }
            elif entry["mechanism"] == "uBD":
                for (d, weight), stored in zip(entry["sizes"], law, strict=True):
                    assert stored["size"] == d
                    assert stored["weight"][0] == pytest.approx(weight, rel=1e-9)
                    scale = d + (s - d) * shrink
                    for name, p in (("held", d / scale), ("hidden", s * shrink / scale)):
                        assert_decision(stored[name], p)
                continue
            for name, pair in law.items():
                assert_decision(pair, expected[name])


def assert_decision(pair: list[float], p: Any) -> None:
    """Both doubles are right to 1e-12, relative to the smaller one, but for their rounding."""
    for stored, exact in zip(pair, (p, 1 - p), strict=True):
        assert abs(stored - exact) <= 1e-12 * min(abs(p), abs(1 - p)) + 1e-15 * abs(exact) * (
            exact > 0.5
        )


HOMES = TaggedDomain(uldp.Domain(["park", "clinic", "elm street"], ["clinic"]), ["home"])
ASKED = Survey(
    "asked",
    {
        "sure": uldp.UtilityOptimizedRR(uldp.Domain(["a", "b"], ["b"]), 50.0),
        "bits": uldp.UtilityOptimizedRappor(uldp.Domain([10, 20, 30], [10]), 1.0),
        "place": uldp.UtilityOptimizedRR(HOMES, 50.0),
    },
)


def test_a_person_answers_in_one_call():
    """At ε = 50 a report says what it was made of, but for a chance of e^-50."""
    for question, answer, secrets, heard in (
        ("sure", "b", None, 1),
        ("sure", "a", None, 0),
        ("place", "elm street", None, 2),
        ("place", "elm street", {}, 2),
        ("place", "elm street", {"elm street": "home"}, 3),
        ("place", "park", {"elm street": "home"}, 0),
    ):
        mechanism = ASKED.questions[question]
        name, reports = ASKED.open(ASKED.privatize(question, answer, secrets))
        assert name == question
        estimate = mechanism.estimate(reports)
        assert estimate.argmax() == heard
    for seed in range(5):
        alone = ASKED.questions["bits"].privatize(20, seed)
        message = ASKED.privatize("bits", np.int64(20), rng=seed)
        assert message == ASKED.message("bits", alone) == ASKED.privatize("bits", 20, None, seed)


def test_real_answers_take_the_secure_generator(monkeypatch):
    made = []
    generator = uldp.survey.secure.generator
    monkeypatch.setattr(
        uldp.survey.secure, "generator", lambda: made.append(generator()) or made[-1]
    )
    ASKED.privatize("sure", "a")
    ASKED.privatize("sure", "a")
    assert len({id(one) for one in made}) == 2
    assert all(isinstance(one.bit_generator, uldp.survey.secure.SystemChaCha) for one in made)
    ASKED.privatize("sure", "a", rng=1)
    assert len(made) == 2


def test_without_the_extra_no_answer_is_made_and_the_extra_is_named():
    code = f"""
import sys
sys.modules["randomgen"] = None
from uldp import Survey
survey = Survey.from_json({ASKED.to_json()!r})
assert survey.privatize("sure", "a", rng=1)
survey.privatize("sure", "a")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr.splitlines()[-1] == (
        'ModuleNotFoundError: uldp.survey.secure needs the package randomgen, of the extra "secure"'
    )


@pytest.mark.parametrize(
    ("words", "error", "message"),
    [
        (("hidden", "sure"), ValueError, "question must be one of sure, bits, place; the one g"),
        ((["hidden"], "sure"), ValueError, "question must be one of sure, bits, place; the one g"),
        (("sure", ["a"]), TypeError, "answer must be one label, got an array of 1"),
        (
            ("sure", 1),
            TypeError,
            "answer must be labels, which are strings here, got values of type int64",
        ),
        (
            ("bits", True),
            TypeError,
            "answer must be integers, as the labels are, got values of type bool",
        ),
        (("bits", 1), ValueError, "must be in the domain"),
        (("sure", "hidden"), ValueError, "must be in the domain"),
        (("place", "⊥home"), ValueError, "must be in the domain"),
        (("place", "park", []), TypeError, "user_sensitive must be a mapping"),
        (("place", "park", {"hidden": "home"}), ValueError, "must be in the domain"),
        (
            ("sure", "a", {"a": "home"}),
            TypeError,
            "secrets must be None, for the question 'sure' has no tags",
        ),
    ],
)
def test_wrong_answers_are_not_shown(words, error, message):
    with pytest.raises(error, match=re.escape(message)) as caught:
        ASKED.privatize(*words, rng=1)
    assert "hidden" not in str(caught.value)
    assert caught.value.__context__ is None


def test_surveys_and_tallies_are_files(tmp_path):
    text = ASKED.to_json().replace("\n", "\r\n")
    survey = Survey.from_json(text)
    survey.save(tmp_path / "s.json")
    assert (tmp_path / "s.json").read_bytes() == text.encode()
    assert Survey.load(str(tmp_path / "s.json")).to_json() == text
    tallies = Tallies(survey, {"sure": survey.questions["sure"].tally([0, 1])})
    tallies.save(tmp_path / "t.json")
    assert (tmp_path / "t.json").read_bytes() == tallies.to_json().encode()
    assert Tallies.load(tmp_path / "t.json") == tallies
    for kind in (Survey, Tallies):
        with pytest.raises(TypeError, match="got PosixPath; load reads a file"):
            kind.from_json(tmp_path / "s.json")
        with pytest.raises(ValueError, match="path must be a regular file"):
            kind.load("/dev/zero")
        with pytest.raises(TypeError, match="path must be a path, got 3"):
            kind.load(3)
    with (tmp_path / "s.json").open("ab") as file:
        file.truncate(1 << 28)
    tracemalloc.start()
    for kind in (Survey, Tallies):
        with pytest.raises(ValueError, match="it must be at most"):
            kind.load(tmp_path / "s.json")
    assert tracemalloc.get_traced_memory()[1] < 1 << 26
    tracemalloc.stop()


def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path, monkeypatch):
    """As on a full disk: the running sum of a year is not lost, and nothing lies about."""
    saved = Tallies(ASKED, {"sure": ASKED.questions["sure"].tally([0, 1])})
    path, link = tmp_path / "sum.json", tmp_path / "link.json"
    saved.save(path)
    path.chmod(0o600)
    link.symlink_to(path)
    write = Path.write_bytes

    def full(self: Path, data: bytes) -> int:
        write(self, data[: len(data) // 2])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    for one in (saved, ASKED):
        with pytest.raises(OSError, match="No space left"):
            one.save(path)
    monkeypatch.undo()
    assert Tallies.load(path) == saved
    assert sorted(tmp_path.iterdir()) == [link, path]
    (saved + saved).save(link)
    for folder, error in (("none", FileNotFoundError), ("sum.json", NotADirectoryError)):
        with pytest.raises(error, match=rf"{folder}'$"):
            saved.save(tmp_path / folder / "sum.json")
    assert Tallies.load(path) == saved + saved
    assert (link.is_symlink(), path.stat().st_mode & 0o777) == (True, 0o600)
    ASKED.save("/dev/null")
    assert not Path("/dev/null").is_file()


@pytest.mark.parametrize("wrong", ["true", "1.0", "1e0", '"1"', "null"])
def test_counts_are_whole_numbers(wrong):
    """As the page of the format says of all that are."""
    one = Survey("s", {"number": SMALL.questions["number"], "place": SMALL.questions["place"]})
    counts = {"number": [1, 0, 1], "place": [[1, 0, 0, 0, 0], [0, 0, 0, 0, 0]]}
    tallies = {name: uldp.Tally(law, 1, counts[name]) for name, law in one.questions.items()}
    text = Tallies(one, tallies).to_json()
    for start in ('"n": ', '"counts": [', '"counts": [['):
        assert are_tallies(text)
        assert f"{start}1" in text
        assert not are_tallies(text.replace(f"{start}1", f"{start}{wrong}"))


def test_an_open_file_is_no_collection_of_messages(tmp_path):
    (tmp_path / "messages").write_bytes(ASKED.privatize("sure", "a", rng=1) * 2)
    with (tmp_path / "messages").open("rb") as file:
        with pytest.raises(TypeError, match=r"wire\.split\(file, .*, got BufferedReader"):
            ASKED.read(file)
        found = ASKED.read(wire.split(file, ASKED.longest_message()))
    assert found.tallies["sure"].n == 2


def test_what_takes_the_place_of_a_private_file_is_private_from_the_start(tmp_path, monkeypatch):
    path = tmp_path / "survey.json"
    survey = Survey("s", {"q": uldp.RandomizedResponse(uldp.Domain(2), 1.0)})
    survey.save(path)
    path.chmod(0o400)
    modes, write = [], Path.write_bytes

    def noting(part, data):
        modes.append(part.stat().st_mode & 0o777)
        return write(part, data)

    monkeypatch.setattr(Path, "write_bytes", noting)
    survey.save(path)
    assert modes == [0o600]
    assert path.stat().st_mode & 0o777 == 0o400
