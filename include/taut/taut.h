/* taut.h -- compressed MPI collectives under an error bound, and the codec behind them.
 *
 * Collective calls mirror MPI's large-count signatures. A communicator without a policy follows the rules of
 * the process (TAUT_RULES, TAUT_CONFIG: docs/configuration.md); without rules it behaves as under plain MPI.
 * A call is lossy only if a bound was asked for.
 *
 * Counts are in elements, sizes in bytes, bounds absolute in the units of the values. docs/error-model.md
 * proves what a bound promises. Any call may return TAUT_ERR_MEMORY or TAUT_ERR_INTERNAL in addition to the
 * errors listed with it.
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
#define TAUT_VERSION_MINOR 2
#define TAUT_VERSION_PATCH 0

#if defined(__GNUC__)
#define TAUT_API __attribute__((visibility("default")))
#else
#define TAUT_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Status ---- */

/* Status returned by the codec calls. Collective calls return MPI error codes whose text
 * (MPI_Error_string) names the status; they raise the code through the communicator's error handler.
 * TAUT_Error_status returns the status of such a code. */
enum TAUT_Status {
  TAUT_SUCCESS = 0,
  TAUT_ERR_ARGUMENT = 1,        /* a pointer, flag or option that cannot be used */
  TAUT_ERR_COUNT = 2,           /* a negative or too large count */
  TAUT_ERR_TYPE = 3,            /* a value type that the codec does not support */
  TAUT_ERR_POLICY = 4,          /* an invalid policy string */
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

/* Returns the text of a status. */
TAUT_API const char*          /* one sentence; never NULL; static storage */
TAUT_Status_string(int status /* an enum TAUT_Status */
);

/* Returns the text of this thread's last codec error. */
TAUT_API const char* /* the reason, with the remedy; "" if there was none */
TAUT_Last_error(void);

/* Gets the version of the library, which may differ from the version of this header. */
TAUT_API void TAUT_Get_version(int* major, /* out; may be NULL */
                               int* minor, int* patch);

/* ---- Codec calls (no MPI needed) ----
 *
 * Values and frames may also be in memory of a GPU (CUDA), independently of each other. The call then
 * opens libtaut_cuda, works on the default stream of that memory's device and returns when all work is
 * done. Work that no kernel serves is copied to the host and back. Without libtaut_cuda or a driver the
 * call returns TAUT_ERR_ARGUMENT. taut_cuda.h has calls on a stream of your choice. */

/* Value types, with the numbers that frames store (docs/spec/frame.md). */
typedef enum TAUT_Type {
  TAUT_FLOAT32 = 1,
  TAUT_FLOAT64 = 2,
  TAUT_FLOAT16 = 3,   /* IEEE 754 binary16 */
  TAUT_BFLOAT16 = 4,  /* the upper half of a float32 */
  TAUT_COMPLEX64 = 5, /* two float32, the real part first; a bound holds for each part */
  TAUT_COMPLEX128 = 6,
  TAUT_INT8 = 7, /* integers are coded exactly */
  TAUT_UINT8 = 8,
  TAUT_INT16 = 9,
  TAUT_UINT16 = 10,
  TAUT_INT32 = 11,
  TAUT_UINT32 = 12,
  TAUT_INT64 = 13,
  TAUT_UINT64 = 14,
  TAUT_TYPE_OF_ANY_INT = 0x7FFFFFFF /* no type: it lets C++ compilers assume no smaller range of values */
} TAUT_Type;

/* Returns the greatest size of a frame of any codec, header included. */
TAUT_API size_t                              /* bytes; 0 for an unknown type or a count beyond 2^30
                                                (2^29 complex numbers) */
TAUT_Max_bytes(TAUT_Type type, size_t count, /* values */
               unsigned addends /* 1 for TAUT_Encode; for TAUT_Frame_add the number of frames in the sum */
);

/* Encodes `count` values into one frame.
 *
 * `coding`: a bound, then options separated by commas, as in a policy (docs/configuration.md):
 *
 *   lossless       every value comes back bit for bit
 *   abs:E          |x - x'| <= E for every finite value x, which comes back as x'
 *   rel:R          abs:E with E = R * (greatest - least finite value); fill=V: values equal to V, which
 *                  mark missing values, do not count
 *   psnr:D         abs:E with E such that 20 log10(range / rms error) >= D dB
 *   snap:E         abs:E, and every x' is a multiple of the same power of two
 *   pwrel:R        |x - x'| <= R * |x|
 *   rate:B         B bits for each value; no bound on the error (reductions: only with codec=zfp)
 *   block:B        integers of B = 8, 6 or 4 bits, and a scale for each 64 values: rate:B,codec=blocks
 *   codec=         auto (default) | planes | szx | mpc | exponents | zfp | blocks | raw
 *   predictor=     auto (default), or a predictor of the codec
 *   dims=          extents of the field that the values come from, slowest first: 100x500x500
 *   threads=       1 (default) to 64 threads of this process, which do not change the frame; TAUT_Decode
 *                  uses TAUT_THREADS
 *   checksum=      off (default) | on
 *   bits=          rounded (default) | exact: integers packed into floating-point values come back bit for
 *                  bit
 *
 * Bounds include the rounding to the values' type. NaN and infinities come back unchanged. A value that
 * cannot be coded within the bound comes back exactly. `values` and `frame` must not overlap. After an error
 * `frame` may hold anything. */
TAUT_API int /* TAUT_SUCCESS, TAUT_ERR_ARGUMENT, _COUNT, _TYPE, _POLICY or _BUFFER */
TAUT_Encode(const void* values, size_t count,                /* at most 2^30; complex: 2^29 */
            TAUT_Type type, const char* coding, void* frame, /* out */
            size_t capacity, /* bytes at `frame`; at least TAUT_Max_bytes(type, count, 1) */
            size_t* bytes    /* out: size of the frame */
);

/* Encodes an array of `ndims` extents, slowest first, as TAUT_Encode does. The extents help to predict
 * values on the CPU, but are not used on a GPU. */
TAUT_API int /* as TAUT_Encode */
TAUT_Encode_nd(const void* values, int ndims, const size_t* extents, TAUT_Type type, const char* coding,
               void* frame, size_t capacity, size_t* bytes);

/* Decodes one frame. Never reads beyond frame + bytes nor writes beyond values + count. After an error
 * `values` may hold anything. A frame without checksum=on may have a damaged payload and still decode. */
TAUT_API int /* TAUT_SUCCESS, TAUT_ERR_ARGUMENT, _TYPE, _FRAME, _VERSION (or a codec that is not built in),
                _FRAME_MISMATCH (type or count differ) or _PEER (the sender failed to produce it) */
TAUT_Decode(const void* frame, size_t bytes, void* values, /* out */
            size_t count,                                  /* must be the frame's */
            TAUT_Type type                                 /* must be the frame's */
);

/* Encodes values that resemble earlier ones. `references`: one or two arrays of the same type and count that
 * the decoder has too, bit for bit; the newest first. The values are predicted to be those of the first
 * array, or to change as they changed from the second array to the first. The frame is shorter where that
 * is right, and has no references where it is not. The values that it decodes to do not depend on references.
 * Use decoded values as references, or values that are coded without loss: the decoder has no others. The
 * codecs planes and mpc use references; others encode without. TAUT_Frame_add adds frames that have the same
 * references; the sum decodes with these. Under tight bounds (2^-23 of a value and less) frames of float64
 * values that differ much in size may not be added: TAUT_ERR_FRAME_MISMATCH. */
TAUT_API int /* as TAUT_Encode; TAUT_ERR_ARGUMENT also for references that are missing or too many */
TAUT_Encode_with_references(const void* values, size_t count, TAUT_Type type, const char* coding,
                            const void* const* references, int reference_count, /* 0 to 2 */
                            void* frame, size_t capacity, size_t* bytes);

/* Decodes a frame that may have references. Those of the frame are named by numbers that identify their
 * bytes, type and count: with others, in another order, or with none, as in TAUT_Decode, the call returns
 * TAUT_ERR_FRAME and no value. Give all arrays that the encoder had: a frame that names fewer ignores the
 * older ones. `values` may be the newest array itself if the frame's codec is mpc, as that of lossless frames
 * with references is: the array is then brought up to date in place, or is as it was if the call finds that
 * it is another one. `values` must not overlap the arrays otherwise. */
TAUT_API int /* as TAUT_Decode; TAUT_ERR_FRAME also if the references are not those of the frame */
TAUT_Decode_with_references(const void* frame, size_t bytes, const void* const* references,
                            int reference_count, void* values, size_t count, TAUT_Type type);

/* Adds two frames without decoding. The sum decodes to within addends * bound of the sum of the original
 * values, plus half an ulp of it. The same frames give the same values in any order and grouping. Both
 * frames must have the same codec (one that can add: planes), type, count, bound and options. */
TAUT_API int /* TAUT_SUCCESS, TAUT_ERR_ARGUMENT, _FRAME, _VERSION, _FRAME_MISMATCH, _PEER, _BUFFER, or _COUNT
                (2^32 addends) */
TAUT_Frame_add(const void* a, size_t a_bytes, const void* b, size_t b_bytes,
               void* sum,       /* out; does not overlap a or b */
               size_t capacity, /* at least TAUT_Max_bytes(type, count, addends of a + addends of b) */
               size_t* bytes    /* out: size of the sum */
);

/* Multiplies a frame by a number without decoding; -1 negates it, so that a difference is a sum. The bound is
 * multiplied by |factor|. Frames multiplied by the same factor can be added. The frame must have a codec that
 * can add. For each decoded value x' of the frame, the result decodes to
 *
 *   factor +-2^k    factor * x', rounded only below the least normal number
 *   other factors   factor * x' to within 3 units in the last place of the greatest of the values that were
 *                   added; not possible for 16-bit floats and snap bounds
 *
 * The result thus decodes to within addends * |factor| * bound of factor * x, plus that rounding, where x
 * are the values that were encoded. */
TAUT_API int /* as TAUT_Frame_add; TAUT_ERR_ARGUMENT also if no frame can hold the result: the factor is 0 or
                not finite, or leads out of the range of the type */
TAUT_Frame_scale(const void* frame, size_t frame_bytes, double factor, void* scaled, /* out; no overlap */
                 size_t capacity, /* at least TAUT_Max_bytes(type, count, addends) */
                 size_t* bytes    /* out: size of the result */
);

/* Statistics of a frame's decoded values. Each is within addends * bound of the same statistic of the
 * original values, plus rounding. Frames of codecs that add need no memory for the values. */
typedef struct TAUT_Frame_statistics {
  size_t struct_size; /* set by the caller to sizeof(TAUT_Frame_statistics) */
  uint64_t count;     /* values that are not NaN; the others are left out of what follows */
  double mean;        /* NaN if count is 0, as are least and greatest */
  double least;
  double greatest;
} TAUT_Frame_statistics;

/* Computes the statistics of a frame's values. */
TAUT_API int /* as TAUT_Decode; TAUT_ERR_TYPE for complex numbers */
TAUT_Frame_get_statistics(const void* frame, size_t bytes, TAUT_Frame_statistics* statistics);

/* Contents of a frame's header. The header is checked; the payload is not read. */
typedef struct TAUT_Frame_info {
  size_t struct_size; /* set by the caller to sizeof(TAUT_Frame_info) */
  char codec[16];
  int type;               /* TAUT_Type */
  uint64_t count;         /* values */
  double bound;           /* bound of each addend; 0: exact */
  uint32_t addends;       /* number of frames summed into this one; see TAUT_Frame_add for the bound */
  uint64_t bytes;         /* size of the whole frame */
  int bound_kind;         /* meaning of `bound`: 0 exact, 1 abs, 2 snap, 3 pwrel, 4 rate */
  int reference_count;    /* arrays that TAUT_Decode_with_references needs: 0, 1 or 2 */
  uint64_t references[2]; /* numbers that identify them, the newest first */
} TAUT_Frame_info;

/* Reads the header of a frame. */
TAUT_API int /* TAUT_SUCCESS, TAUT_ERR_ARGUMENT, TAUT_ERR_FRAME, TAUT_ERR_VERSION, or TAUT_ERR_PEER: the frame
                tells of a failure and has no values */
TAUT_Frame_get_info(const void* frame, size_t bytes, TAUT_Frame_info* info);

/* ---- Collective calls ---- */
#ifndef TAUT_NO_MPI

#if MPI_VERSION < 3
#error "Taut needs MPI 3 or later"
#endif

/* The kind of MPI that a program is compiled for. Handles and constants of MPI differ between the kinds, and
 * a program that is linked to the libtaut of another kind would crash in its first call. Each object file
 * refers to a name that only the libtaut of its kind has, so that such a program neither links nor starts.
 * The reference costs one relocation at the start of the program; nothing reads it. */
#if defined(__GNUC__) && defined(OPEN_MPI)
#define TAUT_KIND_OF_MPI TAUT_Libtaut_is_built_with_openmpi
#elif defined(__GNUC__) && (defined(MPICH_VERSION) || defined(I_MPI_VERSION)) /* and MVAPICH, Cray MPICH */
#define TAUT_KIND_OF_MPI TAUT_Libtaut_is_built_with_mpich
#elif defined(__GNUC__) && defined(MPI_ABI_VERSION)
#define TAUT_KIND_OF_MPI TAUT_Libtaut_is_built_with_mpiabi
#endif
#ifdef TAUT_KIND_OF_MPI
extern TAUT_API const char TAUT_KIND_OF_MPI;
static const char* const taut_kind_of_mpi __attribute__((used)) = &TAUT_KIND_OF_MPI;
#endif

/* Sets the communicator's policy; collective over comm. Every rank passes the same string. NULL or "" removes
 * the policy; rules, if there are any, apply then. Grammar: a bound, then options separated by commas
 * (docs/configuration.md).
 *
 *   bound:      off | lossless | abs:E | rel:R | psnr:D | snap:E | pwrel:R | rate:B | block:B    as in
 *               TAUT_Encode; the range that rel and psnr refer to is that of all ranks' values together
 *   on=         result (default)            E bounds what the call returns
 *               | input                     E bounds each rank's contribution to a sum
 *               | likely                    95 % of all values of a sum are within E, if the ranks' values
 *                                           differ; all values are within sqrt(P) * E
 *   codec=, predictor=, dims=, fill=, bits=, checksum=    as in TAUT_Encode
 *   algorithm=  auto (default) | ring | recursive_doubling | halving_doubling | two_shot | direct | bruck
 *               | chain | scatter_allgather | binomial | linear | pairwise | rank_order
 *               | cpr_p2p                 encodes anew at each hop; for comparison
 *   reduction=  auto (default) | frames     sums of encoded data
 *               | values                    decode, operate, encode
 *   nodes=      auto (default)              under when=profitable on first, then the faster way; else off
 *               | on                        divides a message among the ranks of a node, with several ranks
 *                                           on each of several nodes: plain values on a node, frames
 *                                           between nodes
 *               | frames                    as on; on equal nodes, an allreduce by halving_doubling sends its
 *                                           result as frames on a node too
 *               | off
 *   sum=        auto (default) | wide       with lossless: the sums and means of Allreduce and Reduce_scatter
 *                                           are added in a wider type (float16 and bfloat16 in float32,
 *                                           float32 in float64, float64 in itself), from rank 0 on, and
 *                                           rounded once. The bits depend on the values alone
 *   segments=   auto (default) | 1..64      parts of a message that are in flight at a time
 *   slots=      off (default)               sizes of frames are exact
 *               | a ratio, at least 1       over NCCL, frames travel in memory of fixed size, smaller than
 *                                           their values by this ratio (docs/nccl.md); MPI ignores it
 *   same_bits=  off (default)               what a rank owns as input stays as it is
 *               | on                        the root's values of a broadcast, and the own block of an
 *                                           allgather in place, are replaced by the decoded values: all
 *                                           ranks hold the same bits
 *   history=    off (default)               each call is coded by itself
 *               | auto | 1..36              frames of collectives may refer to so many earlier calls of the
 *                                           same kind (auto: 4), which each rank keeps in memory; the values
 *                                           are those of history=off
 *   history_bytes=  256MiB (default)        most memory for all histories of the communicator
 *   min_bytes=  64KiB (default)             smaller messages go straight to plain MPI
 *   when=       auto (default)              always if a codec is named, else profitable
 *               | profitable                leaves values that hardly compress, and kinds of calls at which
 *                                           plain MPI proves to be faster, to plain MPI. The choice goes by
 *                                           the clock: runs may differ in what is compressed, the ranks of
 *                                           one run never do. The old spelling `pays` is accepted
 *               | always
 *
 * Errors: TAUT_ERR_POLICY or _ARGUMENT (the text names option, column and remedy; ranks whose
 * policy is valid get TAUT_ERR_PEER), TAUT_ERR_RANK_MISMATCH (the strings differ), TAUT_ERR_TRANSPORT. After
 * an error the old policy stays in force. MPI_Comm_dup passes the policy on to the duplicate, whose
 * statistics begin at zero; MPI_Comm_split, MPI_Cart_create and other functions that make communicators of
 * other ranks do not.
 *
 * The policy is that of the communicator itself: a second call replaces it for everybody who uses comm. A
 * library sets its policy on a duplicate of its own. The statistics of comm go on under a new policy. */
TAUT_API int TAUT_Comm_set_policy(MPI_Comm comm, const char* policy);

/* Writes the policy that is in force on comm, as it was set; "" if there is none, whether or not rules
 * apply. */
TAUT_API int /* MPI_SUCCESS, or a code for TAUT_ERR_ARGUMENT. Local */
TAUT_Comm_get_policy(MPI_Comm comm,
                     char* text,      /* out: the policy, cut to capacity, ending in a 0; NULL if that is 0 */
                     size_t capacity, /* bytes at `text` */
                     size_t* needed   /* out: bytes that the whole text needs; may be NULL */
);

/* Sets the policy from an info object: "taut_bound" is the bound ("abs:1e-4"), any other "taut_NAME" the
 * option NAME ("taut_on": "input"). Keys with another prefix are ignored. MPI_INFO_NULL, or an info object
 * without such a key, sets no policy. */
TAUT_API int TAUT_Comm_set_info(MPI_Comm comm, MPI_Info info);

/* The collectives below are collective over comm, as MPI's are, and blocking. For all of them:
 *
 * - Compressed types are float, double, their complex kinds in C, C++ and Fortran, and 16-bit floats if
 *   the MPI has a type for them (MPIX_C_FLOAT16, MPIX_BFLOAT16); for complex numbers a bound holds for
 *   both parts. Integers and bytes that are moved are coded without loss under every bound. Collectives
 *   that only move values also accept derived types whose values are all of one of these types. Such
 *   values are coded in place if they are contiguous as in an array, else packed before the call and
 *   unpacked after it (memory for that is allocated beforehand; memory between the values is not
 *   touched). Ranks, senders and receivers may have different types of the same signature. The following
 *   go to plain MPI, for the same reason on every rank: other types (of several kinds of values),
 *   derived types in reductions, operators other than MPI_SUM, MPI_MIN and MPI_MAX, intercommunicators,
 *   single ranks, messages below min_bytes (of all blocks together), values that do not compress, and
 *   calls at which plain MPI is faster (when=). Results are then MPI's.
 * - Under abs:E every element of the result is within E of the exact result, which for sums is the sum
 *   of the inputs as real numbers. If a float32 (float64) sum exceeds 65536 E (3.5e13 E), the error is
 *   larger by half an ulp of it (for sums of 16-bit floats, and under snap:E, at any size); with
 *   reduction=values, by half an ulp of each of the P-1 partial sums. Under on=input a sum of P ranks is
 *   within P * E instead, or (2P-1) * E with reduction=values. MIN, MAX and moved values are within E.
 * - Values may be in memory of a GPU (CUDA), on any of the ranks. Kernels of libtaut_cuda then code and
 *   reduce them there, and frames travel through host memory, with any MPI; results are the same to the
 *   bit. See TAUT_Cuda_comm_set_stream for the order of work. The following go to plain MPI, as they are,
 *   for the same reason on every rank: values on several GPUs in one rank's call, values that would be
 *   packed, codecs without kernels (szx, raw, zfp under a bound), checksum=on, and ranks without
 *   libtaut_cuda. Messages are served alike, on either side; a message goes to plain MPI for the reasons of
 *   its sender alone. A receive that has room for a compressed message goes through host memory.
 * - Inputs stay as they are, bit for bit, and may be in read-only memory: send buffers, the root's buffer of
 *   a broadcast, and a rank's own block in place. All ranks receive the same bits; results of calls that
 *   are not in place are the same on all ranks. same_bits=on replaces what a rank owns by what the others
 *   receive. Calls that are fed with results of earlier calls keep moved values, minima and maxima within E
 *   of the first ones under abs, snap, pwrel and lossless, as long as one codec other than zfp serves them;
 *   otherwise within k * E after k calls.
 * - NaN and infinities arrive unchanged. MIN and MAX return NaN if an input is NaN.
 * - Buffers overlap only by MPI_IN_PLACE. After an error receive buffers may hold anything.
 * - A call returns MPI_SUCCESS, MPI's own errors, or a code for: TAUT_ERR_RANK_MISMATCH on every rank if
 *   the ranks differ in collective, bytes, type, operator or root; TAUT_ERR_ARGUMENT on a rank whose
 *   buffer is NULL, and TAUT_ERR_PEER on the other ranks; TAUT_ERR_FRAME, _FRAME_MISMATCH, _MEMORY or
 *   _TRANSPORT on a rank on which something failed (TAUT_ERR_CUDA of taut_cuda.h if CUDA reported it),
 *   and TAUT_ERR_PEER on ranks that depend on it.
 * - Calls below min_bytes are unchecked plain MPI calls, as are calls in which the ranks' sizes lie on
 *   both sides of min_bytes; MPI decides what becomes of them. */

/* Sets the stream, a cudaStream_t, on which the calls of this rank, messages included, work on values in
 * memory of a GPU. A call sees the results of all work that was enqueued on the stream before it, and
 * returns, or completes, when its own result is there. NULL, also the default: the legacy default stream.
 * Local; applies to calls made, and to persistent requests created, later on. Duplicates of a communicator
 * with a policy inherit the stream. cudaStreamPerThread is not for calls that another thread completes. */
TAUT_API int TAUT_Cuda_comm_set_stream(MPI_Comm comm, void* stream);

/* Returns the operator of the mean over the ranks. The operator works in the reductions below, nonblocking
 * and persistent ones included, on floating-point types and intracommunicators; other reductions return
 * MPI_ERR_OP. Every element is within E of the exact mean, plus half an ulp of it. Each rank's values are
 * coded within E, so that frames are smaller than those of a sum. The sum may overflow where the mean
 * would not. MPI_ functions take the operator for a sum. The first call creates the operator, and
 * MPI_Finalize frees it. Returns MPI_OP_NULL before MPI_Init and if MPI cannot create the operator. */
TAUT_API MPI_Op TAUT_Avg(void);

/* Computes the sum, minimum or maximum over all ranks, element by element; every rank gets the same bits.
 * Like MPI_Allreduce. */
TAUT_API int TAUT_Allreduce(const void* sendbuf, /* count elements, or MPI_IN_PLACE on every rank */
                            void* recvbuf,       /* count elements */
                            MPI_Count count,     /* the same on every rank */
                            MPI_Datatype type,   /* a type that is not compressed goes to MPI unchanged */
                            MPI_Op op,           /* MPI_SUM, MPI_MIN, MPI_MAX; others go to MPI unchanged */
                            MPI_Comm comm);

/* Computes the reduction of TAUT_Allreduce; rank r gets block r of the result. Like
 * MPI_Reduce_scatter_block. */
TAUT_API int TAUT_Reduce_scatter_block(
    const void* sendbuf, /* size * recvcount elements, or MPI_IN_PLACE (then recvbuf holds that many) */
    void* recvbuf,       /* recvcount elements */
    MPI_Count recvcount, MPI_Datatype type, MPI_Op op, MPI_Comm comm);

/* Computes the sum, minimum or maximum over the ranks 0 .. rank, element by element. Like MPI_Scan. The bits
 * of a rank's result do not depend on the values of later ranks. TAUT_Avg() returns MPI_ERR_OP. */
TAUT_API int TAUT_Scan(const void* sendbuf, /* count elements, or MPI_IN_PLACE on every rank */
                       void* recvbuf,       /* count elements */
                       MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);

/* Computes the sum, minimum or maximum over the ranks 0 .. rank-1. Like MPI_Exscan. Rank 0 receives nothing:
 * its recvbuf is not touched. Rank r+1 gets the bits that rank r gets by TAUT_Scan. */
TAUT_API int TAUT_Exscan(const void* sendbuf, /* count elements, or MPI_IN_PLACE on every rank */
                         void* recvbuf, /* count elements; ignored on rank 0 unless sendbuf is in place */
                         MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);

/* Computes the reduction of TAUT_Allreduce at the root alone. Like MPI_Reduce. */
TAUT_API int TAUT_Reduce(const void* sendbuf, /* count elements, or MPI_IN_PLACE at the root */
                         void* recvbuf,       /* count elements at the root; ignored elsewhere */
                         MPI_Count count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm);

/* Gives every rank the blocks of all ranks, in rank order. Like MPI_Allgather. All ranks hold the same bits:
 * a rank's own block is decoded as well. In place the own block stays as it is, unless same_bits=on. */
TAUT_API int TAUT_Allgather(
    const void* sendbuf, /* sendcount elements, or MPI_IN_PLACE (then the block is in recvbuf) */
    MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, /* size * recvcount elements */
    MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm);

/* Broadcasts the root's values to every rank. Like MPI_Bcast. All other ranks receive the same bits. The
 * root's buffer is only read, unless same_bits=on: then it receives the decoded values too. */
TAUT_API int TAUT_Bcast(void* buffer, /* count elements */
                        MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm);

/* Sends block r of the root's sendbuf to rank r. Like MPI_Scatter. The root's own block is copied without
 * coding. */
TAUT_API int TAUT_Scatter(
    const void* sendbuf, /* size * sendcount elements at the root; ignored elsewhere */
    MPI_Count sendcount, MPI_Datatype sendtype,
    void* recvbuf, /* recvcount elements; MPI_IN_PLACE at the root leaves its block where it is */
    MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);

/* Collects the blocks of all ranks at the root, in rank order. Like MPI_Gather. The root's own block is
 * copied without coding. */
TAUT_API int TAUT_Gather(
    const void* sendbuf, /* sendcount elements; MPI_IN_PLACE at the root: its block is in recvbuf */
    MPI_Count sendcount, MPI_Datatype sendtype,
    void* recvbuf, /* size * recvcount elements at the root; ignored elsewhere */
    MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);

/* Sends block r of each rank's sendbuf to rank r, which stores the block of rank s as block s of recvbuf.
 * Like MPI_Alltoall. A rank's block for itself is copied without coding. */
TAUT_API int TAUT_Alltoall(
    const void* sendbuf, /* size * sendcount elements, or MPI_IN_PLACE (then they are in recvbuf) */
    MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, /* size * recvcount elements */
    MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm);

/* The following collectives take blocks of any size: counts and displacements in elements, one for each
 * rank, as in MPI-4's large-count calls. Memory between the blocks is not touched. All ranks know the
 * block sizes of Allgatherv and Reduce_scatter. In the other collectives a rank knows only its own sizes:
 * min_bytes then refers to the most that any rank sends or receives, and every call, even a small one,
 * begins with an exchange of 184 bytes. */
TAUT_API int TAUT_Reduce_scatter(
    const void* sendbuf, /* all blocks, or MPI_IN_PLACE (then recvbuf holds them) */
    void* recvbuf,       /* recvcounts[rank] elements */
    const MPI_Count recvcounts[], MPI_Datatype type, MPI_Op op, MPI_Comm comm);

TAUT_API int TAUT_Allgatherv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                             const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                             MPI_Comm comm);

