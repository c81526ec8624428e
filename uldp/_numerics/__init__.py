"""What the library computes with: checks of arguments, packed sets, exact coins, sums."""

from importlib.metadata import PackageNotFoundError, version

try:
    VERSION = version("uldp")
except PackageNotFoundError:  # imported from a folder that is not installed
    VERSION = "unknown"
