#!/usr/bin/env python3
"""Runs everything in Python that works on memory of a GPU: arrays of CuPy, PyTorch and JAX in codec calls and in calls of
taut.Comm, taut.torch over NCCL, gloo and MPI, and an unchanged program of PyTorch under `taut run`.

  python_calls.py --package FOLDER [--mpi FOLDER] [--out FOLDER] [--only NAMES] [--seconds 120]

FOLDER of --package has the package `taut`; that of --mpi has bin/mpiexec and lib/libmpi.so.12. Prints one line for each step; the
log is OUT/python_calls.log. Steps of different lanes run at the same time. Two ranks share one GPU. A step that has not ended
by its time is ended, after the stacks of its processes are in the log. The status is the number of steps that failed.
"""

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests/python"
PYTEST = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-ra", "--color=no", "--tb=short", "-o", "faulthandler_timeout=20"]
TORCH_TESTS = [sys.executable, str(TESTS / "pytorch/launch.py"), "2", *PYTEST[6:]]
SOCKETS = {"NCCL_SOCKET_IFNAME": "lo", "GLOO_SOCKET_IFNAME": "lo", "NCCL_MAX_CTAS": "2", "NCCL_NET_GDR_LEVEL": "LOC", "NCCL_DEBUG": "WARN"}
RULES = "* f32 >=64KiB : abs=1e-3 codec=planes when=always"


@dataclass
class Step:
    name: str
    lane: str
    command: list[str]
    seconds: int = 60
    environment: dict = field(default_factory=dict)
    said: str = ""  # what the output must contain
    after: object = None  # returns why the step failed after all


PROGRAM = [sys.executable, str(ROOT / "tools/gpu/torch_program.py")]
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2", "--master-addr=127.0.0.1"]
EACH_RANK = """
for rank in 0 1; do RANK=$rank LOCAL_RANK=$rank "$@" & processes="$processes $!"; done
for process in $processes; do wait $process || failed=1; done
exit ${failed:-0}
"""


def on_two_ranks(*arguments, port):
    """Returns the command that runs the program of PyTorch on two ranks, without torchrun, which takes seconds to start."""
    return ["env", "WORLD_SIZE=2", "MASTER_ADDR=127.0.0.1", f"MASTER_PORT={port}", "bash", "-c", EACH_RANK, "ranks", *PROGRAM, *arguments]


def bits_of(text):
    """Returns the lines of a program that tell its results."""
    return sorted(re.findall(r"rank \d [^:\n]*: error \S+ bits \w+", text))


