#!/usr/bin/env python3
"""Checks the code that nvcc generates for the kernels.

Covers registers, shared memory, blocks on a multiprocessor, spills, local memory, accesses of 16 bytes, fences and
instruction counts.

Compiles all kernels of all types for sm_80, sm_90 and sm_100, if this nvcc supports them. No kernel depends on the architecture,
so nvcc translates each source once, for the oldest one, and ptxas assembles the result for each. What they made of a source is kept
in ~/.cache/taut/nvcc, as ccache keeps objects, for as long as its files, the flags and the tools stay the same. Without nvcc the
test prints a message and is skipped (status 77). Without nvdisasm this applies to the checks of machine code. TAUT_GENERATED: the
folder of what CMake generates.
"""

import glob
import hashlib
import inspect
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from os import cpu_count
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
ALL = [*sorted((ROOT / "src/compressor/gpu").glob("*/codec.cu")), ROOT / "src/compressor/gpu/cuda_values.cu"]
ALL += [ROOT / "tests/gpu/kernels/fast_path.cu", ROOT / "tests/gpu/kernels/fast_lossless.cu"]
FLAGS = ["-std=c++20", "--expt-relaxed-constexpr", "-fmad=false", f"-I{ROOT}/src", f"-I{ROOT}/include", f"-I{os.environ['TAUT_GENERATED']}"]
FLAGS += ["-diag-suppress", "445", "-ptx"]
SKIPPED = 77
KEPT = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "taut/nvcc"

