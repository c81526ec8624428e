"""Mechanisms, tallies and evidence are values: nobody changes them, and they tell no secret."""

import copy
import pickle
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pytest
from cases import domains
from malformed.rows import CALLS

import uldp
from uldp._numerics.fields import set_fields
from uldp.beyond.block_decoder import BlockLaw
from uldp.likelihood import Evidence
from uldp.privacy import ldp_level

DOMAIN = uldp.Domain(6, sensitive=[0, 1, 4])


@dataclass(frozen=True, eq=False)
class WithArray(uldp.RandomizedResponse):
    """A mechanism with a parameter that is an array."""

    levels: np.ndarray

    def __post_init__(self) -> None:
        super().__post_init__()
        set_fields(self, levels=self.levels)


def arrays_of(value: object) -> list[np.ndarray]:
    return [array for array in vars(value).values() if isinstance(array, np.ndarray)]


def test_the_law_of_a_mechanism_cannot_be_changed(make):
    mechanism = make(DOMAIN, 1.0)
    holders = [mechanism.decoder, mechanism.domain]
    holders += [part for part in vars(mechanism.decoder).values() if isinstance(part, BlockLaw)]
    arrays = [array for holder in holders for array in arrays_of(holder)]
    assert len(arrays) >= 4
    assert not any(array.flags.writeable for array in arrays)
    before = mechanism.privatize(np.arange(6).repeat(50), rng=1)
    for array in arrays:
        with pytest.raises(ValueError, match="read-only"):
            array /= 2
    np.testing.assert_array_equal(mechanism.privatize(np.arange(6).repeat(50), rng=1), before)


def test_what_a_collector_keeps_cannot_be_changed(make):
    mechanism = make(DOMAIN, 1.0)
    reports = mechanism.privatize(np.arange(6).repeat(5), rng=0)
    kept = mechanism.tally(reports), mechanism.evidence(reports)
    for array in (*arrays_of(kept[0]), *arrays_of(kept[1])):
        assert not array.flags.writeable


def test_a_given_array_stays_the_callers():
    sets, times = np.array([[1, 2]], dtype=np.uint8), np.array([3, 4])
    evidence = Evidence(uldp.Rappor(uldp.Domain(3), 1.0), sets, times, [])
    assert not evidence.sets.flags.writeable
    sets[0, 0] = 1
    times[0] = 3


def test_copies_and_pickles_are_equal(make):
    mechanism = make(DOMAIN, 1.0)
    mechanism.decoder.variances(np.full(6, 1 / 6))
    for same in (copy.deepcopy(mechanism), pickle.loads(pickle.dumps(mechanism))):
        assert same == mechanism
        assert hash(same) == hash(mechanism)


def test_an_array_of_a_mechanism_stays_read_only_in_copies_and_pickles():
    mechanism = WithArray(uldp.Domain(3), 1.0, np.arange(3))
    for same in (
        copy.copy(mechanism),
        copy.deepcopy(mechanism),
        pickle.loads(pickle.dumps(mechanism)),
    ):
        assert same.levels.tolist() == [0, 1, 2]
        assert not same.levels.flags.writeable


def test_check_returns_the_reports_or_refuses_them(make):
    mechanism = make(DOMAIN, 1.0)
    reports = mechanism.privatize(np.arange(6), rng=0)
    checked = mechanism.check(reports.tolist())
    assert checked.dtype == mechanism.report_dtype.base
    np.testing.assert_array_equal(checked, reports)
    np.testing.assert_array_equal(mechanism.check(reports[2]), reports[2:3])
    with pytest.raises(ValueError, match="reports must"):
        mechanism.check(np.full_like(reports, 255))


def test_counts_that_no_reports_have(make):
    """For each tally of one to three reports, whatever a step of one makes of it."""
    for domain in domains(3):
        mechanism = make(domain, 1.0)
        possible = {1: set(), 2: set()}
        for first in mechanism.outputs:
            one = mechanism.tally(first)
            possible[1].add(one.counts.tobytes())
            possible[2] |= {(one + mechanism.tally(y)).counts.tobytes() for y in mechanism.outputs}
        shape = mechanism.tally_shape
        for n in (1, 2):
            for digits in np.ndindex(*[n + 1] * int(np.prod(shape))):
                counts = np.array(digits, dtype=np.int64).reshape(shape)
                if counts.tobytes() in possible[n]:
                    assert uldp.Tally(mechanism, n, counts).n == n
                else:
                    with pytest.raises(ValueError, match="counts"):
                        uldp.Tally(mechanism, n, counts)


def test_sums_of_parts(make):
    mechanism = make(DOMAIN, 1.0)
    reports = mechanism.privatize(np.arange(6).repeat(9), rng=2)
    parts = np.split(reports, [5, 11, 11, 40])
    for keep in (mechanism.tally, mechanism.evidence):
        whole = keep(reports)
        assert sum(map(keep, parts)) == whole
        assert keep(parts[0]) + 0 == 0 + keep(parts[0]) == keep(parts[0])
        assert sum(map(keep, parts[::-1])) == whole
        assert keep(parts[0]) != whole
        with pytest.raises(TypeError):
            whole + 1
        with pytest.raises(TypeError):
            whole + None


