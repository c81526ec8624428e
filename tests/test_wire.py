"""Messages: what is written is read, byte for byte as documented, and nothing else is accepted."""

import hashlib
import io
import math
import struct
import time
import tracemalloc
import zlib
from collections import Counter
from unittest.mock import patch

import numpy as np
import pytest
from cases import MECHANISMS
from hypothesis import given, strategies as st

import uldp
from uldp._numerics.checksums import crc_of_slices
from uldp.survey import surveys, wire
from uldp.survey.surveys import Survey
from uldp.survey.wire import MessageError, Reason

DOMAIN = uldp.Domain(["no", "café", "yes", "?"], sensitive=["yes", "no"])
MECHANISM = uldp.UtilityOptimizedRappor(DOMAIN, 0.1)
LARGE = uldp.Domain(300, sensitive=range(11))
MIXED = uldp.Domain(200, sensitive=range(150))
HEAD = 48
MANY = 2**32


def survey_of(mechanism: uldp.Mechanism, before: int = 0) -> Survey:
    """A survey whose question "q" comes after so many others."""
    others = {f"{i}": uldp.RandomizedResponse(uldp.Domain(2), 1.0) for i in range(before)}
    return Survey("survey", {**others, "q": mechanism})


SURVEY = survey_of(MECHANISM, before=1)


def reports_of(mechanism: uldp.Mechanism, users: int) -> np.ndarray:
    values = np.arange(users) % mechanism.domain.size
    return mechanism.privatize(values, rng=0, indices=True)


def resealed(message: bytes) -> bytes:
    """The message with the checksum of what it says now."""
    return message[:-4] + struct.pack("<I", zlib.crc32(message[:-4]))


def reason(message: bytes, survey: Survey = SURVEY) -> Reason:
    with pytest.raises(MessageError) as caught:
        survey.open(message, MANY)
    assert str(caught.value).startswith(f"message {caught.value.reason}: ")
    assert str(caught.value).isprintable()
    reading = survey.read([message], MANY)
    if caught.value.reason != Reason.IMPOSSIBLE:
        assert reading.messages == 0
        assert reading.refused == Counter([caught.value.reason])
        assert reading.tallies == uldp.Tallies(survey)
    return caught.value.reason


@pytest.mark.parametrize(
    "domain", [DOMAIN, LARGE, MIXED, uldp.Domain(4), uldp.Domain(3, sensitive=[1])]
)
@pytest.mark.parametrize("users", [1, 500])
@pytest.mark.parametrize("name", MECHANISMS)
def test_reports_come_back(name, users, domain):
    mechanism = MECHANISMS[name](domain, 1.5)
    survey = survey_of(mechanism, before=2)
    reports = reports_of(mechanism, users)
    question, read = survey.open(survey.message("q", reports), users)
    assert question == "q"
    np.testing.assert_array_equal(read, reports)
    assert read.dtype == reports.dtype
    assert read.flags.writeable


def test_the_documented_bytes():
    """Written out by hand, field by field."""
    digest = hashlib.sha256(SURVEY.to_json().encode("utf-8")).digest()
    body = b"uldp" + struct.pack("<HHII", 2, 1, 2, 3) + digest
    body += bytes([0b01, 0, 0b10, 2, 0b11, 1])
    message = body + zlib.crc32(body).to_bytes(4, "little")
    assert SURVEY.message("q", [[1, 0], [2, 2], [3, 1]]) == message
    assert SURVEY.digest == digest.hex()
    assert len(message) == HEAD + 6 + 4 == SURVEY.longest_message(3)


@pytest.mark.parametrize(("size", "width"), [(1, 1), (256, 1), (257, 2), (65536, 2), (65537, 4)])
def test_an_index_has_as_many_bytes_as_it_needs(size, width):
    survey = survey_of(uldp.UtilityOptimizedRR(uldp.Domain(size), 1.0), before=3)
    message = survey.message("q", [size - 1])
    assert message[-4 - width : -4] == (size - 1).to_bytes(width, "little")
    assert len(message) == HEAD + width + 4 == survey.longest_message()
    assert survey.open(message)[1].tolist() == [size - 1]