# Registers that let two blocks of 512 threads reside on a multiprocessor, four of the usual ways, ten of sums with 128
# threads, and one block where few chunks come.
REGISTERS = {"planes.DecodeEndKernel": 120}
REGISTERS |= {"planes.EncodeKernel": 32, "planes.DecodeKernel": 32, "planes.SumKernel": 48}
REGISTERS |= {"planes.LaggedEndKernel": 124, "planes.LaggedValuesKernel": 52, "planes.ReferencedDecodeEndKernel": 120}
REGISTERS |= {"planes.ColumnTotalsKernel": 40, "planes.ColumnCarriesKernel": 40, "planes.ColumnSumsKernel": 40}
USUAL_REGISTERS = 64
# mpc has 256 threads a block: five blocks reside on a multiprocessor, four for words of 8 bytes.
LOSSLESS_REGISTERS = {"u64": 64, "f64": 64}
USUAL_LOSSLESS_REGISTERS = 48
# Kernels that look for a grid: a single warp, and 216 warps.
GRID_REGISTERS = {"mpc.FindGridKernel": 80, "mpc.SampleGridKernel": 80}
# zfp: a thread holds all values of a block. A thread block has 128 threads, 64 for three dimensions. For four
# dimensions a warp holds a block.
RATE_REGISTERS = {"f32 1-D": 40, "f32 2-D": 56, "f32 3-D": 128, "f32 4-D": 64, "any": 40}
RATE_REGISTERS |= {"f64 1-D": 48, "f64 2-D": 72, "f64 3-D": 224, "f64 4-D": 72}
# Arrays of values: eight blocks of 256 threads reside on a multiprocessor, four of those that find a range. A single
# block finds the total.
VALUES_REGISTERS = {"values.SumWithResidualKernel": 48, "values.SubtractFromResidualKernel": 48}
VALUES_REGISTERS |= {"values.CombineWidelyKernel": 48, "values.RangeKernel": 64, "values.RangeTotalKernel": 80}
USUAL_VALUES_REGISTERS = 32
# The kernel for tiles with values that are not finite, which few fields have.
REPAIR_REGISTERS = {"f32 1-D": 48, "f32 2-D": 64, "f32 3-D": 128, "f32 4-D": 80}
REPAIR_REGISTERS |= {"f64 1-D": 56, "f64 2-D": 80, "f64 3-D": 232, "f64 4-D": 88}
SHARED_BYTES = 48 << 10  # limit without an explicit request for more
# Threads of a block, and the least number of blocks that a multiprocessor holds, of the usual ways.
RESIDENT = {"planes.EncodeKernel": (512, 4), "planes.DecodeKernel": (512, 4), "planes.SumKernel": (128, 8)}
RESIDENT |= {f"mpc.{kernel}": (256, 4) for kernel in ("EncodeKernel", "DecodeKernel")}
RESIDENT |= {f"exponents.{kernel}": (512, 3) for kernel in ("EncodeKernel", "DecodeKernel")}
# Bytes of shared memory of a multiprocessor, of which each block takes 1 KiB more than it asks for.
SHARED_OF_MULTIPROCESSOR = {"sm_80": 164 << 10, "sm_90": 228 << 10, "sm_100": 228 << 10}
THREADS_OF_MULTIPROCESSOR, REGISTERS_OF_MULTIPROCESSOR = 2048, 65536
# Bytes of local memory, spilt or indexed, which nvcc 13.0 leaves.
# In a batch the job is found by an index, which takes registers: 44 to 140 bytes are spilt, beside the arrays.
LOCAL = {
    (arch, f"planes.EncodeKernel.batch{form}", dtype): 192
    for arch in ("sm_80", "sm_90", "sm_100")
    for form in ("", ".exact")
    for dtype in ("f32", "f64", "f16", "bf16")
}
LOCAL |= {("sm_100", "values.CombineKernel", "u8"): 24, ("sm_100", "values.CombineKernel", "i8"): 16}
# Bytes that are spilt so that four blocks reside on a multiprocessor, beside the arrays of rare ways.
SPILLS = {(arch, "planes.EncodeKernel", dtype): 16 for arch in ("sm_80", "sm_90", "sm_100") for dtype in ("f32", "f16", "bf16")}
SPILLS |= {(arch, "planes.EncodeKernel", "f64"): 104 for arch in ("sm_80", "sm_90", "sm_100")}
SPILLS |= {(arch, "planes.EncodeKernel.exact", "f32"): 30 for arch in ("sm_80", "sm_90", "sm_100")}
SPILLS |= {(arch, "planes.EncodeKernel.exact", "f64"): 52 for arch in ("sm_80", "sm_90", "sm_100")}
# In decoding, by the way of runs.
SPILLS |= {
    (arch, f"planes.DecodeKernel{form}", dtype): 80
    for arch in ("sm_80", "sm_90", "sm_100")
    for form in ("", ".batch")
    for dtype in ("f64", "f16", "bf16")
}
SPILLS |= {("sm_80", "planes.DecodeKernel.batch", "f32"): 12}
SPILLS |= {("sm_80", "zfp.EncodeKernel", "f64 3-D"): 8}
SPILLS |= {("sm_90", "mpc.EncodeKernel", "u64"): 16, ("sm_100", "mpc.EncodeKernel", "u64"): 32}
SPILLS |= {("sm_80", "mpc.EncodeKernel", dtype): 32 for dtype in ("u32", "u64")}
SPILLS |= {(arch, "mpc.GridEncodeKernel", dtype): most for arch in ("sm_80", "sm_90", "sm_100") for dtype, most in (("u32", 24), ("u64", 40))}
SPILLS |= {
    (arch, f"exponents.EncodeKernel{form}", dtype): 32
    for arch in ("sm_80", "sm_90", "sm_100")
    for form in ("", ".batch")
    for dtype in ("f16", "bf16")
}
# Bytes of local memory for arrays of rare ways, whose loops are rolled so that registers suffice. Nothing is spilt.
ARRAYS = {"planes.EncodeKernel": 128, "planes.EncodeAgainKernel": 128, "planes.SumKernel": 560}
ARRAYS |= {"planes.IntegersKernel": 128, "planes.LaggedRecordsKernel": 128, "planes.DecodeEndKernel": 128, "planes.LaggedEndKernel": 128}
ARRAYS |= {"planes.ReferencedEncodeKernel": 144, "planes.ReferencedEndKernel": 128, "planes.ReferencedDecodeEndKernel": 128}
ARRAYS |= {"mpc.EncodeKernel": 128, "mpc.GridEncodeKernel": 232, "mpc.SampleGridKernel": 224, "mpc.DecodeKernel": 64}
# Kernels without accesses of 16 bytes: a block has 8 bytes.
NARROW = [("mpc.EncodeKernel", "u8")]
# Instructions that order memory accesses: fences, and what an acquire or a release becomes. Only the kernels that
# end a call have any, one on each way of a block: blocks pass results on by relaxed accesses (compressor/gpu/simt/sink.hpp).
ORDERING = ("MEMBAR", "ERRBAR", "CGAERRBAR", "CCTL", "FENCE")
PREFETCH = "CCTL.E.PF2"  # orders nothing
ENDING = ("planes.EncodeKernel", "planes.EncodeKernel.exact", "planes.EncodeAgainKernel", "planes.EncodeAgainKernel.exact", "planes.DecodeEndKernel", "planes.SumEndKernel", "planes.LaggedEndKernel")
ENDING += ("planes.ReferencedEndKernel", "planes.ReferencedEndKernel.exact", "planes.ReferencedDecodeEndKernel")
ENDING += ("fast_place", "mpc.FinishKernel", "exponents.FinishKernel", "blocks.EncodeKernel", "blocks.DecodeKernel", "blocks.DecodeKernel.add", "zfp.RepairKernel", "zfp.DecodeKernel", "values.RangeTotalKernel", "values.NoteFailuresKernel")
# Instructions for 1024 values of usual chunks, whose records have up to 1024 words. Change a number only on
# purpose.
INSTRUCTIONS = {"encode": 1180, "encode exact": 1240, "encode large": 2040, "decode": 880, "decode large": 1080, "add": 860, "encode lossless": 1450, "decode lossless": 1650}
# Number of times that a warp executes a part for 1024 values. planes: 4 warps, of a sum one; one warp of 16, of a sum
# of 4, does some work for all. mpc: one warp; one warp of 8 does some work for all. Of the chunk's 32 rows of words, half
# are moved as records and all are moved as values, by four: a part moves 8.
WAYS = {
    "encode": {"fast_encode": 4, "fast_place": 4 / 16},
    "encode exact": {"fast_encode_exact": 4, "fast_place": 4 / 16},
    "encode large": {"fast_encode_large": 4, "fast_place": 4 / 16},
    "decode": {"fast_decode": 4, "fast_open": 4 / 16},
    "decode large": {"fast_decode_large": 4, "fast_open": 4 / 16},
    "add": {"fast_add": 1, "fast_find": 1 / 4, "fast_place": 1 / 4},
    "encode lossless": {"lossless_encode_step": 4, "lossless_encode_tables": 1, "lossless_place": 1 / 8, "lossless_move": 2},
    "decode lossless": {
        "lossless_open": 1 / 8,
        "lossless_decode_tables": 1,
        "lossless_move": 2 + 1,
        "lossless_decode_step": 4,
    },
}