TAUT_API int TAUT_Gatherv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                          const MPI_Count recvcounts[], const MPI_Aint displs[], /* read at the root */
                          MPI_Datatype recvtype, int root, MPI_Comm comm);

TAUT_API int TAUT_Scatterv(const void* sendbuf, const MPI_Count sendcounts[],
                           const MPI_Aint displs[], /* read at the root */
                           MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                           int root, MPI_Comm comm);

TAUT_API int TAUT_Alltoallv(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                            MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[],
                            const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm);

/* TAUT_Alltoallv with a datatype for each block, and displacements in bytes. The blocks may have any
 * datatypes of one kind of values, on all ranks; otherwise plain MPI serves the call. The datatypes of empty
 * blocks do not matter. */
TAUT_API int TAUT_Alltoallw(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                            const MPI_Datatype sendtypes[], void* recvbuf, const MPI_Count recvcounts[],
                            const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm);

/* The following collectives exchange blocks with the neighbours in the topology of the communicator: a
 * Cartesian topology, a graph or a distributed graph. Blocks are in MPI's order of the neighbours. Those of
 * MPI_PROC_NULL are not touched. What a rank sends to itself is copied without coding. MPI_IN_PLACE is not
 * allowed. As in the calls with blocks of any size, min_bytes refers to the most that any rank sends or
 * receives, and every call begins with an exchange of 184 bytes. Exception: with blocks of one size in a
 * Cartesian topology, the size of a message is that of all blocks, those of MPI_PROC_NULL included. */

