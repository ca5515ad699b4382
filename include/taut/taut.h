/* taut.h -- compressed MPI collectives under an error bound, and the codec behind them.
 *
 * Collective calls mirror MPI's large-count signatures. A communicator without a policy behaves as under
 * plain MPI; nothing lossy happens unless a bound was asked for with TAUT_Comm_set_policy.
 *
 * Define TAUT_NO_MPI before including this file to see only the codec calls.
 */
#ifndef TAUT_TAUT_H
#define TAUT_TAUT_H

#include <stddef.h>
#include <stdint.h>

#ifndef TAUT_NO_MPI
#include <mpi.h>
#endif

#define TAUT_VERSION_MAJOR 0
#define TAUT_VERSION_MINOR 1
#define TAUT_VERSION_PATCH 0

#if defined(__GNUC__)
#define TAUT_API __attribute__((visibility("default")))
#else
#define TAUT_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Status
 * ---------------------------------------------------------------------------------------------------- */

/* Returned by the codec calls. Collective calls return MPI error codes whose text (MPI_Error_string) names
 * the status, raised through the communicator's error handler; TAUT_Error_status gives the status of such a
 * code. */
enum TAUT_Status {
  TAUT_SUCCESS = 0,
  TAUT_ERR_ARGUMENT = 1,        /* a pointer, flag or option that cannot be used */
  TAUT_ERR_COUNT = 2,           /* a negative or too large count */
  TAUT_ERR_TYPE = 3,            /* a value type that the codec does not code */
  TAUT_ERR_POLICY = 4,          /* a policy string that cannot be read */
  TAUT_ERR_BUFFER = 5,          /* the output buffer is smaller than TAUT_Max_bytes */
  TAUT_ERR_FRAME = 20,          /* not a frame, or a damaged one */
  TAUT_ERR_VERSION = 21,        /* a frame of a newer format */
  TAUT_ERR_FRAME_MISMATCH = 22, /* frames or buffers that do not belong together */
  TAUT_ERR_RANK_MISMATCH = 40,  /* the ranks' calls differ in count, type, operator, bound or codec */
  TAUT_ERR_PEER = 41,           /* another rank failed; its contribution is missing */
  TAUT_ERR_MEMORY = 60,         /* out of memory */
  TAUT_ERR_TRANSPORT = 80,      /* the MPI below reported an error */
  TAUT_ERR_INTERNAL = 99
};

TAUT_API const char*          /* one sentence; never NULL; static storage */
TAUT_Status_string(int status /* an enum TAUT_Status */
);

TAUT_API void TAUT_Get_version(int* major, /* out; may be NULL */
                               int* minor, int* patch);

/* ---- Codec calls (no MPI needed)
 * ------------------------------------------------------------------------------- */

/* Value types as they stand in frames (docs/spec/frame.md). */
typedef enum TAUT_Type { TAUT_FLOAT32 = 1, TAUT_FLOAT64 = 2 } TAUT_Type;

TAUT_API size_t                              /* bytes; 0 for an unknown type or a count beyond 2^30 */
TAUT_Max_bytes(TAUT_Type type, size_t count, /* values */
               unsigned addends /* 1 for TAUT_Encode; frames that go into one sum for TAUT_Frame_add */
);

/* Encodes `count` values into one frame.
 * Every finite value comes back within `bound`; NaN and infinities come back as they were. What the type
 * cannot resolve within the bound comes back exactly. bound = 0: exact. */
TAUT_API int /* TAUT_SUCCESS, TAUT_ERR_ARGUMENT, _COUNT, _TYPE, _POLICY or _BUFFER */
TAUT_Encode(const void* values, size_t count, /* at most 2^30 */
            TAUT_Type type, double bound,     /* absolute; finite and >= 0 */
            const char* options,              /* NULL, or as in a policy without a bound:
                                                 "codec=planes,predictor=none,checksum=on" */
            void* frame,                      /* out */
            size_t capacity,                  /* bytes at `frame`; at least TAUT_Max_bytes(type, count, 1) */
            size_t* bytes                     /* out: size of the frame */
);

/* Decodes one frame. Never reads beyond frame + bytes nor writes beyond values + count. */
TAUT_API int /* TAUT_SUCCESS, TAUT_ERR_FRAME, _VERSION, _FRAME_MISMATCH (type or count differ) */
TAUT_Decode(const void* frame, size_t bytes, void* values, /* out */
            size_t count,                                  /* must be the frame's */
            TAUT_Type type                                 /* must be the frame's */
);

/* Adds two frames without decoding: the result decodes to the sum of the two, the bounds add up.
 * Both must have the same codec, type, count, bound and options. */
TAUT_API int /* TAUT_SUCCESS, TAUT_ERR_FRAME, _VERSION, _FRAME_MISMATCH or _BUFFER */
TAUT_Frame_add(const void* a, size_t a_bytes, const void* b, size_t b_bytes,
               void* sum,       /* out; does not overlap a or b */
               size_t capacity, /* at least TAUT_Max_bytes(type, count, addends of a + addends of b) */
               size_t* bytes    /* out: size of the sum */
);

/* What a frame says of itself. */
typedef struct TAUT_Frame_info {
  size_t struct_size; /* set by the caller to sizeof(TAUT_Frame_info) */
  char codec[16];
  int type;         /* TAUT_Type */
  uint64_t count;   /* values */
  double bound;     /* of each addend; 0: exact */
  uint32_t addends; /* frames summed into this one; the values are within addends * bound */
  uint64_t bytes;   /* of the whole frame */
} TAUT_Frame_info;

