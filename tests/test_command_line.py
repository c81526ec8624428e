"""The commands tally and estimate: from files of messages to numbers with errors."""

import csv
import io
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import uldp
from uldp import __main__ as command_line, inference
from uldp.survey import wire
from uldp.survey.surveys import Survey, Tallies

MOOD = uldp.Domain(["good, or so", "fair", 'so "lala"'], sensitive=["fair"])
CELLS = uldp.Domain.product(
    age=["18-29", "30+"], drug=["no", "yes"], sensitive=lambda age, drug: drug == "yes"
)
SURVEY = Survey(
    "clinic",
    {
        "mood": uldp.UtilityOptimizedRR(MOOD, 1.0),
        "drug": uldp.UtilityOptimizedRappor(CELLS, 1.0),
        "unasked": uldp.RandomizedResponse(MOOD, 1.0),
    },
)


@pytest.fixture
def sent(tmp_path: Path) -> dict[str, list[bytes]]:
    """Messages about two questions; the survey's file stands in the folder."""
    (tmp_path / "survey.json").write_bytes(SURVEY.to_json().encode())
    rng = np.random.default_rng(0)
    return {
        name: [
            SURVEY.message(name, report)
            for report in SURVEY.questions[name].privatize(
                rng.integers(SURVEY.questions[name].domain.size, size=users), rng, indices=True
            )
        ]
        for name, users in (("mood", 200), ("drug", 300))
    }


