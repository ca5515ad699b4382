/* taut_nccl.h -- collectives of NCCL with compression and a bound on the result. The calls have the arguments
 * of NCCL's functions of the same name and use the communicator of the program: frames travel by its ncclSend
 * and ncclRecv, and calls that are not compressed are NCCL's own. The library libtaut_nccl.so is separate. It
 * needs no MPI. It opens libtaut_cuda.so, and the libnccl that the process has, at run time (NCCL 2.7 or
 * later); neither is needed to build a program. C11 and C++11. docs/nccl.md is a guide.
 *
 * Rules for all calls:
 * - All ranks of a communicator make the same calls in the same order, as with NCCL.
 * - A thread drives one rank: the host waits for other ranks. A call must not be between ncclGroupStart and
 *   ncclGroupEnd. "CUDA graphs" below says which calls a captured stream may have.
 * - `comm` is an ncclComm_t, `stream` a cudaStream_t, `datatype` an ncclDataType_t, `op` an ncclRedOp_t.
 * - Buffers are memory of the communicator's GPU, aligned as their type. In place is as NCCL defines it: the
 *   root's values of a broadcast and the own block of an all-gather then stay as they are, unless the policy
 *   says same_bits=on. Out of place they are decoded, as on the other ranks.
 * - Work is put on `stream`: it follows the work that the program has put there, and later work follows it.
 *
 * Two modes:
 * - Exact sizes (default). The ranks tell each other the size of each frame. The call returns when its result
 *   is there. All of NCCL's types and operators are served, all policies, all algorithms.
 * - Capacity (TAUT_Nccl_comm_set_capacity). Each frame is sent in a buffer of fixed size, its slot. The call
 *   only enqueues work and returns at once. A block of values whose frame does not fit its slot on some rank
 *   is left as it was, on all ranks, until TAUT_Nccl_comm_settle repeats it; in a call by nodes it holds the
 *   sum or values of the node. Under a policy with `slots=` calls settle themselves.
 * Frames of a fixed size (`block:B`, sums with a residual) fit every slot. Their results count in the order
 * of the stream, as NCCL's do, without a settle. If such a frame is not decoded, because the ranks' types
 * differ or it was damaged, the values of its block are missing; of an allreduce on all ranks that exchange
 * frames of the block. A later collective call on the communicator, which is made all the same, returns
 * TAUT_ERR_FRAME_MISMATCH once, on the ranks whose kernels have noticed it by then; one that settles itself,
 * on all ranks. By nodes, other ranks of such a rank's node lack these values, too, and are not told. The
 * next settle tells all ranks.
 *
 * Calls return TAUT_SUCCESS (0) or an enum TAUT_Status of taut.h; TAUT_ERR_TRANSPORT for errors of NCCL,
 * after which the communicator is to be aborted, and TAUT_ERR_CUDA of taut_cuda.h. The text is in
 * TAUT_Nccl_last_error. */
#ifndef TAUT_NCCL_H
#define TAUT_NCCL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TAUT_NCCL_API __attribute__((visibility("default")))

typedef struct ncclComm* ncclComm_t; /* as in nccl.h */

/* Reason of this thread's last error, with the remedy; "" if there was none. */
TAUT_NCCL_API const char* TAUT_Nccl_last_error(void);

/* ---- Communicators ----
 *
 * All ranks call these functions; get_stats and release are local. */

/* Sets the policy of a communicator, for example "abs:1e-4": taut.h, TAUT_Comm_set_policy has the grammar.
 * NULL: the rules of the environment (TAUT_RULES, TAUT_CONFIG) hold again, which also hold for communicators
 * without a policy. "off": NCCL serves all calls. Waits for the other ranks. Calls that may be repeated must
 * be settled, and a later settle does not wait for other calls that are in flight; graphs keep the policy of
 * their capture. The slots of TAUT_Nccl_comm_set_capacity are set back to 0, and the statistics, too. */
TAUT_NCCL_API int TAUT_Nccl_comm_set_policy(struct ncclComm* comm, const char* policy);

