from collections.abc import Iterator

import matplotlib
import matplotlib.pyplot as plt
import pytest
from hypothesis import settings

settings.load_profile("ci")  # the same examples every time, no deadline
matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def close_figures() -> Iterator[None]:
    yield
    plt.close("all")
