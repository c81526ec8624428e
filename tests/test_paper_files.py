"""Every figure of the paper can be made from files of the format of the paper's."""

import tracemalloc
from collections import defaultdict
from pathlib import Path
from types import ModuleType

import pytest

from uldp.paper import datasets
from uldp.paper.experiments import FIGURES, read_table

pytest.importorskip("joblib")

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
LINES = 3_000
CENSUS, CHECKINS = "US Census 1990", "Foursquare"


@pytest.fixture(scope="module")
def paper_files() -> ModuleType:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(BENCHMARKS)
        import paper_files

        return paper_files


@pytest.fixture(scope="module")
def made(paper_files, tmp_path_factory) -> tuple[Path, dict[str, list[int]]]:
    """A folder with the three files, and the counts that were written."""
    folder = tmp_path_factory.mktemp("made")
    return folder, paper_files.write(folder, LINES)


@pytest.fixture(autouse=True)
def restored(monkeypatch) -> None:
    """Put back what the files have, which the benchmark makes smaller."""
    monkeypatch.setattr(datasets.paper_files, "TOTALS", dict(datasets.paper_files.TOTALS))


@pytest.mark.parametrize("what", ["census, 4 attributes", "census, 9 attributes", "check-ins"])
def test_what_was_written_is_read(paper_files, made, what):
    assert paper_files.measure(what, *made)["right"]


@pytest.mark.parametrize("table", dict.fromkeys(FIGURES.values()))
def test_every_figure_runs(paper_files, made, table):
    folder, written = made
    assert paper_files.measure(table, folder, written)["right"]
    path = folder / f"{table}-{LINES}" / f"{table}.csv"
    header = [line for line in path.read_text(encoding="utf-8").splitlines() if line[0] == "#"]
    files = f"{paper_files.CENSUS} --foursquare {paper_files.POIS} {paper_files.CHECKINS}"
    assert f"--sampling halves --us-census-1990 {files} --quick" in header[0]
    data = {"fig7": [CENSUS], "fig5": [CENSUS, CHECKINS], "fig6": [CENSUS, CHECKINS]}
    wanted = data.get(table, [CHECKINS])
    assert [line for line in header if line.startswith(tuple(f"# {name}: " for name in wanted))]
    if table != "fig9":
        rows = read_table(path)
        assert sorted(set(rows["data"])) == sorted(wanted)
        assert rows["tv"].notna().all()


def test_memory_does_not_grow_with_the_lines(paper_files, tmp_path, monkeypatch):
    """Ten times the lines, on the same venues, change the peak by less than a tenth."""
    monkeypatch.setattr(paper_files, "VENUES", 200)
    peaks = {}
    for lines in (1_500, 15_000):
        written = paper_files.write(tmp_path, lines)
        paper_files.expect(lines, sum(written["cells"]))
        for what in ("census, 4 attributes", "check-ins"):
            found = []
            for _ in range(3):  # other threads of a test's process allocate, too
                tracemalloc.start()
                paper_files.read(what, tmp_path)
                found.append(tracemalloc.get_traced_memory()[1])
                tracemalloc.stop()
            peaks[what, lines] = min(found)
    for what in ("census, 4 attributes", "check-ins"):
        assert peaks[what, 15_000] < 1.1 * peaks[what, 1_500], peaks


def test_sensitive_are_the_cells_of_hospitals_with_ten_users(paper_files, made):
    folder, written = made
    paper_files.expect(LINES, sum(written["cells"]))
    grid = paper_files.read("check-ins", folder)
    users = defaultdict(set)
    for line in (folder / paper_files.CHECKINS).read_text().splitlines():
        user, venue = line.split("\t")[:2]
        users[venue].add(user)
    cells = set()
    few = 0
    for line in (folder / paper_files.POIS).read_text().splitlines():
        venue, latitude, longitude, category, _ = line.split("\t")
        if category == "Hospital" and len(users[venue]) >= 10:
            cells.add(datasets.manhattan_cell(float(latitude), float(longitude)))
        few += category == "Hospital" and len(users[venue]) == 9
    assert grid.hospital_cells.tolist() == sorted(cells)
    assert sorted(cells) == datasets.manhattan().hospital_cells.tolist()
    assert few == 1
