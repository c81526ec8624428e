"""Asking people: a survey and its file, messages, files of reports, and what forgers can do.

`surveys` holds the questions of a survey and what is kept of the reports, `wire` the bytes of a
message, `attacks` what forged reports do to an estimate. Two modules need an extra each: `secure`,
random numbers for real answers, and `parquet`, reports in files on many machines.
"""
