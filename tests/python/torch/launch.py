"""Runs the tests of taut.torch on several processes: launch.py RANKS [PYTEST ARGUMENTS].

Exits with 77, which ctest counts as skipped, if PyTorch is not installed.
"""

import importlib.util
import os
import sys
from pathlib import Path

HERE = Path(__file__).parent


def main():
    ranks, arguments = sys.argv[1], sys.argv[2:] or [str(HERE)]
    if importlib.util.find_spec("torch") is None:
        print(f"skipped: {sys.executable} has no PyTorch; make torch-test installs it into .venv-torch")
        return 77
    pytest = ["-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    launcher = ["-m", "torch.distributed.run", "--nnodes=1", f"--nproc-per-node={ranks}", "--master-addr=127.0.0.1"]
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.execv(sys.executable, [sys.executable, *launcher, f"--master-port={20000 + os.getpid() % 20000}", *pytest])


if __name__ == "__main__":
    sys.exit(main())
