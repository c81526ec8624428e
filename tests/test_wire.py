"""Messages: what is written is read, byte for byte as documented, and nothing else is accepted."""

import hashlib
import itertools
import json
import struct
import tracemalloc
import zlib
from collections import Counter
from dataclasses import dataclass, field

import numpy as np
import pytest
from cases import MECHANISMS
from hypothesis import given, strategies as st

import uldp
from uldp import wire
from uldp.personalized import PersonalizedMechanism, TaggedDomain
from uldp.wire import MessageError, Reason

DOMAIN = uldp.Domain(["no", "café", "yes", "?"], sensitive=["yes", "no"])
MECHANISM = uldp.UtilityOptimizedRappor(DOMAIN, 0.1)
LARGE = uldp.Domain(300, sensitive=range(11))
MIXED = uldp.Domain(200, sensitive=range(150))


def reports_of(mechanism: uldp.Mechanism, users: int) -> np.ndarray:
    values = np.arange(users) % mechanism.domain.size
    return mechanism.privatize(values, rng=0)


def resealed(message: bytes) -> bytes:
    """The message with the checksum of what it says now."""
    return message[:-4] + struct.pack("<I", zlib.crc32(message[:-4]))


def reason(message: bytes, mechanism: uldp.Mechanism = MECHANISM) -> Reason:
    with pytest.raises(MessageError) as caught:
        wire.loads(mechanism, message)
    assert str(caught.value).startswith(f"message {caught.value.reason}: ")
    batch = wire.read(mechanism, [message], wire.MOST_REPORTS)
    if caught.value.reason != Reason.IMPOSSIBLE:
        assert (len(batch.reports), batch.messages, batch.impossible) == (0, 0, 0)
        assert batch.rejected == Counter([caught.value.reason])
    return caught.value.reason


@pytest.mark.parametrize(
    "domain", [DOMAIN, LARGE, MIXED, uldp.Domain(4), uldp.Domain(3, sensitive=[1])]
)
@pytest.mark.parametrize("users", [0, 1, 500])
@pytest.mark.parametrize("name", MECHANISMS)
def test_reports_come_back(name, users, domain):
    mechanism = MECHANISMS[name](domain, 1.5)
    reports = reports_of(mechanism, users)
    read = wire.loads(mechanism, wire.dumps(mechanism, reports))
    np.testing.assert_array_equal(read, reports)
    assert read.dtype == reports.dtype
    assert read.flags.writeable


def test_a_single_report():
    for make in MECHANISMS.values():
        mechanism = make(DOMAIN, 1.0)
        report = mechanism.privatize("?", rng=0)
        (read,) = wire.loads(mechanism, wire.dumps(mechanism, report))
        np.testing.assert_array_equal(read, report)


def test_the_documented_bytes():
    """Written out by hand, field by field."""
    domain = '[["no","caf\\u00e9","yes","?"],[0,2]]'
    digest = hashlib.sha256(domain.encode("ascii")).hexdigest()[:32]
    described = (
        f'{{"domain":"{digest}","epsilon":0.1,"mechanism":"UtilityOptimizedRappor",'
        f'"theta":{MECHANISM.theta!r},"values":4}}'
    ).encode("ascii")
    body = b"uldp" + struct.pack("<IIII", 1, len(described), 2, 3) + described
    body += bytes([0b01, 0, 0b10, 2, 0b11, 1])
    message = body + zlib.crc32(body).to_bytes(4, "little")
    assert wire.dumps(MECHANISM, [[1, 0], [2, 2], [3, 1]]) == message
    assert wire.parameters(MECHANISM) == described


@pytest.mark.parametrize(("size", "width"), [(1, 1), (256, 1), (257, 2), (65536, 2), (65537, 4)])
def test_an_index_has_as_many_bytes_as_it_needs(size, width):
    mechanism = uldp.UtilityOptimizedRR(uldp.Domain(size), 1.0)
    message = wire.dumps(mechanism, [size - 1])
    assert message[-4 - width : -4] == (size - 1).to_bytes(width, "little")
    assert len(message) == 20 + len(wire.parameters(mechanism)) + width + 4
    assert wire.loads(mechanism, message).tolist() == [size - 1]


def test_parameters_are_equal_as_mechanisms_are():
    domains = [DOMAIN, uldp.Domain(DOMAIN.labels, sensitive=["no"]), uldp.Domain(4, [0, 2])]
    mechanisms = [
        make(domain, epsilon)
        for make in MECHANISMS.values()
        for domain in domains
        for epsilon in (1.0, float(np.nextafter(1.0, 2.0)))
    ]
    described = [wire.parameters(mechanism) for mechanism in mechanisms]
    for (one, its), (other, others) in itertools.product(
        zip(mechanisms, described, strict=True), repeat=2
    ):
        assert (one == other) == (its == others)
    assert all(json.loads(text)["values"] == 4 for text in described)


