"""What is published is made of what was named by its hash, and of nothing else."""

import re
import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
JOBS = yaml.safe_load((ROOT / ".github/workflows/book.yml").read_text(encoding="utf-8"))["jobs"]


def test_each_action_is_named_by_its_commit():
    used = [step["uses"] for job in JOBS.values() for step in job["steps"] if "uses" in step]
    assert used
    assert [action for action in used if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", action)] == []


def pins(*names: str) -> dict[str, str]:
    """The versions of packages in lists of requirements, by their names in one spelling."""
    lines = "\n".join((ROOT / name).read_text(encoding="utf-8") for name in names)
    found = re.findall(r"^([\w.-]+)==(\S+)", lines, re.MULTILINE)
    return {re.sub("[-_.]+", "-", name).lower(): version for name, version in found}


def test_the_book_that_is_published_is_built_of_what_the_hashed_list_names():
    """It has the versions that everybody else installs, and the tools that build the package."""
    steps = [step.get("run", step.get("uses", "")) for step in JOBS["test"]["steps"]]
    locked, test, upload, alone = (
        next(i for i, step in enumerate(steps) if step.startswith(words))
        for words in ("make locked", "make test", "actions/upload-pages", "make alone")
    )
    assert locked < test < upload < alone
    hashed = "tools/book-requirements.txt"
    open_lists = "requirements.txt", "constraints.txt", "tools/dist-requirements.txt"
    assert pins(hashed) == pins(*open_lists)
    blocks = re.split(r"\n(?! )", (ROOT / hashed).read_text(encoding="utf-8").strip())
    assert all(re.fullmatch(r"\S+( \\\n    --hash=sha256:[0-9a-f]{64})+", one) for one in blocks)


def test_what_is_published_is_built_in_a_job_that_does_nothing_else():
    made = [step["run"] for step in JOBS["dist"]["steps"] if "run" in step]
    assert made == ["make dist"]
    assert JOBS["wheel"]["needs"] == ["test", "same", "dist"]
    assert [step for step in JOBS["wheel"]["steps"] if "run" in step] == []


def test_both_places_of_publication_take_what_a_tag_made():
    places = {"book": {"name": "github-pages"}, "wheel": {"name": "pypi"}}
    for name, place in places.items():
        assert place.items() <= JOBS[name]["environment"].items()
        assert JOBS[name]["if"] == "github.ref_type == 'tag'"


def test_the_source_archive_has_the_client():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "/client" in project["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