/* Sends each rank's block to all its neighbours. Like MPI_Neighbor_allgather. The block is coded once, and
 * all neighbours hold the same bits; a rank that is its own neighbour decodes its block as well. */
TAUT_API int TAUT_Neighbor_allgather(
    const void* sendbuf, /* sendcount elements */
    MPI_Count sendcount, MPI_Datatype sendtype,
    void* recvbuf, /* recvcount elements for each neighbour that the rank receives from */
    MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm);

/* TAUT_Neighbor_allgather with blocks of any size. */
TAUT_API int TAUT_Neighbor_allgatherv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                      void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                                      MPI_Datatype recvtype, MPI_Comm comm);

/* Sends block i of each rank's sendbuf to its i-th neighbour. Like MPI_Neighbor_alltoall. */
TAUT_API int TAUT_Neighbor_alltoall(
    const void* sendbuf, /* sendcount elements for each neighbour that the rank sends to */
    MPI_Count sendcount, MPI_Datatype sendtype,
    void* recvbuf, /* recvcount elements for each neighbour that the rank receives from */
    MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm);

/* TAUT_Neighbor_alltoall with blocks of any size. */
TAUT_API int TAUT_Neighbor_alltoallv(const void* sendbuf, const MPI_Count sendcounts[],
                                     const MPI_Aint sdispls[], MPI_Datatype sendtype, void* recvbuf,
                                     const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                                     MPI_Datatype recvtype, MPI_Comm comm);

