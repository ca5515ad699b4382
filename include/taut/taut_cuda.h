/* taut_cuda.h -- frames on NVIDIA GPUs: the same bytes as TAUT_Encode with codec=planes, mpc or zfp writes,
 * made and read by kernels in the order of a stream. A library of its own, libtaut_cuda.so, with the CUDA
 * runtime inside: where there is no driver, TAUT_Cuda_available says so and nothing else happens. C11 and
 * C++11.
 *
 * All calls but the first two only put work on `stream`: they wait for nothing and read nothing back. What a
 * call comes to stands in a TAUT_Cuda_result once the stream has got there. Scratch memory belongs to the
 * stream and is taken at the first call of its size class (a power of two), never again: TAUT_Cuda_reserve
 * takes it beforehand, for capture in a graph. A graph uses the scratch of the stream that it was captured
 * from: it must not run at the same time as other calls on that stream.
 *
 * A call is several kernels that hand scratch memory on. So several host threads that share a stream take
 * turns: a call has to return before another thread makes the next one on that stream. Calls of taut.h on
 * memory of a GPU take turns among themselves, on the legacy default stream. cudaStreamPerThread, which names
 * another stream in each thread, is for one thread.
 *
 * Pointers to values and frames are of the device, or such that it can reach; frames and sums are aligned to
 * 16 bytes, values as their type asks (to 16 bytes they are read faster). Frames with a checksum of the
 * payload need the host: TAUT_ERR_CUDA_NEEDS_HOST. So do frames with lags (prediction across rows), but for
 * sums that keep them and for calls of their own, below. */
#ifndef TAUT_CUDA_H
#define TAUT_CUDA_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TAUT_CUDA_API __attribute__((visibility("default")))

enum {                                /* beside those of enum TAUT_Status, which these calls return, too */
       TAUT_ERR_CUDA = 110,           /* the CUDA runtime reported an error: TAUT_Cuda_available says which */
       TAUT_ERR_CUDA_NEEDS_HOST = 120 /* a frame that only TAUT_Decode and its like can read */
};

/* How values are coded; the same on all who add up their frames. */
typedef struct TAUT_Cuda_coding {
  double bound;  /* finite and above 0 */
  int snap;      /* 0: abs:bound, 1: snap:bound, as in TAUT_Encode */
  int predictor; /* 0 none, 1 delta, 2 pairs, 3 second */
} TAUT_Cuda_coding;

/* In memory that the device can write: device memory, or pinned and mapped memory that the host may look at.
 */
typedef struct TAUT_Cuda_result {
  uint64_t bytes;  /* of the frame; the capacity that a call is given limits it */
  uint32_t status; /* TAUT_SUCCESS or what went wrong */
  uint32_t done;   /* set to 1 when the rest is written; set it to 0 before the call to poll it */
} TAUT_Cuda_result;

/* `stream` is a cudaStream_t; type a TAUT_Type: F32, F64, F16, BF16, C64 or C128, but for lossless calls and
 * those at a rate. */

/* 1: there is a device that this library can use. Else 0, and *why says in words what is missing (may be
 * NULL). */
TAUT_CUDA_API int TAUT_Cuda_available(const char** why);

/* Takes the scratch memory that calls on up to `count` values of `type` need on this stream. */
TAUT_CUDA_API int TAUT_Cuda_reserve(size_t count, int type, void* stream);

/* Gives all scratch memory back. No call may be under way. */
TAUT_CUDA_API int TAUT_Cuda_release(void);

/* frame <- values. `capacity` is at least TAUT_Max_bytes(type, count, 1). */
TAUT_CUDA_API int TAUT_Encode_cuda(const void* values, size_t count, int type, const TAUT_Cuda_coding* coding,
                                   void* frame, size_t capacity, TAUT_Cuda_result* result, void* stream);

/* Values in flight: chunk i (of 4096 values; complex: 2048) stands at slots + i * slot_bytes, a multiple of
 * 4, and takes words[i] * 4 bytes. A chunk that does not fit makes result->status TAUT_ERR_BUFFER. No frame:
 * to be added by TAUT_Slots_add_cuda, or made a frame by it. */
TAUT_CUDA_API int TAUT_Encode_slots_cuda(const void* values, size_t count, int type,
                                         const TAUT_Cuda_coding* coding, uint32_t* words, void* slots,
                                         size_t slot_bytes, TAUT_Cuda_result* result, void* stream);

/* values <- frame, and values += frame. `bytes` is what may be read at `frame`, which says itself how long it
 * is. */
TAUT_CUDA_API int TAUT_Decode_cuda(const void* frame, size_t bytes, void* values, size_t count, int type,
                                   TAUT_Cuda_result* result, void* stream);
