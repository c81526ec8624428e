"""Time the EM of multi-freq-ldpy on the reports that running_time.py sends, with its estimate."""

import json
import sys
import time
from collections.abc import Iterator

import numpy as np
from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Aggregator_IBU
from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Aggregator_IBU


class Bits:
    """Rows of bits that are unpacked when the aggregator asks: the list of them fills 25 GB."""

    def __init__(self, packed: np.ndarray, k: int) -> None:
        self.packed, self.k = packed, k

    def __len__(self) -> int:
        return len(self.packed)

    def __iter__(self) -> Iterator[np.ndarray]:
        for row in self.packed:
            yield np.unpackbits(row, count=self.k, bitorder="little").astype(float)


def aggregate(job: str, reports: np.ndarray, k: int, epsilon: float, steps: int) -> np.ndarray:
    """Call the library's aggregator, at its own tolerance."""
    if job == "RR":
        return GRR_Aggregator_IBU(reports, k, epsilon, nb_iter=steps)
    return UE_Aggregator_IBU(Bits(reports, k), k, epsilon, optimal=False, nb_iter=steps)


if __name__ == "__main__":
    job, k, epsilon, steps = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
    sent = np.frombuffer(sys.stdin.buffer.read(), dtype=np.int64 if job == "RR" else np.uint8)
    reports = sent if job == "RR" else sent.reshape(-1, -(-k // 8))
    aggregate(job, reports[:10], k, epsilon, 1)
    start = time.process_time()
    estimate = aggregate(job, reports, k, epsilon, steps)
    print(json.dumps([time.process_time() - start, estimate.tolist()]))
