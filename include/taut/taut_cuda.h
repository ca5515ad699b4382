/* taut_cuda.h -- frames on NVIDIA GPUs. Kernels write and read the same bytes as TAUT_Encode with
 * codec=planes, mpc, exponents, zfp or blocks, in the order of a stream. libtaut_cuda.so is separate and has
 * the CUDA runtime: without a driver, TAUT_Cuda_available reports that, and nothing else happens.
 * C11 and C++11.
 *
 * All calls but the first two only enqueue work on `stream`: they wait for nothing and read nothing back. The
 * outcome of a call, with the length of a frame, is in a TAUT_Cuda_result once the stream has got there.
 * Scratch memory belongs to the stream. The first call of each size class (a power of two) allocates it, and
 * later calls never do. It stays allocated until TAUT_Cuda_release, also when the stream is destroyed.
 *
 * A call is one or more kernels that share scratch memory. Host threads may use one stream: a call launches
 * all its kernels before the next one begins. A call that returns an error does not affect later calls.
 *
 * Calls can be captured in a graph after TAUT_Cuda_reserve for at least their count, on the same stream, or
 * after an earlier call of the same kind, coding and type with at least as many values; otherwise they return
 * TAUT_ERR_CUDA. Scratch memory that a capture has used is never freed, neither for larger calls nor by
 * TAUT_Cuda_release, so graphs stay valid. A graph uses the scratch memory of the stream that it was captured
 * from: it must not run at the same time as other calls on that stream, or as another graph that was captured
 * from it.
 *
 * Pointers to values and frames are device pointers, or point to memory that the device can access. Frames
 * and sums are aligned to 16 bytes, values as their type requires (values aligned to 16 bytes are read
 * faster). Frames with a checksum of the payload need the host: TAUT_ERR_CUDA_NEEDS_HOST. So does a frame
 * that is a sum of frames whose bound is too small for their type. */
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

/* Result of a call, in memory that the device can write: device memory, or pinned and mapped memory that
 * the host can read. */
typedef struct TAUT_Cuda_result {
  uint64_t bytes;  /* size of the frame; at most the capacity passed to the call */
  uint32_t status; /* TAUT_SUCCESS or the error */
  uint32_t done;   /* becomes 1 once the other members are written; set it to 0 before the call to poll it.
                    * A frame is complete once the stream has passed the call. */
} TAUT_Cuda_result;

/* Values and their frame, among several that one call encodes or decodes. Later versions append members. */
typedef struct TAUT_Cuda_item {
  void* values; /* encoding only reads them */
  size_t count;
  void* frame;
  size_t bytes; /* encoding: room at `frame`; decoding: bytes that may be read there */
  TAUT_Cuda_result* result;
} TAUT_Cuda_item;

/* Values from which those of a frame are predicted, and a number that identifies them. */
typedef struct TAUT_Cuda_reference {
  const void* values; /* as many as the frame has, of the same type */
  uint64_t state;     /* the sender's and the receiver's for the same values, and no others */
} TAUT_Cuda_reference;

/* In all calls `stream` is a cudaStream_t, `type` a TAUT_Type, and `coding` a text as TAUT_Encode reads it:
 * "abs:1e-3", "lossless", "abs:1e-3,codec=planes,predictor=delta+192", "rate:8,dims=100x500x500". It differs
 * in these points, because nothing is read back:
 *
 *   bounds             rel: and psnr: depend on the values: TAUT_ERR_POLICY
 *   codec=             planes (abs, snap), mpc (lossless, pwrel, and integers under any bound), exponents
 *                      (lossless, of 16-bit floating-point values), zfp (rate) or blocks (block:8, block:6
 *                      or block:4); without it, the first of them that serves the bound and the type
 *   predictor=         without it, the codec's usual predictor: nothing is sampled
 *   fill=, threads=    have no effect
 *   checksum=on        TAUT_ERR_POLICY
 *
 * The text is parsed once: a thread that passes the same text and type again pays a comparison. All ranks
 * that add up their frames give the same text. TAUT_ERR_POLICY: the text is wrong, or no kernel serves it;
 * TAUT_Cuda_available says why. */

/* Returns 1 if there is a device that this library can use. Otherwise returns 0 and sets *why to a text
 * that says what is missing (`why` may be NULL). With a device, *why is the last error of this thread. */
TAUT_CUDA_API int TAUT_Cuda_available(const char** why);

/* Frees all scratch memory that no capture has used, and gives unused memory of Taut's pools back to the
 * system, also the pinned memory for frames of libtaut's calls. No call, of libtaut neither, may be in
 * flight. */
TAUT_CUDA_API int TAUT_Cuda_release(void);

/* Allocates the scratch memory that the calls below, but TAUT_Frame_accumulate_enqueue, need under `coding`
 * on up to `count` values of `type` on this stream, and loads their kernels. NULL: under every coding without
 * lags (prediction across rows, as predictor=lorenzo2 or delta+192). */
TAUT_CUDA_API int TAUT_Cuda_reserve(size_t count, int type, const char* coding, void* stream);

