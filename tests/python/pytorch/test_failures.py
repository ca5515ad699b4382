"""Tests how a job over the backend `taut` ends if a rank is stuck or dead: as over gloo, with PyTorch's message."""

import os
import re
import signal
import subprocess
import sys
import time

import pytest

PROGRAM = """
import os, sys, time, traceback
from datetime import timedelta
import torch, torch.distributed as dist
import taut.torch
rank, fault, path = int(sys.argv[1]), sys.argv[2], sys.argv[3]
taut.torch.set_rules("* : abs=1e-2")
dist.init_process_group("cpu:taut,cuda:taut", init_method="file://" + path, rank=rank, world_size=2, timeout=timedelta(seconds=4))
tensor, status = torch.randn(50_000), 0
dist.all_reduce(tensor)
print("began", flush=True)
if rank == 1:
    time.sleep(60)
try:
    for _ in range(2):
        dist.all_reduce(tensor, async_op=True).wait()
except RuntimeError:
    traceback.print_exc()
    status = 3
dist.destroy_process_group()  # behind the block: the exception holds the group, whose threads must not outlive the interpreter
sys.exit(status)
"""


def run(fault, folder):
    """Returns status, stderr and seconds of the rank that is left."""
    names = [sys.executable, "-c", PROGRAM]
    ranks = [
        subprocess.Popen([*names, str(rank), fault, str(folder / "store")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for rank in range(2)
    ]
    try:
        for process in ranks:
            assert process.stdout.readline() == "began\n", process.stderr.read()
        start = time.monotonic()
        ranks[1].send_signal(signal.SIGKILL if fault == "killed" else signal.SIGSTOP)
        _, text = ranks[0].communicate(timeout=40)
        return ranks[0].returncode, text, time.monotonic() - start
    finally:
        for process in ranks:
            process.kill()
            process.communicate()


@pytest.mark.parametrize("fault, message", [("stuck", "Timed out waiting 4000ms"), ("killed", "Connection (closed|reset) by peer")])
def test_the_others_end_with_the_message_of_pytorch(rank, tmp_path, fault, message):
    if rank > 0:
        pytest.skip("rank 0 starts processes")
    environment = {name: value for name, value in os.environ.items() if name.startswith(("TORCHELASTIC", "GROUP_"))}
    for name in environment:
        del os.environ[name]
    status, text, seconds = run(fault, tmp_path)
    assert status == 3 and re.search(message, text) and "RuntimeError" in text
    assert seconds < 30


TRAINED = """
import atexit, contextlib, os, sys
import torch, torch.distributed as dist

def names():
    names = []
    for thread in os.listdir("/proc/self/task"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it has ended
            names.append(open(f"/proc/self/task/{thread}/comm").read().strip())
    return names

def take_step():
    network = torch.nn.Linear(64, 300)
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
    network(torch.randn(4, 64)).sum().backward()
    optimizer.step()

def communicate():
    tensor = torch.randn(10_000)
    dist.all_reduce(tensor)
    taut.torch.all_reduce(tensor, "abs:1e-3")

backend, path, imported = sys.argv[1:]
if imported == "first":
    import taut.torch
    taut.torch.set_rules("* >=1 : abs=1e-2")
dist.init_process_group(backend, init_method="file://" + path, rank=0, world_size=1)
if imported == "first":
    take_step()
else:
    import taut.torch  # does not hold the group
communicate()
assert "pt_gloo_runloop" in names()
dist.destroy_process_group()
atexit.register(lambda: print(names()))  # runs once Python's own threads have ended, one of which may be the last to hold the group
"""


@pytest.mark.parametrize("backend, imported", [("gloo", "first"), ("cpu:taut,cuda:taut", "first"), ("gloo", "later")])
def test_no_thread_of_gloo_outlives_its_group(rank, tmp_path, backend, imported):
    """A thread of gloo that needs the interpreter while it ends aborts the process."""
    if rank > 0:
        pytest.skip("rank 0 starts the process")
    command = [sys.executable, "-c", TRAINED, backend, str(tmp_path / "store"), imported]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0 and done.stdout, done.stderr
    assert "pt_gloo_runloop" not in done.stdout
