/* taut_cuda.h -- frames on NVIDIA GPUs. Kernels write and read the same bytes as TAUT_Encode with
 * codec=planes, mpc or zfp, in the order of a stream. The library libtaut_cuda.so is separate and contains
 * the CUDA runtime: without a driver, TAUT_Cuda_available reports that, and nothing else happens. C11 and
 * C++11.
 *
 * All calls but the first two only enqueue work on `stream`: they wait for nothing and read nothing back. The
 * outcome of a call is in a TAUT_Cuda_result once the stream has got there. Scratch memory belongs to the
 * stream. The first call of each size class (a power of two) allocates it, and later calls never do. It stays
 * allocated until TAUT_Cuda_release, also when the stream is destroyed.
 *
 * A call is one or more kernels that share scratch memory. Host threads may use one stream: a call launches
 * all its kernels before the next one begins. A call that returns an error does not affect later calls.
 *
 * Calls can be captured in a graph after TAUT_Cuda_reserve (or the reservation of their own) for at least
 * their count, on the same stream; otherwise they return TAUT_ERR_CUDA. Scratch memory that a capture has
 * used is never freed, neither for larger calls nor by TAUT_Cuda_release, so graphs stay valid. A graph uses
 * the scratch memory of the stream that it was captured from: it must not run at the same time as other calls
 * on that stream, or as another graph that was captured from it.
 *
 * Pointers to values and frames are device pointers, or point to memory that the device can access. Frames
 * and sums are aligned to 16 bytes, values as their type requires (values aligned to 16 bytes are read
 * faster). Frames with a checksum of the payload need the host: TAUT_ERR_CUDA_NEEDS_HOST. So does a
 * frame that is a sum of frames whose bound is too small for their type, and so do frames with lags
 * (prediction across rows), except in sums that keep the lags and in the separate calls below. */
#ifndef TAUT_CUDA_H
#define TAUT_CUDA_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TAUT_CUDA_API __attribute__((visibility("default")))

enum {                                /* in addition to enum TAUT_Status, which these calls return too */
       TAUT_ERR_CUDA = 110,           /* the CUDA runtime reported an error: TAUT_Cuda_available says which */
       TAUT_ERR_CUDA_NEEDS_HOST = 120 /* a frame that only TAUT_Decode and its like can read */
};

/* Coding of values; the same on all ranks that add up their frames. */
typedef struct TAUT_Cuda_coding {
  double bound;   /* finite and above 0 */
  int snap;       /* 0: abs:bound, 1: snap:bound, as in TAUT_Encode */
  int predictor;  /* 0 none, 1 delta, 2 pairs, 3 second */
  int exact_bits; /* 0: bits=rounded, 1: bits=exact, as in TAUT_Encode; counts in the calls that encode */
} TAUT_Cuda_coding;

/* Result of a call, in memory that the device can write: device memory, or pinned and mapped memory that
 * the host can read. */
typedef struct TAUT_Cuda_result {
  uint64_t bytes;  /* size of the frame; at most the capacity passed to the call */
  uint32_t status; /* TAUT_SUCCESS or the error */
  uint32_t done;   /* becomes 1 once the other members are written; set it to 0 before the call to poll it.
                    * A frame is complete once the stream has passed the call. */
} TAUT_Cuda_result;

/* In all calls `stream` is a cudaStream_t and `type` a TAUT_Type. Lossless and fixed-rate calls list their
 * types below; the other calls take F32, F64, F16, BF16, C64 or C128. */

/* Returns 1 if there is a device that this library can use. Otherwise returns 0 and sets *why to a text
 * that says what is missing (`why` may be NULL). */
TAUT_CUDA_API int TAUT_Cuda_available(const char** why);

/* Allocates the scratch memory that calls on up to `count` values of `type` need on this stream, and loads
 * their kernels, except for the calls that have a reservation of their own: TAUT_Frame_accumulate_cuda, which
 * needs somewhat more than the size of the values, and those with lags. */