def tool(name):
    places = [shutil.which(name), f"/usr/local/cuda/bin/{name}"]
    for venv in (Path(sys.prefix), ROOT / ".venv"):
        places += glob.glob(f"{venv}/lib/python3*/site-packages/nvidia/*/bin/{name}")
    return next((p for p in places if p and Path(p).exists()), None)


def architectures(nvcc):
    known = subprocess.run([nvcc, "--list-gpu-code"], capture_output=True, text=True).stdout.split()
    return [a for a in ("sm_80", "sm_90", "sm_100") if a in known]


def name_of(mangled):
    """Returns (codec.kernel, value type) of a mangled name.

    `.batch` marks a kernel for several frames, `.add` one that adds to values, `.add_float` to float32, `.exact` one that keeps packed
    integers.
    """
    if fast := re.search(r"(fast|lossless)_[a-z]+(_[a-z]+)?", mangled):
        return fast[0], "f32"
    value = r"(?:([fdahstijlm])(?:Lj(\d)E)?(?:LNS_10PackedBitsE(\d)E)?E|.*?[34](b?f16)E)"
    kernel = re.search(rf"(planes|mpc|exponents|blocks|zfp|values)4cuda\d+([A-Z][a-zA-Z]+?Kernel)(?:I(?:NS\d*_\d(Add|Replace)I)?{value})?", mangled)
    codec, name, target, letter, dims, exact, half = kernel.groups()
    letters = {"f": "f32", "d": "f64", "h": "u8", "t": "u16", "j": "u32", "m": "u64"}
    letters |= {"a": "i8", "s": "i16", "i": "i32", "l": "i64"}
    dtype = half or letters.get(letter, "any")
    name += ".batch" if "BatchKernel" in mangled else ""
    form = ".add" if target == "Add" else ".exact" if exact == "1" else ""
    form += "_float" if half and re.search(r"f16EfE", mangled) else ""
    return f"{codec}.{name}{form}", dtype + (f" {dims}-D" if dims else "")


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))} failed:\n{done.stderr}")
    return done


