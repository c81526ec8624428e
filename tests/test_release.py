"""What is published is made of what was named by its hash, and of nothing else."""

import re
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
JOBS = yaml.safe_load((ROOT / ".github/workflows/book.yml").read_text(encoding="utf-8"))["jobs"]


def recipe(target: str) -> list[str]:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    return re.search(rf"^{target}:.*\n((?:\t.*\n)+)", makefile, re.M).group(1).splitlines()


def test_each_action_is_named_by_its_commit():
    used = [step["uses"] for job in JOBS.values() for step in job["steps"] if "uses" in step]
    assert used
    assert [action for action in used if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", action)] == []


def test_what_is_published_is_built_in_a_job_that_does_nothing_else():
    made = [step["run"] for step in JOBS["dist"]["steps"] if "run" in step]
    assert made == ["make dist"]
    assert JOBS["wheel"]["needs"] == ["test", "same", "dist"]
    assert [step for step in JOBS["wheel"]["steps"] if "run" in step] == []


def test_wheel_and_sdist_are_built_with_what_a_list_names_by_hash():
    installs = [line for line in recipe("dist") if " install " in line]
    assert len(installs) == 1
    assert "--require-hashes -r tools/dist-requirements.txt" in installs[0]
    assert "--no-deps --only-binary :all:" in installs[0]
    builds = [line for line in recipe("dist") if " build " in line]
    assert builds == ["\t_build/builder/bin/python -m hatchling build --directory _build/dist"]
    listed = (ROOT / "tools/dist-requirements.txt").read_text(encoding="utf-8")
    for entry in re.split(r"\n(?=\w)", listed)[1:]:
        assert re.fullmatch(r"[\w-]+==[\w.]+( \\\n +--hash=sha256:[0-9a-f]{64})+\n?", entry), entry
