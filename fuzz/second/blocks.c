/* The blocks codec, by src/compressor/codecs/blocks/spec.md. */
#include <math.h>

#include "parts.h"

enum { block = 64, flag = 0x8000, infinite = 0x7F80 };

/* Returns code i of a block as an unsigned number. */
static unsigned code_at(const uint8_t* codes, unsigned rate, unsigned i) {
  if (rate == 8) return codes[i];
  const unsigned low = codes[i % 32] >> (i / 32 * 4) & 15;
  return rate == 4 ? low : low | (unsigned)(codes[32 + i % 16] >> (i / 16 * 2) & 3) << 4;
}

/* Returns the bits of the value of a code. */
static uint64_t value_of(const struct second_type* type, int64_t code, unsigned rate, unsigned scale) {
  const int64_t most = ((int64_t)1 << (rate - 1)) - 1;
  if (scale & flag) {
    if (code == -most - 1) return second_round(type, NAN);
    if (code == most || code == -most) return second_round(type, code > 0 ? INFINITY : -INFINITY);
  }
  const struct second_type as_scale = {1, 2, 8, -133, 127, 22};
  const double greatest = ldexp(2 - ldexp(1, 1 - type->precision), type->greatest),
               product = (double)code * second_value(&as_scale, scale & (flag - 1));
  return second_round(type, fmin(fmax(product, -greatest), greatest));
}

enum second_verdict second_blocks(const struct second_frame* frame, uint8_t* values) {
  const unsigned rate = frame->bound == 8 ? 8 : frame->bound == 6 ? 6 : frame->bound == 4 ? 4 : 0;
  const size_t blocks = (frame->count + block - 1) / block, scales = (2 * blocks + 15) / 16 * 16;
  if (rate == 0 || frame->addends != 1) return second_rejected;
  if ((size_t)(frame->end - frame->payload) != scales + blocks * 8 * rate) return second_rejected;
  for (size_t b = 0; b < blocks; ++b)
    if ((second_number(frame->payload + 2 * b, 2) & (flag - 1)) >= infinite) return second_rejected;
  for (size_t i = 0; i < frame->count; ++i) {
    const size_t b = i / block;
    const unsigned code = code_at(frame->payload + scales + b * 8 * rate, rate, (unsigned)(i % block));
    const unsigned scale = (unsigned)second_number(frame->payload + 2 * b, 2);
    second_put(values + i * frame->type->bytes, value_of(frame->type, second_signed(code, rate), rate, scale),
               frame->type->bytes);
  }
  return second_decoded;
}
