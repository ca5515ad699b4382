"""Tests how a job over the backend `taut` ends if a rank is stuck or dead: as over gloo, with PyTorch's message."""

import os
import re
import signal
import subprocess
import sys
import time

import pytest

PROGRAM = """
import os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
import taut.torch
rank, fault, path = int(sys.argv[1]), sys.argv[2], sys.argv[3]
taut.torch.set_rules("* : abs=1e-2")
dist.init_process_group("cpu:taut,cuda:taut", init_method="file://" + path, rank=rank, world_size=2, timeout=timedelta(seconds=4))
tensor = torch.randn(50_000)
dist.all_reduce(tensor)
print("began", flush=True)
if rank == 1:
    time.sleep(60)
for _ in range(2):
    dist.all_reduce(tensor, async_op=True).wait()
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
    assert status == 1 and re.search(message, text) and "RuntimeError" in text
    assert seconds < 30
