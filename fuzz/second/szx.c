/* The szx codec, by src/compressor/codecs/szx/spec.md. */
#include <math.h>

#include "parts.h"

/* `holed`, `same` and `as_is` are codes of blocks: with a map of places that hold a fill value (plus the
 * width), with one value everywhere, with the values themselves. */
enum { block_values = 64, chunk_values = 5120, holed = 128, same = 254, as_is = 255 };

/* A record that is being read, and the bits of the values of its blocks. */
struct reader {
  const struct second_frame* frame;
  struct second_cursor in;
  unsigned bytes; /* of a value */
  int64_t limit;  /* of lows: -limit <= low < limit */
  int most_width;
  uint64_t bits[chunk_values];
};

static uint64_t product(const struct reader* r, int64_t q) {
  return second_round(r->frame->type, (double)q * r->frame->step);
}

static bool is_low(const struct reader* r, int64_t low) { return low >= -r->limit && low < r->limit; }

static bool is_step(const struct reader* r) {
  int exponent;
  const double step = r->frame->step, mantissa = ldexp(frexp(step, &exponent), 4);
  if (mantissa != floor(mantissa)) return false;
  return r->bytes == 4 ? step >= 0x1p-121 && step <= 0x1p100 : step >= 0x1p-1001 && step <= 0x1p960;
}

/* Reads n values as they are; false: reject. */
static bool read_raw(struct reader* r, size_t n, uint64_t* to) {
  const uint8_t* const from = second_take(&r->in, n * r->bytes);
  for (size_t i = 0; from != NULL && i < n; ++i) to[i] = second_number(from + i * r->bytes, r->bytes);
  return from != NULL;
}

/* Reads 64 offsets of `width` bits; false: reject. */
static bool read_offsets(struct reader* r, unsigned width, uint64_t* offsets) {
  memset(offsets, 0, block_values * sizeof *offsets);
  const uint8_t* from = second_take(&r->in, 8 * (size_t)width);
  if (from == NULL) return false;
  unsigned k = 0;
  for (; k + 8 <= width; k += 8, from += block_values)
    for (size_t i = 0; i < block_values; ++i) offsets[i] |= (uint64_t)from[i] << k;
  for (; k < width; ++k, from += 8)
    for (size_t i = 0; i < block_values; ++i) offsets[i] |= (uint64_t)(from[i / 8] >> (i % 8) & 1) << k;
  return true;
}

static bool read_block(struct reader* r, unsigned code, int64_t low, uint64_t* to) {
  if (code == as_is) return read_raw(r, block_values, to);
  if (code == same) {
    if (!read_raw(r, 1, to)) return false;
    for (size_t i = 1; i < block_values; ++i) to[i] = to[0];
    return true;
  }
  const unsigned width = code % holed;
  if ((int)width > r->most_width) return false;
  uint64_t holes = 0, fill = 0, offsets[block_values];
  if (code >= holed) {
    const uint8_t* const map = second_take(&r->in, 8);
    if (map == NULL || !read_raw(r, 1, &fill)) return false;
    holes = second_number(map, 8);
  }
  if (!read_offsets(r, width, offsets)) return false;
  for (size_t i = 0; i < block_values; ++i)
    to[i] = holes >> i & 1 ? fill : product(r, low + (int64_t)offsets[i]);
  return true;
}

static bool read_blocks(struct reader* r, size_t blocks, int64_t base, unsigned distance_bytes) {
  const uint8_t* const codes = second_take(&r->in, blocks);
  const uint8_t* const distances = second_take(&r->in, blocks * distance_bytes);
  if (codes == NULL || distances == NULL) return false;
  for (size_t b = 0; b < blocks; ++b) {
    uint64_t low = (uint64_t)base;
    for (unsigned k = 0; k < distance_bytes; ++k) low += (uint64_t)distances[k * blocks + b] << (8 * k);
    const int64_t whole = second_signed(low, 8 * r->bytes);
    if (!is_low(r, whole) || !read_block(r, codes[b], whole, r->bits + b * block_values)) return false;
  }
  return true;
}

/* Decodes the n values of a chunk into r->bits; false: reject. */
static bool read_record(struct reader* r, size_t n) {
  const uint8_t* const start = r->in.at;
  memset(r->bits, 0, n * sizeof *r->bits);
  if (r->in.at == r->in.end) return true;
  const uint8_t* const head = second_take(&r->in, 4);
  if (head == NULL || head[2] != 0 || head[3] != 0) return false;
  const unsigned form = head[0], distance_bytes = head[1];
  if (form > 2 || distance_bytes > (form == 2 ? r->bytes : 0)) return false;
  if (form == 0) return read_raw(r, n, r->bits) && r->in.at == r->in.end;
  const uint8_t* const base_at = second_take(&r->in, r->bytes);
  if (base_at == NULL) return false;
  const int64_t base = second_signed(second_number(base_at, r->bytes), 8 * r->bytes);
  if (!is_low(r, base)) return false;
  if (form == 1)
    for (size_t i = 0; i < n; ++i) r->bits[i] = product(r, base);
  else if (!read_blocks(r, (n + block_values - 1) / block_values, base, distance_bytes))
    return false;
  return second_take(&r->in, (size_t)(-(r->in.at - start) & 3)) != NULL && r->in.at == r->in.end;
}

enum second_verdict second_szx(const struct second_frame* frame, uint8_t* values) {
  static struct reader reader;
  struct reader* const r = &reader;
  const size_t chunks = (frame->count + chunk_values - 1) / chunk_values;
  struct second_cursor records;
  r->frame = frame;
  r->bytes = frame->type->bytes;
  r->limit = (int64_t)1 << (r->bytes == 4 ? 19 : 42);
  r->most_width = r->bytes == 4 ? 20 : 43;
  const bool fields = is_step(r) && frame->addends == 1 && second_number(frame->parameters, 4) == 0;
  const uint8_t* const ends =
      fields ? second_index((struct second_cursor){frame->payload, frame->end}, chunks, false, &records)
             : NULL;
  if (ends == NULL) return second_rejected;
  for (size_t i = 0; i < chunks; ++i) {
    const size_t first = i * chunk_values,
                 n = frame->count - first < chunk_values ? frame->count - first : chunk_values;
    r->in = second_record(ends, i, records);
    if (!read_record(r, n)) return second_rejected;
    for (size_t k = 0; k < n; ++k) second_put(values + (first + k) * r->bytes, r->bits[k], r->bytes);
  }
  return second_decoded;
}
