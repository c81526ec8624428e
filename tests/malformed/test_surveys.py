"""Surveys, messages and tallies."""

import json

import numpy as np

import uldp
from malformed.reports import (
    MECHANISMS,
    NOT_SURVEYS,
    SURVEY,
    TWO_SIZES,
    URAP,
    not_reports,
    reports_of,
)
from malformed.table import (
    NOT_FLAGS,
    NOT_LABELS,
    NOT_PATHS,
    NOT_SEEDS,
    NOT_STRINGS,
    Call,
    both_tests,
    call,
    whole,
)
from uldp.survey import wire

MESSAGE = SURVEY.message("uRAP", reports_of(URAP))
TALLIES = uldp.Tallies(SURVEY, {"uRAP": URAP.tally(reports_of(URAP))})
OTHER = uldp.Survey.from_json(SURVEY.to_json() + " ")
NOT_QUESTIONS = [*NOT_STRINGS, "", "urap"]


def not_mechanisms_of_questions() -> list[object]:
    alice = uldp.PersonalizedMechanism(
        uldp.UtilityOptimizedRR(uldp.personalized.TaggedDomain(uldp.Domain(2), ["home"]), 1.0), {}
    )
    entries = [None, 1, "uRR", uldp.UtilityOptimizedRR, URAP.domain, alice]
    labels = [["a", "b\n"], ["", "b"], [1, 2**53], ["\ud800"]]
    return [
        *(None, 1, "uRR", [], [URAP], {}, URAP, object(), SURVEY),
        *({"q": wrong} for wrong in entries),
        *({"q": uldp.UtilityOptimizedRR(uldp.Domain(wrong), 1.0)} for wrong in labels),
        *({wrong: URAP} for wrong in (None, 1, "", "a\n", "\ud800", b"a", ("a",))),
    ]


def not_repetitions() -> list[object]:
    first = {"keep": "first", "rounds": 4}
    often = {"keep": "nothing", "rounds": 4, "reports": 2}
    keeps = [*NOT_STRINGS, "", "First", "per value", "while same", np.array("first")]
    return [
        *(1, 1.5, "first", b"first", [], ["first"], [first], set(), object(), SURVEY, {}),
        *({**first, "keep": wrong} for wrong in keeps),
        *({**first, "rounds": wrong} for wrong in whole(0, -1, 1001)),
        *({**often, "rounds": wrong} for wrong in whole(0, -1, 1, 1001)),
        *({**often, "reports": wrong} for wrong in whole(0, -1, 5)),
        *({**often, "keep": "first"}, {**first, "keep": "nothing"}),
        *({key: value for key, value in often.items() if key != one} for one in often),
        *({**first, wrong: 1} for wrong in ("", "surveys", "reports", 1, None, ("a",))),
    ]


def texts(right: str) -> list[object]:
    """What is not the text of a file of this kind."""
    content = json.loads(right)
    return [
        *(None, 1, 1.5, [], {}, content, object(), "", "{", "[]", "null", "2", "uldp", right[:-3]),
        *(right + "}", "\ufeff" + right, right.encode("utf-16"), b"\xff", "[" * 100_000),
        *(json.dumps(content | {"uldp": version}) for version in (1, 4, True, "3", None, [3])),
        *(json.dumps({k: v for k, v in content.items() if k != key}) for key in content),
        json.dumps(content | {"note": ""}),
    ]