/* TAUT_Neighbor_alltoallv with a datatype for each block, as in TAUT_Alltoallw. */
TAUT_API int TAUT_Neighbor_alltoallw(const void* sendbuf, const MPI_Count sendcounts[],
                                     const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void* recvbuf,
                                     const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                                     const MPI_Datatype recvtypes[], MPI_Comm comm);

/* ---- Nonblocking and persistent calls ----
 *
 * TAUT_I<call> starts a call and returns; TAUT_Wait, TAUT_Test and their kind tell when the call is complete.
 * Until then the program must not read the receive buffers, must not write to any buffer, and must not change
 * arrays of counts, displacements and types. Types and operators may be freed once the call is started. Any
 * number of calls may be in flight, on any communicators, and complete in any order. All ranks of a
 * communicator start the calls in the same order, blocking calls among them. Results, bounds, bits and errors
 * are those of the blocking calls. Errors that the ranks have to agree on are reported at completion, on
 * every rank.
 *
 * - Calls progress inside TAUT_ calls (and in a thread, under TAUT_PROGRESS=1): calls that complete
 *   requests, and blocking calls that are compressed, advance all calls in flight in the process, and
 *   may encode and decode for a while. During a call of plain MPI they do not progress. Complete
 *   requests before you block in MPI_Barrier, MPI_Recv and the like, if another rank may wait for them
 *   before it does its part there. A blocking TAUT_ call that is plain at once first completes the calls
 *   that its thread has in flight.
 * - A TAUT_Request is not an MPI_Request: MPI_Wait does not take it. One thread at a time may use a
 *   communicator and its requests.
 * - A call that the ranks agree to leave to plain MPI runs on a private communicator, in the order of
 *   the calls. A call that is plain at once is an MPI_I<call> on the user's communicator. The first call
 *   on a duplicate of a communicator creates its private one, and waits for all ranks to make that call.
 * - A communicator may be freed while calls are in flight on it; their errors are then only return
 *   codes. MPI_Finalize completes all calls in flight. */