def assemble(nvcc, ptx, arch, cubin):
    """Returns what ptxas reports for each kernel: {(kernel, type): {registers, shared, spills, stack}}."""
    report = run([Path(nvcc).parent / "ptxas", "-v", f"-arch={arch}", "-o", cubin, ptx]).stderr
    kernels, name = {}, ""
    for line in report.splitlines():
        if found := re.search(r"Compiling entry function '(\S+)'", line):
            name = name_of(found[1])
            kernels[name] = {}
        for what, pattern in (
            ("stack", r"(\d+) bytes stack frame"),
            ("spills", r"(\d+) bytes spill stores"),
            ("registers", r"Used (\d+) registers"),
            ("shared", r"(\d+) bytes smem"),
        ):
            if found := re.search(pattern, line):
                kernels[name][what] = int(found[1])
    return kernels


def registers_allowed(name, dtype):
    if name.startswith("mpc."):
        return GRID_REGISTERS.get(name, LOSSLESS_REGISTERS.get(dtype, USUAL_LOSSLESS_REGISTERS))
    if name.startswith("values."):
        return VALUES_REGISTERS.get(name, USUAL_VALUES_REGISTERS)
    if name == "zfp.RepairKernel":
        return REPAIR_REGISTERS[dtype]
    if name.startswith("zfp."):
        return RATE_REGISTERS[dtype]
    return REGISTERS.get(plain(name), USUAL_REGISTERS)


def plain(name):
    """Returns the name of a kernel without its form."""
    return ".".join(name.split(".")[:2])