def calls_of_surveys() -> list[Call]:
    damaged = [
        *(b"", b"uld", b"uldp", b"GIF89a", MESSAGE[:-1], MESSAGE + b"0", MESSAGE[1:]),
        *(MESSAGE[:9] + b"\xff" + MESSAGE[10:], MESSAGE[:30], MESSAGE[:-1] + b"\0"),
        OTHER.message("uRAP", reports_of(URAP)),
        *(
            uldp.Survey("survey", {"uRAP": other}).message("uRAP", reports_of(other))
            for other in MECHANISMS
        ),
    ]
    not_bytes = [None, 1, "message", [1], 1.5, object()]
    not_messages = [
        *(None, 1, 1.5, "text", object()),
        *(kind(MESSAGE) for kind in (bytes, bytearray, memoryview)),
    ]
    not_pairs = [*not_messages, [MESSAGE], [None], [("a",)], [("a", MESSAGE, 1)], [1]]
    not_tallies = [
        *(None, 1, "tally", TALLIES["uRAP"], [1], object()),
        *({"uRAP": wrong} for wrong in (None, 1, reports_of(URAP), URAP, TALLIES["RR"])),
        *({wrong: TALLIES["uRAP"]} for wrong in (None, 1, "urap", "two sizes")),
    ]
    wrong_counts = [
        json.dumps(json.loads(TALLIES.to_json()) | {"tallies": wrong})
        for wrong in (None, [], {}, "none", [1, 2, 3], [{}, {}, {}])
    ]
    return [
        call(
            uldp.Survey,
            id=("survey", [*NOT_STRINGS, "", "a\n", "\ud800", "\x7f"]),
            questions=({"uRAP": URAP, "two sizes": TWO_SIZES}, not_mechanisms_of_questions()),
            repeat=({"keep": "nothing", "rounds": 4, "reports": 2}, not_repetitions()),
        ),
        call(
            uldp.Survey.from_json,
            text=(SURVEY.to_json(), texts(SURVEY.to_json())),
            old=(False, NOT_FLAGS),
        ),
        call(
            SURVEY.message,
            question=("uRAP", NOT_QUESTIONS),
            reports=(reports_of(URAP), not_reports(URAP)),
        ),
        call(uldp.Survey.load, runs=False, path=("missing", NOT_PATHS)),
        call(SURVEY.save, runs=False, path=("missing", NOT_PATHS)),
        call(uldp.Tallies.load, runs=False, path=("missing", NOT_PATHS)),
        call(TALLIES.save, runs=False, path=("missing", NOT_PATHS)),
        call(
            SURVEY.privatize,
            {"answer": "answer|values"},
            question=("uRAP", NOT_QUESTIONS),
            answer=("a", NOT_LABELS),
            secrets=(..., [1, "a", [], {}, ["a"], {"a": "home"}]),
            rng=(1, NOT_SEEDS),
        ),
        call(
            SURVEY.open,
            message=(MESSAGE, [*damaged, *not_bytes]),
            max_reports=(1000, whole(0, -1)),
        ),
        call(
            SURVEY.read,
            messages=([MESSAGE], not_messages),
            max_reports=(..., whole(0, -1)),
            keep_reports=(..., NOT_FLAGS),
        ),
        call(
            SURVEY.read,
            messages=([("ann", MESSAGE)], not_pairs),
            seen=(set(), [1, "ab", [], {}, (), frozenset(), np.ones(2), object()]),
        ),
        call(SURVEY.longest_message, max_reports=(..., whole(0, -1))),
        call(
            uldp.Tallies,
            survey=(SURVEY, NOT_SURVEYS),
            tallies=(dict(TALLIES), [wrong for wrong in not_tallies if wrong is not None]),
        ),
        call(
            uldp.Tallies.from_json,
            text=(TALLIES.to_json(), [*texts(TALLIES.to_json()), *wrong_counts]),
            survey=(SURVEY, [OTHER, *(wrong for wrong in NOT_SURVEYS if wrong is not None)]),
            old=(False, NOT_FLAGS),
        ),
        call(
            wire.split,
            data=(MESSAGE, [*not_bytes, bytearray(MESSAGE), memoryview(MESSAGE)]),
            longest=(99, whole(0, -1)),
        ),
        call(
            wire.unpack,
            message=(MESSAGE, [*damaged[:10], *not_bytes]),
        ),
    ]


CALLS = calls_of_surveys()
test_wrong_arguments_are_refused, test_right_arguments_are_not = both_tests(CALLS)
