"""The 45 result tables and figures of the four papers, a theorem, and Taut's counterpart of each.

A claim is (paper, name, result of the paper, its configuration there, counterpart). The counterpart is
  ("sim", set, {column: value})   rows of a set of bench/simulation/sweep.py, simulated; "collectives" names some of a set
  ("gpus", row)                   a row of bench/simulation/gpus.py, simulated from kernel times
  ("page", path, text)            measured, on another page of this repository
  ("none", reason)                there is none
"""

C_COLL, MVAPICH2, HZCCL, GPU_LCC = "C-Coll", "MVAPICH2", "hZCCL", "GPU-LCC"
TABLES = "docs/notes/codecs.md"
PEERS = "docs/notes/codecs.md#beside-public-compressors"
GPU_ROWS = "bench/results/gpu_kernels/README.md#speed"
STACKED = "bench/results/papers/README.md#stacks-of-16"
NO_GPU_CALLS = "calls of CUDA by the host, which a GPU has to time; `tools/gpu/check.sh` has no stage for them"
ONE_NODE, MANY, NODES_16, NODES_64 = "one thread", "36 threads", "16 nodes", "64 nodes"
MOVED = ("bcast", "scatter")

CLAIMS = [
    (C_COLL, "theorem 1", "a sum of n values coded within e is within 2/3 sqrt(n) e with 95.44 %", "errors that are normal, sigma e/3",
     ("page", "docs/error-model.md#likely-bounds", "75 % for quantisers, whose errors are uniform")),
    (C_COLL, "corollary 2", "a mean of n has the variance sigma^2 / n", "normal errors",
     ("page", "bench/results/likely/README.md#means-minima-and-maxima", "13 fields, 16 parts")),
    (C_COLL, "theorem 2", "a maximum of n has the variance (2 - (n + 2) / 2^n) sigma^2", "normal errors",
     ("page", "bench/results/likely/README.md#means-minima-and-maxima", "13 fields, 16 parts")),
    (C_COLL, "T I", "SZx 526-1742 / 822-3640 MB/s, 4.1x / 5.7x zfp", ONE_NODE,
     ("page", PEERS, "medians of fields, 1 thread")),
    (C_COLL, "T II", "ratios of SZx and zfp 2.4 to 124", ONE_NODE, ("page", PEERS, "zfp within bounds; not at a rate")),
    (C_COLL, "T III", "PSNR 25 to 127 dB", ONE_NODE, ("page", "bench/results/emerald-rapids-2-core/codec_fields.json", "16 fields, three bounds")),
    (C_COLL, "T VI", "ratios 33.8 to 79.1 of PRECIPf, QGRAUPf, CLOUDf and Q, the fields of F 13", "single fields", ("page", f"{TABLES}#ratios", "other fields")),
    (C_COLL, "F 5", "the error of one coding is normal (SZ3, zfp)", "one coding",
     ("page", "bench/results/likely/README.md#means-minima-and-maxima", "zfp and planes, 13 fields")),
    (C_COLL, "F 6", "the error of a second coding is normal", "two codings",
     ("page", "bench/results/likely/README.md#means-minima-and-maxima", "it changes at most 0.01 of the first error")),
    (C_COLL, "F 7", "direct integration: coding dominates", NODES_16, ("sim", "allreduce_sizes_16", {"threads": 1, "shares": "cpr_p2p"})),
    (C_COLL, "F 8", "coded once instead of at each hop: 1.48x at 128 MB", NODES_16,
     ("sim", "allreduce_sizes_16", {"threads": 1, "of": "once", "over": "cpr_p2p", "bytes": 128_000_000})),
    (C_COLL, "F 9", "overlap: waiting falls to 1/4.9 at 678 MB", NODES_16,
     ("sim", "allreduce_sizes_16", {"threads": 1, "of": "ccoll", "over": "once"})),
    (C_COLL, "F 10", "each step gains", "16 nodes, 28 to 678 MB", ("sim", "allreduce_sizes_16", {"threads": 1})),
    (C_COLL, "F 11", "Allreduce 1.8x (abstract 2.1x) by sizes", "128 nodes", ("sim", "allreduce_sizes_128", {"threads": 1, "of": "ccoll"})),
    (C_COLL, "F 12", "Allreduce 1.8x", "2 to 128 nodes", ("sim", "allreduce_nodes", {"threads": 1, "of": "ccoll"})),
    (C_COLL, "F 13", "Allreduce 1.74x, 1.58x on other data", "fields of T VI", ("sim", "fields", {"threads": 1, "bound_of_range": 1e-4})),
    (C_COLL, "F 14", "C-Allreduce on Hurricane: PSNR 60.04 dB", "allreduce of a Hurricane field", ("page", STACKED, "16 ranks: isabel_velmag, float64")),
    (C_COLL, "F 15", "C-Allreduce on CESM: PSNR 59.19 dB", "allreduce of a CESM field", ("page", STACKED, "16 ranks: ccsm_trefht")),
    (C_COLL, "F 16", "Bcast 2.7x, Scatter 1.8x", NODES_16, ("sim", "moves", {"ranks": 16, "collectives": MOVED})),
    (C_COLL, "F 17", "image stacking 1.5x", NODES_16, ("sim", "stacking", {"threads": 1, "of": "ccoll"})),
    (C_COLL, "F 18", "stacked images: PSNR 42.86 / 57.97 / 79.57 dB", NODES_16,
     ("page", STACKED, "16 ranks: two seismic fields, beside CPR-P2P by szx and zfp, within bounds and at a rate")),
    (MVAPICH2, "T III", "MPC 168-211 Gb/s, zfp 280-822 Gb/s on a V100", "one V100", ("page", GPU_ROWS, "an H100: mpc 1056 / 1062 GB/s, zfp (16 bits, 1-D) 348 / 315 GB/s; other data")),
    (MVAPICH2, "F 5", "latency of messages with the naive MPC and ZFP", "2 GPUs", ("none", NO_GPU_CALLS)),
    (MVAPICH2, "F 6", "MPC-OPT: 4x; cudaMalloc is 83 % of the naive MPC, in (a)", "2 GPUs", ("none", NO_GPU_CALLS)),
    (MVAPICH2, "F 8", "ZFP-OPT: 1840 us to 1 us", "2 GPUs", ("none", NO_GPU_CALLS)),
    (MVAPICH2, "F 9", "message latency -62.5 to -83.1 %", "2 GPUs, within and between nodes; EDR, FDR, NVLink",
     ("gpus", "MVAPICH2 F 9")),
    (MVAPICH2, "F 10", "breakdown of latency on GPUs", "2 GPUs", ("none", NO_GPU_CALLS)),
    (MVAPICH2, "F 11", "Bcast -57 / -85 %, Allgather -30 / -73 % (MPC lossless / ZFP rate 4)", "16 GPUs, FDR", ("gpus", "MVAPICH2 F 11")),
    (MVAPICH2, "F 12", "AWP-ODC +19 to +37 %", "64 and 512 GPUs, weak scaling", ("gpus", "MVAPICH2 F 12, F 13")),
    (MVAPICH2, "F 13", "AWP-ODC: a step takes -15 / -26 %", "up to 512 GPUs, weak scaling", ("gpus", "MVAPICH2 F 12, F 13")),
    (MVAPICH2, "F 14", "Dask 1.18x, throughput 1.56x", "2 to 8 GPUs", ("page", "bench/results/dask/README.md", "2 to 8 workers, 1 Gbit/s, host memory: 1.06x to 1.26x lossless, 1.51x to 1.86x within 1e-3")),
    (HZCCL, "F 2", "C-Coll: coding 78.18 % with one thread, 52.26 % with many", NODES_16,
     ("sim", "allreduce_sizes_16", {"shares": "ccoll"})),
    (HZCCL, "T III", "ratio up to 2.18x ompSZp (69.45 beside 31.80; CESM, 1e-1)", MANY, ("page", PEERS, "ratios beside SZ3 and zfp; no package has ompSZp")),
    (HZCCL, "T IV", "decoding 94.5 % of STREAM", MANY, ("page", f"{TABLES}#speeds", "0.73 of STREAM's triad, one thread each")),
    (HZCCL, "T V", "shares of the four ways to add chunks; NYX 99.36 % both constant", "single nodes",
     ("page", "bench/results/papers/README.md#sum-pipelines", "16 fields, chunks of 4096 values")),
    (HZCCL, "T VI", "sums of frames 36.53x decode-add-encode; least 2.45x", MANY,
     ("page", f"{TABLES}#sums-of-frames", "96 rows, among them losses")),
    (HZCCL, "F 6", "9.71x / 28.33x ompSZp", MANY,
     ("page", PEERS, "speeds beside SZ3 and zfp, 1 thread; no package has ompSZp")),
    (HZCCL, "F 7", "Reduce_scatter over C-Coll: 1.82x, 2.01x with threads", NODES_64,
     ("sim", "reduce_scatter_sizes", {"of": "hzccl", "over": "ccoll"})),
    (HZCCL, "F 8", "Allreduce over C-Coll: 1.78x, 2.10x with threads", NODES_64,
     ("sim", "allreduce_sizes", {"of": "hzccl", "over": "ccoll"})),
    (HZCCL, "F 9", "Reduce_scatter by sizes: 1.58x, 4.04x with threads", NODES_64, ("sim", "reduce_scatter_sizes", {})),
    (HZCCL, "F 10", "Reduce_scatter: 1.9x, 5.85x with threads", "2 to 512 nodes, 646 MB", ("sim", "reduce_scatter_nodes", {})),
    (HZCCL, "F 11", "Allreduce by sizes: 1.96x, 5.35x with threads", NODES_64, ("sim", "allreduce_sizes", {})),
    (HZCCL, "F 12", "Allreduce: 2.12x, 6.77x with threads", "2 to 512 nodes, 646 MB", ("sim", "allreduce_nodes", {})),
    (HZCCL, "T VII", "image stacking 1.81x, 5.02x with threads", "image stacking", ("sim", "stacking", {})),
    (HZCCL, "F 13", "stacked image: PSNR 62.00 dB at 1e-4", "image stacking",
     ("page", "bench/results/papers/README.md#targets", "PSNR of stacks of 16 ranks, another survey")),
    (GPU_LCC, "T I", "cuSZp: ratios 92.3 / 73.4 / 55.7 on RTM", "one A100", ("page", f"{TABLES}#ratios", "two seismic fields, on a CPU")),
    (GPU_LCC, "F 2", "3.4x NCCL, 18.7x Cray MPI", "64 A100, 4 a node", ("gpus", "GPU-LCC F 2")),
    (GPU_LCC, "F 3", "4.5x NCCL, 20.2x Cray MPI", "512 A100, 4 a node, 646 MB", ("gpus", "GPU-LCC F 3")),
]