@pytest.mark.parametrize("name", MECHANISMS)
def test_cut_at_every_byte(name):
    mechanism = MECHANISMS[name](DOMAIN, 1.0)
    message = wire.dumps(mechanism, reports_of(mechanism, 7))
    for length in range(len(message)):
        assert reason(message[:length], mechanism) == Reason.TRUNCATED
    assert reason(message + b"\0", mechanism) == Reason.CORRUPT


@pytest.mark.parametrize("name", ["uRR", "uRAP", "uBD"])
def test_every_flipped_bit(name):
    mechanism = MECHANISMS[name](DOMAIN, 1.0)
    message = wire.dumps(mechanism, reports_of(mechanism, 7))
    seen = Counter()
    for bit in range(8 * len(message)):
        damaged = bytearray(message)
        damaged[bit // 8] ^= 1 << bit % 8
        seen[reason(bytes(damaged), mechanism)] += 1
    assert seen[Reason.FORMAT] == seen[Reason.VERSION] == 32
    assert set(seen) == {Reason.FORMAT, Reason.VERSION, Reason.TRUNCATED, Reason.CORRUPT}


@given(st.binary(max_size=80), st.booleans())
def test_no_bytes_are_mistaken_for_a_message(data, begins_well):
    start = wire.dumps(MECHANISM, reports_of(MECHANISM, 3))[:20] if begins_well else b""
    reason(start + data)


@given(st.lists(st.tuples(st.integers(0, 200), st.integers(0, 255)), min_size=1, max_size=9))
def test_a_sealed_message_is_read_or_rejected(changes):
    """Whatever a sender puts into a message with a right checksum, what is read can be tallied."""
    message = bytearray(wire.dumps(MECHANISM, reports_of(MECHANISM, 3)))
    for position, value in changes:
        message[position % len(message)] = value
    batch = wire.read(MECHANISM, [resealed(bytes(message))], max_reports=3)
    assert batch.messages + batch.rejected.total() == 1
    assert MECHANISM.tally(batch.reports).n + batch.impossible in {0, 3}


def test_another_version_is_named():
    message = wire.dumps(MECHANISM, [[1, 0]])
    later = resealed(message[:4] + struct.pack("<I", 2) + message[8:])
    assert reason(later) == Reason.VERSION
    with pytest.raises(ValueError, match="message of another version: it is 2, this collector re"):
        wire.loads(MECHANISM, later)


@pytest.mark.parametrize(
    "other",
    [
        uldp.UtilityOptimizedRappor(DOMAIN, 0.2),
        uldp.UtilityOptimizedRappor(DOMAIN, 0.1, theta=0.5),
        uldp.Rappor(DOMAIN, 0.1),
        uldp.UtilityOptimizedRR(DOMAIN, 0.1),
        uldp.UtilityOptimizedBlockDesign(DOMAIN, 0.1, 1),
        uldp.UtilityOptimizedRappor(uldp.Domain(DOMAIN.labels, sensitive=["yes", "?"]), 0.1),
        uldp.UtilityOptimizedRappor(uldp.Domain(4, sensitive=[0, 2]), 0.1),
    ],
)
def test_foreign_messages(other):
    message = wire.dumps(other, reports_of(other, 5))
    assert reason(message) == Reason.FOREIGN
    with pytest.raises(ValueError, match="of another mechanism or domain: it has") as caught:
        wire.loads(MECHANISM, message)
    assert type(other).__name__ in str(caught.value)
    assert repr(wire.parameters(MECHANISM)) in str(caught.value)


@pytest.mark.parametrize(("width", "number"), [(1, 4), (4, 1), (2**32 - 1, 0), (0, 2**32 - 1)])
def test_a_wrong_width_is_foreign(width, number):
    """The same four bytes as reports of another length; or none of them."""
    message = wire.dumps(MECHANISM, [[1, 0], [1, 0]])
    reports = message[-8:-4] if width * number else b""
    other = message[:12] + struct.pack("<II", width, number) + message[20:-8] + reports + b"0000"
    assert reason(resealed(other)) == Reason.FOREIGN


def test_what_a_sender_writes_does_not_reach_a_log_as_it_is():
    head = b"uldp" + struct.pack("<IIII", 1, 1000, 2, 0)
    with pytest.raises(MessageError) as caught:
        wire.loads(MECHANISM, resealed(head + b"\n\x1b[2J" * 200 + b"0000"))
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 2500


IMPOSSIBLE = [
    (uldp.UtilityOptimizedRR(DOMAIN, 1.0), [4, 255]),
    (uldp.RandomizedResponse(LARGE, 1.0), [300, 65535]),
    (uldp.Rappor(DOMAIN, 1.0), [[16], [255]]),
    (MECHANISM, [[4, 0], [128, 1], [1, 3], [0, 255]]),
    (uldp.UtilityOptimizedBlockDesign(DOMAIN, 1.0, 1), [[0, 0], [3, 0], [1, 1], [4, 0], [0, 3]]),
]


@pytest.mark.parametrize(("mechanism", "impossible"), IMPOSSIBLE)
def test_impossible_reports(mechanism, impossible):
    """They are not written; read, they are left out, wherever they stand, and the rest is kept."""
    good = reports_of(mechanism, 50)
    payload = good.astype(wire.wire_dtype(mechanism).base).tobytes()
    message = wire.dumps(mechanism, good)
    rng = np.random.default_rng(0)
    for report in impossible:
        with pytest.raises(ValueError, match="reports must"):
            wire.dumps(mechanism, report)
        mixed = np.insert(good, rng.integers(50, size=3), report, axis=0)
        forged = mixed.astype(wire.wire_dtype(mechanism).base).tobytes()
        sent = message[:16] + struct.pack("<I", 53) + message[20:-4].replace(payload, forged)
        assert reason(resealed(sent + b"0000"), mechanism) == Reason.IMPOSSIBLE
        batch = wire.read(mechanism, [resealed(sent + b"0000"), message], max_reports=53)
        np.testing.assert_array_equal(batch.reports, np.concatenate([good, good]))
        assert (batch.messages, batch.rejected.total(), batch.impossible) == (2, 0, 3)


def test_a_batch_keeps_and_counts():
    reports = reports_of(MECHANISM, 100)
    messages = [wire.dumps(MECHANISM, part) for part in np.split(reports, 20)]
    foreign = wire.dumps(uldp.UtilityOptimizedRappor(DOMAIN, 2.0), [[1, 0]])
    batch = wire.read(
        MECHANISM,
        [b"", *messages[:7], messages[3][:-1], foreign, bytearray(messages[7]), b"GET / HTTP/1.1"]
        + [memoryview(message) for message in messages[8:]],
        max_reports=5,
    )
    np.testing.assert_array_equal(batch.reports, reports)
    assert batch.messages == 20
    assert batch.rejected == {Reason.TRUNCATED: 2, Reason.FOREIGN: 1, Reason.FORMAT: 1}
    assert batch.impossible == 0
    assert MECHANISM.tally(batch.reports) == MECHANISM.tally(reports)


def test_a_message_holds_one_report_unless_more_are_allowed():
    """A message of a million does not outvote the others."""
    one, two, three = ([[1, 0]] * users for users in (1, 2, 3))
    none = np.empty((0, 2), dtype=np.uint8)
    messages = [wire.dumps(MECHANISM, reports) for reports in (none, one, two, three, [2, 0])]
    for most, accepted in ((..., 2), (1, 2), (2, 4), (3, 7), (10**12, 7)):
        batch = wire.read(MECHANISM, messages, *([most] if most is not ... else []))
        assert batch.reports.tolist() == [*one * (accepted - 1), [2, 0]]
        refused = {2: 2, 4: 1, 7: 0}[accepted]
        assert batch.messages == 5 - refused
        assert batch.rejected == Counter({Reason.TOO_MANY: refused} if refused else {})
    with pytest.raises(ValueError, match="max_reports must be 1 or greater, got 0"):
        wire.read(MECHANISM, messages, max_reports=0)


def test_what_is_no_bytes_is_counted():
    message = wire.dumps(MECHANISM, [1, 0])
    released = memoryview(message)
    released.release()
    wrong = [None, 7, "uldp", [message], {}, object(), np.frombuffer(message, np.uint8), released]
    batch = wire.read(MECHANISM, [message, *wrong, message])
    assert batch.reports.tolist() == [[1, 0], [1, 0]]
    assert (batch.messages, batch.rejected) == (2, Counter({Reason.NOT_BYTES: len(wrong)}))


def test_a_single_message_is_no_collection_of_messages():
    message = wire.dumps(MECHANISM, [1, 0])
    for wrong in (message, bytearray(message), memoryview(message), "uldp", None, 7):
        with pytest.raises(TypeError, match="messages must be a collection of bytes, such as a "):
            wire.read(MECHANISM, wrong)


@pytest.mark.parametrize("at_once", [1, 7, 64])
@pytest.mark.parametrize(("mechanism", "impossible"), IMPOSSIBLE)
def test_reports_are_sifted_in_parts(monkeypatch, mechanism, impossible, at_once):
    """Whether a part ends within a message or after several, what is kept is the same."""
    layout = wire.wire_dtype(mechanism)
    good = reports_of(mechanism, 60)
    mixed = np.insert(good, [0, 9, 10, 10, 59, 60], impossible[0], axis=0)
    sent = []
    for part in np.split(mixed.astype(layout.base), [1, 2, 3, 10, 20, 20, 21, 65]):
        message = wire.dumps(mechanism, good[: len(part)])
        start = 20 + len(wire.parameters(mechanism))
        sent.append(resealed(message[:start] + part.tobytes() + b"0000"))
    monkeypatch.setattr(wire, "BYTES_AT_ONCE", at_once)
    batch = wire.read(mechanism, iter(sent), max_reports=60)
    np.testing.assert_array_equal(batch.reports, good)
    assert batch.reports.dtype == good.dtype
    assert batch.reports.flags.writeable
    assert (batch.messages, batch.impossible) == (len(sent), 6)


def test_reports_are_not_sifted_one_by_one(monkeypatch):
    """Which would take ten times as long."""
    asked = []
    possible = uldp.Mechanism.possible
    monkeypatch.setattr(
        uldp.Mechanism,
        "possible",
        lambda self, some: asked.append(len(some)) or possible(self, some),
    )
    batch = wire.read(MECHANISM, [wire.dumps(MECHANISM, [1, 0])] * 500)
    assert (len(batch.reports), asked) == (500, [500])


@pytest.mark.parametrize("users", [1_000, 200_000])
@pytest.mark.parametrize("name", ["RR", "RAPPOR"])
def test_the_memory_is_that_of_the_reports(monkeypatch, name, users):
    """200,000 reports in long messages among garbage, from a generator."""
    mechanism = MECHANISMS[name](LARGE, 1.0)
    message = wire.dumps(mechanism, reports_of(mechanism, users))
    wrong = [b"", None, message[:-1], message + b"0", message[:-5] + b"00000", b"G" * 10_000]
    stream = (one for _ in range(200_000 // users) for one in (message, *wrong))
    monkeypatch.setattr(wire, "BYTES_AT_ONCE", 1 << 12)
    tracemalloc.start()
    batch = wire.read(mechanism, stream, max_reports=users)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (len(batch.reports), batch.rejected.total()) == (200_000, 6 * 200_000 // users)
    assert peak < 1.2 * (batch.reports.nbytes + len(message)) + 20 * wire.BYTES_AT_ONCE


def test_an_empty_batch():
    for make in MECHANISMS.values():
        mechanism = make(DOMAIN, 1.0)
        batch = wire.read(mechanism, [])
        assert (batch.messages, batch.rejected, batch.impossible) == (0, Counter(), 0)
        assert mechanism.tally(batch.reports).n == 0


def test_a_personalized_mechanism_sends_as_its_common_one():
    domain = TaggedDomain(uldp.Domain(["park", "clinic", "elm street"]), ["home"])
    common = uldp.UtilityOptimizedRappor(domain, 1.0)
    alice = PersonalizedMechanism(common, {"elm street": "home"})
    bob = PersonalizedMechanism(common, {"park": "home"})
    rng = np.random.default_rng(0)
    sent = [wire.dumps(user.common, user.privatize("elm street", rng)) for user in (alice, bob)]
    assert wire.read(common, sent).messages == 2
    with pytest.raises(TypeError, match="mechanism must be a Mechanism"):
        wire.dumps(alice, alice.privatize("park", rng))


def test_what_does_not_make_a_mechanism_another_is_no_parameter():
    @dataclass(frozen=True)
    class Named(uldp.UtilityOptimizedRR):
        name: str = field(default="", compare=False)

    assert wire.parameters(Named(DOMAIN, 1.0, "a")) == wire.parameters(Named(DOMAIN, 1.0, "b"))


def test_the_number_of_reports_fits_its_four_bytes():
    assert int.from_bytes(b"\xff" * 4, "little") == wire.MOST_REPORTS


def test_too_many_reports(monkeypatch):
    monkeypatch.setattr(wire, "MOST_REPORTS", 2)
    assert len(wire.loads(MECHANISM, wire.dumps(MECHANISM, [[1, 0]] * 2))) == 2
    with pytest.raises(ValueError, match="reports must be at most 2, got 3"):
        wire.dumps(MECHANISM, [[1, 0]] * 3)


def test_wrong_types():
    with pytest.raises(TypeError, match="message must be bytes, got str"):
        wire.loads(MECHANISM, "uldp")
    with pytest.raises(TypeError, match="message must be bytes, got NoneType"):
        wire.loads(MECHANISM, None)
    with pytest.raises(TypeError, match="mechanism must be a Mechanism"):
        wire.read("uRR", [])