def test_a_message_names_its_question():
    """Also where two ask the same with the same mechanism."""
    survey = Survey("s", dict.fromkeys(("mood", "drugs", "place"), MECHANISM))
    messages = [survey.message(name, [1, 0]) for name in ("drugs", "place", "drugs")]
    assert [survey.open(message)[0] for message in messages] == ["drugs", "place", "drugs"]
    tallies = survey.read(messages).tallies
    assert {name: tally.n for name, tally in tallies.items()} == {"mood": 0, "drugs": 2, "place": 1}


@pytest.mark.parametrize("name", MECHANISMS)
def test_cut_at_every_byte(name):
    mechanism = MECHANISMS[name](DOMAIN, 1.0)
    survey = survey_of(mechanism)
    message = survey.message("q", reports_of(mechanism, 7))
    for length in range(len(message)):
        assert reason(message[:length], survey) == Reason.TRUNCATED
    assert reason(message + b"\0", survey) == Reason.CORRUPT


@pytest.mark.parametrize("name", ["uRR", "uRAP", "uBD"])
def test_every_flipped_bit(name):
    mechanism = MECHANISMS[name](DOMAIN, 1.0)
    survey = survey_of(mechanism)
    message = survey.message("q", reports_of(mechanism, 7))
    seen = Counter()
    for bit in range(8 * len(message)):
        damaged = bytearray(message)
        damaged[bit // 8] ^= 1 << bit % 8
        seen[reason(bytes(damaged), survey)] += 1
    assert (seen[Reason.FORMAT], seen[Reason.VERSION]) == (32, 16)
    assert set(seen) == {Reason.FORMAT, Reason.VERSION, Reason.TRUNCATED, Reason.CORRUPT}


@given(st.binary(max_size=120), st.booleans())
def test_no_bytes_are_mistaken_for_a_message(data, begins_well):
    start = SURVEY.message("q", reports_of(MECHANISM, 3))[:HEAD] if begins_well else b""
    reason(start + data)


@given(st.lists(st.tuples(st.integers(0, 200), st.integers(0, 255)), min_size=1, max_size=9))
def test_a_sealed_message_is_read_or_refused(changes):
    """Whatever a sender puts into a message with a right checksum, what is read can be tallied."""
    message = bytearray(SURVEY.message("q", reports_of(MECHANISM, 3)))
    for position, value in changes:
        message[position % len(message)] = value
    reading = SURVEY.read([resealed(bytes(message))], max_reports=3)
    impossible = reading.impossible
    assert reading.messages + reading.refused.total() == 1
    assert sum(tally.n for tally in reading.tallies.values()) + impossible in {0, 3}


def test_messages_of_version_1_are_refused_with_a_word():
    """They held the parameters of the mechanism, whose length stood in the third place."""
    old = (
        b"uldp"
        + struct.pack("<IIII", 1, 24, 2, 1)
        + b'{"epsilon":1,"values":4}'
        + b"\1\0"
        + b"0000"
    )
    assert reason(resealed(old)) == Reason.VERSION
    with pytest.raises(ValueError, match="it is 1, this collector reads 2, in which a message hol"):
        SURVEY.open(old)


def test_the_version_is_looked_at_as_soon_as_it_can_be():
    assert reason(b"uldp\1\0\0") == Reason.TRUNCATED
    assert reason(b"uldp\1\0\0\0") == Reason.VERSION
    assert reason(b"uldp\2\0\0\0") == Reason.TRUNCATED


@pytest.mark.parametrize(
    "other",
    [
        survey_of(MECHANISM),
        survey_of(uldp.UtilityOptimizedRappor(DOMAIN, 0.1, theta=0.5), before=1),
        survey_of(uldp.UtilityOptimizedRappor(uldp.Domain(4, sensitive=[0, 2]), 0.1), before=1),
        Survey("Survey", dict(SURVEY.questions)),
        Survey.from_json(SURVEY.to_json() + "\n"),
        Survey.from_json(SURVEY.to_json().replace("\n", "\r\n")),
    ],
)
def test_foreign_messages(other):
    message = other.message("q", reports_of(other.questions["q"], 5))
    assert reason(message) == Reason.FOREIGN
    with pytest.raises(ValueError, match="message of another survey: its survey is") as caught:
        SURVEY.open(message)
    assert other.digest[:12] in str(caught.value)
    assert SURVEY.digest[:12] in str(caught.value)


@pytest.mark.parametrize("question", [2, 3, 256, 65_535])
def test_a_question_that_there_is_not(question):
    message = SURVEY.message("q", [1, 0])
    other = message[:6] + struct.pack("<H", question) + message[8:]
    assert reason(resealed(other)) == Reason.QUESTION


@pytest.mark.parametrize(("width", "number"), [(1, 4), (4, 1), (2**32 - 1, 0), (0, 2**32 - 1)])
def test_a_wrong_width_is_of_no_question(width, number):
    """The same four bytes as reports of another length; or none of them."""
    message = SURVEY.message("q", [[1, 0], [1, 0]])
    reports = message[-8:-4] if width * number else b""
    other = message[:8] + struct.pack("<II", width, number) + message[16:HEAD] + reports + b"0000"
    assert reason(resealed(other)) == Reason.QUESTION


def by_bytes(reports: np.ndarray) -> np.ndarray:
    """As a reading has them, which does not keep the order in which they came."""
    order = sorted(range(len(reports)), key=lambda row: reports[row].tobytes())
    return reports[order]


IMPOSSIBLE = [
    (uldp.UtilityOptimizedRR(DOMAIN, 1.0), [4, 255]),
    (uldp.RandomizedResponse(LARGE, 1.0), [300, 65535]),
    (uldp.Rappor(DOMAIN, 1.0), [[16], [255]]),
    (MECHANISM, [[4, 0], [128, 1], [1, 3], [0, 255]]),
    (uldp.UtilityOptimizedBlockDesign(DOMAIN, 1.0, 1), [[0, 0], [3, 0], [1, 1], [4, 0], [0, 3]]),
]


def forged(survey: Survey, reports: np.ndarray) -> bytes:
    """A message in order but for its reports."""
    layout = wire.wire_dtype(survey.questions["q"])
    payload = np.asarray(reports).astype(layout.base).tobytes()
    message = survey.message("q", survey.questions["q"].outputs[:0])
    return resealed(
        message[:12] + struct.pack("<I", len(reports)) + message[16:-4] + payload + b"0000"
    )


@pytest.mark.parametrize(("mechanism", "impossible"), IMPOSSIBLE)
def test_impossible_reports(mechanism, impossible):
    """They are not written; read, they are left out, wherever they stand, and the rest is kept."""
    survey = survey_of(mechanism)
    good = reports_of(mechanism, 50)
    message = survey.message("q", good)
    assert forged(survey, good) == message
    rng = np.random.default_rng(0)
    for report in impossible:
        with pytest.raises(ValueError, match="reports must"):
            survey.message("q", report)
        sent = forged(survey, np.insert(good, rng.integers(50, size=3), report, axis=0))
        assert reason(sent, survey) == Reason.IMPOSSIBLE
        reading = survey.read([sent, message], max_reports=53, keep_reports=True)
        np.testing.assert_array_equal(reading.reports["q"], by_bytes(np.concatenate([good, good])))
        assert reading.tallies["q"] == mechanism.tally(np.concatenate([good, good]))
        assert (reading.messages, reading.refused, reading.impossible) == (2, {}, 3)


def test_a_reading_counts():
    reports = reports_of(MECHANISM, 100)
    messages = [SURVEY.message("q", part) for part in np.split(reports, 20)]
    foreign = survey_of(MECHANISM).message("q", [[1, 0]])
    sent = [
        b"",
        *messages[:7],
        messages[3][:-1],
        foreign,
        bytearray(messages[7]),
        b"GET / HTTP/1.1",
    ]
    sent += [memoryview(message) for message in messages[8:]]
    reading = SURVEY.read(sent, max_reports=5, keep_reports=True)
    np.testing.assert_array_equal(reading.reports["q"], by_bytes(reports))
    assert reading.messages == 20
    assert reading.refused == {Reason.TRUNCATED: 2, Reason.FOREIGN: 1, Reason.FORMAT: 1}
    assert reading.tallies["q"] == MECHANISM.tally(reports)
    assert reading.tallies["0"].n == reading.reports["0"].size == 0
    assert SURVEY.read(sent, max_reports=5).reports == {}


def test_a_message_holds_one_report_unless_more_are_allowed():
    """A message of a million does not outvote the others."""
    one, two, three = ([[1, 0]] * users for users in (1, 2, 3))
    messages = [SURVEY.message("q", reports) for reports in (one, two, three, [2, 0])]
    for most, accepted in ((..., 2), (1, 2), (2, 4), (3, 7), (10**12, 7)):
        options = {} if most is ... else {"max_reports": most}
        reading = SURVEY.read(messages, **options)
        assert reading.tallies["q"] == MECHANISM.tally([*one * (accepted - 1), [2, 0]])
        refused = {2: 2, 4: 1, 7: 0}[accepted]
        assert reading.messages == 4 - refused
        assert reading.refused == Counter({Reason.TOO_MANY: refused} if refused else {})
    with pytest.raises(ValueError, match="max_reports must be 1 or greater, got 0"):
        SURVEY.read(messages, max_reports=0)


def test_what_is_no_bytes_is_counted():
    message = SURVEY.message("q", [1, 0])
    wrong = [None, 7, "uldp", [message], {}, object(), np.frombuffer(message, np.uint8)]
    reading = SURVEY.read([message, *wrong, message])
    assert reading.tallies["q"].n == reading.messages == 2
    assert reading.refused == Counter({Reason.NOT_BYTES: len(wrong)})


@pytest.mark.parametrize("kind", [bytearray, memoryview])
def test_bytes_may_be_of_any_kind(kind):
    message = SURVEY.message("q", [1, 0])
    assert list(wire.split(kind(message), len(message))) == [message]
    assert Survey.from_json(kind(SURVEY.to_json().encode())) == SURVEY


def test_a_single_message_is_no_collection_of_messages():
    message = SURVEY.message("q", [1, 0])
    for wrong in (message, bytearray(message), memoryview(message), "uldp", None, 7):
        with pytest.raises(TypeError, match="messages must be a collection of bytes, such as a "):
            SURVEY.read(wrong)


# --- parts and memory ----------------------------------------------------------------------------


@pytest.mark.parametrize("at_once", [1, 7, 64])
@pytest.mark.parametrize(("mechanism", "impossible"), IMPOSSIBLE)
def test_reports_are_sifted_in_parts(monkeypatch, mechanism, impossible, at_once):
    """Whether a part ends within a message or after several, what is kept is the same."""
    survey = survey_of(mechanism, before=1)
    good = reports_of(mechanism, 60)
    mixed = np.insert(good, [0, 9, 10, 10, 59, 60], impossible[0], axis=0)
    parts = np.split(mixed, [1, 2, 3, 10, 20, 21, 65])
    sent = [forged(survey, part) for part in parts] + [survey.message("0", [1, 0, 1])]
    monkeypatch.setattr(surveys, "MESSAGE_BYTES_AT_ONCE", at_once)
    reading = survey.read(iter(sent), max_reports=60)
    assert reading.tallies["q"] == mechanism.tally(good)
    assert reading.tallies["0"].counts.tolist() == [1, 2]
    assert (reading.messages, reading.refused, reading.impossible) == (len(sent), {}, 6)


def test_reports_are_not_tallied_one_by_one(monkeypatch):
    """Which would take ten times as long."""
    asked = []
    tally = uldp.Mechanism.tally
    monkeypatch.setattr(
        uldp.Mechanism, "tally", lambda self, some: asked.append(len(some)) or tally(self, some)
    )
    reading = SURVEY.read([SURVEY.message("q", [1, 0])] * 500)
    assert (reading.tallies["q"].n, asked) == (500, [500])


@pytest.mark.parametrize("users", [1_000, 200_000])
@pytest.mark.parametrize("name", ["RR", "RAPPOR"])
def test_the_memory_is_that_of_the_tallies(monkeypatch, name, users):
    """200,000 reports in long messages among garbage, from a generator."""
    mechanism = MECHANISMS[name](LARGE, 1.0)
    survey = survey_of(mechanism)
    message = survey.message("q", reports_of(mechanism, users))
    wrong = [b"", None, message[:-1], message + b"0", message[:-5] + b"00000", b"G" * 10_000]
    stream = (one for _ in range(200_000 // users) for one in (message, *wrong))
    monkeypatch.setattr(surveys, "MESSAGE_BYTES_AT_ONCE", 1 << 12)
    tracemalloc.start()
    reading = survey.read(stream, max_reports=users)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (reading.tallies["q"].n, reading.refused.total()) == (200_000, 6 * 200_000 // users)
    assert peak < 2.2 * len(message) + 40 * surveys.MESSAGE_BYTES_AT_ONCE


def test_nothing_was_sent():
    for make in MECHANISMS.values():
        survey = survey_of(make(DOMAIN, 1.0))
        reading = survey.read([])
        assert (reading.messages, reading.refused) == (0, Counter())
        assert reading.tallies == uldp.Tallies(survey)
        assert reading.tallies["q"].n == 0


# --- messages one behind the other ---------------------------------------------------------------


def appended(survey: Survey = SURVEY) -> list[bytes]:
    return [survey.message("q", report) for report in reports_of(survey.questions["q"], 40)]


def test_messages_in_one_file_are_cut_apart():
    other = survey_of(uldp.RandomizedResponse(LARGE, 1.0))
    messages = [*appended(), other.message("q", 299), SURVEY.message("0", 1), *appended(other)]
    data = b"".join(messages)
    longest = max(SURVEY.longest_message(), other.longest_message())
    assert [*wire.split(data, longest)] == messages
    assert [*wire.split(b"", 1)] == []
    assert [*wire.split(b"\0" + data, longest)] == [b"\0", *messages]


def test_the_longest_message_is_cut_apart_and_no_longer_one():
    messages = [SURVEY.message("q", [[1, 0]] * 3), SURVEY.message("q", [[1, 0]] * 4)]
    data, longest = b"".join(messages), SURVEY.longest_message(3)
    assert [*wire.split(data, longest)] == messages
    follower = SURVEY.message("0", 0)
    hidden = SURVEY.message("q", np.frombuffer(b"\1\0" * 26, np.uint8).reshape(-1, 2))
    assert [*wire.split(hidden + follower, longest)] == [hidden, follower]


@pytest.mark.parametrize(
    "bad",
    [
        b"GET / HTTP/1.1",
        b"uldp",
        b"ul",
        appended()[0][:-1],
        appended()[0][:20],
        appended()[0][:30] + b"\xff" + appended()[0][31:],
        appended()[0][:12] + struct.pack("<I", 29) + appended()[0][16:],
        appended()[0][:8] + b"\xff" * 8 + appended()[0][16:],
    ],
    ids=range(8),
)
def test_what_is_damaged_does_not_swallow_what_follows(bad):
    """Not even a message that says it holds the 28 reports and 52 bytes that come behind it."""
    good = appended()
    for place in (0, 1, 20, 40):
        data = b"".join([*good[:place], bad, *good[place:]])
        reading = SURVEY.read(wire.split(data, SURVEY.longest_message()))
        assert reading.messages == 40
        assert reading.refused.total() in {1, 2}


LONG = Survey(
    "s",
    {"yn": uldp.RandomizedResponse(DOMAIN, 1.0), "r": uldp.Rappor(uldp.Domain(1600), 1.0)},
)
SHORT = LONG.message("yn", 1)
CLAIM = struct.pack("<4s2H2I", b"uldp", wire.MESSAGE_VERSION, 0, 1, 200)
PIECES = [SHORT, SHORT[:-1], CLAIM + SHORT, b"uldp", b"ul", b"\0", b"\xff" * 7]


@given(st.lists(st.lists(st.sampled_from(PIECES), max_size=50), max_size=6))
def test_messages_that_a_gate_took_are_cut_into_exactly_these(payloads):
    """Whatever stands in their reports, such as whole messages, or beginnings of some."""
    width = LONG.questions["r"].report_dtype.itemsize
    messages = [SHORT]
    for parts in payloads:
        report = b"".join(parts)[:width].rjust(width, b"\0")
        messages.append(LONG.message("r", np.frombuffer(report, np.uint8)))
        assert LONG.open(messages[-1])[0] == "r"
    data, longest = b"".join(messages), LONG.longest_message()
    assert [*wire.split(data, longest)] == messages
    with patch.object(wire, "BYTES_AT_ONCE", 1):
        assert [*wire.split(io.BytesIO(data), longest)] == messages


def test_a_body_is_looked_at_before_it_is_appended_to_others():
    """Two messages in one are refused, but not where they have been put among others."""
    body = SURVEY.message("0", 0) * 2
    with pytest.raises(MessageError, match="damaged on the way"):
        SURVEY.open(body)
    assert SURVEY.read([body]).messages == 0
    assert SURVEY.read(wire.split(body, SURVEY.longest_message())).messages == 2


@given(st.lists(st.sampled_from([b"uldp", b"\2\0\0\0", b"\0", *appended()[:2]]), max_size=12))
def test_cutting_apart_loses_no_byte(parts):
    data = b"".join(parts)
    assert b"".join(wire.split(data, SURVEY.longest_message())) == data


def test_the_time_to_cut_apart_does_not_depend_on_what_is_claimed():
    """Headers that each claim a million reports, as near to one another as they can be."""
    honest = b"".join(SURVEY.message("q", row) for row in [[1, 0], [0, 1]]) * 1000
    longest = SURVEY.longest_message(1_000_000)
    claim = struct.pack("<4s2H2I", b"uldp", wire.MESSAGE_VERSION, 1, 2, 1_000_000)
    seconds = []
    for data in (honest, claim * (len(honest) // len(claim))):
        start = time.process_time()
        assert sum(map(len, wire.split(data, longest))) == len(data)
        seconds.append(time.process_time() - start)
    assert seconds[1] < 10 * max(seconds[0], 0.02)


def test_messages_take_no_longer_to_be_refused_than_to_be_counted():
    """Whatever is wrong with them, and however often: at most twice as long."""
    good = SURVEY.message("q", [1, 0])
    foreign = Survey("another", SURVEY.questions)
    wrong = {
        "foreign": foreign.message("q", [1, 0]),
        "damaged": good[:48] + b"\xff" + good[49:],
        "cut": good[:-1],
        "empty": SURVEY.message("q", np.zeros((0, 2), dtype=np.uint8)),
        "two": SURVEY.message("q", [[1, 0]] * 2),
        "old": good[:4] + b"\1" + good[5:],
        "beginnings": b"uldp",
        "versions": b"uldp\2\0",
        "claims": struct.pack("<4s2H2I", b"uldp", wire.MESSAGE_VERSION, 1, 2, 1),
        "zeros": bytes(54),
    }
    size = 1 << 21
    least = dict.fromkeys([*wrong, "good"], math.inf)
    for _ in range(3):
        for name in least:
            unit = wrong.get(name, good)
            pieces = wire.split(unit * (size // len(unit)), SURVEY.longest_message())
            start = time.process_time()
            reading = SURVEY.read(pieces)
            least[name] = min(least[name], time.process_time() - start)
            assert (reading.messages > 0) == (name == "good")
    assert max(least.values()) <= 2 * least["good"], least


@pytest.mark.parametrize("at_once", [1, 50, 300])
def test_messages_are_cut_apart_in_blocks_as_at_once(monkeypatch, at_once):
    parts = [*appended(), *appended()]
    data, longest = b"".join(parts), SURVEY.longest_message(60)
    whole = [piece for piece in wire.split(data, longest) if is_intact(piece)]
    monkeypatch.setattr(wire, "BYTES_AT_ONCE", at_once)
    for source in (data, io.BytesIO(data)):
        pieces = [*wire.split(source, longest)]
        assert b"".join(pieces) == data
        assert [piece for piece in pieces if is_intact(piece)] == whole


def is_intact(piece: bytes) -> bool:
    try:
        wire.unpack(piece)
    except MessageError:
        return False
    return True


@pytest.mark.parametrize("zeros", [0, 1, 255, 70_000])
def test_checksums_of_slices(zeros):
    data = bytes(range(256)) * 3 + bytes(zeros) + b"end"
    rng = np.random.default_rng(zeros)
    ends = rng.integers(len(data) + 1, size=50)
    starts = rng.integers(ends + 1)
    expected = [zlib.crc32(data[a:b]) for a, b in zip(starts, ends, strict=True)]
    assert crc_of_slices(data, starts, ends).tolist() == expected


def test_a_message_holds_no_more_reports_than_are_allowed_and_one_at_least():
    """As a gate looks at it before it is appended."""
    empty, two = (SURVEY.message("q", np.zeros((n, 2), dtype=np.uint8)) for n in (0, 2))
    assert reason(empty) == Reason.EMPTY
    with pytest.raises(MessageError, match="with more reports than are allowed: 2 reports, at mo"):
        SURVEY.open(two)
    assert len(SURVEY.open(two, max_reports=2)[1]) == 2


def test_an_impossible_report_is_not_repeated_at_length():
    survey = survey_of(uldp.Rappor(uldp.Domain(80_001), 1.0))
    right = survey.message("q", np.zeros((1, 10_001), dtype=np.uint8))
    wrong = resealed(right[:-5] + b"\xff" + right[-4:])
    with pytest.raises(MessageError) as caught:
        survey.open(wrong)
    assert caught.value.reason == Reason.IMPOSSIBLE
    assert len(str(caught.value)) < 300


# --- the rest ------------------------------------------------------------------------------------