def up(number, unit):
    return -(-number // unit) * unit


def resident_blocks(arch, threads, registers, shared):
    """Returns the number of blocks that a multiprocessor holds. Registers are allocated to warps by 256, warps by 4."""
    warps = REGISTERS_OF_MULTIPROCESSOR // up(32 * registers, 256) // 4 * 4
    by_shared = SHARED_OF_MULTIPROCESSOR[arch] // up(shared + 1024, 128)
    return min(THREADS_OF_MULTIPROCESSOR // threads, warps // (threads // 32), by_shared)


def blocks_of(arch, name, found):
    """Returns the number of blocks on a multiprocessor, and the least number; None of kernels without a limit."""
    if plain(name) not in RESIDENT:
        return None
    threads, least = RESIDENT[plain(name)]
    return resident_blocks(arch, threads, found["registers"], found.get("shared", 0)), least


def limits(arch, kernels):
    for (name, dtype), found in kernels.items():
        key = (arch, name, dtype)
        blocks = blocks_of(arch, name, found)
        if blocks and blocks[0] < blocks[1]:
            yield f"{name} of {dtype}: {blocks[0]} blocks on a multiprocessor, at least {blocks[1]}"
        allowed = {
            "registers": registers_allowed(name, dtype),
            "shared": SHARED_BYTES,
            "spills": LOCAL.get(key, SPILLS.get(key, 0)),
            "stack": LOCAL.get(key, ARRAYS.get(plain(name), 0) + SPILLS.get(key, 0)),
        }
        for what, most in allowed.items():
            if found.get(what, 0) > most:
                yield f"{name} of {dtype}: {found[what]} {what}, at most {most}"


def machine_code(nvdisasm, cubin):
    """Returns the instructions of each kernel, except for diverged warps: {(kernel, type): {opcode: number}}."""
    text = subprocess.run([nvdisasm, "-c", cubin], capture_output=True, text=True, check=True).stdout
    apart = set(re.findall(r"BRA\.DIV .*`\((\S+)\)", text))
    code, name, skipped = {}, None, False
    for line in text.splitlines():
        if found := re.match(r"\.text\.(\S+):", line):
            name = name_of(found[1])
            code[name] = Counter()
        elif found := re.match(r"(\.L\w+):", line):
            skipped = skipped or found[1] in apart
        elif name and (found := re.match(r"\s+/\*[0-9a-f]+\*/\s+(@!?U?P\w+\s+)?([A-Z][\w.]*)", line)):
            if found[2] != "NOP" and not skipped:
                code[name][found[2]] += 1
            skipped = skipped and not (found[2] == "BRA" and not found[1])
    return code


def faults_of_code(arch, code):
    wide = {"planes.EncodeKernel": "LDG.E.128", "planes.DecodeKernel": "STG.E.128"}
    wide |= {"planes.IntegersKernel": "STG.E.128", "planes.ResidualsKernel": "STG.E.128", "planes.LaggedValuesKernel": "LDG.E.128"}
    wide |= {"mpc.EncodeKernel": "LDG.E.128", "mpc.DecodeKernel": "STG.E.128", "mpc.DecodeKernel.add": "STG.E.128"}
    wide |= {"exponents.EncodeKernel": "LDG.E.128", "exponents.DecodeKernel": "STG.E.128", "exponents.DecodeKernel.add": "STG.E.128", "exponents.DecodeKernel.add_float": "STG.E.128"}
    wide |= {"planes.EncodeKernel.exact": "LDG.E.128", "planes.IntegersKernel.exact": "STG.E.128"}
    wide |= {"planes.ReferencedEncodeKernel": "LDG.E.128", "planes.ReferencedEncodeKernel.exact": "LDG.E.128", "planes.ReferencedDecodeKernel": "STG.E.128"}
    wide |= {"values.CombineKernel": "STG.E.128", "values.DivideKernel": "STG.E.128", "values.RangeKernel": "LDG.E.128"}
    wide |= {"values.SumWithResidualKernel": "STG.E.128", "values.SubtractFromResidualKernel": "STG.E.128"}
    wide |= {"zfp.EncodeKernel": "LDG.E.128", "zfp.DecodeKernel": "STG.E.128"}
    for (name, dtype), instructions in code.items():
        if name in wide and (name, dtype) not in NARROW and not any(i.startswith(wide[name]) for i in instructions):
            yield f"{name} of {dtype}: no {wide[name]}"
        local = sum(number for i, number in instructions.items() if i.startswith(("LDL", "STL")))
        if local > 0 and (arch, name, dtype) not in {**LOCAL, **SPILLS} and plain(name) not in ARRAYS:
            yield f"{name} of {dtype}: {local} accesses to local memory"
        if any(i.startswith("BPT") for i in instructions):  # what nvcc makes of a function or a constant of the host
            yield f"{name} of {dtype}: a trap"
        ordering = sorted({i for i in instructions if i.startswith(ORDERING) and i != PREFETCH})
        if ordering and name.replace(".batch", "") not in ENDING:
            yield f"{name} of {dtype}: {', '.join(ordering)}"


def usual_ways(code):
    """Returns the instructions for 1024 float32: {"encode": ...}. Omits entries that lack kernels."""
    each = {name: sum(instructions.values()) for (name, _), instructions in code.items()}
    return {
        way: round(sum(each[kernel] * times for kernel, times in parts.items()))
        for way, parts in WAYS.items()
        if each.keys() >= parts.keys()
    }


def translate(nvcc, source, arch, folder):
    """Translates a source to PTX for `arch` and later ones. Returns its path."""
    ptx = Path(folder) / f"{source.stem}.{source.parent.name}.ptx"
    run([nvcc, *FLAGS, f"-arch={arch.replace('sm', 'compute')}", "-o", ptx, source])
    return ptx


def tables_without_values(ptx):
    """Returns a fault for each array in a translated source that nvcc has left without its values."""
    return [f"{ptx.stem}: {name} has no values" for name in re.findall(r"^\.(?:global|const) [^=;]* (\S+)\[\d+\];", ptx.read_text(), re.M)]


def identity_of(nvcc, nvdisasm, source, supported):
    """Returns a hash of all that decides what the tools make of a source: its files, in any folder, flags and versions."""
    files = run([nvcc, *[flag for flag in FLAGS if flag != "-ptx"], "-MM", source]).stdout.replace("\\\n", " ").partition(":")[2].split()
    known = [[flag for flag in FLAGS if not flag.startswith("-I")], supported, run([nvcc, "--version"]).stdout]
    known += [run([nvdisasm, "--version"]).stdout if nvdisasm else ""]
    known += sorted((Path(file).name, hashlib.sha256(Path(file).read_bytes()).hexdigest()) for file in files)
    known += [inspect.getsource(read) for read in (name_of, assemble, machine_code, tables_without_values, made_of)]
    return hashlib.sha256(json.dumps(known).encode()).hexdigest()


def made_of(nvcc, nvdisasm, source, supported):
    """Returns what the tools make of a source: {"faults": ..., arch: [(kernel, type, what ptxas reports, opcodes)]}."""
    kept, identity = KEPT / f"{source.parent.name}.{source.stem}.json", identity_of(nvcc, nvdisasm, source, supported)
    if kept.exists() and (made := json.loads(kept.read_text()))["identity"] == identity:
        return made
    with tempfile.TemporaryDirectory() as folder:
        ptx = translate(nvcc, source, supported[0], folder)
        made = {"identity": identity, "faults": tables_without_values(ptx)}
        for arch in supported:
            cubin = ptx.with_suffix(f".{arch}.cubin")
            kernels = assemble(nvcc, ptx, arch, cubin)
            code = machine_code(nvdisasm, cubin) if nvdisasm else {}
            made[arch] = [(*key, found, code.get(key, {})) for key, found in sorted(kernels.items())]
            made[arch] += [(*key, {}, code[key]) for key in sorted(code.keys() - kernels.keys())]
    KEPT.mkdir(parents=True, exist_ok=True)
    new = kept.with_suffix(f".{os.getpid()}")
    new.write_text(json.dumps(made))
    new.replace(kept)
    return made


def examine(arch, made):
    """Returns faults of what the tools made of a source, rows of the table, and lines about usual chunks."""
    kernels = {(name, dtype): found for name, dtype, found, _ in made if found}
    code = {(name, dtype): opcodes for name, dtype, _, opcodes in made if opcodes}
    faults, lines = [*limits(arch, kernels), *faults_of_code(arch, code)], []
    for way, count in usual_ways(code).items():
        lines.append(f"{arch}: {count} instructions to {way}: 1024 float32")
        if count > INSTRUCTIONS[way]:
            faults.append(f"{way}: {count} instructions for 1024 values, at most {INSTRUCTIONS[way]}")
    rows = [
        (arch, n[1], n[0], k.get("registers"), k.get("shared", 0), k.get("spills"), (blocks_of(arch, n[0], k) or ["-"])[0], sum(code.get(n, {}).values()))
        for n, k in kernels.items()
    ]
    return [f"{arch}: {fault}" for fault in faults], rows, lines


def main():
    nvcc, nvdisasm = tool("nvcc"), tool("nvdisasm")
    if not nvcc:
        print("skipped: there is no nvcc in PATH or /usr/local/cuda/bin")
        return SKIPPED
    supported = architectures(nvcc)
    with ThreadPoolExecutor(cpu_count()) as threads:
        all_made = list(threads.map(lambda source: made_of(nvcc, nvdisasm, source, supported), ALL))
    found = [examine(arch, made[arch]) for made in all_made for arch in supported]
    found += [(made["faults"], [], []) for made in all_made]
    faults, rows, lines = ([item for part in parts for item in part] for parts in zip(*found))
    print("\n".join(lines))
    print("arch     type    kernel                           registers shared spills blocks instructions")
    for row in rows:
        print("{:8} {:7} {:32} {:9} {:6} {:6} {:>6} {:12}".format(*row))
    for fault in faults:
        print("fault:", fault)
    if not nvdisasm:
        print("machine code was not read: there is no nvdisasm (pip install nvidia-cuda-nvdisasm)")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
