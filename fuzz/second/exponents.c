/* The exponents codec, by src/compressor/codecs/exponents/spec.md. */
#include "parts.h"

enum { group = 64, chunk_values = 4096, second_width = 4 };

/* A book of symbols, and the codes of values. */
struct codes {
  size_t n, most; /* most: the greatest code, which stands for any symbol that the book lacks */
  const uint8_t* book;
  uint8_t of[chunk_values];
};

/* Reads numbers of `width` bits, 64 a group, bit plane by bit plane; false: reject. */
static bool read_numbers(struct second_cursor* c, size_t groups, unsigned width, uint8_t* numbers) {
  const uint8_t* const from = second_take(c, 8 * width * groups);
  if (from == NULL) return false;
  for (size_t i = 0; i < group * groups; ++i) {
    numbers[i] = 0;
    for (unsigned k = 0; k < width; ++k)
      numbers[i] |= (uint8_t)((from[8 * (i / group * width + k) + i % group / 8] >> (i % 8) & 1) << k);
  }
  return true;
}

static bool read_codes(struct second_cursor* c, size_t groups, unsigned width, struct codes* codes) {
  codes->n = group * groups;
  codes->most = ((size_t)1 << width) - 1;
  codes->book = second_take(c, codes->most);
  return codes->book != NULL && read_numbers(c, groups, width, codes->of);
}

/* Translates codes to symbols. Symbols that the book lacks are taken from `more`, which must have exactly n.
 * False: reject. */
static bool look_up(const struct codes* codes, const uint8_t* more, size_t n, uint8_t* symbols) {
  size_t used = 0;
  for (size_t i = 0; i < codes->n; ++i) {
    if (codes->of[i] < codes->most)
      symbols[i] = codes->book[codes->of[i]];
    else if (used++ < n)
      symbols[i] = more[used - 1];
  }
  return used == n;
}

/* Decodes a record that is shorter than its values; false: reject. */
static bool read_coded(struct second_cursor c, size_t n, unsigned spare, uint16_t* values) {
  static struct codes first, second;
  static uint8_t symbols[chunk_values], more[chunk_values], spare_bits[chunk_values];
  const size_t groups = (n + group - 1) / group;
  const uint8_t* const head = second_take(&c, 8);
  if (head == NULL) return false;
  const unsigned width = head[0], flags = head[1];
  const size_t escapes = (size_t)second_number(head + 2, 2), raw = (size_t)second_number(head + 4, 2),
               low = (size_t)second_number(head + 6, 2);
  if (width < 1 || width > 4 || flags > 1 || raw > escapes || escapes > group * groups) return false;
  if (!read_codes(&c, groups, width, &first)) return false;
  if (escapes > 0 && !read_codes(&c, (escapes + group - 1) / group, second_width, &second)) return false;
  const uint8_t* const raw_at = second_take(&c, raw);
  if (raw_at == NULL || (escapes > 0 && !look_up(&second, raw_at, raw, more))) return false;
  if (!look_up(&first, more, escapes, symbols) || !read_numbers(&c, groups, spare, spare_bits)) return false;
  const uint8_t* low_at = second_take(&c, low);
  if (low_at == NULL) return false;
  size_t present = 0;
  for (size_t i = 0; i < group * groups; ++i) {
    const bool there = symbols[i] != 0 || flags == 0;
    if (there && present == low) return false;
    const unsigned rotated =
        ((unsigned)symbols[i] << spare | spare_bits[i]) << 8 | (there ? low_at[present] : 0);
    present += there;
    if (i < n) values[i] = (uint16_t)((rotated & 0xFFFF) >> 1 | (rotated & 1) << 15);
  }
  if (present != low || c.end - c.at > 3) return false;
  while (c.at < c.end)
    if (*c.at++ != 0) return false;
  return true;
}

enum second_verdict second_exponents(const struct second_frame* frame, uint8_t* values) {
  static uint16_t decoded[chunk_values];
  const size_t chunks = (frame->count + chunk_values - 1) / chunk_values;
  struct second_cursor records;
  const uint8_t* const ends =
      second_index((struct second_cursor){frame->payload, frame->end}, chunks, true, &records);
  if (ends == NULL || frame->addends != 1) return second_rejected;
  for (size_t i = 0; i < chunks; ++i) {
    const size_t first = i * chunk_values,
                 n = frame->count - first < chunk_values ? frame->count - first : chunk_values;
    const struct second_cursor c = second_record(ends, i, records);
    const size_t size = (size_t)(c.end - c.at), plain = (2 * n + 3) / 4 * 4;
    if (size > plain) return second_rejected;
    if (size != 0 && size != plain && !read_coded(c, n, frame->number == 3 ? 3 : 0, decoded))
      return second_rejected;
    for (size_t k = 0; k < n; ++k) {
      const uint64_t plain_value = size == 0 ? 0 : second_number(c.at + 2 * k, 2);
      second_put(values + 2 * (first + k), size != 0 && size != plain ? decoded[k] : plain_value, 2);
    }
  }
  return second_decoded;
}
