/* A second decoder of frames, written in C from docs/spec/frame.md and src/compressor/codecs/<name>/spec.md
   alone. It shares no code with the library. Fuzz targets compare the library with it; it is slow and handles
   one value at a time. */
#ifndef TAUT_FUZZ_SECOND_H
#define TAUT_FUZZ_SECOND_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum second_verdict {
  second_rejected,
  second_decoded,
  second_unspecified, /* accepted, but its integers are beyond what the header and the flags of a record
                         allow: values are not specified */
  second_foreign      /* a codec that this decoder does not know */
};

/* An array that a frame may refer to: its state number, and as many values of the same type. */
struct second_reference {
  uint64_t state;
  const void* values;
};

/* Decodes the values that a receiver posted, `count` of value type `type` as numbered in frame headers.
   `references`: what the receiver has, newest first. */
enum second_verdict second_decode(const uint8_t* frame, size_t bytes, int type, uint64_t count,
                                  const struct second_reference* references, size_t reference_count,
                                  void* values);

#ifdef __cplusplus
}
#endif
#endif
