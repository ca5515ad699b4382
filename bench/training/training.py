"""Measures training on four processes (`make bench-training`), by DDP with PyTorch's hooks and Taut's in alternation.

With a link, four emulated hosts are joined by such links (needs root); none: four processes of this host. DILOCO=1 runs
examples/python/diloco.py instead: averages of 100 million weights. SEEDS=3 trains with several seeds, without links: by seeds.py in
one process, by outer_steps.py with --every 20, or by train.py on two processes with --fsdp or --masters; with TIMED=1 by train.py over
the links, for losses against time. Further words are arguments of the program.
"""

import os
import subprocess
import sys

from suite import ROOT, Suite, lines_of, mbit_of, on_ranks, passed_on

PORT = "29517"


def on_processes(python, count):
    return ["timeout", "10800", python, "-m", "torch.distributed.run", f"--nproc-per-node={count}", f"--master-port={PORT}"]


def program_of(options, interface):
    """Returns the number of processes, 0 for one that plays the ranks itself, and the program with its arguments."""
    quick = ["--small", "--steps", 30] if options.quick else []
    seeds = ["--seeds", options.seeds] if options.seeds else []
    if options.diloco:
        width = 1000 if options.quick else 9900
        return options.hosts, [ROOT / "examples/python/diloco.py", "--width", width, "--outer", 4, "--inner", 3]
    if seeds and not options.timed and not {"--fsdp", "--masters"} & set(options.rest):
        program = "outer_steps.py" if "--every" in options.rest else "seeds.py"
        return 0, [ROOT / "bench/training" / program, *seeds, *(["--steps", 20] if options.quick else [])]
    tasks = ["--tasks", "transformer"] if seeds else []
    processes = 2 if seeds and not options.timed else options.hosts
    return processes, [ROOT / "bench/training/train.py", "--interface", interface, *quick, *seeds, *tasks]


def measured(options):
    link = "none" if options.seeds and not options.timed else options.link
    python, interface = ROOT / ".venv-torch/bin/python", "eth0" if mbit_of(link) else "lo"
    environment = os.environ | {"PYTHONPATH": str(options.builds[0] / "python"), "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": interface}
    processes, words = program_of(options, interface)
    start = on_processes(python, processes) if processes else [python]
    if mbit_of(link):
        environment |= {"MASTER_ADDR": "10.77.0.1", "MASTER_PORT": PORT}
        start = on_ranks(ROOT / ".venv-torch/bin/mpiexec", processes, link, seconds=3600, gate=["--gate", "warn"]) + [python]
    options.settings |= {"link": link}
    printed = []
    yield from lines_of([*start, *words, *options.rest], env=environment, other=lambda line: (passed_on(line), printed.append(line)))
    if options.diloco:
        yield {"task": "diloco", "printed": printed}


def draw(run, options):
    if not options.diloco and (options.timed or not options.seeds):
        subprocess.run([sys.executable, ROOT / "bench/training/picture.py", options.out / "training.json", options.out / "training.svg"])


SUITE = Suite(
    about=__doc__, rows=measured, finish=draw, within="replicas_equal", needs="link python torch",
    builds={"training": "taut_python -DTAUT_PYTHON=ON -DTAUT_WITH_MPI=OFF"},
    options={"link": ("1gbit", "rate of the links"), "diloco": (False, "averages of weights"), "seeds": (0, "number of seeds"),
             "timed": (False, "seeds over the links, with the time of each step"), "hosts": (4, "hosts, each of one process")},
    columns={"task": "{task}", "parameters": "{parameters}", "batch": "{batch}", "variant": "{variant}", "step, ms": "{median_step_ms:.1f}",
             "of plain's speed": "{speed:.2f}", "sent a step, B": "{sent_bytes_per_step:.0f}", "test loss": "{test_loss:.4f}", "deviation": "{deviation:.4f}",
             "replicas equal": "{replicas_equal}"},
)  # fmt: skip