TAUT_CUDA_API int TAUT_Cuda_reserve(size_t count, int type, void* stream);
TAUT_CUDA_API int TAUT_Cuda_reserve_accumulate(size_t count, int type, void* stream);

/* Frees all scratch memory that no capture has used, and gives unused memory of Taut's pools back to the
 * system, also the pinned memory for frames of libtaut's calls. No call, of libtaut neither, may be in
 * flight. */
TAUT_CUDA_API int TAUT_Cuda_release(void);

/* frame <- values: encodes. `capacity` is at least TAUT_Max_bytes(type, count, 1). */
TAUT_CUDA_API int TAUT_Encode_cuda(const void* values, size_t count, int type, const TAUT_Cuda_coding* coding,
                                   void* frame, size_t capacity, TAUT_Cuda_result* result, void* stream);

/* Encodes values into slots, for transfer: chunk i (of 4096 values; complex: 2048) is stored at slots + i
 * * slot_bytes, a multiple of 4, and takes words[i] * 4 bytes. A chunk that does not fit makes
 * result->status TAUT_ERR_BUFFER. Slots are not a frame; TAUT_Slots_add_cuda adds them, or makes a frame
 * of them. */
TAUT_CUDA_API int TAUT_Encode_slots_cuda(const void* values, size_t count, int type,
                                         const TAUT_Cuda_coding* coding, uint32_t* words, void* slots,
                                         size_t slot_bytes, TAUT_Cuda_result* result, void* stream);

/* values <- frame, and values += frame: decodes. `bytes` is the number of bytes that may be read at
 * `frame`; the header holds the frame's length. */
TAUT_CUDA_API int TAUT_Decode_cuda(const void* frame, size_t bytes, void* values, size_t count, int type,
                                   TAUT_Cuda_result* result, void* stream);
TAUT_CUDA_API int TAUT_Decode_add_cuda(const void* frame, size_t bytes, void* values, size_t count, int type,
                                       TAUT_Cuda_result* result, void* stream);

/* sum <- the sum of n frames, 1 to 8, none of which overlaps it. The arrays of n elements are read during
 * the call. Frames with lags are added if all have the same prediction and the sum has fewer than 256
 * addends. */
TAUT_CUDA_API int TAUT_Frame_add_cuda(const void* const* frames, const size_t* bytes, int n, size_t count,
                                      int type, void* sum, size_t capacity, TAUT_Cuda_result* result,
                                      void* stream);

/* sum <- the sum of n arrays of slots, of one addend each. With n = 1 the sum is the frame of the values. */
TAUT_CUDA_API int TAUT_Slots_add_cuda(const uint32_t* const* words, const void* const* slots,
                                      size_t slot_bytes, int n, size_t count, int type,
                                      const TAUT_Cuda_coding* coding, void* sum, size_t capacity,
                                      TAUT_Cuda_result* result, void* stream);

/* sum <- frame + values, quantised with the frame's predictor. The frame must have the coding's step. */
TAUT_CUDA_API int TAUT_Frame_accumulate_cuda(const void* frame, size_t bytes, const void* values,
                                             size_t count, int type, const TAUT_Cuda_coding* coding,
                                             void* sum, size_t capacity, TAUT_Cuda_result* result,
                                             void* stream);

/* ---- Lags: frames of codec=planes with prediction across rows, as predictor=lorenzo2 or delta+192 makes
 * them. These calls are separate because nothing is read back: integers with lags depend on the integers a
 * row before, which takes several kernels in sequence and 4 bytes of scratch memory a value. The caller
 * knows the prediction, as the ranks of a collective call have agreed on it. Frames without lags are
 * decoded as well, in one pass as elsewhere. */

/* Allocates the scratch memory that these calls on up to `count` values of `type` need on this stream, and
 * loads their kernels. */
TAUT_CUDA_API int TAUT_Cuda_reserve_lagged(size_t count, int type, void* stream);

