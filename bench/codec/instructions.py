"""Counts the instructions a value in the AVX2 and NEON kernels of the codecs, under qemu: an estimate of speed without hardware.

--build names a build for x86_64 and one for AArch64. The difference of two runs leaves out what a run does besides the operation.
"""

import collections
import re
import subprocess

from suite import RELEASE, Suite

COUNT = 2 * 4096  # values, as in instructions_main.cpp
PROCESSORS = {  # kernel set: emulator
    "avx2": ["qemu-x86_64", "-cpu", "max"],
    "neon": ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"],
}
CASES = [("planes", "f32"), ("planes", "f64"), ("planes", "bf16"), ("szx", "f32"), ("szx", "f64"), ("mpc", "f32"),
         ("mpc", "f64"), ("exponents", "bf16")]  # fmt: skip
CONTINUED = re.compile(r"0x\w+:(\s+[0-9a-f]{2})+\s+")  # more bytes of the instruction on the line before
OPERATIONS = ["encode", "decode", "add", "sum"]


def executed(command):
    """Returns the number of instructions that a program executes, or None if it does not serve the operation. qemu
    logs each block of instructions when it is translated, and its address whenever it is executed."""
    length, executions, block = {}, collections.Counter(), None
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, errors="replace") as process:
        for line in process.stderr:
            if line.startswith("Trace"):
                executions[int(line.split("/")[1], 16)] += 1
            elif line.startswith("IN:"):
                block = None
            elif line.startswith("0x") and not CONTINUED.fullmatch(line):
                address = int(line.split(":")[0], 16)
                block = address if block is None else block
                length[block] = 1 if address == block else length[block] + 1
    if process.returncode == 2:
        return None
    if process.returncode != 0:
        raise SystemExit(f"exit status {process.returncode}: {' '.join(command)}")
    return sum(length[address] * n for address, n in executions.items())


def instructions_a_value(kernels, build, case, operation):
    (program,) = build.rglob("taut_bench_instructions")
    command = [*PROCESSORS[kernels], "-d", "in_asm,exec,nochain", program, *case, kernels, operation]
    few = executed([*command, "1"])
    return few if few is None else (executed([*command, "3"]) - few) / (2 * COUNT)


def measured(options):
    wanted = options.codecs.split(",")
    for case in (case for case in CASES if case[0] in wanted):
        for operation in OPERATIONS:
            counts = {kernels: instructions_a_value(kernels, build, case, operation) for kernels, build in zip(PROCESSORS, options.builds, strict=True)}
            if None not in counts.values():
                yield {"codec": case[0], "type": case[1], "operation": operation, **counts, "quotient": counts["neon"] / counts["avx2"]}


SUITE = Suite(
    about=__doc__, rows=measured, needs="bench aarch64", options={"codecs": ("planes,szx,mpc,exponents", "codecs")},
    builds={"release": f"taut_bench_instructions {RELEASE}",
            "aarch64-o3": "taut_bench_instructions '-DCMAKE_CXX_FLAGS_RELEASE=-O3 -DNDEBUG'"},
    columns={"codec": "{codec} {type}", "operation": "{operation}", "AVX2": "{avx2:.2f}", "NEON": "{neon:.2f}", "NEON / AVX2": "{quotient:.2f}"},
)  # fmt: skip