def steps(options, texts):
    package, out = Path(options.package), Path(options.out)
    mpiexec = options.mpiexec
    tensors = {"OMP_NUM_THREADS": "1", **SOCKETS}
    eager = {"CUDA_MODULE_LOADING": "EAGER"}  # so that nothing waits for the whole GPU behind a stream that waits
    if mpiexec:
        of_mpi = [*mpiexec, "-n", "2", *PYTEST]
        yield Step("taut.Comm, streams", "a", [*of_mpi, str(TESTS / "mpi/test_device_protocols.py")], 30, eager)
    yield Step("codec calls, CuPy PyTorch JAX", "a", [*PYTEST, str(TESTS / "test_gpu_libraries.py")])
    if mpiexec:
        yield Step("taut.Comm, stand-in classes", "a", [*of_mpi, str(TESTS / "mpi/test_device_arrays.py")], 40)
        yield Step("taut.Comm, CuPy PyTorch JAX", "a", [*of_mpi, str(TESTS / "mpi/test_gpu_libraries.py")])
        yield Step("taut.torch over MPI", "a", [*of_mpi, str(TESTS / "mpi/test_tensors.py")], 60, {**tensors, "TESTED_DEVICE": "cuda"})
        yield Step("transpose.py", "a", [*mpiexec, "-n", "2", sys.executable, str(ROOT / "examples/gpu/transpose.py"), "2048"], 40, said="bound")
    yield Step("codec calls, stand-in classes", "a", [*PYTEST, str(TESTS / "test_gpu.py"), str(TESTS / "test_gpu_frames.py")])
    over = {name: {**tensors, "TESTED_BACKEND": name, "TESTED_DEVICE": "cuda"} for name in ("gloo", "taut")}
    torch_tests, fsdp_tests = TESTS / "pytorch", TESTS / "pytorch/test_fsdp.py"
    yield Step("FSDP2 over the backend taut", "c", [*TORCH_TESTS, str(fsdp_tests)], 40, over["taut"])
    yield Step("taut.torch over gloo", "c", [*TORCH_TESTS, str(torch_tests)], 65, over["gloo"])
    bare = {**tensors, "LD_PRELOAD": str(package / "taut/lib/taut/libtaut_preload.so")}
    report = out / "dropin.json"

    def served():
        calls = {}
        for file in out.glob("dropin.json.nccl.*"):
            calls.update(json.loads(file.read_text()).get("nccl_calls", {}))
        counts = {name: (one["served_calls"], one["left_calls"]) for name, one in calls.items()}
        print(f"  served and left: {counts}", flush=True)
        return "" if counts.get("ncclAllReduce", (0, 0))[0] > 0 else "no AllReduce was served"

    run = [str(package / "taut/bin/taut"), "run", "--rules", RULES, "--report", str(report), "--", *TORCHRUN, "--master-port=29613"]
    yield Step("taut run --rules", "b", [*run, *PROGRAM[1:], "2e-3", "waiting"], 35, tensors, after=served)
    ruled = {**bare, "TAUT_RULES": "Allreduce f32,bf16 >=64KiB : rel=1e-4 codec=planes", "TAUT_SUMMARY": "1"}
    yield Step("LD_PRELOAD, TAUT_RULES", "b", on_two_ranks("1e-2", "waiting", port=29614), 30, ruled, said="taut: ncclAllReduce")
    ruled = {**bare, "TAUT_RULES": RULES}
    flying = ("2e-3", "flying,stream,training")
    yield Step("flying and training, rules", "b", on_two_ranks(*flying, port=29616), 26, ruled)
    nonblocking = on_two_ranks("2e-3", "waiting", port=29615)
    yield Step("nonblocking communicators", "b", nonblocking, 26, {**ruled, "NONBLOCKING": "1"}, said="blocking = 0")

    def same_bits():
        alone, preloaded = (bits_of(texts.get(name, "")) for name in ("unchanged program, alone", "preloaded, no rules"))
        return "" if alone == preloaded else "other bits than alone"

    yield Step("unchanged program, alone", "b", on_two_ranks(port=29611), 30, tensors)
    yield Step("preloaded, no rules", "b", on_two_ranks(port=29612), 30, bare, after=same_bits)
    in_flight = {**ruled, **eager, "TAUT_NCCL_IN_FLIGHT": "1"}  # the streams wait instead of the host
    yield Step("calls in flight, rules", "b", on_two_ranks(*flying, port=29617), 26, in_flight)
    yield Step("taut.torch over the backend taut", "c", [*TORCH_TESTS, str(torch_tests), f"--ignore={fsdp_tests}"], 60, over["taut"])