/* Sets the slots of frames in later calls on a communicator: the size of their values divided by `ratio`, at
 * least 1 and the same on every rank; waits for the other ranks. TAUT_ERR_RANK_MISMATCH: the ratios differ,
 * and nothing has changed. 0, the default: sizes are exact, unless the policy has `slots=`. Capacity serves
 * ncclSum and data movement in AllReduce, ReduceScatter, AllGather and Broadcast, under an absolute bound
 * (`abs` or `snap`) with the codec planes and a predictor without lags (no row or plane predictor), and under
 * `block:B` also with ncclAvg, ncclMin and ncclMax; AllGather and Broadcast also with the codec exponents.
 * All other calls have exact sizes. */
TAUT_NCCL_API int TAUT_Nccl_comm_set_capacity(struct ncclComm* comm, double ratio);

/* Completes the calls since the last settle: waits until they, and the work on `stream`, are done, and
 * repeats the blocks that did not fit, on all ranks. Results of calls that may be repeated count when this
 * function has returned TAUT_SUCCESS; until then their buffers and streams must stay, and each call keeps
 * some bytes. If there were no calls, the ranks only exchange some bytes; every rank must still call it.
 * `repeated` (may be NULL) is set to the number of blocks that were repeated: if it often is above 0, choose
 * a smaller ratio. */
TAUT_NCCL_API int TAUT_Nccl_comm_settle(struct ncclComm* comm, size_t* repeated, void* stream);

/* Statistics of this rank on a communicator. */
typedef struct TAUT_Nccl_stats {
  size_t struct_size; /* set it to sizeof(TAUT_Nccl_stats) before the call */
  /* Collective calls with exact sizes for which Taut chose between compression and plain NCCL. */
  uint64_t calls;
  uint64_t compressed_calls; /* those that it compressed */
  uint64_t value_bytes;      /* bytes of values that were encoded */
  uint64_t frame_bytes;      /* bytes of the frames made from them */
  uint64_t capacity_calls;   /* calls in slots, with `slots=` and residuals too; of a graph, the capture */
} TAUT_Nccl_stats;

/* Gets the statistics of this rank on a communicator. */
TAUT_NCCL_API int TAUT_Nccl_comm_get_stats(struct ncclComm* comm, TAUT_Nccl_stats* stats);

/* Frees what Taut has for a communicator; to be called before ncclCommDestroy and ncclCommAbort, and not
 * during a capture. Calls that may be repeated must be settled; others may be in flight. Graphs that hold
 * calls must be done and destroyed. After an error that ncclCommGetAsyncError tells, waits for no call.
 * Returns TAUT_ERR_FRAME_MISMATCH, and frees all the same, if a frame was not decoded and no call has told
 * so; nobody is told of a frame that is not decoded later. */
TAUT_NCCL_API int TAUT_Nccl_comm_release(struct ncclComm* comm);

/* ---- Collectives ---- */

/* The collectives of NCCL, under the policy of the communicator. */
TAUT_NCCL_API int TAUT_Nccl_AllReduce(const void* sendbuff, void* recvbuff, size_t count, int datatype,
                                      int op, struct ncclComm* comm, void* stream);
TAUT_NCCL_API int TAUT_Nccl_ReduceScatter(const void* sendbuff, void* recvbuff, size_t recvcount,
                                          int datatype, int op, struct ncclComm* comm, void* stream);
TAUT_NCCL_API int TAUT_Nccl_AllGather(const void* sendbuff, void* recvbuff, size_t sendcount, int datatype,
                                      struct ncclComm* comm, void* stream);
TAUT_NCCL_API int TAUT_Nccl_Broadcast(const void* sendbuff, void* recvbuff, size_t count, int datatype,
                                      int root, struct ncclComm* comm, void* stream);
TAUT_NCCL_API int TAUT_Nccl_Reduce(const void* sendbuff, void* recvbuff, size_t count, int datatype, int op,
                                   int root, struct ncclComm* comm, void* stream);
/* Sends block r of each rank's values to rank r, `count` values for each; needs two buffers. */
TAUT_NCCL_API int TAUT_Nccl_AlltoAll(const void* sendbuff, void* recvbuff, size_t count, int datatype,
                                     struct ncclComm* comm, void* stream);

