"""Malformed arguments, by the thousand: each is refused by an error that names the argument.

A file for each subject lists public functions, and for each of their arguments a right value and
wrong ones. Every wrong value is put in alone, among right ones. What may come of it is a ValueError
or a TypeError whose message names the argument; not a warning, another exception or a result.
"""

import pytest

pytest.register_assert_rewrite("malformed.table")