def find_mpiexec(folder, environment):
    """Returns the command that starts ranks here, or why there is none."""
    if not folder:
        return None, "no --mpi"
    code = "from mpi4py import MPI; print('ranks', MPI.COMM_WORLD.allreduce(1))"
    why = "no try"
    for options in ([], ["-iface", "lo"], ["-iface", "lo", "-genv", "FI_PROVIDER", "tcp"]):
        command = [str(Path(folder) / "bin/mpiexec"), *options]
        try:
            done = subprocess.run([*command, "-n", "2", sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=15)
        except (OSError, subprocess.TimeoutExpired) as error:
            why = str(error)
            continue
        if done.stdout.count("ranks 2") == 2:
            return command, ""
        why = (done.stderr or done.stdout).strip()[-300:]
    return None, why


def last_error(text):
    """Returns the line of a log that says best why it failed."""
    text = re.sub(r"^.*(?:traceback : To enable|ChildFailedError|error_file).*$", "", text, flags=re.M)
    for pattern in (r"^(?:.*:\s)?(FAILED .*)$", r"^E +(.+)$", r"^(?:\[rank\d\]: ?)?(\w*(?:Error|Exception)\b.*)$", r"^(?! *File )(.*error.*)$"):
        found = re.findall(pattern, text, re.M)
        if found:
            return found[-1][:220]
    lines = text.strip().splitlines()
    return lines[-1][:220] if lines else "no output"


def processes_of(mark):
    """Returns the numbers of all processes of a step, also those that have left its group."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if f"STEP_OF_CALLS={mark}".encode() in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
        except OSError:
            pass
    return found


def end(mark):
    for process in processes_of(mark):
        try:
            os.kill(process, signal.SIGKILL)
        except OSError:
            pass


def stacks(mark):
    """Returns where the threads of a step's processes are that use the driver of a GPU, if there is a debugger."""
    debugger = shutil.which("gdb") or shutil.which("cuda-gdb", path="/usr/local/cuda/bin")
    if not debugger:
        return ""
    quick = ["-nx", "-batch", "-iex", "set auto-solib-add off", "-iex", "set debuginfod enabled off"]  # without all of PyTorch's symbols
    ask = ["-ex", "sharedlibrary libtaut|_core|libcuda|libnccl|libc.so|libmpi", "-ex", "thread apply all backtrace 16"]
    text = ""
    for process in processes_of(mark):
        try:
            if "libcuda.so" not in Path(f"/proc/{process}/maps").read_text():
                continue
            done = subprocess.run([debugger, *quick, "-p", str(process), *ask], capture_output=True, text=True, errors="replace", timeout=10)
            text += f"\n---- process {process}\n{done.stdout}{done.stderr[-500:]}"
        except (OSError, subprocess.TimeoutExpired) as error:
            text += f"\n---- process {process}: {type(error).__name__}\n"
    return text


def carry_out(step, environment, texts, until):
    """Runs a step within its time; returns (outcome, seconds, remark)."""
    seconds = min(step.seconds, until - time.monotonic())
    start = time.monotonic()
    if seconds < 10:
        return "skipped", 0.0, "out of time"
    mark = f"{os.getpid()}-{step.name}"
    process = subprocess.Popen(
        step.command, env={**environment, **step.environment, "STEP_OF_CALLS": mark}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        errors="replace", stdin=subprocess.DEVNULL, start_new_session=True, cwd=ROOT,
    )  # fmt: skip
    late, where = False, ""
    try:
        text, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        late, where = True, stacks(mark)
        end(mark)
        try:
            text, _ = process.communicate(timeout=5)
        except subprocess.TimeoutExpired:
            text = "its processes do not end"
        text += where
    end(mark)
    taken = time.monotonic() - start
    texts[step.name] = text
    counts = re.findall(r"^=*\s*((?:\d+ \w+,? ?)+) in [\d.]+s", text, re.M)
    remark = counts[-1] if counts else ""
    if late:
        return "failed", taken, f"no end within {seconds:.0f} s; {last_error(text.removesuffix(where))}"
    if process.returncode == 5:  # pytest's: no tests
        return "skipped", taken, (re.findall(r"^SKIPPED.*$", text, re.M) or [remark])[-1][:200]
    if process.returncode != 0:
        return "failed", taken, f"status {process.returncode}; {remark} {last_error(text)}"
    if step.said and step.said not in text:
        return "failed", taken, f"does not say '{step.said}'"
    why = step.after() if step.after else ""
    if why:
        return "failed", taken, why
    if re.fullmatch(r"\d+ skipped", remark):
        return "skipped", taken, (re.findall(r"^SKIPPED.*$", text, re.M) or [remark])[-1][:200]
    return "ok", taken, remark


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--package", required=True)
    parser.add_argument("--mpi", default="")
    parser.add_argument("--out", default="build/gpu/python")
    parser.add_argument("--only", default="", help="parts of the names of steps, separated by commas")
    parser.add_argument("--seconds", type=float, default=120)
    options = parser.parse_args()
    Path(options.out).mkdir(parents=True, exist_ok=True)
    until = time.monotonic() + options.seconds
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "XLA_PYTHON_CLIENT_PREALLOCATE": "false", "TESTED_PROGRAM": str(Path(options.package) / "taut/bin/taut")}
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, [options.package, os.environ.get("PYTHONPATH", "")]))
    if options.mpi:
        environment["LD_LIBRARY_PATH"] = os.pathsep.join(filter(None, [f"{options.mpi}/lib", os.environ.get("LD_LIBRARY_PATH", "")]))
        environment.setdefault("MPI4PY_MPIABI", "mpich")
    options.mpiexec, why = find_mpiexec(options.mpi, environment)
    print(f"mpiexec: {' '.join(options.mpiexec) if options.mpiexec else 'skipped: ' + why}", flush=True)
    texts, failures, lock = {}, [], threading.Lock()
    log = open(Path(options.out) / "python_calls.log", "w")
    wanted = [step for step in steps(options, texts) if not options.only or any(part in step.name for part in options.only.split(","))]

    def lane(mine):
        for step in mine:
            try:
                outcome, seconds, remark = carry_out(step, environment, texts, until)
            except Exception as error:
                outcome, seconds, remark = "failed", 0.0, f"{type(error).__name__}: {error}"
            with lock:
                print(f"{step.name:32} {outcome:8} {seconds:5.1f} s  {remark}", flush=True)
                log.write(f"\n######## {step.name}: {outcome}, {seconds:.1f} s: {' '.join(step.command)}\n{texts.get(step.name, '')}\n")
                log.flush()
                if outcome == "failed":
                    failures.append(step.name)

    threads = [threading.Thread(target=lane, args=([step for step in wanted if step.lane == name],)) for name in dict.fromkeys(step.lane for step in wanted)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return len(failures)


if __name__ == "__main__":
    sys.exit(main())
