"""What the book has beyond the paper."""

from uldp.beyond.theta import best_theta

__all__ = ["best_theta"]
