"""A Python program that finds NCCL's functions by ctypes, as vLLM and SGLang do, with two ranks of one thread: by_ctypes.py DRIVER RUNTIME SERVED

DRIVER and RUNTIME are those of simulated GPUs. SERVED is 1 if libtaut_nccl is to be loaded when the sum is there, 0 if not.
"""

import ctypes
import sys
from pathlib import Path

FLOAT, SUM, COUNT = 7, 0, 5000
CREATE, SYNCHRONIZE = "_Z25cudaStreamCreateWithFlagsPP13StandInStreamj", "_Z21cudaStreamSynchronizeP13StandInStream"

driver, runtime = (ctypes.CDLL(path) for path in sys.argv[1:3])
driver.stand_in_allocate.restype = ctypes.c_void_p
driver.stand_in_copy.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]
nccl = ctypes.CDLL("libnccl.so.2")
nccl.ncclAllReduce.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
nccl.ncclCommDestroy.argtypes = [ctypes.c_void_p]


def check(result):
    if result != 0:
        raise SystemExit(f"NCCL returned {result}")


def main():
    comms, devices = (ctypes.c_void_p * 2)(), (ctypes.c_int * 2)(0, 0)
    check(nccl.ncclCommInitAll(comms, 2, devices))
    values = (ctypes.c_float * COUNT)(*[1.0] * COUNT)
    memories = [driver.stand_in_allocate(ctypes.sizeof(values), 0) for _ in comms]
    streams = [ctypes.c_void_p() for _ in comms]
    for memory, stream in zip(memories, streams):
        check(runtime[CREATE](ctypes.byref(stream), 1))
        driver.stand_in_copy(memory, values, ctypes.sizeof(values))
    check(nccl.ncclGroupStart())
    for memory, comm, stream in zip(memories, comms, streams):
        check(nccl.ncclAllReduce(memory, memory, COUNT, FLOAT, SUM, comm, stream))
    check(nccl.ncclGroupEnd())
    for memory, stream in zip(memories, streams):
        check(runtime[SYNCHRONIZE](stream))
        driver.stand_in_copy(values, memory, ctypes.sizeof(values))
        if any(abs(value - 2) > 1e-3 for value in values):
            raise SystemExit(f"the sum is {values[0]}, not 2")
    for comm in comms:
        check(nccl.ncclCommDestroy(comm))
    served = "libtaut_nccl" in Path("/proc/self/maps").read_text()
    print(f"libtaut_nccl is {'' if served else 'not '}loaded")
    return served != bool(int(sys.argv[3]))


if __name__ == "__main__":
    sys.exit(main())
