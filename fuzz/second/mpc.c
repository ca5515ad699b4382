/* The mpc codec, by src/compressor/codecs/mpc/spec.md. */
#include <math.h>
#include <stdlib.h>

#include "parts.h"

enum {
  chunk_bytes = 4096,
  vector_bytes = 64,
  block_words = 8,
  product = 16,
  quotient = 32,
  with_unit = 64,
  with_base = 128,
  integers_alone = 128 /* in the parameter of the lags */
};

/* Takes the last n bytes away; NULL: there are fewer. */
static const uint8_t* take_last(struct second_cursor* c, size_t n) {
  if ((size_t)(c->end - c->at) < n) return NULL;
  return c->end -= n;
}

static size_t ones(const uint8_t* map, size_t bytes) {
  size_t n = 0;
  for (size_t i = 0; i < bytes; ++i) n += (size_t)__builtin_popcount(map[i]);
  return n;
}

/* Writes a byte for each bit of the bitmap: the next byte of `present` for a 1, zero for a 0. */
static void put_zeros_back(const uint8_t* present, const uint8_t* map, size_t map_bytes, uint8_t* to) {
  for (size_t i = 0; i < 8 * map_bytes; ++i) to[i] = map[i / 8] >> (i % 8) & 1 ? *present++ : 0;
}

/* The rows of a coded record. */
struct rows {
  uint8_t flags[8 * 8], bitmaps[8 * 64], planes[8 * 8 * 64];
};

/* Reads the rows, and *heads; false: reject. */
static bool read_rows(struct second_cursor c, size_t vectors, unsigned word, size_t distance,
                      struct rows* rows, const uint8_t** heads) {
  const uint8_t* const top = take_last(&c, 8);
  if (top == NULL || (vectors < 64 && second_number(top, 8) >> vectors != 0)) return false;
  *heads = take_last(&c, distance * word);
  if (*heads == NULL) return false;
  const uint8_t* const flags = take_last(&c, ones(top, 8));
  if (flags == NULL) return false;
  put_zeros_back(flags, top, 8, rows->flags);
  const uint8_t* const coded = take_last(&c, ones(rows->flags, vectors));
  if (coded == NULL) return false;
  put_zeros_back(coded, rows->flags, vectors, rows->bitmaps);
  for (size_t i = word; i < 8 * vectors; ++i) rows->bitmaps[i] ^= rows->bitmaps[i - word];
  const size_t planes = ones(rows->bitmaps, 8 * vectors), left = (size_t)(c.end - c.at);
  if (left < planes || left - planes > 3) return false;
  for (size_t i = planes; i < left; ++i)
    if (c.at[i] != 0) return false;
  put_zeros_back(c.at, rows->bitmaps, 8 * vectors, rows->planes);
  return true;
}

/* Decodes the n words of a coded record; false: reject. */
static bool read_coded(struct second_cursor c, size_t n, unsigned word, size_t distance, uint64_t* words) {
  static struct rows rows;
  const uint8_t* heads;
  if (!read_rows(c, (n * word + vector_bytes - 1) / vector_bytes, word, distance, &rows, &heads))
    return false;
  const uint64_t mask = ~(uint64_t)0 >> (64 - 8 * word), alternating = 0xAAAAAAAAAAAAAAAA & mask;
  for (size_t i = 0; i < n; ++i) {
    const uint8_t* const block = rows.planes + i / block_words * block_words * word;
    uint64_t digits = 0;
    for (size_t p = 0; p < 8 * (size_t)word; ++p) digits = digits << 1 | (block[p] >> (i % block_words) & 1);
    const uint64_t difference = (digits ^ alternating) - alternating;
    const uint64_t from = distance == 0   ? 0
                          : i >= distance ? words[i - distance]
                                          : second_number(heads + i * word, word);
    words[i] = (from + difference) & mask;
  }
  return true;
}

/* Bit i of bytes, counted from the lowest bit of the first byte. */
static unsigned bit_at(const uint8_t* from, size_t i) { return from[i / 8] >> (i % 8) & 1; }

static uint64_t bits_at(const uint8_t* from, size_t first, unsigned width) {
  uint64_t number = 0;
  for (unsigned i = 0; i < width; ++i) number |= (uint64_t)bit_at(from, first + i) << i;
  return number;
}