typedef struct TAUT_Request_s* TAUT_Request;
#define TAUT_REQUEST_NULL ((TAUT_Request)0)

/* The following calls are the nonblocking forms of the blocking calls; `request` is an output. */
TAUT_API int TAUT_Iallreduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type,
                             MPI_Op op, MPI_Comm comm, TAUT_Request* request);
TAUT_API int TAUT_Ireduce_scatter_block(const void* sendbuf, void* recvbuf, MPI_Count recvcount,
                                        MPI_Datatype type, MPI_Op op, MPI_Comm comm, TAUT_Request* request);
TAUT_API int TAUT_Iscan(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op,
                        MPI_Comm comm, TAUT_Request* request);
TAUT_API int TAUT_Iexscan(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op,
                          MPI_Comm comm, TAUT_Request* request);
TAUT_API int TAUT_Ireduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op,
                          int root, MPI_Comm comm, TAUT_Request* request);
TAUT_API int TAUT_Ibcast(void* buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm,
                         TAUT_Request* request);
TAUT_API int TAUT_Iallgather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                             MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                             TAUT_Request* request);
TAUT_API int TAUT_Ialltoall(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                            MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, TAUT_Request* request);
TAUT_API int TAUT_Igather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                          MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                          TAUT_Request* request);
TAUT_API int TAUT_Iscatter(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                           MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                           TAUT_Request* request);
TAUT_API int TAUT_Ireduce_scatter(const void* sendbuf, void* recvbuf, const MPI_Count recvcounts[],
                                  MPI_Datatype type, MPI_Op op, MPI_Comm comm, TAUT_Request* request);