/* frame <- values: encodes. `capacity` is at least TAUT_Max_bytes(type, count, 1). Frames of mpc and
 * exponents need 64 bytes plus the size of the values; those of zfp 4 for each extent and 4 * (count / 4096 +
 * 1) more, and from 7 bits a value on in one dimension what a frame takes; those of block:B 80, and 8 B + 2
 * for each 64 values. As on the CPU, lags that reach no value are left out, and where values ask for it. */
TAUT_CUDA_API int TAUT_Encode_enqueue(const void* values, size_t count, int type, const char* coding,
                                      void* frame, size_t capacity, TAUT_Cuda_result* result, void* stream);

/* values <- frame, and values += frame, in which integers wrap: decodes. `bytes` is the number of bytes that
 * may be read at `frame`; the header holds the frame's length. Of `coding` count the codec, whether there are
 * lags, and for zfp the extents, which are those of the encoder: a frame of another codec is rejected
 * (TAUT_ERR_FRAME_MISMATCH), one that differs otherwise needs the host (TAUT_ERR_CUDA_NEEDS_HOST). With lags
 * in the coding, frames without lags are decoded as well, if more slowly. Frames of zfp, and of mpc with
 * lags, are not added: TAUT_ERR_CUDA_NEEDS_HOST. */
TAUT_CUDA_API int TAUT_Decode_enqueue(const void* frame, size_t bytes, void* values, size_t count, int type,
                                      const char* coding, TAUT_Cuda_result* result, void* stream);
TAUT_CUDA_API int TAUT_Decode_add_enqueue(const void* frame, size_t bytes, void* values, size_t count,
                                          int type, const char* coding, TAUT_Cuda_result* result,
                                          void* stream);

/* Encode and decode a frame that may refer to one or two arrays that both sides have, the newest first, as
 * TAUT_Encode_with_references and TAUT_Decode_with_references do. Under codec=planes without lags the frame
 * refers to all of them, or to none where values ask for that; without predictor=, one that refers has
 * `none`. Other frames refer to none. The arrays do not overlap what the call writes; `references` is read
 * during the call. The frame holds the states: a decoder that has others reports TAUT_ERR_FRAME, and writes
 * no value. No call in a stream computes states, and a graph repeats those of its capture. The number of a
 * message will do, except where the other side is TAUT_Encode_with_references or its decoder: there, the
 * format says how a state follows from the values (src/compressor/codecs/planes/spec.md, "State numbers").
 * Frames with both lags and references, or with a reference for each addend, need the host. */
TAUT_CUDA_API int TAUT_Encode_with_references_enqueue(const void* values, size_t count, int type,
                                                      const char* coding,
                                                      const TAUT_Cuda_reference* references,
                                                      int reference_count, void* frame, size_t capacity,
                                                      TAUT_Cuda_result* result, void* stream);
TAUT_CUDA_API int TAUT_Decode_with_references_enqueue(const void* frame, size_t bytes,
                                                      const TAUT_Cuda_reference* references,
                                                      int reference_count, void* values, size_t count,
                                                      int type, const char* coding, TAUT_Cuda_result* result,
                                                      void* stream);

/* The same for n items, no memory of which overlaps another's, each with the outcome of a call on it alone.
 * `item_bytes` is sizeof(TAUT_Cuda_item). Frames of planes without lags, of exponents and of blocks take as
 * many launches as one frame, for every 8 frames. The array is read during the call. */
TAUT_CUDA_API int TAUT_Encode_batch_enqueue(const TAUT_Cuda_item* items, size_t item_bytes, int n, int type,
                                            const char* coding, void* stream);
TAUT_CUDA_API int TAUT_Decode_batch_enqueue(const TAUT_Cuda_item* items, size_t item_bytes, int n, int type,
                                            const char* coding, void* stream);
TAUT_CUDA_API int TAUT_Decode_add_batch_enqueue(const TAUT_Cuda_item* items, size_t item_bytes, int n,
                                                int type, const char* coding, void* stream);

/* values += frame, for codec=exponents: the values are float32, `type` is that of the frames. Each sum is
 * rounded once, in float32. */
TAUT_CUDA_API int TAUT_Decode_add_float_batch_enqueue(const TAUT_Cuda_item* items, size_t item_bytes, int n,
                                                      int type, const char* coding, void* stream);

/* sum <- the sum of n frames of codec=planes, 1 to 8, none of which overlaps it. The arrays of n elements are
 * read during the call. Frames with lags are added if all have the same prediction and the sum has fewer than
 * 256 addends. */
TAUT_CUDA_API int TAUT_Frame_add_enqueue(const void* const* frames, const size_t* bytes, int n, size_t count,
                                         int type, const char* coding, void* sum, size_t capacity,
                                         TAUT_Cuda_result* result, void* stream);

/* sum <- frame + values, for codec=planes without lags. The values are quantised with the frame's predictor.
 * The frame must have the coding's step. Needs scratch memory of somewhat more than the size of the values.
 */
TAUT_CUDA_API int TAUT_Frame_accumulate_enqueue(const void* frame, size_t bytes, const void* values,
                                                size_t count, int type, const char* coding, void* sum,
                                                size_t capacity, TAUT_Cuda_result* result, void* stream);

#ifdef __cplusplus
}
#endif
#endif