/* Takes a part of whole bytes; NULL: it is cut off, or bits after it are not 0. */
static const uint8_t* take_bits(struct second_cursor* c, size_t bits) {
  const uint8_t* const part = second_take(c, (bits + 7) / 8);
  if (part == NULL) return NULL;
  for (size_t i = bits; i % 8 != 0; ++i)
    if (bit_at(part, i)) return NULL;
  return part;
}

/* Decodes m numbers of a sparse record; false: reject. */
static bool read_level(struct second_cursor* c, size_t m, unsigned word, unsigned levels, uint64_t* numbers) {
  const uint8_t* const head = second_take(c, 3);
  if (head == NULL || levels == 0) return false;
  const size_t n = (second_number(head, 2) & 0x7FFF) + 1;
  const unsigned more = head[1] >> 7, width = head[2];
  if (n > m || width + more > 8 * word) return false;
  const bool dense = 4 * n > m;
  unsigned low = 0;
  while (!dense && (n << (low + 1)) <= m) ++low;
  const size_t upper_bits = dense ? m : n + ((m - 1) >> low);
  const uint8_t *const upper = take_bits(c, upper_bits), *const lower = take_bits(c, n * low),
                       *const values = take_bits(c, n * width);
  if (upper == NULL || lower == NULL || values == NULL) return false;
  uint64_t* const rests = calloc(n, sizeof *rests);
  bool good = !more || read_level(c, n, word, levels - 1, rests);
  memset(numbers, 0, m * sizeof *numbers);
  size_t i = 0, least = 0;
  for (size_t at = 0; good && at < upper_bits; ++at) {
    if (!bit_at(upper, at)) continue;
    const size_t place = dense ? at : (at - i) << low | (size_t)bits_at(lower, i * low, low);
    good = i < n && place >= least && place < m;
    if (!good) break;
    numbers[place] = 1 + bits_at(values, i * width, width) + (more ? rests[i] << width : 0);
    numbers[place] &= ~(uint64_t)0 >> (64 - 8 * word);
    least = place + 1;
    ++i;
  }
  free(rests);
  return good && i == n;
}

/* Decodes the n words of a sparse record; false: reject. */
static bool read_sparse(struct second_cursor c, size_t n, unsigned word, uint64_t* words) {
  c.end -= 8;
  if (!read_level(&c, n, word, 4, words) || c.end - c.at > 7) return false;
  for (; c.at < c.end; ++c.at)
    if (*c.at != 0) return false;
  for (size_t i = 0; i < n; ++i)
    words[i] = words[i] >> 1 ^ (words[i] & 1 ? ~(uint64_t)0 >> (64 - 8 * word) : 0);
  return true;
}

/* Decodes the n words of a chunk; false: reject. */
static bool read_record(struct second_cursor c, size_t n, unsigned word, size_t distance, uint64_t* words) {
  const size_t size = (size_t)(c.end - c.at), plain = (n * word + 3) / 4 * 4;
  if (size > plain) return false;
  if (size > 8 && size != plain && size != (8 + distance * word + 3) / 4 * 4 &&
      second_number(c.end - 8, 8) == 0)
    return read_sparse(c, n, word, words);
  if (size != 0 && size != plain) return read_coded(c, n, word, distance, words);
  for (size_t i = 0; i < n; ++i) words[i] = size == 0 ? 0 : second_number(c.at + i * word, word);
  return true;
}

static void undo_lags(uint64_t* words, size_t count, const uint32_t* lags, unsigned n) {
  for (size_t i = 0; i < count && n > 0; ++i) {
    const size_t a = lags[0], b = lags[1];
    if (i >= a) words[i] += words[i - a];
    if (n == 2 && i >= b) words[i] += words[i - b];
    if (n == 2 && i >= a + b) words[i] -= words[i - a - b];
  }
}

static void add_references(const struct second_frame* frame, uint64_t* words) {
  for (size_t i = 0; i < frame->count; ++i) {
    const uint64_t newest = second_part(frame, 0, i);
    words[i] += frame->parameters[2] == 1 ? newest : 2 * newest - second_part(frame, 1, i);
  }
}

struct grid {
  unsigned form;             /* 0: none */
  bool integers;             /* codes have no differences */
  double step, offset, unit; /* unit 0: none */
  uint64_t base;
};

/* A unit is a power of two within limits. */
static bool is_unit(double unit, int precision) {
  int exponent = 0;
  const bool is_power = frexp(unit, &exponent) == 0.5;
  return is_power && exponent > (precision == 24 ? -126 : -1022) && exponent <= (precision == 24 ? 101 : 901);
}

