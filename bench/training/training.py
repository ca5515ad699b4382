"""Measures training on four processes (`make bench-training`), by DDP with PyTorch's hooks and Taut's in alternation.

With a link, four emulated hosts are joined by such links (needs root); none: four processes of this host. DILOCO=1 runs
examples/python/diloco.py instead: averages of 100 million weights. SEEDS=3 trains with several seeds, without links: by seeds.py in
one process, by outer_steps.py with --every 20, or by train.py on two processes with --fsdp or --masters. Further words are arguments
of the program.
"""

import os
import subprocess
import sys

from suite import ROOT, Suite, lines_of, mbit_of, on_ranks, passed_on

PORT = "29517"


def on_processes(python, count):
    return ["timeout", "10800", python, "-m", "torch.distributed.run", f"--nproc-per-node={count}", f"--master-port={PORT}"]


def measured(options):
    link = "none" if options.seeds else options.link
    python, interface = ROOT / ".venv-torch/bin/python", "eth0" if mbit_of(link) else "lo"
    if options.diloco:
        words = [ROOT / "examples/python/diloco.py", "--width", 1000 if options.quick else 9900, "--outer", 4, "--inner", 3]
    else:
        words = [ROOT / "bench/training/train.py", "--interface", interface, *(["--small", "--steps", 30] if options.quick else [])]
    environment = os.environ | {"PYTHONPATH": str(options.builds[0] / "python"), "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": interface}
    if mbit_of(link):
        environment |= {"MASTER_ADDR": "10.77.0.1", "MASTER_PORT": PORT}
        start = on_ranks(ROOT / ".venv-torch/bin/mpiexec", 4, link, seconds=3600, gate=["--gate", "warn"]) + [python]
    else:
        start = on_processes(python, 4)
    if options.seeds and {"--fsdp", "--masters"} & set(options.rest):
        start, words = on_processes(python, 2), [*words, "--seeds", options.seeds, "--tasks", "transformer"]
    elif options.seeds:
        program = "outer_steps.py" if "--every" in options.rest else "seeds.py"
        start, words = [python], [ROOT / "bench/training" / program, "--seeds", options.seeds, *(["--steps", 20] if options.quick else [])]
    options.settings |= {"link": link}
    printed = []
    yield from lines_of([*start, *words, *options.rest], env=environment, other=lambda line: (passed_on(line), printed.append(line)))
    if options.diloco:
        yield {"task": "diloco", "printed": printed}


def draw(run, options):
    if not options.diloco and not options.seeds:
        subprocess.run([sys.executable, ROOT / "bench/training/picture.py", options.out / "training.json", options.out / "training.svg"])


SUITE = Suite(
    about=__doc__, rows=measured, finish=draw, within="replicas_equal", needs="link python torch",
    builds={"training": "taut_python -DTAUT_PYTHON=ON -DTAUT_WITH_MPI=OFF"},
    options={"link": ("1gbit", "rate of the links"), "diloco": (False, "averages of weights"), "seeds": (0, "number of seeds")},
    columns={"task": "{task}", "parameters": "{parameters}", "batch": "{batch}", "variant": "{variant}", "step, ms": "{median_step_ms:.1f}",
             "of plain's speed": "{speed:.2f}", "sent a step, B": "{sent_bytes_per_step:.0f}", "test loss": "{test_loss:.4f}", "deviation": "{deviation:.4f}",
             "replicas equal": "{replicas_equal}"},
)  # fmt: skip
