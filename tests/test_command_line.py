"""The commands tally and estimate: from files of messages to numbers with errors."""

import contextlib
import csv
import gzip
import io
import math
import os
import re
import shlex
import shutil
import subprocess
import sys
import tracemalloc
from importlib.metadata import version
from io import TextIOWrapper
from pathlib import Path

import numpy as np
import pytest

import uldp
from uldp import __main__ as command_line, inference, losses, personalized
from uldp.survey import commands, survey_file, wire
from uldp.survey.surveys import Survey, Tallies
from uldp.tallies import FROM_TALLIES, METHODS

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
    damaged = sent["drug"][0][:-1] + b"?"
    bad = [damaged, b"GET / HTTP/1.1", SURVEY.message("drug", [[1, 0], [1, 0]])]
    (tmp_path / "all").write_bytes(
        b"".join([bad[0], *sent["drug"][:150], bad[1], *sent["drug"][150:]])
    )
    (tmp_path / "bundle").write_bytes(bad[2])
    (tmp_path / "empty").touch()
    files = [
        *sorted(tmp_path.glob("*.bin")),
        *(tmp_path / name for name in ("all", "bundle", "empty")),
    ]
    status, out, err = run(capsys, "tally", tmp_path / "survey.json", *files)
    expected = SURVEY.read([*sent["mood"], *sent["drug"]]).tallies
    assert status == 0
    assert Tallies.from_json(out) == expected
    assert out == expected.to_json()
    assert err.splitlines()[0] == "500 messages accepted"
    assert err.splitlines()[-1] == f"'{tmp_path}/empty' is empty"
    assert sorted(err.splitlines()[1:-1]) == [
        f"'{tmp_path}/all': 1 refused: damaged on the way",
        f"'{tmp_path}/all': 1 refused: not of this format",
        f"'{tmp_path}/bundle': 1 refused: with more reports than are allowed",
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
    assert (status, err) == (0, "drug: adjusted: the estimates of all values sum to 1\n")
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
        (
            ["tally", "tallies.json", "survey.json"],
            "text must be that of a survey: these are tallies",
        ),
        (["tally", "messages", "survey.json"], "text must be that of a survey: these are messages"),
        (["tally", "--max-reports", "0", "survey.json", "survey.json"], "max_reports must be 1"),
        (["estimate", "absent"], "No such file"),
        (["estimate", "survey.json"], "text must be that of tallies: this is a survey file"),
        (
            ["estimate", "messages"],
            "text must be that of tallies: these are messages, which `uldp tally`",
        ),
        (
            ["add", "tallies.json", "messages"],
            "'messages': text must be that of tallies: these are",
        ),
        (["estimate", "tallies.json", "--question", "age"], "question must be one of mood, drug, "),
        (["estimate", "tallies.json", "--confidence", "1"], "confidence must"),
    ],
)
def test_wrong_words(tmp_path, capsys, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    Path("survey.json").write_bytes(SURVEY.to_json().encode())
    tallies = Tallies(SURVEY, {"mood": SURVEY.questions["mood"].tally([0, 1, 2])})
    Path("tallies.json").write_bytes(tallies.to_json().encode())
    Path("messages").write_bytes(SURVEY.message("mood", [0]))
    status, out, err = run(capsys, *words)
    assert (status, out) == (2, "")
    assert err.startswith("uldp: ")
    assert message in err


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
    words = ["--most-refused", "0.5", "survey.json", "a", f"./{name}"]
    status, out, err = run(capsys, "tally", *words)
    assert (status, Tallies.from_json(out)["mood"].n) == (0, 1)
    assert err == "1 messages accepted\n'a': 1 refused: with more reports than are allowed\n"


def test_a_file_counts_once(tmp_path, capsys, sent):
    (tmp_path / "a").write_bytes(sent["mood"][0])
    (tmp_path / "symbolic").symlink_to(tmp_path / "a")
    (tmp_path / "hard").hardlink_to(tmp_path / "a")
    for again in ("a", "symbolic", "hard"):
        files = [tmp_path / "a", tmp_path / again]
        status, out, err = run(capsys, "tally", tmp_path / "survey.json", *files)
        assert (status, out) == (2, "")
        assert "FILE must not repeat a file" in err
        assert repr(str(tmp_path / "a")) in err


def test_files_with_the_same_messages_are_counted_and_named(tmp_path, capsys, sent):
    """Single messages are equal by chance; of many the collector must know."""
    half, others = b"".join(sent["mood"][:100]), b"".join(sent["mood"][100:])
    for name, content in (("a", half), ("b", others), ("c", half), ("d.gz", gzip.compress(half))):
        (tmp_path / name).write_bytes(content)
    (tmp_path / "one").write_bytes(sent["mood"][0])
    (tmp_path / "same").write_bytes(sent["mood"][0])
    a, b, c, d, *few = (tmp_path / name for name in ("a", "b", "c", "d.gz", "one", "same"))
    status, out, err = run(capsys, "tally", tmp_path / "survey.json", a, b, c, d, *few)
    assert (status, Tallies.from_json(out)["mood"].n) == (0, 4 * 100 + 2)
    told = [f"{str(copy)!r} equals {str(a)!r}: both are counted" for copy in (c, d)]
    assert err.splitlines()[1:] == told


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


def test_no_text_of_a_table_is_a_formula(tmp_path, capsys):
    invisible = ["\u200b", "\xad", "\ufe0f", "\u2800", "\u3000\u200d "]
    begin = [
        "=1+1",
        "+2",
        "-3",
        "@x",
        " =4",
        "\xa0=5",
        "＝6",
        *(f"{c}={ord(c[0])}" for c in invisible),
    ]
    split = {"a;=1+1;b": "a;'=1+1;b", "a; \xad@x": "a;' \xad@x", ";-1;+2": ";'-1;'+2"}
    plain = ["plain", "a-b", "1;2", "a,=1", "x@y"]
    labels = [*begin, *split, *plain]
    domain = uldp.Domain(labels, sensitive=["=1+1"])
    survey = Survey("s", {"=q": uldp.UtilityOptimizedRR(domain, 1.0)})
    tallies = Tallies(survey, {"=q": survey.questions["=q"].tally([0, 1, 2])})
    (tmp_path / "tallies.json").write_bytes(tallies.to_json().encode())
    _, out, _ = run(capsys, "estimate", tmp_path / "tallies.json", "--csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    expected = [*(f"'{label}" for label in begin), *split.values(), *plain]
    assert [row["value"] for row in rows] == expected
    cells = [cell for row in csv.reader(io.StringIO(out), delimiter=";") for cell in row[1:]]
    assert not [cell for cell in cells if survey_file.look_of(cell).startswith(commands.FORMULAS)]
    assert commands._as_text("a\t=1") == "a\t'=1"
    assert {row["question"] for row in rows} == {"'=q"}


def test_a_name_is_no_option_and_no_code_for_the_terminal(tmp_path, capsys, sent):
    SURVEY.read(sent["mood"]).tallies.save(tmp_path / "a")
    kept = (tmp_path / "a").read_bytes()
    status, _, err = run(capsys, "add", tmp_path / "a", f"--out={tmp_path / 'a'}")
    assert status == 2
    assert "FILE must not begin with a minus, got '--out=" in err
    assert (tmp_path / "a").read_bytes() == kept
    with pytest.raises(SystemExit):
        run(capsys, "estimate", tmp_path / "a", "--\x1b[31mx")
    assert "unrecognized arguments: --\\x1b[31mx\n" in capsys.readouterr().err


def test_what_is_read_is_not_written_over(tmp_path, capsys, sent):
    (tmp_path / "survey.json").write_bytes(SURVEY.to_json().encode())
    (tmp_path / "all").write_bytes(b"".join(sent["mood"]))
    for out in ("all", "survey.json"):
        words = "tally", "--out", tmp_path / out, tmp_path / "survey.json", tmp_path / "all"
        status, _, err = run(capsys, *words)
        assert status == 2
        assert "--out must not be a file that is read" in err
    assert (tmp_path / "all").read_bytes() == b"".join(sent["mood"])


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
    place = survey.questions["place"]
    answers = personalized.summary(place, tallies["place"])
    assert f"\n\nplace: shares of answers\n{answers}\n\n" in out
    assert "mood: shares of answers" not in out
    status, out, err = run(capsys, "estimate", path, "--csv")
    assert (status, err) == (0, f"place: {answers.notes[0]}\n")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [row["value"] for row in rows] == [*places.labels, *MOOD.labels]
    assert [float(row["estimate"]) for row in rows[:2]] == answers.estimate.tolist()
    added = [row["background_error"] for row in rows]
    assert list(map(float, added[:2])) == answers.further["background_error"].tolist()
    assert added[2:] == [""] * MOOD.size
    for options in (["--method", "norm_sub"], ["--simultaneous"], ["--clip"]):
        status, out, err = run(capsys, "estimate", path, "--csv", *options)
        assert (status, f"place: {note}\n" in err) == (0, True)
        rows = list(csv.DictReader(io.StringIO(out)))
        assert [row["value"] for row in rows] == [*tagged.labels, *MOOD.labels]
    for few in ({"place": place.tally([0])}, {}):
        path.write_text(Tallies(survey, few).to_json(), encoding="utf-8")
        status, out, err = run(capsys, "estimate", path)
        assert (status, "shares of answers\n" in out) == (0, False)


HELD = 1 << 26


def refusal(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    """Run `tally` so that it fails; return its error output."""
    status, out, err = run(capsys, "tally", *words)
    assert (status, out) == (1, "")
    return err


def test_nothing_is_written_where_nothing_or_too_little_is_accepted(tmp_path, capsys, sent):
    """The counts of before stay as they are, to the byte."""
    survey, out = tmp_path / "survey.json", tmp_path / "tallies.json"
    out.write_bytes(b"before")
    foreign = Survey("another", SURVEY.questions).message("mood", [0])
    files = {
        "empty": b"",
        "foreign": foreign,
        "two of 102": b"".join(sent["mood"][:100]) + 2 * foreign,
        "one of 100": b"".join(sent["mood"][:99]) + foreign,
        "all impossible": SURVEY.message("drug", [[1, 0]])[:-6] + b"\xff\xff",
    }
    impossible = bytearray(SURVEY.message("mood", [0]))
    impossible[48] = 77
    impossible[-4:] = wire.CHECKSUM.pack(wire.zlib.crc32(bytes(impossible[:-4])))
    files["all impossible"] = bytes(impossible)
    files["two impossible"] = b"".join(sent["mood"][:98]) + 2 * files["all impossible"]
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    for name in ("empty", "foreign", "all impossible"):
        err = refusal(capsys, "--most-refused", 1, "--out", out, survey, tmp_path / name)
        assert "nothing is written: no report was accepted\n" in err
        asked = f"uldp: is {str(survey)!r} the file that was sent out?\n"
        assert err.endswith(asked) == (name == "foreign")
    for name in ("two of 102", "two impossible"):
        err = refusal(capsys, "--out", out, survey, tmp_path / name)
        assert "nothing is written: more than 1.00% was refused (see --most-refused)" in err
        refusal(capsys, "--most-refused", 0.019, survey, tmp_path / name)
        assert run(capsys, "tally", "--most-refused", 0.02, survey, tmp_path / name)[0] == 0
    assert out.read_bytes() == b"before"
    assert run(capsys, "tally", "--out", out, survey, tmp_path / "one of 100")[0] == 0
    assert Tallies.load(out)["mood"].n == 99


def test_refusals_are_named_by_file_and_reason(tmp_path, capsys, sent):
    """A name is shown so that nothing in it acts on a terminal; after twenty, the sum."""
    names = [f"{number:02}" for number in range(23)] + ["\x1b[2J"]
    for name in names:
        (tmp_path / name).write_bytes(sent["mood"][0] + b"?" * 60 + sent["mood"][1][:9])
    files = [tmp_path / name for name in names]
    err = refusal(capsys, tmp_path / "survey.json", *reversed(files)).splitlines()
    assert err[0] == "24 messages accepted"
    shown = [repr(str(file)) for file in reversed(files)]
    lines = [
        (f"{f}: 1 refused: not of this format", f"{f}: 1 refused: shorter than it says")
        for f in shown[:10]
    ]
    assert err[1:21] == [line for pair in lines for line in pair]
    assert "\x1b" not in err[1]
    assert r"\x1b[2J" in err[1]
    assert err[21] == "and 28 more such lines"
    missing = "has a message that is cut: what stood behind it is missing"
    assert err[22:43] == [*(f"{one} {missing}" for one in shown[:20]), "and 4 more such lines"]
    equal = [f"{one} equals {shown[0]}: both are counted" for one in shown[1:21]]
    assert err[43:63] == equal
    assert err[63:65] == ["and 3 more such lines", "48 messages refused in all"]


@pytest.mark.parametrize("behind", [0, 1, 100])
def test_a_file_that_was_cut_is_not_counted(tmp_path, capsys, sent, behind):
    """Nobody knows how many people it lacks, also where another file is joined to it.

    So all may be missing, and a share of 1 counts it.
    """
    whole = b"".join(sent["mood"])
    long = len(sent["mood"][0])
    (tmp_path / "whole").write_bytes(whole)
    for end in (len(whole) - 1, len(whole) // 2 + 1, 3 * long + 1, 3 * long + 48):
        (tmp_path / "cut").write_bytes(whole[:end] + whole[: behind * long])
        files = tmp_path / "survey.json", tmp_path / "whole", tmp_path / "cut"
        err = refusal(capsys, "--most-refused", 0.99, *files)
        told = f"'{tmp_path}/cut' has a message that is cut: what stood behind it is missing\n"
        assert told in err
        assert "nothing is written: a file was cut; get it whole, or" in err
        status, out, err = run(capsys, "tally", "--most-refused", 1, *files)
        assert (status, Tallies.from_json(out)["mood"].n) == (0, 200 + end // long + behind)
    (tmp_path / "cut").write_bytes(sent["mood"][0][:-1])  # the file of one message lacks one
    status, _, err = run(capsys, "tally", *files)
    assert (status, err.count("1 refused: shorter"), told in err) == (0, 1, False)


def test_packed_files_are_unpacked(tmp_path, capsys, sent):
    """In several members, too, as `cat a.gz b.gz` makes them."""
    whole = b"".join(sent["mood"])
    (tmp_path / "a.gz").write_bytes(gzip.compress(whole[:530]) + gzip.compress(whole[530:]))
    status, out, err = run(capsys, "tally", tmp_path / "survey.json", tmp_path / "a.gz")
    assert (status, err) == (0, "200 messages accepted\n")
    assert Tallies.from_json(out) == SURVEY.read(sent["mood"]).tallies
    (tmp_path / "a").write_bytes(gzip.compress(whole))
    assert "'a': 1 refused" not in refusal(capsys, tmp_path / "survey.json", tmp_path / "a")


@pytest.mark.parametrize("damage", ["cut", "flipped", "none", "short", "empty"])
def test_a_damaged_archive_is_named_and_nothing_is_written(tmp_path, capsys, sent, damage):
    packed = gzip.compress(b"".join(sent["mood"]))
    content = {
        "cut": packed[:-20],
        "flipped": packed[:-8] + bytes([packed[-8] ^ 1]) + packed[-7:],
        "none": sent["mood"][0],
        "short": packed[:5],
        "empty": b"",
    }[damage]
    (tmp_path / "a.gz").write_bytes(content)
    (tmp_path / "good").write_bytes(sent["mood"][0])
    words = ["--out", tmp_path / "out", tmp_path / "survey.json", tmp_path / "good"]
    status, out, err = run(capsys, "tally", *words, tmp_path / "a.gz")
    assert (status, out) == (2, "")
    assert err.startswith(f"uldp: FILE must be a whole .gz file, got '{tmp_path}/a.gz': ")
    assert not (tmp_path / "out").exists()


def test_a_bomb_takes_no_memory(tmp_path, capsys):
    """What unpacks to 128 MB takes at most 64 MB while it is read."""
    with gzip.open(tmp_path / "bomb.gz", "wb") as bomb:
        for _ in range(128):
            bomb.write(bytes(1 << 20))
    (tmp_path / "survey.json").write_bytes(SURVEY.to_json().encode())
    assert (tmp_path / "bomb.gz").stat().st_size < 1 << 20
    words = ["tally", str(tmp_path / "survey.json"), str(tmp_path / "bomb.gz")]
    tracemalloc.start()
    assert command_line.main(words) == 1
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < HELD
    assert "not of this format" in capsys.readouterr().err


def run_with_stdin(
    capsys: pytest.CaptureFixture[str], file: str, *words: str
) -> tuple[int, str, str]:
    """Run a command whose standard input is a file."""
    kept = os.dup(0)
    with Path(file).open("rb") as source:
        os.dup2(source.fileno(), 0)
    try:
        return run(capsys, *words)
    finally:
        os.dup2(kept, 0)
        os.close(kept)


def test_messages_from_the_standard_input(tmp_path, capsys, monkeypatch, sent):
    monkeypatch.chdir(tmp_path)
    for name in ("mood", "drug"):
        Path(name).write_bytes(b"".join(sent[name]))
    line = [sys.executable, "-m", "uldp", "tally", "survey.json", "-"]
    done = subprocess.run(line, input=b"".join(sent["mood"]), capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"200 messages accepted\n")
    assert Tallies.from_json(done.stdout) == SURVEY.read(sent["mood"]).tallies
    status, _, err = run_with_stdin(capsys, "drug", "tally", "survey.json", "mood", "-")
    assert (status, err) == (0, "500 messages accepted\n")
    for words, message in (
        (["survey.json", "-", "-"], "FILE must not repeat a file, got '-' after '-'"),
        (["survey.json", "mood", "-"], "FILE must not repeat a file, got '-' after 'mood'"),
        (["--out", "mood", "survey.json", "-"], "--out must not be a file that is read, got '-'"),
    ):
        refused = run_with_stdin(capsys, "mood", "tally", *words)
        assert refused == (2, "", f"uldp: {message}\n")
    assert Path("mood").read_bytes() == b"".join(sent["mood"])


def test_a_broken_pipe_is_quiet(tmp_path):
    domain = uldp.Domain(5000, sensitive=range(100))
    survey = Survey("long", {str(q): uldp.UtilityOptimizedRR(domain, 1.0) for q in range(8)})
    laws = survey.questions.items()
    Tallies(survey, {q: law.simulate([1] * 5000, 1) for q, law in laws}).save(tmp_path / "t.json")
    line = f"{shlex.quote(sys.executable)} -m uldp estimate --csv t.json | head -1"
    done = subprocess.run(line, shell=True, cwd=tmp_path, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == (",".join(commands.COLUMNS) + "\n", "")
    status = subprocess.run(
        f"{{ {line[:-9]}; echo $? >&2; }} | head -1",
        shell=True,
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert status.stderr == f"{command_line.BROKEN_PIPE}\n"


def test_tallies_are_added(tmp_path, capsys, sent):
    parts = [SURVEY.read(sent["mood"]).tallies, SURVEY.read(sent["drug"]).tallies]
    for name, part in zip("ab", parts, strict=True):
        part.save(tmp_path / name)
    status, out, err = run(capsys, "add", tmp_path / "a", tmp_path / "b")
    assert (status, err) == (0, "")
    assert Tallies.from_json(out) == sum(parts)
    assert run(capsys, "add", "--out", tmp_path / "a", tmp_path / "a", tmp_path / "b")[0] == 0
    assert Tallies.load(tmp_path / "a") == sum(parts)
    assert Tallies.from_json(run(capsys, "add", tmp_path / "b")[1]) == parts[1]
    for name, part in (("copy", parts[1]), ("nothing", Tallies(SURVEY)), ("none", Tallies(SURVEY))):
        part.save(tmp_path / name)
    files = [tmp_path / name for name in ("b", "nothing", "copy", "none")]
    status, out, err = run(capsys, "add", *files)
    assert (status, Tallies.from_json(out)) == (0, parts[1] + parts[1])
    assert err == f"{str(files[2])!r} has the counts of {str(files[0])!r}: both are added\n"
    Tallies(Survey("another", SURVEY.questions)).save(tmp_path / "c")
    (tmp_path / "cut").write_bytes((tmp_path / "b").read_bytes()[:-9])
    for files, message in (
        (["a", "a"], "FILE must not repeat a file"),
        (["a", "c"], f"{str(tmp_path / 'c')!r}: tallies must be of one survey"),
        (["a", "survey.json"], f"{str(tmp_path / 'survey.json')!r}: text must be that of tallies"),
        (["b", "cut"], f"{str(tmp_path / 'cut')!r}: text must be that of tallies: it must be JSON"),
    ):
        words = ["--out", tmp_path / "new", *(tmp_path / file for file in files)]
        status, out, err = run(capsys, "add", *words)
        assert (status, out) == (2, "")
        assert message in err
    assert not (tmp_path / "new").exists()


def test_estimates_by_other_estimators_and_simultaneous_intervals(tmp_path, capsys, sent):
    tallies = SURVEY.read(sent["mood"][:30]).tallies
    tallies.save(tmp_path / "t")
    words = ["estimate", tmp_path / "t", "--question", "mood", "--csv", "--simultaneous", "--clip"]
    for method in METHODS:
        status, out, err = run(capsys, *words, "--method", method)
        rows = list(csv.DictReader(io.StringIO(out)))
        found = np.array([[float(row[key]) for key in commands.COLUMNS[2:-1]] for row in rows])
        law = SURVEY.questions["mood"]
        estimate = law.estimate(tallies["mood"], method)
        np.testing.assert_array_equal(found[:, 0], np.clip(estimate, 0, 1))
        assert status == 0
        biased = method not in ("adjusted", "empirical")
        assert np.isnan(found[:, 1:]).all() == biased
        if not biased:
            ends = inference.intervals(tallies["mood"], 0.95, simultaneous=True, clip=True)
            np.testing.assert_array_equal(found[:, 2:], ends)
        note = f"mood: by {method}, which is biased: only adjusted and empirical estimates have "
        assert err.startswith(note) == biased
    slow = uldp.RandomizedResponse(uldp.Domain(50), 0.5)
    Tallies(Survey("s", {"q": slow}), {"q": slow.simulate(range(50), 1)}).save(tmp_path / "slow")
    err = run(capsys, "estimate", "--method", "em", tmp_path / "slow")[2]
    assert err.startswith("uldp: EM stopped after 1000 steps, where the mean log-likelihood may be")
    assert run(capsys, "estimate", tmp_path / "t")[1] == (
        f"mood\n{inference.summary(tallies['mood'])}\n\ndrug\nno reports\n\nunasked\nno reports\n\n"
    )


def test_what_is_printed_adds_up_and_is_forecast(tmp_path, capsys):
    """And the paper's estimate does not: each table is of the method that is asked for."""
    cells = uldp.Domain.product(age=2, drug=["no", "yes", "often"], sensitive=[1, 2, 4, 5])
    law = uldp.UtilityOptimizedHadamard(cells, 0.5)
    survey = Survey("s", {"q": law})
    survey.save(tmp_path / "s")
    Tallies(survey, {"q": law.simulate([90, 30, 10, 80, 20, 5], 1)}).save(tmp_path / "t")
    for method in ("adjusted", "empirical"):
        options = [] if method == "adjusted" else ["--method", method]
        status, out, err = run(capsys, "estimate", "--csv", *options, tmp_path / "t")
        shares = [float(row["estimate"]) for row in csv.DictReader(io.StringIO(out))]
        adds_up = abs(math.fsum(shares) - 1) <= 1e-12
        assert (status, adds_up) == (0, method == "adjusted")
        assert err == ("q: adjusted: the estimates of all values sum to 1\n" if adds_up else "")
    said = run(capsys, "describe", "--people", 900, tmp_path / "s")[1]
    for called, groups in (
        ("the share of all sensitive values together", [[1, 2, 4, 5]]),
        ("a share in 'age'", [[0, 1, 2], [3, 4, 5]]),
        ("a share in 'drug'", [[0, 3], [1, 4], [2, 5]]),
    ):
        weights = [np.isin(np.arange(6), group) * 1.0 for group in groups]
        variances = [losses.total_variance(law, w, method="adjusted") for w in weights]
        most = 100 * math.sqrt(max(variances) / 900)
        assert f"  and of {called} of at most {most:.2g} points\n" in said


@pytest.mark.parametrize("domain", [MOOD, uldp.Domain(3, [1, 2]), uldp.Domain(3)], ids=str)
def test_a_method_that_cannot_work_is_refused_with_those_that_can(tmp_path, capsys, domain):
    """The help names mechanisms of which all can."""
    said = " ".join(helped(capsys, "estimate").split())
    of_all = re.search(r"as those of ([\w, ]+), and of a uBD that sends one", said)
    for kind in uldp.mechanisms.KINDS:
        law = kind(domain, 1.0)
        tallies = {"q": law.simulate([0, 20, 30], 1)}
        Tallies(Survey("s", {"q": law}), tallies).save(tmp_path / "t")
        can = []
        for method in METHODS:
            status, out, err = run(capsys, "estimate", "--method", method, tmp_path / "t")
            if status == 0:
                can.append(method)
            else:
                assert (status, out) == (2, "")
                which = f"--method must be one of {', '.join(FROM_TALLIES)} for the question 'q'"
                assert f"{which}, got {method!r}: " in err
        works = can == [*METHODS]
        assert works or can == [*FROM_TALLIES]
        single = kind.wire_name == "uBD" and all(size == 1 for size, _ in law.sizes)
        assert works or not (single or kind.wire_name in re.findall(r"\w+", of_all[1]))


def test_what_a_survey_promises(tmp_path, capsys):
    tagged = uldp.personalized.TaggedDomain(MOOD, ["home"])
    questions = {
        "mood": uldp.UtilityOptimizedRR(MOOD, 1.0),
        "all": uldp.RandomizedResponse(MOOD, 0.5),
        "none": uldp.UtilityOptimizedRR(uldp.Domain(30), 3.0),
        "place": uldp.UtilityOptimizedRappor(tagged, 0.25),
    }
    repeat = {"keep": "nothing", "rounds": 5, "reports": 2}
    survey = Survey("clinic", questions, repeat, {"mood": "How are you?"})
    survey.save(tmp_path / "s")
    status, out, err = run(capsys, "describe", "--people", 10_000, tmp_path / "s")
    assert (status, err) == (0, "")
    blocks = out.split("\n\n")
    assert blocks[0] == "clinic"
    assert blocks[1].splitlines()[:10] == [
        "How are you?",
        "  UtilityOptimizedRR, ε = 1, 3 values",
        "  protected, 1 of the values:",
        "    - fair",
        "    a suspicion of 50% of one of them becomes at most 89%, after 2 reports",
        "  not protected, 2 of the values:",
        "    - good, or so",
        '    - so "lala"',
        "    one of them is revealed with the chance 64%",
        "    if it stays the same, in 2 reports at least once with 87%",
    ]
    law = questions["mood"]
    worst = law.l1_loss(law.worst_case("l1"), 10_000) / 2
    assert f"in the worst case, a total variation of about {worst:.2g}\n" in blocks[1]
    errors = 100 * np.sqrt(law.decoder.null_variances / 10_000)
    assert f"share near 0 of {errors[1]:.2g} points (protected)\n" in blocks[1]
    any_sensitive = losses.total_variance(law, ["fair"], method="adjusted") / 10_000
    assert blocks[1].endswith(
        f"all sensitive values together of at most {100 * np.sqrt(any_sensitive):.2g} points"
    )
    assert " 0 points" not in out
    assert "not protected" not in blocks[2]
    assert "at most 74%, after 2 reports" in blocks[2]
    first = "\n".join(f"    - {label}" for label in range(20))
    head = "  protected: nothing\n  not protected, 30 of the values, the first 20:\n"
    assert f"{head}{first}\n    one of them is revealed with the chance 100%" in blocks[3]
    assert "  protected, 2 of the values:\n    - fair\n    - ⊥home\n" in blocks[4]
    assert blocks[5] == "In all a person tells ε = 9.5 in 5 rounds.\n"
    assert survey.epsilon == 2 * (1 + 0.5 + 3 + 0.25)
    assert Survey("once", questions).epsilon == 4.75
    for epsilon, written in ((1.00001, "1.001"), (1234.0, "1234"), (0.1 + 0.2, "0.3")):
        parts = max(1, int(epsilon / 400))
        exact = {f"{i}": uldp.RandomizedResponse(MOOD, epsilon / parts) for i in range(parts)}
        Survey("exact", exact).save(tmp_path / "s")
        assert run(capsys, "describe", tmp_path / "s")[1].endswith(f"tells ε = {written}.\n")
    kept = {"keep": "first", "rounds": 5}
    assert Survey("kept", questions, kept).epsilon == 4.75
    Survey("open", {"none": questions["none"]}).save(tmp_path / "s")
    said = run(capsys, "describe", tmp_path / "s")[1]
    assert said.endswith("\n\nNothing in this survey is protected.\n")
    assert "a person tells" not in said


def test_no_label_passes_for_several_or_for_a_promise(tmp_path, capsys):
    label = "a suspicion of 50% of one of them becomes 1%"
    domain = uldp.Domain(["yes", "no", label], sensitive=[label])
    Survey("s", {"q": uldp.UtilityOptimizedRR(domain, 1.0)}).save(tmp_path / "s")
    lines = run(capsys, "describe", tmp_path / "s")[1].splitlines()
    assert lines[4:6] == ["  protected, 1 of the values:", f"    - {label}"]
    assert lines[7:10] == ["  not protected, 2 of the values:", "    - yes", "    - no"]


CODE_PAGES = ["cp1252", "cp932", "ascii"]


@pytest.fixture
def letters(tmp_path) -> Path:
    """A folder with a survey that no code page can write, its messages and its tallies."""
    places = uldp.Domain(["café", "寺 ⊥"], sensitive=["café"])
    tagged = uldp.personalized.TaggedDomain(places, ["ζ"])
    survey = Survey("ε 調査", {"où?": uldp.UtilityOptimizedRR(tagged, 1.0)})
    survey.save(tmp_path / "s.json")
    message = survey.message("où?", 1)
    (tmp_path / "é.bin").write_bytes(200 * message + b"?")
    survey.read([message] * 200).tallies.save(tmp_path / "é.json")
    return tmp_path


@pytest.mark.parametrize("page", CODE_PAGES)
def test_what_is_written_into_a_pipe_is_utf_8(letters, monkeypatch, page):
    """Whatever the code page, of all commands and refusals; a console gets its own."""
    monkeypatch.chdir(letters)
    shutil.copy("é.json", "è.json")
    said = {}
    for words in (
        "describe s.json",
        "tally s.json é.bin",
        "add é.json è.json",
        "estimate é.json",
        "estimate --csv é.json",
        "estimate --question ö é.json",
        "tally --é",
        "reproduce ζ",
        "reproduce fig1 --jobs 0 --out ζ",
        "--help",
    ):
        streams = [TextIOWrapper(io.BytesIO(), page, errors) for errors in ("strict", "replace")]
        monkeypatch.setattr(sys, "stdout", streams[0])
        monkeypatch.setattr(sys, "stderr", streams[1])
        with contextlib.suppress(SystemExit):
            command_line.main(words.split())
        for stream in streams:
            stream.flush()
        said[words] = "".join(stream.buffer.getvalue().decode() for stream in streams)
    assert "- ⊥ζ" in said["describe s.json"]
    for words in ("tally s.json é.bin", "add é.json è.json"):
        found, _, rest = said[words].partition("\n}\n")
        assert Tallies.from_json(found + "\n}")["où?"].n == 200 * (1 + ("add" in words))
        assert "é" in rest
    assert "寺 ⊥" in said["estimate é.json"]
    assert "café" in said["estimate --csv é.json"]
    assert "'ö'" in said["estimate --question ö é.json"]
    assert "ζ" in said["reproduce ζ"]
    console = TextIOWrapper(io.BytesIO(), page, "strict")
    monkeypatch.setattr(console, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(sys, "stdout", console)
    command_line.main(["describe", "s.json"])
    assert console.encoding == page


def test_what_a_process_writes_is_utf_8(letters):
    env = {**os.environ, "PYTHONIOENCODING": "cp932", "PYTHONUTF8": "0"}
    words = [sys.executable, "-m", "uldp", "estimate", "--csv", "--clip", "é.json"]
    done = subprocess.run(words, cwd=letters, env=env, capture_output=True)
    assert (done.returncode, done.stdout.decode().count("où?")) == (0, 3)
    assert done.stderr.decode().startswith("où?: shares of what devices processed")


def test_what_takes_too_much_memory_is_said_in_a_line(tmp_path, capsys, monkeypatch):
    def full(*given: object) -> None:
        raise MemoryError

    monkeypatch.setattr(Survey, "load", full)
    said = "uldp: this takes more memory than there is\n"
    assert run(capsys, "describe", tmp_path) == (2, "", said)


def test_the_version(capsys):
    with pytest.raises(SystemExit, match=r"^0$"):
        command_line.main(["--version"])
    assert capsys.readouterr().out == f"uldp {version('uldp')}\n"


def helped(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    with pytest.raises(SystemExit, match=r"^0$"):
        command_line.main([*words, "--help"])
    return capsys.readouterr().out


def test_every_example_of_the_help_runs(tmp_path, capsys, monkeypatch, sent):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "north.bin").write_bytes(b"".join(sent["mood"]))
    (tmp_path / "south.bin.gz").write_bytes(gzip.compress(b"".join(sent["drug"])))
    for name, part in (("north", "mood"), ("south", "drug")):
        SURVEY.read(sent[part]).tallies.save(tmp_path / f"{name}.json")
    (tmp_path / "uldp").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m uldp "$@"\n')
    (tmp_path / "uldp").chmod(0o755)
    names = re.findall(r"^ {4}(\w+)", helped(capsys), re.M)
    assert names == ["describe", "tally", "add", "estimate", "reproduce"]
    path = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    ran = 0
    for name in names:
        shown = helped(capsys, name)
        examples = shown.partition("examples:\n")[2].splitlines()
        assert bool(examples) == (name != "reproduce")
        for line in examples:
            if {*">|"} & {*line}:
                done = subprocess.run(line, shell=True, env=path, capture_output=True, text=True)
                status, err = done.returncode, done.stderr
            else:
                status, _, err = run(capsys, *shlex.split(line)[1:])
            assert status == 0, (line, err)
            assert "refused" not in err
            ran += 1
    assert ran == 7
    parts = [Tallies.load(tmp_path / f"{name}.json") for name in ("north", "south")]
    assert Tallies.load(tmp_path / "sum.json") == sum(parts)
    assert Tallies.load(tmp_path / "tallies.json") == parts[0]
    assert "mood" in (tmp_path / "shares.csv").read_text(encoding="utf-8")


def test_the_console_script_is_the_module():
    project = (Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8")
    assert re.search(r"^\[project.scripts\]\nuldp = \"uldp.__main__:main\"$", project, re.M)