/* Reads the grid of a frame from the start of its payload; false: reject. */
static bool read_grid(const struct second_frame* frame, struct second_cursor* payload, struct grid* grid) {
  grid->form = frame->parameters[0] & (product | quotient);
  const bool has_unit = (frame->parameters[0] & with_unit) != 0;
  const bool has_base = (frame->parameters[0] & with_base) != 0;
  grid->integers = (frame->parameters[1] & integers_alone) != 0;
  if (grid->form == 0) return !has_unit && !has_base && !grid->integers;
  const int precision = frame->type->precision;
  if (grid->form == (product | quotient) || (precision != 24 && precision != 53) || frame->bound_kind != 0 ||
      frame->parameters[2] != 0)
    return false;
  const uint8_t* const at = second_take(payload, 16 + 8 * ((size_t)has_unit + has_base));
  if (at == NULL) return false;
  memcpy(&grid->step, at, 8);
  memcpy(&grid->offset, at + 8, 8);
  if (has_unit) memcpy(&grid->unit, at + 16, 8);
  if (has_base) grid->base = second_number(at + (has_unit ? 24 : 16), 8);
  return isfinite(grid->step) && grid->step > 0 && isfinite(grid->offset) &&
         (!has_unit || is_unit(grid->unit, precision));
}

static uint64_t word_of_code(const struct second_type* type, const struct grid* grid, uint64_t code) {
  const int bits = 8 * (int)type->bytes;
  const int64_t half = (int64_t)1 << (bits == 32 ? 21 : 50);
  const uint64_t center = bits == 32 ? 0x7FA00000 : 0x7FF4000000000000;
  const int64_t number = second_signed(code - center, (unsigned)bits);
  if (number <= -half || number >= half) return code;
  const int64_t off = grid->integers ? 0 : ((number + 2) & 3) - 2;
  const int64_t q = grid->integers ? number : (number - off) / 4;
  const double distance = grid->form == quotient ? (double)q / grid->step : (double)q * grid->step;
  const uint64_t word = second_round(type, distance + grid->offset);
  const double shift = grid->unit * (bits == 32 ? 0x1.8p23 : 0x1.8p52);
  if (!(fabs(second_value(type, word)) < grid->unit * (bits == 32 ? 0x1p22 : 0x1p51)))
    return word + (uint64_t)off;
  const uint64_t shifted = second_round(type, second_value(type, word) + shift) + (uint64_t)off;
  return second_round(type, second_value(type, shifted) - shift);
}

enum second_verdict second_mpc(const struct second_frame* frame, uint8_t* values) {
  struct second_cursor payload = {frame->payload, frame->end}, records;
  uint32_t lags[2];
  const unsigned n = frame->parameters[1] & ~(unsigned)integers_alone, word = frame->type->bytes;
  const unsigned distance = frame->parameters[0] & ~(unsigned)(product | quotient | with_unit | with_base);
  struct grid grid = {0, false, 0, 0, 0, 0};
  if (!read_grid(frame, &payload, &grid)) return second_rejected;
  if (distance > 8 || frame->addends != 1 || second_by_addend(frame) ||
      (frame->parameters[1] != 0 && frame->parameters[2] != 0) || !second_states(frame, &payload) ||
      !second_lags(&payload, n, frame->count, lags))
    return second_rejected;
  const size_t bytes = frame->count * word, chunks = (bytes + chunk_bytes - 1) / chunk_bytes;
  const uint8_t* const ends = second_index(payload, chunks, true, &records);
  if (ends == NULL) return second_rejected;
  uint64_t* const words = malloc((frame->count + 1) * sizeof *words);
  bool good = true;
  for (size_t i = 0; good && i < chunks; ++i) {
    const size_t first = i * chunk_bytes, size = bytes - first < chunk_bytes ? bytes - first : chunk_bytes;
    good = read_record(second_record(ends, i, records), size / word, word, distance, words + first / word);
  }
  if (good) undo_lags(words, frame->count, lags, n);
  if (good && frame->parameters[2] > 0) add_references(frame, words);
  for (size_t i = 0; good && grid.form != 0 && i < frame->count; ++i)
    words[i] = word_of_code(frame->type, &grid, words[i] + grid.base);
  for (size_t i = 0; good && i < frame->count; ++i) second_put(values + i * word, words[i], word);
  free(words);
  return good ? second_decoded : second_rejected;
}
