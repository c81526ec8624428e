"""What is published is made of what was named by its hash, and of nothing else."""

import re
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
JOBS = yaml.safe_load((ROOT / ".github/workflows/book.yml").read_text(encoding="utf-8"))["jobs"]


def test_each_action_is_named_by_its_commit():
    used = [step["uses"] for job in JOBS.values() for step in job["steps"] if "uses" in step]
    assert used
    assert [action for action in used if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", action)] == []


def test_what_is_published_is_built_in_a_job_that_does_nothing_else():
    made = [step["run"] for step in JOBS["dist"]["steps"] if "run" in step]
    assert made == ["make dist"]
    assert JOBS["wheel"]["needs"] == ["test", "same", "dist"]
    assert [step for step in JOBS["wheel"]["steps"] if "run" in step] == []
