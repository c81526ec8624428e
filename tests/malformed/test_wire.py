"""Messages."""

from malformed.reports import MECHANISMS, URAP, not_reports, reports_of
from malformed.table import NOT_MECHANISMS, Call, both_tests, call, whole
from uldp import wire


def calls_of_wire() -> list[Call]:
    mechanism = URAP, NOT_MECHANISMS
    message = wire.dumps(URAP, reports_of(URAP))
    not_bytes = [None, 1, "message", [1], 1.5, object()]
    damaged = [
        *(b"", b"uld", b"uldp", b"GIF89a", message[:-1], message + b"0", message[1:]),
        *(message[:9] + b"\xff" + message[10:], message[:30], message[:-1] + b"\0"),
        *(wire.dumps(other, reports_of(other)) for other in MECHANISMS if other != URAP),
    ]
    not_messages = [
        *(None, 1, 1.5, "text", object()),
        *(kind(message) for kind in (bytes, bytearray, memoryview)),
    ]
    return [
        call(wire.parameters, mechanism=mechanism),
        call(wire.dumps, mechanism=mechanism, reports=(reports_of(URAP), not_reports(URAP))),
        call(wire.loads, mechanism=mechanism, message=(message, [*damaged, *not_bytes])),
        call(
            wire.read,
            mechanism=mechanism,
            messages=([message], not_messages),
            max_reports=(..., whole(0, -1)),
        ),
    ]


CALLS = calls_of_wire()
test_wrong_arguments_are_refused, test_right_arguments_are_not = both_tests(CALLS)
