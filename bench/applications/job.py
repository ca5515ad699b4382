"""Runs of an application on a few ranks of Debian's Open MPI, bare and under `taut run`."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from suite import RIG  # noqa: E402

MPIEXEC = "mpiexec.openmpi"
# The build has a layer for Debian's Open MPI, whose headers this names.
BUILDS = {"applications": '''all -DTAUT_OPENMPI_INCLUDE="$(mpicc.openmpi --showme:incdirs | cut -d' ' -f1)"'''}
# Open MPI refuses to run as root, and waits without yielding the core to the ranks that it waits for.
VARIABLES = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
}


def what_is_missing(application):
    """Returns the reason why the application cannot run here; "" if there is none."""
    if not shutil.which(application.program):
        return f"{application.program} is missing (apt-get install {application.package})"
    return "" if shutil.which(MPIEXEC) else f"{MPIEXEC} is missing (apt-get install openmpi-bin)"


def environment():
    """Returns the environment of a job. Settings of Taut come by its command line alone."""
    return {name: value for name, value in os.environ.items() if not name.startswith("TAUT_")} | VARIABLES


def launch(command, folder, ranks=2, hosts="", timeout=900):
    """Runs a command on ranks that share memory, or with a rank on each of emulated hosts, by their name. Returns what the
    ranks print. Raises RuntimeError if they fail."""
    on_hosts = [str(RIG / "launch.sh"), hosts, str(ranks), "1", MPIEXEC]
    start = on_hosts if hosts else [MPIEXEC, "--oversubscribe", "-n", str(ranks)]
    done = subprocess.run(["timeout", str(timeout), *start, *command], cwd=folder, env=environment(), stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, check=False)  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


class Job:
    """`taut`: the program; `preload`: libtaut_preload.so. `hosts`: name of emulated hosts with a rank each; "": the ranks
    share memory."""

    def __init__(self, application, size, folder, taut, preload, hosts="", ranks=2, timeout=900):
        self.application, self.folder, self.ranks, self.hosts = application, Path(folder), ranks, hosts
        self.taut, self.preload, self.timeout = str(taut), str(preload), timeout
        self.command = [application.program, *application.arguments(self.folder, size)]

    def launch(self, command):
        return launch(command, self.folder, self.ranks, self.hosts, self.timeout)

    def bare(self):
        return self.launch(["env", "OMP_NUM_THREADS=1", *self.command])

    def observed(self, report, rules="", messages=False):
        """Runs under Taut, which writes reports of the ranks."""
        settings = [f"TAUT_PRELOAD={self.preload}", "OMP_NUM_THREADS=1"] + ["TAUT_MESSAGES=1"] * messages
        run = [self.taut, "run", *(["--rules", rules] if rules else []), "--report", report, "--", *self.command]
        return self.launch(["env", *settings, *run])

    def kinds(self, report):
        return kinds_of(self.folder / report, self.ranks)

    def advice(self, report, *options):
        command = [self.taut, "advise", report, *options]
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=True).stdout


def kinds_of(report, ranks):
    """Returns the kinds of calls in the reports of all ranks."""
    reports = [json.loads(Path(f"{report}.{rank}").read_text()) for rank in range(ranks)]
    return [kind for one in reports for c in one["communicators"] for kind in c["kinds"]]


def traffic(kinds):
    """Returns compressed calls, bytes of the values that they sent, and bytes that travelled instead."""
    own = [kind for kind in kinds if kind["collective"] != "recv"]  # a message counts at its sender
    return tuple(sum(kind[name] for kind in own) for name in ("compressed_calls", "carried_bytes", "sent_bytes"))