TAUT_API int /* TAUT_SUCCESS, TAUT_ERR_ARGUMENT, TAUT_ERR_FRAME or TAUT_ERR_VERSION */
TAUT_Frame_get_info(const void* frame, size_t bytes, TAUT_Frame_info* info);

/* ---- Collective calls
 * ------------------------------------------------------------------------------------------ */
#ifndef TAUT_NO_MPI

#if MPI_VERSION < 3
#error "Taut needs MPI 3 or later"
#endif

/* Gives the communicator a policy; collective over comm (every rank the same string, else
 * TAUT_ERR_RANK_MISMATCH on every rank). NULL or "" removes it. Grammar: a bound, then options separated by
 * commas. bound:     off | lossless | abs:E      E > 0: absolute, in units of the values on=        result
 * (default: E bounds what the call returns) | input (E bounds each rank's contribution) codec=     auto
 * (default) | planes | raw | ...          (docs/configuration.md) algorithm= auto (default) | ring |
 * recursive_doubling | ... reduction= auto (default) | frames (sums of encoded data) | values (decode,
 * operate, encode) segments=  auto (default) | 1..64     parts of a message that are in flight at a time
 *   min_bytes= 64KiB (default)            smaller messages go to plain MPI with no further ado
 *   checksum=  off (default) | on         protect the payload of frames as well as their headers
 *   predictor= delta (default) | none     of the planes codec
 * The policy is inherited by MPI_Comm_dup.
 *
 * From min_bytes on (of the whole message: all blocks where there are blocks), calls that differ between the
 * ranks in collective, count, type, operator or root end with TAUT_ERR_RANK_MISMATCH on every rank. Below it,
 * and when the ranks' counts lie on both sides of it, they meet plain MPI unchecked, with what MPI makes of
 * it. */
TAUT_API int TAUT_Comm_set_policy(MPI_Comm comm, const char* policy);

/* sum (or min, max) over all ranks; every rank gets the same bits. Like MPI_Allreduce. */
TAUT_API int TAUT_Allreduce(const void* sendbuf, /* count elements, or MPI_IN_PLACE on every rank */
                            void* recvbuf,       /* count elements */
                            MPI_Count count,     /* the same on every rank */
                            MPI_Datatype type,   /* MPI_FLOAT, MPI_DOUBLE; others go to MPI unchanged */
                            MPI_Op op,           /* MPI_SUM, MPI_MIN, MPI_MAX; others go to MPI unchanged */
                            MPI_Comm comm);

/* Element-wise reduction; rank r gets block r. Like MPI_Reduce_scatter_block. */
TAUT_API int TAUT_Reduce_scatter_block(
    const void* sendbuf, /* size * recvcount elements, or MPI_IN_PLACE (then recvbuf holds that many) */
    void* recvbuf,       /* recvcount elements */
    MPI_Count recvcount, MPI_Datatype type, MPI_Op op, MPI_Comm comm);

/* Every rank gets every rank's block, in rank order. Like MPI_Allgather. Own blocks come back decoded as
 * well, so that all ranks hold the same bits. */
TAUT_API int TAUT_Allgather(
    const void* sendbuf, /* sendcount elements, or MPI_IN_PLACE (then the block stands in recvbuf) */
    MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, /* size * recvcount elements */
    MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm);

/* The root's values on every rank. Like MPI_Bcast. The root's buffer receives the decoded values too, so that
 * all ranks hold the same bits. */
TAUT_API int TAUT_Bcast(void* buffer, /* count elements */
                        MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm);

/* Block r of the root's sendbuf to rank r. Like MPI_Scatter. */
TAUT_API int TAUT_Scatter(
    const void* sendbuf, /* size * sendcount elements at the root; ignored elsewhere */
    MPI_Count sendcount, MPI_Datatype sendtype,
    void* recvbuf, /* recvcount elements; MPI_IN_PLACE at the root leaves its block where it is */
    MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);

/* What the communicator's calls did on this rank since the policy was set. */
typedef struct TAUT_Stats {
  size_t struct_size;         /* set by the caller to sizeof(TAUT_Stats) */
  uint64_t calls;             /* through TAUT_ entry points */
  uint64_t compressed_calls;  /* of these, the ones that moved frames */
  uint64_t value_bytes;       /* bytes of values encoded on this rank */
  uint64_t frame_bytes;       /* bytes of frames they became */
  uint64_t sent_bytes;        /* bytes sent by this rank in compressed calls, frames forwarded included */
  uint64_t sent_messages;     /* messages sent by this rank in compressed calls, agreement included */
  uint64_t plain_unsupported; /* plain: type, operator or communicator that is not compressed */
  uint64_t plain_small;       /* plain: below min_bytes */
  uint64_t plain_no_gain;     /* plain: the agreed estimate of the ratio was too low */
} TAUT_Stats;

TAUT_API int TAUT_Comm_get_stats(MPI_Comm comm, TAUT_Stats* stats);

TAUT_API int /* the enum TAUT_Status behind an MPI error code; TAUT_ERR_TRANSPORT for MPI's own */
TAUT_Error_status(int mpi_error_code);

#endif /* TAUT_NO_MPI */

#ifdef __cplusplus
}
#endif

#endif /* TAUT_TAUT_H */
