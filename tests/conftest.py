import matplotlib
from hypothesis import settings

settings.load_profile("ci")  # the same examples every time, no deadline
matplotlib.use("Agg")