/* frame <- values: encodes as TAUT_Encode_cuda does, with n lags, 0 to 2. Lags are distances in numbers of
 * `type`, 64 to 2^30 - 1, as in predictor=delta+192+18432. As on the CPU, lags that reach no value are
 * left out, and values that ask for it are coded without lags. The array is read during the call. */
TAUT_CUDA_API int TAUT_Encode_lagged_cuda(const void* values, size_t count, int type,
                                          const TAUT_Cuda_coding* coding, const uint32_t* lags, int n,
                                          void* frame, size_t capacity, TAUT_Cuda_result* result,
                                          void* stream);

/* values <- frame, and values += frame. */
TAUT_CUDA_API int TAUT_Decode_lagged_cuda(const void* frame, size_t bytes, void* values, size_t count,
                                          int type, TAUT_Cuda_result* result, void* stream);
TAUT_CUDA_API int TAUT_Decode_add_lagged_cuda(const void* frame, size_t bytes, void* values, size_t count,
                                              int type, TAUT_Cuda_result* result, void* stream);

/* ---- Lossless: frames of codec=mpc, of every TAUT_Type. These calls are separate because nothing is read
 * back: the caller chooses the kernels, as all ranks of a collective call have agreed on the codec. A
 * frame of the other kind is rejected: TAUT_ERR_FRAME_MISMATCH. */

/* frame <- values: encodes. Each number is predicted by the number `distance` before it, 1 to 8, a complex
 * number being two: 3 suits points in space one after another. 0 stands for 1, or 2 for complex numbers;
 * TAUT_Encode chooses by a sample, which would have to be read back here. `capacity` is at least 64 bytes
 * plus the size of the values: no frame is longer. `relative` is 0, or the bound of pwrel, finite, to
 * which mantissas are rounded first, as with bits=rounded (not for integers: TAUT_ERR_TYPE). */
TAUT_CUDA_API int TAUT_Encode_lossless_cuda(const void* values, size_t count, int type, int distance,
                                            double relative, void* frame, size_t capacity,
                                            TAUT_Cuda_result* result, void* stream);

/* values <- frame, and values += frame, in which integers wrap: decodes, also frames with rounded
 * mantissas. A frame with lags, as predictor=d1+192 makes it, needs the host: TAUT_ERR_CUDA_NEEDS_HOST. */
TAUT_CUDA_API int TAUT_Decode_lossless_cuda(const void* frame, size_t bytes, void* values, size_t count,
                                            int type, TAUT_Cuda_result* result, void* stream);
TAUT_CUDA_API int TAUT_Decode_add_lossless_cuda(const void* frame, size_t bytes, void* values, size_t count,
                                                int type, TAUT_Cuda_result* result, void* stream);

/* ---- Fixed rate: frames of codec=zfp, F32 and F64. These calls are separate for the same reason. Arrays
 * have `ndims` extents, 1 to 4, slowest first. The extents matter as in TAUT_Encode_nd, and for encoder
 * and decoder: nothing is read back, so that a frame of other extents, or under an absolute bound, needs
 * the host: TAUT_ERR_CUDA_NEEDS_HOST. */

/* frame <- values: encodes in `rate` bits a value, above 0 and up to 64. `capacity` is at least 64 bytes,
 * plus 4 for each extent, 4 * (count / 4096 + 1), and the size of the values; at a rate of 7 or more, one
 * extent takes less. */
TAUT_CUDA_API int TAUT_Encode_rate_cuda(const void* values, const size_t* extents, int ndims, int type,
                                        double rate, void* frame, size_t capacity, TAUT_Cuda_result* result,
                                        void* stream);

/* values <- frame: decodes a frame of any encoder, with the extents that the encoder was given. The frame
 * holds its rate. */
TAUT_CUDA_API int TAUT_Decode_rate_cuda(const void* frame, size_t bytes, void* values, const size_t* extents,
                                        int ndims, int type, TAUT_Cuda_result* result, void* stream);

#ifdef __cplusplus
}
#endif
#endif
