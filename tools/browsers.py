"""The browser of this machine that prints the book and opens its pages in the tests."""

import shutil

NAMES = ("chromium", "google-chrome", "google-chrome-stable", "chromium-browser")
EXECUTABLE = next(filter(None, map(shutil.which, NAMES)), None)
