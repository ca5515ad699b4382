"""Runs of an application on two ranks of Debian's Open MPI, bare and under `taut run`."""

import json
import os
import shutil
import subprocess
from pathlib import Path

MPIEXEC = "mpiexec.openmpi"
RIG = Path(__file__).resolve().parents[2] / "tools" / "rig" / "on_link.sh"
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


class Job:
    """`taut`: the program; `preload`: libtaut_preload.so. `mbit`: rate of the link between two emulated hosts with a
    rank each; 0: the ranks share memory."""

    def __init__(self, application, size, folder, taut, preload, mbit=0, ranks=2, timeout=900):
        self.application, self.folder, self.ranks, self.mbit = application, Path(folder), ranks, mbit
        self.taut, self.preload, self.timeout = str(taut), str(preload), timeout
        self.command = [application.program, *application.arguments(self.folder, size)]

    def variables(self):
        clean = {name: value for name, value in os.environ.items() if not name.startswith("TAUT_")}
        return clean | VARIABLES

    def launch(self, command):
        """Returns what the ranks print. Raises RuntimeError if they fail."""
        limit = str(self.timeout)
        if self.mbit:
            link = ["--mbit", str(self.mbit), "--gate", "warn", "--seconds", limit]
            start = [str(RIG), "--mpiexec", MPIEXEC, *link, "--"]
        else:
            start = ["timeout", limit, MPIEXEC, "--oversubscribe", "-n", str(self.ranks)]
        done = subprocess.run([*start, *command], cwd=self.folder, env=self.variables(), stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=False)  # fmt: skip
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def bare(self):
        return self.launch(["env", "OMP_NUM_THREADS=1", *self.command])

    def observed(self, report, rules="", messages=False):
        """Runs under Taut, which writes reports of the ranks."""
        settings = [f"TAUT_PRELOAD={self.preload}", "OMP_NUM_THREADS=1"] + ["TAUT_MESSAGES=1"] * messages
        run = [self.taut, "run", *(["--rules", rules] if rules else []), "--report", report, "--", *self.command]
        return self.launch(["env", *settings, *run])

    def kinds(self, report):
        """Returns the kinds of calls in the reports of all ranks."""
        reports = [json.loads((self.folder / f"{report}.{rank}").read_text()) for rank in range(self.ranks)]
        return [kind for one in reports for c in one["communicators"] for kind in c["kinds"]]

    def advice(self, report, *options):
        command = [self.taut, "advise", report, *options]
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=True).stdout


def traffic(kinds):
    """Returns compressed calls, bytes of the values that they sent, and bytes that travelled instead."""
    own = [kind for kind in kinds if kind["collective"] != "recv"]  # a message counts at its sender
    return tuple(sum(kind[name] for kind in own) for name in ("compressed_calls", "carried_bytes", "sent_bytes"))
