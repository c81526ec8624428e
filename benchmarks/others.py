"""Time the other libraries on the values that speed.py sends, from there to the estimate."""

import json
import sys
import time
from collections.abc import Callable, Iterator

import numpy as np
from multi_freq_ldpy.estimators.Histogram_estimator import MI
from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Aggregator_MI, GRR_Client
from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Aggregator_MI, UE_Client
from numba import njit
from pure_ldp.frequency_oracles.direct_encoding import DEClient, DEServer
from pure_ldp.frequency_oracles.unary_encoding import UEClient, UEServer

OPTIMAL = {"RAPPOR": False, "RAPPOR theta=1/2": True}


def pure_ldp(job: str, values: np.ndarray, k: int, epsilon: float) -> np.ndarray:
    """Call client and server objects for each user."""
    kinds = (DEClient, DEServer) if job == "RR" else (UEClient, UEServer)
    options = {} if job == "RR" else {"use_oue": OPTIMAL[job]}
    client, server = (kind(epsilon, k, index_mapper=int, **options) for kind in kinds)
    server.aggregate_all(map(client.privatise, values.tolist()))
    return server.estimate_all(range(k), suppress_warnings=True) / values.size


class Reports:
    """Reports that are made when the aggregator asks: a list of a million fills 3.2 GB."""

    def __init__(self, client: Callable, values: np.ndarray, *options: float) -> None:
        self.client, self.values, self.options = client, values.tolist(), options

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator:
        return (self.client(value, *self.options) for value in self.values)


def multi_freq_ldpy(job: str, values: np.ndarray, k: int, epsilon: float) -> np.ndarray:
    """Call the jitted client for each user, and the aggregator."""
    if job == "RR":
        return GRR_Aggregator_MI(Reports(GRR_Client, values, k, epsilon), k, epsilon)
    reports = Reports(UE_Client, values, k, epsilon, OPTIMAL[job])
    return UE_Aggregator_MI(reports, epsilon, OPTIMAL[job])


@njit
def _add_up(values: np.ndarray, k: int, epsilon: float, unary: bool, optimal: bool) -> np.ndarray:
    counts = np.zeros(k)
    for value in values:
        if unary:
            counts += UE_Client(value, k, epsilon, optimal)
        else:
            counts[GRR_Client(value, k, epsilon)] += 1
    return counts


def multi_freq_ldpy_in_numba(job: str, values: np.ndarray, k: int, epsilon: float) -> np.ndarray:
    """Call the client in a jitted loop of one's own, which the library leaves to its users."""
    odds = np.exp(epsilon / 2 if job == "RAPPOR" else epsilon)
    other = 1 / (odds + k - 1) if job == "RR" else 1 / (odds + 1)
    own = 1 / 2 if job == "RAPPOR theta=1/2" else odds * other
    counts = _add_up(values, k, epsilon, job != "RR", OPTIMAL.get(job, False))
    return MI(counts, values.size, own, other)


if __name__ == "__main__":
    values = np.frombuffer(sys.stdin.buffer.read(), dtype=np.int64)
    k, epsilon = int(sys.argv[1]), float(sys.argv[2])
    for job in ("RR", *OPTIMAL):
        for library in (pure_ldp, multi_freq_ldpy, multi_freq_ldpy_in_numba):
            library(job, values[:100], k, epsilon)
            start = time.perf_counter()
            estimate = library(job, values, k, epsilon).tolist()
            taken = time.perf_counter() - start
            print(json.dumps([job, library.__name__.replace("_", "-"), taken, estimate]))