TAUT_CUDA_API int TAUT_Decode_add_cuda(const void* frame, size_t bytes, void* values, size_t count, int type,
                                       TAUT_Cuda_result* result, void* stream);

/* sum <- the sum of n frames, 1 to 8, none of which overlaps it. The arrays of n are read at the call. Frames
 * with lags are added where all have the same prediction and the sum has fewer than 256 addends. */
TAUT_CUDA_API int TAUT_Frame_add_cuda(const void* const* frames, const size_t* bytes, int n, size_t count,
                                      int type, void* sum, size_t capacity, TAUT_Cuda_result* result,
                                      void* stream);

/* The same of slots of one addend each. With n = 1: the frame of the values. */
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
 * them. Calls of their own, as nothing is read back: integers with lags follow from those a row before, which
 * takes several kernels in line and 4 bytes of scratch memory a value. Who calls knows the prediction, as the
 * ranks of a collective call have agreed on it; frames without lags are decoded as well, in one pass as
 * elsewhere. */

/* Takes the scratch memory that these calls on up to `count` values of `type` need on this stream. */
TAUT_CUDA_API int TAUT_Cuda_reserve_lagged(size_t count, int type, void* stream);

/* frame <- values, as TAUT_Encode_cuda, with n lags, 0 to 2: distances in numbers of `type`, 64 to 2^30 - 1,
 * as in predictor=delta+192+18432. As on the CPU lags that reach no value are left out, and values that ask
 * for it are coded without. The array is read at the call. */
TAUT_CUDA_API int TAUT_Encode_lagged_cuda(const void* values, size_t count, int type,
                                          const TAUT_Cuda_coding* coding, const uint32_t* lags, int n,
                                          void* frame, size_t capacity, TAUT_Cuda_result* result,
                                          void* stream);

/* values <- frame, and values += frame. */
TAUT_CUDA_API int TAUT_Decode_lagged_cuda(const void* frame, size_t bytes, void* values, size_t count,
                                          int type, TAUT_Cuda_result* result, void* stream);
TAUT_CUDA_API int TAUT_Decode_add_lagged_cuda(const void* frame, size_t bytes, void* values, size_t count,
                                              int type, TAUT_Cuda_result* result, void* stream);

/* ---- Lossless: frames of codec=mpc, of every TAUT_Type. Calls of their own, as nothing is read back: who
 * calls says which kernels run, as all ranks of a collective call have agreed on the codec. A frame of the
 * other kind is refused: TAUT_ERR_FRAME_MISMATCH. */

/* frame <- values. Each number is predicted by the one `distance` before it, 1 to 8, a complex number being
 * two: 3 suits points in space one after another. 0: 1, or 2 for complex numbers;
 * TAUT_Encode looks at a sample, which would have to be read back here. `capacity`
 * is at least 64 bytes and the values': no frame is longer. `relative`: 0; or the bound of pwrel, finite, to
 * which mantissas are rounded first (not of integers: TAUT_ERR_TYPE). */
TAUT_CUDA_API int TAUT_Encode_lossless_cuda(const void* values, size_t count, int type, int distance,
                                            double relative, void* frame, size_t capacity,
                                            TAUT_Cuda_result* result, void* stream);

/* values <- frame, and values += frame, where integers wrap. Also of rounded mantissas. */
TAUT_CUDA_API int TAUT_Decode_lossless_cuda(const void* frame, size_t bytes, void* values, size_t count,
                                            int type, TAUT_Cuda_result* result, void* stream);
TAUT_CUDA_API int TAUT_Decode_add_lossless_cuda(const void* frame, size_t bytes, void* values, size_t count,
                                                int type, TAUT_Cuda_result* result, void* stream);

/* ---- At a fixed rate: frames of codec=zfp, F32 and F64. Calls of their own for the same reason. Arrays of
 * `ndims` extents, 1 to 4, slowest first; they count as in TAUT_Encode_nd, and on both sides: nothing is read
 * back, so that a frame of other extents, or under an absolute bound, is one for the host:
 * TAUT_ERR_CUDA_NEEDS_HOST. */

/* frame <- values, in `rate` bits a value, above 0 and up to 64. `capacity` is at least 64 bytes, 4 for
 * each extent, 4 * (count / 4096 + 1), and the values'; from a rate of 7 on one extent takes less. */
TAUT_CUDA_API int TAUT_Encode_rate_cuda(const void* values, const size_t* extents, int ndims, int type,
                                        double rate, void* frame, size_t capacity, TAUT_Cuda_result* result,
                                        void* stream);

/* values <- frame, of any encoder, with the extents that it was given. The rate is the frame's. */
TAUT_CUDA_API int TAUT_Decode_rate_cuda(const void* frame, size_t bytes, void* values, const size_t* extents,
                                        int ndims, int type, TAUT_Cuda_result* result, void* stream);

#ifdef __cplusplus
}
#endif
#endif
