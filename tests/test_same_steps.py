"""`privatize` does the same, line by line and on arrays of the same shapes, whatever the value is.

The lines of the package that run are traced, each with the type of all that it can see, and the
shape of arrays; so are the calls of builtin functions and methods. All start from one state of
the generator. That the time of a call tells nothing either is measured by tests/timing.py.
"""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cases import MECHANISMS

import uldp
from uldp.personalized import PersonalizedMechanism, TaggedDomain

PACKAGE = str(Path(uldp.__file__).parent) + os.sep
USERS = 5
SEEDS = range(2)
LABELS = ["a", "b", "c", "d"]


def shape_of(item: Any) -> Any:
    """What may not depend on a value."""
    if isinstance(item, np.ndarray):
        return item.dtype.str, item.shape, item.strides
    return type(item).__name__, len(item) if isinstance(item, list | tuple) else None


def steps(job: Callable[[], object]) -> list[Any]:
    """Return what runs of the package, in order."""
    found: list[Any] = []

    def note_line(frame, event, _):
        if not frame.f_code.co_filename.startswith(PACKAGE):
            return None
        place = (frame.f_code.co_filename, frame.f_lineno)
        seen = sorted((name, shape_of(item)) for name, item in frame.f_locals.items())
        found.append((event, place, seen))
        return note_line

    def note_call(frame, event, function):
        if event == "c_call" and frame.f_code.co_filename.startswith(PACKAGE):
            found.append((event, frame.f_lineno, function.__qualname__))

    before = sys.gettrace(), sys.getprofile()
    sys.settrace(note_line)
    sys.setprofile(note_call)
    try:
        job()
    finally:
        sys.settrace(before[0])
        sys.setprofile(before[1])
    return found


def assert_same_steps(devices: list[Any], values: list[Any]) -> None:
    """Trace each value on each device, alone and for several users."""
    for seed in SEEDS:
        for several in (False, True):
            jobs = [
                lambda device=device, given=given, seed=seed: device.privatize(
                    given, rng=np.random.default_rng(seed)
                )
                for device in devices
                for given in ([value] * USERS if several else value for value in values)
            ]
            for job in jobs:
                job()
            first, *others = [steps(job) for job in jobs]
            assert len(first) > 10
            assert all(other == first for other in others)


@pytest.mark.parametrize("name", MECHANISMS)
def test_the_steps_do_not_depend_on_the_value(name):
    for sensitive in ([], [1], [0, 2], [0, 1, 2]):
        domain = uldp.Domain(3, sensitive)
        assert_same_steps([MECHANISMS[name](domain, 1.0)], [*range(domain.size)])


@pytest.mark.parametrize("name", MECHANISMS)
def test_the_steps_depend_on_neither_the_label_nor_the_secret(name):
    domain = TaggedDomain(uldp.Domain(LABELS, sensitive=["b"]), ["home", "others"])
    common = MECHANISMS[name](domain, 1.0)
    secrets = [{}, {"b": "home"}, {"a": "home", "c": "others"}, {"c": "home", "d": "home"}]
    users = [PersonalizedMechanism(common, secret) for secret in secrets]
    assert_same_steps(users, LABELS)


def test_another_shape_is_seen():
    """A device that does not do the same for all values is found out."""
    common = uldp.UtilityOptimizedRR(uldp.Domain(3, sensitive=[0, 1]), 1.0)

    class Selects:
        def privatize(self, values, rng):
            users = np.atleast_1d(values)
            return common.tally(users[users > 0])

    with pytest.raises(AssertionError):
        assert_same_steps([Selects()], [0, 1])