TAUT_API int TAUT_Iallgatherv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                              const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                              MPI_Comm comm, TAUT_Request* request);
TAUT_API int TAUT_Igatherv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                           const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                           int root, MPI_Comm comm, TAUT_Request* request);
TAUT_API int TAUT_Iscatterv(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
                            MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                            int root, MPI_Comm comm, TAUT_Request* request);
TAUT_API int TAUT_Ialltoallv(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                             MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[],
                             const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                             TAUT_Request* request);
TAUT_API int TAUT_Ialltoallw(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                             const MPI_Datatype sendtypes[], void* recvbuf, const MPI_Count recvcounts[],
                             const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                             TAUT_Request* request);
TAUT_API int TAUT_Ineighbor_allgather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                      void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                      MPI_Comm comm, TAUT_Request* request);
TAUT_API int TAUT_Ineighbor_allgatherv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                       void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                                       MPI_Datatype recvtype, MPI_Comm comm, TAUT_Request* request);
TAUT_API int TAUT_Ineighbor_alltoall(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                     void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                                     TAUT_Request* request);
TAUT_API int TAUT_Ineighbor_alltoallv(const void* sendbuf, const MPI_Count sendcounts[],
                                      const MPI_Aint sdispls[], MPI_Datatype sendtype, void* recvbuf,
                                      const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                                      MPI_Datatype recvtype, MPI_Comm comm, TAUT_Request* request);
TAUT_API int TAUT_Ineighbor_alltoallw(const void* sendbuf, const MPI_Count sendcounts[],
                                      const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void* recvbuf,
                                      const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                                      const MPI_Datatype recvtypes[], MPI_Comm comm, TAUT_Request* request);

/* Persistent calls bind arguments for repeated use. The request is inactive until TAUT_Start and after
 * each completion; TAUT_Request_free frees it. The request keeps the policy that the communicator has when
 * the request is created; without a policy, `info` is passed to MPI. Collective over comm. Buffers are
 * read anew at each start. Arrays of counts and displacements must not change until the request is freed;
 * arrays of types are copied. */
TAUT_API int TAUT_Allreduce_init(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type,
                                 MPI_Op op, MPI_Comm comm, MPI_Info info, TAUT_Request* request);
TAUT_API int TAUT_Reduce_scatter_block_init(const void* sendbuf, void* recvbuf, MPI_Count recvcount,
                                            MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Info info,
                                            TAUT_Request* request);
TAUT_API int TAUT_Scan_init(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op,
                            MPI_Comm comm, MPI_Info info, TAUT_Request* request);
TAUT_API int TAUT_Exscan_init(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type,
                              MPI_Op op, MPI_Comm comm, MPI_Info info, TAUT_Request* request);
TAUT_API int TAUT_Reduce_init(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type,
                              MPI_Op op, int root, MPI_Comm comm, MPI_Info info, TAUT_Request* request);
TAUT_API int TAUT_Bcast_init(void* buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm,
                             MPI_Info info, TAUT_Request* request);
TAUT_API int TAUT_Allgather_init(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                 void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                                 MPI_Info info, TAUT_Request* request);
TAUT_API int TAUT_Alltoall_init(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                                MPI_Info info, TAUT_Request* request);
TAUT_API int TAUT_Gather_init(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                              MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                              MPI_Info info, TAUT_Request* request);
TAUT_API int TAUT_Scatter_init(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                               MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                               MPI_Info info, TAUT_Request* request);
TAUT_API int TAUT_Reduce_scatter_init(const void* sendbuf, void* recvbuf, const MPI_Count recvcounts[],
                                      MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Info info,
                                      TAUT_Request* request);
TAUT_API int TAUT_Allgatherv_init(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                  void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                                  MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, TAUT_Request* request);
TAUT_API int TAUT_Gatherv_init(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                               const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                               int root, MPI_Comm comm, MPI_Info info, TAUT_Request* request);
TAUT_API int TAUT_Scatterv_init(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
                                MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                                MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                                TAUT_Request* request);
