#!/usr/bin/env python3
"""Counts the instructions for each value in the kernels of the codecs, under qemu: an estimate of speed without hardware.

instructions.py x86=PROGRAM aarch64=PROGRAM: the programs are taut_bench_instructions of a build for each processor.
Prints a table of the AVX2 and NEON sets, and their quotient. The difference of two runs leaves out what a run does
besides the operation."""

import argparse
import collections
import re
import subprocess

COUNT = 2 * 4096  # values, as in instructions_main.cpp
PROCESSORS = {
    "x86": (["qemu-x86_64", "-cpu", "max"], "avx2"),
    "aarch64": (["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"], "neon"),
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


def instructions_a_value(processor, program, case, operation):
    emulator, kernels = PROCESSORS[processor]
    command = [*emulator, "-d", "in_asm,exec,nochain", program, *case, kernels, operation]
    few = executed([*command, "1"])
    return few if few is None else (executed([*command, "3"]) - few) / (2 * COUNT)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs=2, metavar="PROCESSOR=PROGRAM", help="x86=... aarch64=...")
    parser.add_argument("--codecs", help="codecs, separated by commas (all)")
    arguments = parser.parse_args()
    programs = dict(word.split("=", 1) for word in arguments.programs)
    print("| codec, type | operation | AVX2 | NEON | NEON / AVX2 |\n|---|---|---|---|---|")
    for case in CASES:
        if arguments.codecs and case[0] not in arguments.codecs.split(","):
            continue
        for operation in OPERATIONS:
            x86, aarch64 = (instructions_a_value(p, programs[p], case, operation) for p in PROCESSORS)
            if x86 is not None:
                print(f"| {' '.join(case)} | {operation} | {x86:.2f} | {aarch64:.2f} | {aarch64 / x86:.2f} |", flush=True)


if __name__ == "__main__":
    main()
