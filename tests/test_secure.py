"""The secure generator: the published key stream, and never twice."""

import copy
import pickle
import runpy
import secrets
import subprocess
import sys

import numpy as np
import pytest

from uldp.survey import secure

RFC_8439_KEY_STREAM = """
76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7
da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586
9f07e7be5551387a98ba977c732d080dcb0f29a048e3656912c6533e32ee7aed
29b721769ce64e43d57133b074d839d531ed1f28510afb45ace10a1f4b794d6f
"""


@pytest.fixture
def key_of_zeros(monkeypatch):
    """A generator whose key the operating system draws as zeros."""
    with monkeypatch.context() as patched:
        patched.setattr(secrets, "randbits", lambda bits: 0)
        return secure.generator()


def words(rng: np.random.Generator, size: int) -> np.ndarray:
    return rng.integers(1 << 64, size=size, dtype=np.uint64)


def test_the_stream_is_chacha20(key_of_zeros):
    """Test vectors 1 and 2 of RFC 8439, appendix A.1."""
    published = bytes.fromhex(RFC_8439_KEY_STREAM)
    assert words(key_of_zeros, 16).astype("<u8").tobytes() == published


def test_the_key_has_256_bits_from_the_system(monkeypatch):
    asked = []
    monkeypatch.setattr(secrets, "randbits", lambda bits: asked.append(bits) or 1 << (bits - 1))
    one = words(secure.generator(), 4)
    assert asked == [256]
    monkeypatch.setattr(secrets, "randbits", lambda bits: 0)
    assert not np.array_equal(one, words(secure.generator(), 4))


def test_no_stream_comes_twice():
    original = secure.generator()
    words(original, 3)
    copies = [copy.copy(original), copy.deepcopy(original), pickle.loads(pickle.dumps(original))]
    copies += original.spawn(2)
    streams = [words(rng, 4).tobytes() for rng in [original, *copies, secure.generator()]]
    assert len(set(streams)) == len(streams)


forks = pytest.mark.skipif(not hasattr(secure.os, "fork"), reason="the system has no fork")

FORKING = """
import os, signal, threading, time, warnings
from contextlib import nullcontext
from uldp.survey import secure

warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12: forks beside threads
SECONDS = 20


def show(generators):
    for rng in generators:
        key = rng.bit_generator.state["state"]["keysetup"].tobytes()
        print(key.hex(), rng.bytes(32).hex(), flush=True)


def fork(generators, lock=nullcontext()):
    with lock:
        child = os.fork()
    if not child:
        thread = threading.Thread(target=show, args=(generators,))
        thread.start()
        thread.join()
        os._exit(0)
    end = time.monotonic() + SECONDS
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        if time.monotonic() > end:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            print("hung", flush=True)
            os._exit(1)
        time.sleep(0.001)
"""


def keys_and_bits(program: str, lines: int) -> None:
    """Run a program that forks: all its keys and bits differ, and any thread can draw."""
    command = [sys.executable, "-c", FORKING + program]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert not run.stderr
    shown = run.stdout.split()
    assert "hung" not in shown
    assert len(shown) == len(set(shown)) == 2 * lines


@forks
def test_a_fork_while_others_hold_the_locks():
    """Threads that are not forked use the second and the fourth generator, then this the first."""
    program = """
generators = [secure.generator() for _ in range(4)]
done = threading.Event()


def hold(lock, held):
    with lock:
        held.set()
        done.wait()


for rng in generators[1::2]:
    held = threading.Event()
    threading.Thread(target=hold, args=(rng.bit_generator.lock, held)).start()
    held.wait()
fork(generators)
fork(generators, generators[0].bit_generator.lock)
done.set()
"""
    keys_and_bits(program, lines=8)


@forks
def test_no_fork_hangs_beside_threads_that_draw():
    """150 forks beside four threads, two of them with a generator in common."""
    program = """
generators = [secure.generator() for _ in range(5)]
done = threading.Event()


def draw(rng):
    while not done.is_set():
        rng.bytes(100_000)


threads = [threading.Thread(target=draw, args=(generators[i],)) for i in (0, 1, 2, 2)]
for thread in threads:
    thread.start()
for _ in range(150):
    fork(generators)
done.set()
for thread in threads:
    thread.join()
show(generators)
"""
    keys_and_bits(program, lines=5 * 151)


def test_a_fork_changes_the_keys_of_all_living_generators(key_of_zeros):
    secure._change_keys()
    assert words(key_of_zeros, 16).astype("<u8").tobytes() != bytes.fromhex(RFC_8439_KEY_STREAM)


def test_without_randomgen_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "randomgen", None)
    with pytest.raises(ModuleNotFoundError, match='randomgen, of the extra "secure"'):
        runpy.run_path(secure.__file__)