TAUT_API int TAUT_Alltoallv_init(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                                 MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[],
                                 const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                                 MPI_Info info, TAUT_Request* request);
TAUT_API int TAUT_Alltoallw_init(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                                 const MPI_Datatype sendtypes[], void* recvbuf, const MPI_Count recvcounts[],
                                 const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                                 MPI_Info info, TAUT_Request* request);
TAUT_API int TAUT_Neighbor_allgather_init(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                          void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                          MPI_Comm comm, MPI_Info info, TAUT_Request* request);
TAUT_API int TAUT_Neighbor_allgatherv_init(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                           void* recvbuf, const MPI_Count recvcounts[],
                                           const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm,
                                           MPI_Info info, TAUT_Request* request);
TAUT_API int TAUT_Neighbor_alltoall_init(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                         void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                         MPI_Comm comm, MPI_Info info, TAUT_Request* request);
TAUT_API int TAUT_Neighbor_alltoallv_init(const void* sendbuf, const MPI_Count sendcounts[],
                                          const MPI_Aint sdispls[], MPI_Datatype sendtype, void* recvbuf,
                                          const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                                          MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                          TAUT_Request* request);
TAUT_API int TAUT_Neighbor_alltoallw_init(const void* sendbuf, const MPI_Count sendcounts[],
                                          const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                                          void* recvbuf, const MPI_Count recvcounts[],
                                          const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
                                          MPI_Comm comm, MPI_Info info, TAUT_Request* request);

/* Starts a persistent call. */
TAUT_API int /* MPI_SUCCESS or an error of the call; TAUT_ERR_ARGUMENT: not an inactive persistent request */
TAUT_Start(TAUT_Request* request);

/* Starts several persistent calls. */
TAUT_API int /* as TAUT_Start; starts in the order of the array, up to the first error */
TAUT_Startall(int count, TAUT_Request requests[]);

/* Starts a persistent collective call in the order of a stream, a cudaStream_t of the thread's current
 * device: the call begins once all work that is on the stream now is done. The host waits for none of that.
 * TAUT_Cuda_wait_enqueue makes later work of a stream, the same or another one, wait for the result.
 *
 * - All ranks of a communicator start their calls in the same order, on streams and by the other TAUT_
 *   calls. Their streams may get there in any order. A call that plain MPI serves waits for the calls of the
 *   communicator that were started before it.
 * - The request is active until TAUT_Wait, TAUT_Test or their kind completes it, or TAUT_Request_free. They
 *   complete all its starts on streams, and return the first error. A call with an error lets the waiting
 *   streams go on too. An active request can be started on a stream again once a stream waits for its last
 *   start, and so on without a wait of the host.
 * - A progress thread advances the calls, whatever TAUT_PROGRESS says. It needs MPI_THREAD_MULTIPLE. The
 *   calls work on a stream of Taut's own; TAUT_Cuda_comm_set_stream does not apply. The start of a call may
 *   wait until the thread has coded a frame, and the first one of a request for all ranks.
 * - While a stream waits for a request, calls of CUDA that wait for the whole GPU wait for ever: cudaFree,
 *   cudaFreeHost, and others (docs/gpu.md, "While a stream waits"). The first launch of a kernel waits too:
 *   run each kernel before, or set CUDA_MODULE_LOADING=EAGER. Taut loads its own kernels before.
 * - Streams that are captured in a graph are refused. */
TAUT_API int /* MPI_SUCCESS, TAUT_ERR_CUDA or TAUT_ERR_ARGUMENT: no persistent collective request, an active
                one without a wait, a captured stream, no MPI_THREAD_MULTIPLE, no libtaut_cuda */
TAUT_Cuda_start_enqueue(TAUT_Request* request, void* stream);

/* Makes all later work of the stream wait until the last start of the request on a stream is complete. Does
 * nothing if the request is inactive. */
TAUT_API int /* MPI_SUCCESS; TAUT_ERR_CUDA: TAUT_Wait can still complete the request; TAUT_ERR_ARGUMENT: a
                captured stream, or a request that TAUT_Start has started */
TAUT_Cuda_wait_enqueue(TAUT_Request* request, void* stream);

/* Completion. Completing a nonblocking request frees it and sets it to TAUT_REQUEST_NULL; completing a
 * persistent request makes it inactive. Null and inactive requests are complete. Errors of a call are
 * raised through the error handler of its communicator. An unusable pointer or count is TAUT_ERR_ARGUMENT,
 * raised through the error handler of MPI_COMM_SELF. In the status of a collective call only MPI_ERROR has
 * a meaning; source, tag and count have none. MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE are accepted. */

/* Waits until the call is complete. */
TAUT_API int /* MPI_SUCCESS or the error of the call */
TAUT_Wait(TAUT_Request* request, MPI_Status* status);

/* Makes progress and tests if the call is complete. */
TAUT_API int /* MPI_SUCCESS, or the error of a complete call */
TAUT_Test(TAUT_Request* request, int* flag /* out: 1 if complete, else 0 */, MPI_Status* status);

/* Waits until all calls are complete. */
TAUT_API int /* MPI_SUCCESS; else MPI_ERR_IN_STATUS, or the first error where statuses are ignored */
TAUT_Waitall(int count, TAUT_Request requests[], MPI_Status statuses[]);

/* Makes progress and tests if all calls are complete. */
TAUT_API int /* as TAUT_Waitall, if all are complete; else MPI_SUCCESS, and no request is changed */
TAUT_Testall(int count, TAUT_Request requests[], int* flag, MPI_Status statuses[]);

/* Waits until one of the active calls is complete. */
TAUT_API int /* MPI_SUCCESS or the error of that call */
TAUT_Waitany(int count, TAUT_Request requests[], int* index /* out; MPI_UNDEFINED if none is active */,
             MPI_Status* status);

/* Frees a request. */
TAUT_API int /* MPI_SUCCESS, or the error of the call: an active request is waited for first */
TAUT_Request_free(TAUT_Request* request /* TAUT_REQUEST_NULL afterwards; a null request is left as it is */);

