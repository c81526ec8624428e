"""Files of reports and messages."""

from pathlib import Path

from malformed.reports import NOT_SURVEYS, SURVEY, URAP, not_reports, reports_of
from malformed.table import NOT_PATHS, NOT_STRINGS, Call, both_tests, call, whole
from uldp.survey import parquet


def calls_of_collecting() -> list[Call]:
    survey = SURVEY, NOT_SURVEYS
    not_paths = [None, 1, "missing", b"missing", Path("missing"), [1], [None], ["a", "a"], object()]
    return [
        call(
            parquet.write_reports,
            runs=False,
            survey=survey,
            question=("uRAP", [*NOT_STRINGS, "", "urap"]),
            reports=(reports_of(URAP), not_reports(URAP)),
            path=("missing.parquet", [*NOT_PATHS, "missing"]),
        ),
        call(
            parquet.tally_files,
            survey=survey,
            paths=([], not_paths),
            client=(..., [1, "local", object()]),
            max_reports=(..., whole(0, -1)),
        ),
    ]


CALLS = calls_of_collecting()
test_wrong_arguments_are_refused, test_right_arguments_are_not = both_tests(CALLS)