def run(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    status = command_line.main([str(word) for word in words])
    return status, *capsys.readouterr()


def test_from_messages_to_estimates(tmp_path, capsys, sent):
    """One file for each message, one for all, and an empty one; with some that are refused."""
    for number, message in enumerate(sent["mood"]):
        (tmp_path / f"{number}.bin").write_bytes(message)
    bad = [sent["drug"][0][:-1], b"GET / HTTP/1.1", SURVEY.message("drug", [[1, 0], [1, 0]])]
    (tmp_path / "all").write_bytes(
        b"".join([bad[0], *sent["drug"][:150], bad[1], *sent["drug"][150:]])
    )
    (tmp_path / "bundle").write_bytes(bad[2])
    (tmp_path / "empty").touch()
    files = [*tmp_path.glob("*.bin"), *(tmp_path / name for name in ("all", "bundle", "empty"))]
    status, out, err = run(capsys, "tally", tmp_path / "survey.json", *files)
    expected = SURVEY.read([*sent["mood"], *sent["drug"]]).tallies
    assert status == 0
    assert Tallies.from_json(out, SURVEY) == expected
    assert out == expected.to_json()
    assert err.splitlines()[0] == "500 messages accepted"
    assert sorted(err.splitlines()[1:]) == [
        "1 refused: not of this format",
        "1 refused: shorter than it says",
        "1 refused: with more reports than are allowed",
    ]

    options = ["--out", tmp_path / "tallies.json", "--max-reports", 2]
    status, out, err = run(capsys, "tally", *options, tmp_path / "survey.json", *files)
    assert (status, out) == (0, "")
    assert "501 messages accepted" in err
    bundled = Tallies(SURVEY, {"drug": SURVEY.questions["drug"].tally([[1, 0], [1, 0]])})
    assert Tallies.from_json((tmp_path / "tallies.json").read_bytes()) == expected + bundled

    status, out, err = run(capsys, "estimate", tmp_path / "tallies.json")
    assert (status, err) == (0, "")
    tables = {name: inference.summary((expected + bundled)[name]) for name in ("mood", "drug")}
    assert out == (f"mood\n{tables['mood']}\n\ndrug\n{tables['drug']}\n\nunasked\nno reports\n\n")


def test_numbers_for_other_programs(tmp_path, capsys, sent):
    tallies = SURVEY.read([*sent["mood"], *sent["drug"]]).tallies
    (tmp_path / "tallies.json").write_text(tallies.to_json(), encoding="utf-8")
    status, out, err = run(
        capsys, "estimate", tmp_path / "tallies.json", "--csv", "--confidence", 0.9
    )
    assert (status, err) == (0, "")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [row["question"] for row in rows] == ["mood"] * 3 + ["drug"] * 4
    assert [row["value"] for row in rows] == [*MOOD.labels, *CELLS.labels]
    for name in ("mood", "drug"):
        table = inference.summary(tallies[name], 0.9)
        own = [row for row in rows if row["question"] == name]
        for column in ("estimate", "standard_error", "low", "high"):
            assert [float(row[column]) for row in own] == getattr(table, column).tolist()
    options = ["--question", "drug", "--csv"]
    status, out, _ = run(capsys, "estimate", tmp_path / "tallies.json", *options)
    assert [row["question"] for row in csv.DictReader(io.StringIO(out))] == ["drug"] * 4


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["tally", "absent", "survey.json"], "No such file"),
        (["tally", "survey.json", "absent"], "No such file"),
        (["tally", "tallies.json", "survey.json"], "text must be that of a survey: the file must "),
        (["tally", "--max-reports", "0", "survey.json", "survey.json"], "max_reports must be 1"),
        (["estimate", "absent"], "No such file"),
        (["estimate", "survey.json"], "text must be that of tallies: the file must have the key"),
        (["estimate", "tallies.json", "--question", "age"], "question must be one of mood, drug, "),
        (["estimate", "tallies.json", "--confidence", "1"], "confidence must"),
    ],
)
def test_wrong_words(tmp_path, capsys, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    Path("survey.json").write_bytes(SURVEY.to_json().encode())
    tallies = Tallies(SURVEY, {"mood": SURVEY.questions["mood"].tally([0, 1, 2])})
    Path("tallies.json").write_bytes(tallies.to_json().encode())
    status, out, err = run(capsys, *words)
    assert (status, out) == (2, "")
    assert err.startswith("python -m uldp: ")
    assert message in err


def test_the_line_endings_of_the_file_are_kept(tmp_path, capsys):
    """As bytes they are another survey, whose messages count."""
    survey = Survey.from_json(SURVEY.to_json().replace("\n", "\r\n"))
    (tmp_path / "survey.json").write_bytes(survey.to_json().encode())
    (tmp_path / "message").write_bytes(survey.message("mood", 1))
    status, out, _ = run(capsys, "tally", tmp_path / "survey.json", tmp_path / "message")
    assert status == 0
    assert Tallies.from_json(out, survey)["mood"].n == 1


def test_it_runs_as_a_module(tmp_path, sent):
    (tmp_path / "survey.json").write_bytes(SURVEY.to_json().encode())
    (tmp_path / "messages").write_bytes(b"".join(sent["mood"]))
    words = [sys.executable, "-m", "uldp", "tally", "survey.json", "messages"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, check=True)
    assert Tallies.from_json(done.stdout, SURVEY)["mood"].n == 200


@pytest.mark.parametrize("name", ["--max-reports=1000000", "--out=survey.json", "-h"])
def test_a_name_that_a_sender_chose_is_no_option(tmp_path, capsys, monkeypatch, sent, name):
    monkeypatch.chdir(tmp_path)
    Path("a").write_bytes(SURVEY.message("drug", [[1, 0]] * 1000))
    Path(name).write_bytes(sent["mood"][0])
    before = Path("survey.json").read_bytes()
    status, out, err = run(capsys, "tally", "survey.json", *sorted(map(str, Path().glob("[-a]*"))))
    assert (status, out) == (2, "")
    assert f"FILE must not begin with a minus, got {name!r}" in err
    assert Path("survey.json").read_bytes() == before
    status, out, err = run(capsys, "tally", "survey.json", "a", f"./{name}")
    assert (status, Tallies.from_json(out)["mood"].n) == (0, 1)
    assert err == "1 messages accepted\n1 refused: with more reports than are allowed\n"


def test_a_file_counts_once(tmp_path, capsys, sent):
    (tmp_path / "a").write_bytes(sent["mood"][0])
    (tmp_path / "symbolic").symlink_to(tmp_path / "a")
    (tmp_path / "hard").hardlink_to(tmp_path / "a")
    for again in ("a", "symbolic", "hard"):
        files = [tmp_path / "a", tmp_path / again]
        status, out, err = run(capsys, "tally", tmp_path / "survey.json", *files)
        assert (status, out) == (2, "")
        assert "FILE must not repeat a file" in err


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with a name")
def test_what_is_no_regular_file_is_not_waited_for(tmp_path, capsys):
    (tmp_path / "survey.json").write_bytes(SURVEY.to_json().encode())
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zero").symlink_to("/dev/zero")
    for name in ("pipe", "zero"):
        status, out, err = run(capsys, "tally", tmp_path / "survey.json", tmp_path / name)
        assert (status, out) == (2, "")
        assert f"FILE must be a regular file, got '{tmp_path / name}'" in err
        assert run(capsys, "tally", tmp_path / name, tmp_path / "survey.json")[0] == 2
        assert run(capsys, "estimate", tmp_path / name)[0] == 2


def test_a_file_that_is_cut_while_it_is_read_is_refused(tmp_path, capsys, monkeypatch, sent):
    """A map of it would end the process with a bus error."""
    (tmp_path / "all").write_bytes(b"".join(sent["mood"]) * 50)
    split = wire.split

    def cut(file: object, longest: int) -> object:
        pieces = split(file, longest)
        os.truncate(tmp_path / "all", 60)
        return pieces

    monkeypatch.setattr(wire, "split", cut)
    status, out, err = run(capsys, "tally", tmp_path / "survey.json", tmp_path / "all")
    assert (status, Tallies.from_json(out)["mood"].n) == (0, 1)
    assert err == "1 messages accepted\n1 refused: shorter than it says\n"


def test_no_text_of_a_table_is_a_formula(tmp_path, capsys):
    domain = uldp.Domain(["=1+1", "+2", "-3", "@x", "plain"], sensitive=["=1+1"])
    survey = Survey("s", {"=q": uldp.UtilityOptimizedRR(domain, 1.0)})
    tallies = Tallies(survey, {"=q": survey.questions["=q"].tally([0, 1, 2])})
    (tmp_path / "tallies.json").write_bytes(tallies.to_json().encode())
    _, out, _ = run(capsys, "estimate", tmp_path / "tallies.json", "--csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [row["value"] for row in rows] == ["'=1+1", "'+2", "'-3", "'@x", "plain"]
    assert {row["question"] for row in rows} == {"'=q"}


def test_estimates_of_a_tagged_question_say_what_they_are(tmp_path, capsys):
    places = uldp.Domain(["park", "<b>clinic</b>"], sensitive=["<b>clinic</b>"])
    tagged = uldp.personalized.TaggedDomain(places, ["private"])
    survey = Survey(
        "s",
        {"place": uldp.UtilityOptimizedRR(tagged, 1.0), "mood": uldp.UtilityOptimizedRR(MOOD, 1.0)},
    )
    tallies = {name: law.simulate([50] * 3, 1) for name, law in survey.questions.items()}
    path = tmp_path / "tallies.json"
    path.write_text(Tallies(survey, tallies).to_json(), encoding="utf-8")
    note = (
        "shares of what devices processed, not of answers; "
        "a row with ⊥ is what users hid under that tag"
    )
    table = inference.summary(tallies["place"])
    assert repr(table).splitlines()[-1] == note
    assert table._repr_html_().endswith(f"<p>{note}</p>")
    assert note not in repr(inference.summary(tallies["mood"]))
    status, out, err = run(capsys, "estimate", path)
    assert (status, err, out.count(note)) == (0, "", 1)
    assert "⊥private*" in out
    status, out, err = run(capsys, "estimate", path, "--csv")
    assert (status, err) == (0, f"place: {note}\n")
    assert len(list(csv.reader(io.StringIO(out)))) == 7