/* ---- Point-to-point messages ----
 *
 * The message calls have MPI's matching, order and modes. On a communicator with a policy the sender alone
 * decides how a message travels. The sender compresses a message if its type is compressed (as in collectives
 * that move values), it has min_bytes or more, and samples of it compress. A compressed message begins with a
 * header, and its length is 496 plus a multiple of 1024 bytes. Any other message is the message that MPI_Send
 * would send. The receiver needs no knowledge of the choice: wildcards, larger receive buffers and probes
 * work as in MPI.
 *
 * - A message is coded once: every value arrives within the policy's bound. The range that rel and psnr
 *   refer to is the range of the message.
 * - Compressed messages are for TAUT_ calls: MPI_Recv and MPI_Probe see header and frames. Plain
 *   messages are MPI's: MPI_Recv receives what TAUT_Send sends plain, and TAUT_Recv receives what
 *   MPI_Send sends. Messages that TAUT_Probe has found must be received by TAUT_ calls. No message may
 *   be in flight when the policy is changed.
 * - A message longer than the receive buffer is MPI_ERR_TRUNCATE; Taut writes nothing beyond that
 *   buffer. Open MPI 5.0.11 itself may do so, as in MPI_Recv (docs/adr/0021).
 * - A compressed message of numbers that is received as numbers of another type is
 *   TAUT_ERR_FRAME_MISMATCH, a damaged one TAUT_ERR_FRAME. A plain message is MPI's, which checks
 *   neither. The communicator remains usable after both errors.
 * - Blocking message calls advance the calls in flight, and complete none of them. A compressed message
 *   is encoded before TAUT_Send or TAUT_Isend passes it to MPI, and decoded when it is received or
 *   waited for. In between it progresses like any message of MPI.
 * - Values that are not contiguous are packed and compressed; messages with several kinds of values
 *   travel plain.
 * - A status is as in MPI: source, tag, and the count of the values for MPI_Get_count. */

/* Sends a message. Like MPI_Send. */
TAUT_API int /* MPI_SUCCESS, or MPI's own errors; a message that cannot be compressed goes plain */
TAUT_Send(const void* buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm);

/* Receives a message. Like MPI_Recv. */
TAUT_API int /* the errors above and TAUT_ERR_MEMORY; after an error `buf` may hold anything */
TAUT_Recv(void* buf, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
          MPI_Status* status /* or MPI_STATUS_IGNORE */);

/* Sends a message and receives another one. Like MPI_Sendrecv. */
TAUT_API int /* the send's error, else the receive's */
TAUT_Sendrecv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag,
              void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag,
              MPI_Comm comm, MPI_Status* status);

/* Nonblocking forms, completed by TAUT_Wait and its kind. A receive is complete once its values are
 * decoded. */
TAUT_API int TAUT_Isend(const void* buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                        TAUT_Request* request);
TAUT_API int TAUT_Irecv(void* buf, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                        TAUT_Request* request);

/* Probe for a message, which the next matching receive then gets. To know the count of a message that may
 * be compressed, the library receives it from MPI and keeps it. TAUT_Iprobe reports the message once all
 * of it has arrived. */
TAUT_API int TAUT_Probe(int source, int tag, MPI_Comm comm, MPI_Status* status);
TAUT_API int TAUT_Iprobe(int source, int tag, MPI_Comm comm, int* flag /* out: 1 if there is one, else 0 */,
                         MPI_Status* status);

/* Statistics of the communicator's calls on this rank, under all its policies. Times are in nanoseconds
 * of a steady clock. Calls below min_bytes that go to plain MPI are timed only under TAUT_REPORT,
 * TAUT_TRACE or TAUT_SUMMARY (docs/observe.md). */
typedef struct TAUT_Stats {
  size_t struct_size;         /* set by the caller to sizeof(TAUT_Stats) */
  uint64_t calls;             /* calls through TAUT_ entry points; each send and each receive is one */
  uint64_t compressed_calls;  /* calls among them that moved frames */
  uint64_t value_bytes;       /* bytes of values encoded on this rank */
  uint64_t frame_bytes;       /* bytes of the frames encoded from them */
  uint64_t sent_bytes;        /* bytes sent by this rank in compressed calls, frames forwarded included */
  uint64_t sent_messages;     /* messages sent by this rank in compressed calls, agreement included */
  uint64_t plain_unsupported; /* plain: type, operator, communicator, arguments, device, lack of memory */
  uint64_t plain_small;       /* plain: below min_bytes */
  uint64_t plain_no_gain;     /* plain: the agreed estimate of the ratio was too low */
  uint64_t plain_off;         /* plain: the policy is off, or TAUT=0 */
  uint64_t failed_calls;      /* calls that ended with an error of this library */
  uint64_t message_bytes;     /* bytes of the messages of all calls, all blocks of each */
  uint64_t carried_bytes;     /* bytes of the values that the sent frames represent */
  uint64_t call_ns;           /* time of the calls; the sum of the times below */
  uint64_t encode_ns;         /* encoding values to frames */
  uint64_t combine_ns;        /* combining partial results and values */
  uint64_t decode_ns;         /* decoding frames to values */
  uint64_t wait_ns;           /* waiting for messages: the rest of a compressed call */
  uint64_t agree_ns;          /* agreement, including samples and memory allocation */
  uint64_t plain_ns;          /* plain MPI */
  uint64_t plain_slower;      /* plain: plain MPI has proved to be faster, or was tried for comparison */
  uint64_t plain_sender;      /* received messages of min_bytes or more that the sender did not compress */
} TAUT_Stats;

/* Adds up the calls under all policies and rules that comm has had; all zero if it had none. */
TAUT_API int /* MPI_SUCCESS, or a code for TAUT_ERR_ARGUMENT. Local */
TAUT_Comm_get_stats(MPI_Comm comm, TAUT_Stats* stats /* out; filled up to its struct_size */);

/* Writes the statistics in words: a summary line, then a line for each kind of call (collective, type,
 * operator, size to a power of two, call site), the kind that took the longest first. A line tells what
 * was decided and why, the ratio, the bytes sent and the bytes that plain MPI would have sent, and where
 * the time was spent. Calls under earlier policies follow, likewise under a line for each policy. No other
 * thread may be in a call on comm. */
TAUT_API int /* MPI_SUCCESS, or a code for TAUT_ERR_ARGUMENT. Local */
TAUT_Comm_explain(MPI_Comm comm,
                  char* text,      /* out: lines, cut to capacity, ending in a 0; NULL if that is 0 */
                  size_t capacity, /* bytes at `text` */
                  size_t* needed   /* out: bytes that the whole text needs; may be NULL */
);

/* Returns the status behind an error code of MPI. */
TAUT_API int /* an enum TAUT_Status; TAUT_ERR_TRANSPORT for MPI's own errors */
TAUT_Error_status(int mpi_error_code);

#endif /* TAUT_NO_MPI */

#ifdef __cplusplus
}
#endif

#endif /* TAUT_TAUT_H */