def test_evidence_of_more_reports_than_a_tally_takes_is_refused():
    law = uldp.UtilityOptimizedRR(uldp.Domain(6, sensitive=[0, 1, 2]), 1.0)
    half = [2**62, 2**62 - 1, 0]
    with pytest.raises(ValueError, match=f"of at most {2**53} reports, got {2**64 - 2}"):
        uldp.likelihood.Evidence(law, None, half, half)


def test_evidence_of_unlike_reports_is_unlike(make):
    mechanism = make(uldp.Domain(3, sensitive=[0, 1]), 1.0)
    evidence = [mechanism.evidence(y[None]) for y in mechanism.outputs]
    said = [tuple(np.flatnonzero(one.revealed)) or ("set", y) for y, one in enumerate(evidence)]
    for one, says in zip(evidence, said, strict=True):
        assert [one == other for other in evidence] == [says == other for other in said]
    assert evidence[0] != make(uldp.Domain(3, sensitive=[0, 1]), 2.0).evidence(
        mechanism.outputs[:1]
    )


def test_a_set_that_occurs_often_is_listed_once_or_often():
    mechanism = uldp.Rappor(uldp.Domain(3), 1.0)
    once = Evidence(mechanism, np.array([[5, 0, 3]], dtype=np.uint8), [2, 0, 1], [])
    often = Evidence(mechanism, np.array([[3, 5, 5]], dtype=np.uint8), [1, 1, 1], [])
    assert once == often
    assert once != Evidence(mechanism, np.array([[5, 3]], dtype=np.uint8), [1, 2], [])


def test_single_values_that_are_listed_do_not_add_up_with_those_that_are_not():
    mechanism = uldp.RandomizedResponse(uldp.Domain(3), 1.0)
    counted = mechanism.evidence([0, 0, 2])
    listed = Evidence(mechanism, np.array([[4, 2, 1]], dtype=np.uint8), [1, 0, 2], [])
    assert counted != listed
    for first, second in ((counted, listed), (listed, counted)):
        with pytest.raises(ValueError, match="each evidence must list its sets, or none"):
            first + second


@pytest.mark.parametrize("answer", ["divorcedd", 7, ["married", "no"], 1.5, ["married", 3]])
def test_exceptions_do_not_hold_the_answer(make, answer):
    mechanism = make(uldp.Domain(["married", "divorced"], sensitive=["divorced"]), 1.0)
    with pytest.raises((ValueError, TypeError), match="values must") as caught:
        mechanism.privatize(answer)
    assert caught.value.__context__ is None
    assert caught.value.__cause__ is None
    for secret in ("divorcedd", "7", "no'", "1.5"):
        assert secret not in str(caught.value)


def test_a_matrix_whose_entries_underflow_is_refused():
    domain = uldp.Domain(5, sensitive=range(5))
    assert ldp_level(uldp.Rappor(domain, 200.0).transition_matrix()) == pytest.approx(200)
    assert ldp_level(uldp.Rappor(domain, 283.35).transition_matrix()) == pytest.approx(283.35)
    with pytest.raises(ValueError, match="epsilon must be smaller for the matrix"):
        uldp.Rappor(domain, 283.36).transition_matrix()


@pytest.mark.parametrize("theta", [None, 0.5, 1e-70])
def test_no_matrix_has_an_entry_that_underflows(theta):
    tiny = np.finfo(float).tiny
    refused = 0
    for domain in domains(5):
        for epsilon in (1.0, 150.0, 300.0, 500.0):
            mechanism = uldp.UtilityOptimizedRappor(domain, epsilon, theta)
            try:
                matrix = mechanism.transition_matrix()
            except ValueError:
                refused += 1
                continue
            assert (matrix[:, mechanism.protected] >= tiny).all()
            assert (matrix.max(axis=0) >= tiny).all()
    assert refused


def ways_to_arrays(value, path=""):
    """The arrays in a value of the package by the way to them, and whether each can be written."""
    if isinstance(value, np.ndarray):
        yield path, value.flags.writeable
    ours = type(value).__module__.startswith("uldp.") and not isinstance(value, tuple)
    inside = getattr(value, "__dict__", {}) if ours else value
    if isinstance(inside, list | tuple):
        inside = dict(enumerate(inside))
    if isinstance(inside, Mapping):
        for name, each in inside.items():
            yield from ways_to_arrays(each, f"{path}.{name}")


def test_what_is_read_only_is_so_in_copies_and_pickles():
    """Of all that the tables of arguments hold, and what is made of it."""
    locked = 0
    for one in CALLS:
        values = [*one.right.values(), *([one.function(**one.right)] if one.runs else ())]
        for value in values:
            before = {} if isinstance(value, np.ndarray) else dict(ways_to_arrays(value))
            if False in before.values() and not isinstance(value, uldp.PersonalizedMechanism):
                for again in (
                    copy.copy(value),
                    copy.deepcopy(value),
                    pickle.loads(pickle.dumps(value)),
                ):
                    after = dict(ways_to_arrays(again))
                    assert [way for way in before if after.get(way, False) > before[way]] == []
                locked += 1
    assert locked > 100
