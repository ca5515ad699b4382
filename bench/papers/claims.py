"""The 45 result tables and figures of the four papers, and Taut's counterpart of each.

A claim is (paper, name, result of the paper with its configuration, counterpart). The counterpart is
  ("sim", set, {column: value})   rows of a set of bench/simulation/sweep.py, simulated
  ("page", path, text)            measured, on another page of this repository
  ("program", path, text)         a program prints it; the page tells how to run the program
  ("none", reason)                there is none
"""

C_COLL, MVAPICH2, HZCCL, GPU_LCC = "C-Coll", "MVAPICH2", "hZCCL", "GPU-LCC"
TABLES = "docs/notes/codecs.md"
PEERS = "docs/notes/codecs.md#beside-public-compressors"
NO_GPU = "Taut's kernels ran on single GPUs; no speed of calls between GPUs is claimed or modelled"
HALOS = "4 emulated hosts, an elastic wave; " + NO_GPU

CLAIMS = [
    (C_COLL, "T I", "SZx 526-1742 / 822-3640 MB/s, 4.1x / 5.7x zfp; 1 thread",
     ("page", f"{TABLES}#speeds", "planes and szx on 16 fields, 1 and 2 threads")),
    (C_COLL, "T II", "ratios of SZx and zfp 2.4 to 124", ("page", f"{TABLES}#ratios", "planes and szx on 16 fields, three bounds")),
    (C_COLL, "T III", "PSNR 25 to 127 dB", ("page", f"{TABLES}#sums-of-frames", "PSNR of sums of two fields")),
    (C_COLL, "T VI", "ratios 33.8 to 79.1 of image stacking", ("page", f"{TABLES}#ratios", "two seismic fields, no stacks")),
    (C_COLL, "F 5", "the error of one coding is normal (SZ3, zfp)",
     ("page", "docs/error-model.md#likely-bounds", "sums over 16 ranks; the error of a quantiser is uniform, not normal")),
    (C_COLL, "F 6", "the error of a second coding is normal",
     ("none", "a second coding by an idempotent codec adds no error to values that were moved")),
    (C_COLL, "F 7", "direct integration: coding dominates", ("sim", "allreduce_sizes", {"threads": 1, "shares": "cpr_p2p"})),
    (C_COLL, "F 8", "coded once instead of at each hop: 1.48x at 128 MB, 16 nodes",
     ("sim", "allreduce_sizes", {"threads": 1, "of": "once", "over": "cpr_p2p"})),
    (C_COLL, "F 9", "overlap: waiting falls to 1/4.9 at 678 MB",
     ("sim", "allreduce_sizes", {"threads": 1, "of": "ccoll", "over": "once"})),
    (C_COLL, "F 10", "each step gains; 28 to 678 MB", ("sim", "allreduce_sizes", {"threads": 1})),
    (C_COLL, "F 11", "Allreduce 1.8x (abstract 2.1x) by sizes, 128 nodes", ("sim", "allreduce_sizes", {"threads": 1, "of": "ccoll"})),
    (C_COLL, "F 12", "Allreduce 1.8x, 2 to 128 nodes", ("sim", "allreduce_nodes", {"threads": 1, "of": "ccoll"})),
    (C_COLL, "F 13", "Allreduce 1.74x, 1.58x on other data", ("sim", "fields", {"threads": 1, "bound_of_range": 1e-4})),
    (C_COLL, "F 14", "C-Allreduce on Hurricane: PSNR 60.04 dB", ("page", f"{TABLES}#sums-of-frames", "isabel_velmag, sums of two")),
    (C_COLL, "F 15", "C-Allreduce on CESM: PSNR 59.19 dB", ("page", f"{TABLES}#sums-of-frames", "ccsm_trefht, sums of two")),
    (C_COLL, "F 16", "Bcast 2.7x, Scatter 1.8x, 16 nodes", ("sim", "moves", {"ranks": 16})),
    (C_COLL, "F 17", "image stacking 1.5x, 16 nodes", ("sim", "stacking", {"threads": 1, "of": "ccoll"})),
    (C_COLL, "F 18", "stacked images: PSNR 42.86 / 57.97 / 79.57 dB",
     ("program", "docs/howto/image_stacking.md", "`make demo`: PSNR and pictures of a stack of 4 ranks")),
    (MVAPICH2, "T III", "MPC 168-211 Gb/s, zfp 280-822 Gb/s on a V100", ("page", f"{TABLES}#speeds", "mpc on a CPU; " + NO_GPU)),
    (MVAPICH2, "F 5", "naive MPC on GPUs: cudaMalloc is 83 %", ("none", NO_GPU)),
    (MVAPICH2, "F 6", "MPC-OPT: 4x", ("none", NO_GPU)),
    (MVAPICH2, "F 8", "ZFP-OPT: 1840 us to 1 us", ("none", NO_GPU)),
    (MVAPICH2, "F 9", "message latency -62.5 to -83.1 %",
     ("page", "docs/howto/exchange_messages.md", "host memory, 1 Gbit/s; " + NO_GPU)),
    (MVAPICH2, "F 10", "breakdown of latency on GPUs", ("none", NO_GPU)),
    (MVAPICH2, "F 11", "Bcast -57 / -85 %, Allgather -30 / -73 %, 16 GPUs", ("sim", "moves", {"ranks": 16})),
    (MVAPICH2, "F 12", "AWP-ODC +19 to +37 %, 64 and 512 GPUs", ("page", "docs/applications/wave3d.md", HALOS)),
    (MVAPICH2, "F 13", "AWP-ODC: a step takes -15 / -26 %", ("page", "docs/applications/wave3d.md", HALOS)),
    (MVAPICH2, "F 14", "Dask 1.18x, 2 to 8 GPUs", ("page", "docs/applications/dask.md", "2 and 4 workers, host memory; " + NO_GPU)),
    (HZCCL, "F 2", "C-Coll at 16 nodes: coding 78.18 % with one thread, 52.26 % with many",
     ("sim", "allreduce_nodes", {"shares": "ccoll"})),
    (HZCCL, "T III", "ratio up to 37.65 % above ompSZp", ("page", PEERS, "ratios beside SZ3 and zfp; no package has ompSZp")),
    (HZCCL, "T IV", "decoding 94.5 % of STREAM", ("page", f"{TABLES}#speeds", "shares of memcpy and triad")),
    (HZCCL, "T V", "shares of the four ways to add chunks; NYX 99.36 % both constant",
     ("page", "docs/results/papers.md#sum-pipelines", "16 fields, chunks of 4096 values")),
    (HZCCL, "T VI", "sums of frames 36.53x decode-add-encode; least 2.45x",
     ("page", f"{TABLES}#sums-of-frames", "96 rows, among them losses")),
    (HZCCL, "F 6", "9.71x / 28.33x ompSZp, 36 threads",
     ("page", PEERS, "speeds beside SZ3 and zfp, 1 thread; no package has ompSZp")),
    (HZCCL, "F 7", "Reduce_scatter over C-Coll, 64 nodes: 1.82x, 2.01x with threads",
     ("sim", "reduce_scatter_sizes", {"of": "hzccl", "over": "ccoll"})),
    (HZCCL, "F 8", "Allreduce over C-Coll, 64 nodes: 1.78x, 2.10x with threads",
     ("sim", "allreduce_sizes", {"of": "hzccl", "over": "ccoll"})),
    (HZCCL, "F 9", "Reduce_scatter by sizes, 64 nodes: 1.58x, 4.04x with threads", ("sim", "reduce_scatter_sizes", {})),
    (HZCCL, "F 10", "Reduce_scatter, 2 to 512 nodes, 646 MB: 1.9x, 5.85x with threads", ("sim", "reduce_scatter_nodes", {})),
    (HZCCL, "F 11", "Allreduce by sizes, 64 nodes: 1.96x, 5.35x with threads", ("sim", "allreduce_sizes", {})),
    (HZCCL, "F 12", "Allreduce, 2 to 512 nodes, 646 MB: 2.12x, 6.77x with threads", ("sim", "allreduce_nodes", {})),
    (HZCCL, "T VII", "image stacking 1.81x, 5.02x with threads", ("sim", "stacking", {})),
    (HZCCL, "F 13", "stacked image: PSNR 62.00 dB at 1e-4",
     ("page", "docs/results/papers.md#targets", "PSNR of stacks of 16 ranks, another survey")),
    (GPU_LCC, "T I", "cuSZp: ratios 92.3 / 73.4 / 55.7 on RTM", ("page", f"{TABLES}#ratios", "two seismic fields, on a CPU")),
    (GPU_LCC, "F 2", "64 A100: 3.4x NCCL, 18.7x Cray MPI", ("none", NO_GPU)),
    (GPU_LCC, "F 3", "512 A100, 646 MB: 4.5x NCCL, 20.2x Cray MPI", ("none", NO_GPU)),
]