/* ---- Sums with a residual (error feedback) ----
 *
 * For sums that a program repeats, as those of gradients in each step. Frames have a fixed size: the policy
 * is rate:B,codec=zfp (float32, float64; B of 7 or more) or block:B (float32, float16, bfloat16). The error
 * of one result has no bound. What the frames of a call leave out stays in `residual` and is part of the next
 * call: the sum of the results of all calls differs from the exact one, but for rounding, by no more than the
 * residuals of all ranks together. While these stay small, the mean error falls as 1 / calls. All ranks of
 * an AllReduce get the same bits.
 *
 * - `residual` is memory of the communicator's GPU: as many elements as sendbuff has, double for float64,
 *   else float. The program sets it to 0 before the first call, and passes it as it is to the next call with
 *   the same count, type, op, policy and communicator. It overlaps neither buffer. Taut keeps nothing of it.
 *   After an error set it to 0.
 * - `op` is ncclSum or ncclAvg.
 * - The call is one in capacity mode, without a ratio: it only enqueues work and returns at once. It needs no
 *   settle.
 * - NaN, infinities and sums that exceed the type come out as they would without a residual, and set their
 *   residuals to 0. The residual of a result makes no infinity of it: the greatest number of the type
 *   results. Those of the operands may, near the end of float16's range.
 * - By nodes, sums on a node are NCCL's: what it rounds there is in no residual.
 * - Calls that the policy leaves to NCCL, small ones for example, leave the residual as it is. */

/* Sums or means whose errors are made up for by later calls. */
TAUT_NCCL_API int TAUT_Nccl_AllReduce_with_residual(const void* sendbuff, void* recvbuff, size_t count,
                                                    int datatype, int op, void* residual,
                                                    struct ncclComm* comm, void* stream);
TAUT_NCCL_API int TAUT_Nccl_ReduceScatter_with_residual(const void* sendbuff, void* recvbuff,
                                                        size_t recvcount, int datatype, int op,
                                                        void* residual, struct ncclComm* comm, void* stream);

/* ---- CUDA graphs ----
 *
 * A captured stream may have calls in capacity mode with frames of a fixed size, sums with a residual, and
 * calls that the policy leaves to NCCL. All others return TAUT_ERR_ARGUMENT and capture nothing.
 *
 * - All ranks capture the call, and launch the graphs in the same order, as NCCL asks for.
 * - The same call comes once before, on the same stream: it loads kernels and makes communicators. A captured
 *   call that lacks them is an error that says so: end the capture, and discard the graph.
 * - The graph uses memory of its own until TAUT_Nccl_comm_release, and the stream's scratch memory: it must
 *   not run at the same time as other calls on that stream, as another graph captured from it, or as another
 *   instance of it.
 * - A frame that a launch has not decoded is told by later calls and settles, as above; settle waits for
 *   launches on its stream only. */

/* ---- Messages between two ranks ----
 *
 * TAUT_Nccl_Recv receives what TAUT_Nccl_Send sends, and nothing else, on communicators that have a policy or
 * have made a collective call. The sender alone decides whether to compress; sizes are exact, and the calls
 * return when the messages are there. As with NCCL, messages that depend on each other are in one group,
 * between TAUT_Nccl_GroupStart and TAUT_Nccl_GroupEnd of a thread; other calls must not be there. */

/* Messages between two ranks, and groups of them. */
TAUT_NCCL_API int TAUT_Nccl_Send(const void* sendbuff, size_t count, int datatype, int peer,
                                 struct ncclComm* comm, void* stream);
TAUT_NCCL_API int TAUT_Nccl_Recv(void* recvbuff, size_t count, int datatype, int peer, struct ncclComm* comm,
                                 void* stream);
TAUT_NCCL_API int TAUT_Nccl_GroupStart(void);
TAUT_NCCL_API int TAUT_Nccl_GroupEnd(void);

#ifdef __cplusplus
}
#endif

#endif /* TAUT_NCCL_H */
