/* Parts of the second decoder that its files share: the header as it was read, a cursor over bytes,
 * arithmetic. */
#ifndef TAUT_FUZZ_SECOND_PARTS_H
#define TAUT_FUZZ_SECOND_PARTS_H

#include <stdbool.h>
#include <string.h>

#include "second.h"

/* A value type. A value has one part, or two if it is complex. */
struct second_type {
  unsigned parts, bytes; /* parts of a value, bytes of a part */
  int precision;         /* bits of the significand; 0: an integer */
  int least, greatest;   /* exponents of the least number and of the greatest binade */
  int value_bits;        /* bits of the integer that a value can stand for in a run or a layer */
};

struct second_frame {
  const struct second_type* type;
  int number; /* of the value type */
  uint64_t bound_kind;
  double bound;
  double step;
  uint32_t addends;
  const uint8_t* parameters;
  const uint8_t *payload, *end;
  size_t count; /* of parts */
  const struct second_reference* references;
  size_t reference_count; /* that the receiver has */
};

/* The bytes from `at` to `end`. */
struct second_cursor {
  const uint8_t *at, *end;
};

/* Returns the next `n` bytes, or NULL if there are fewer. */
static inline const uint8_t* second_take(struct second_cursor* c, size_t n) {
  if ((size_t)(c->end - c->at) < n) return NULL;
  c->at += n;
  return c->at - n;
}

/* Returns a little-endian number of 1 to 8 bytes. */
static inline uint64_t second_number(const uint8_t* from, unsigned bytes) {
  uint64_t number = 0;
  for (unsigned i = 0; i < bytes; ++i) number |= (uint64_t)from[i] << (8 * i);
  return number;
}
static inline void second_put(uint8_t* to, uint64_t number, unsigned bytes) {
  for (unsigned i = 0; i < bytes; ++i) to[i] = (uint8_t)(number >> (8 * i));
}
static inline int64_t second_signed(uint64_t number, unsigned bits) {
  if (bits == 64) return (int64_t)number;
  const uint64_t sign = (uint64_t)1 << (bits - 1);
  return (int64_t)((number & (2 * sign - 1)) ^ sign) - (int64_t)sign;
}

/* Reads the index of the records of `chunks` chunks, and sets *records to the bytes behind it. With
   `leading_zero` the index starts with the offset 0. Returns the ends of the records, in words of 4 bytes;
   NULL: reject. */
const uint8_t* second_index(struct second_cursor payload, size_t chunks, bool leading_zero,
                            struct second_cursor* records);
/* Returns the bytes of the record of a chunk. */
struct second_cursor second_record(const uint8_t* ends, size_t chunk, struct second_cursor records);

/* Reads n lags, each below `count`, from the start of a payload; false: reject. */
bool second_lags(struct second_cursor* payload, unsigned n, size_t count, uint32_t* lags);

/* Reads the states of a frame with references from the start of its payload; false: reject, since the
   receiver does not have these references. */
bool second_by_addend(const struct second_frame* frame); /* one reference for each addend */
bool second_states(const struct second_frame* frame, struct second_cursor* payload);
/* Returns the bits of a part of a reference. */
uint64_t second_part(const struct second_frame* frame, size_t reference, size_t i);

/* Arithmetic of real types: the number that bits stand for, and the bits of the nearest number. */
double second_value(const struct second_type* type, uint64_t bits);
uint64_t second_round(const struct second_type* type,
                      double number); /* to nearest, ties to even; NaN: the default one */

/* A sum of numbers without rounding: a fixed-point number of 2240 bits in two's complement, whose lowest bit
 * is 2^-1074. */
struct second_sum {
  uint64_t limb[35];
};
void second_add(struct second_sum* sum, double finite, bool negate);
/* Adds q * step; q is an integer of at most 2^63 in magnitude. */
void second_add_product(struct second_sum* sum, double q, double step);
uint64_t second_rounded(const struct second_sum* sum, const struct second_type* type);

/* Returns false if predictor, addends or step of a frame of planes is invalid. Stored frames have them too.
 */
bool second_check_planes_header(const struct second_frame* frame);
enum second_verdict second_planes(const struct second_frame* frame, uint8_t* values);
enum second_verdict second_mpc(const struct second_frame* frame, uint8_t* values);
enum second_verdict second_szx(const struct second_frame* frame, uint8_t* values);
enum second_verdict second_blocks(const struct second_frame* frame, uint8_t* values);
enum second_verdict second_exponents(const struct second_frame* frame, uint8_t* values);

#endif
