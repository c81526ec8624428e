"""Malformed arguments, by the thousand: each is refused by an error that names the argument.

`rows.py` has a row for each public function, `wrong.py` says what is wrong for an argument.
"""
