/* The planes codec, by src/compressor/codecs/planes/spec.md. */
#include <math.h>
#include <stdlib.h>

#include "parts.h"

enum { chunk_values = 4096, block_values = 8, chunk_blocks = chunk_values / block_values };
enum {
  wide = 1,
  has_planes = 2,
  dense = 4,
  byte_widths = 8,
  has_runs = 16,
  has_layers = 32,
  large = 64,
  two_bits = 128
};

/* A run. `next` links the runs that end at the same place. */
struct run {
  size_t start, length;
  int64_t hold;
  uint64_t bits;
  struct run* next;
};

struct decoder {
  const struct second_frame* frame;
  uint32_t lags[2];
  unsigned lag_count;
  int32_t* history; /* what the lags give in all chunks, in a frame with lags */
  size_t first, n;  /* of the chunk */
  int64_t q[chunk_values];
  bool unspecified;
  uint8_t* values;
};

struct record {
  unsigned flags;
  size_t plane_bytes;
  int64_t base;
  const uint8_t* planes;
  uint8_t width[chunk_blocks];
};

/* The sum of exact values and integers at one place. */
struct place {
  struct second_sum finite;
  uint64_t holds; /* sum of the holds, less the integers that values stand for */
  uint64_t bits;  /* exclusive-or of the exact values */
  size_t exact, nans, above, below;
};

static uint64_t product(const struct decoder* d, int64_t q) {
  return second_round(d->frame->type, (double)q * d->frame->step);
}

static bool in_step_range(const struct second_frame* frame) {
  const double step = frame->step;
  if (step == 0) return true;
  const int precision = frame->type->precision;
  int exponent;
  const bool power = frexp(step, &exponent) == 0.5;
  if (precision == 53) return step >= 0x1p-1000 && step <= 0x1p960;
  if (precision == 24) return step >= 0x1p-120 && step <= 0x1p100 && (double)(float)step == step;
  return power && (precision == 11 ? step >= 0x1p-24 && step <= 0x1p5 : step >= 0x1p-120 && step <= 0x1p120);
}

static size_t blocks_of(size_t n) { return (n + block_values - 1) / block_values; }

/* Reads widths of which three have names; false: reject. */
static bool read_named_widths(struct second_cursor* c, size_t blocks, struct record* r) {
  const size_t half = (blocks + 1) / 2, bytes = (half + 1) / 2;
  const uint8_t *const names = second_take(c, 2), *const entries = second_take(c, bytes);
  if (names == NULL || entries == NULL || names[1] >> 4 != 0) return false;
  const uint8_t name[] = {names[0] & 15, names[0] >> 4, names[1]};
  uint8_t entry[chunk_blocks + 4];
  size_t others = 0, sum = 0;
  for (size_t i = 0; i < 2 * bytes; ++i) {
    const unsigned pair = entries[i / 2] >> (4 * (i % 2)) & 15;
    if (i >= half && pair != 0) return false;
    if (i >= half) continue;
    entry[i] = pair & 3;
    entry[i + half] = (uint8_t)(pair >> 2);
  }
  if (blocks < 2 * half && entry[blocks] != 0) return false;
  for (size_t b = 0; b < blocks; ++b) others += entry[b] == 3;
  const bool as_bytes = (r->flags & byte_widths) != 0;
  const uint8_t* const rest = second_take(c, as_bytes ? others : (others + 1) / 2);
  if (rest == NULL) return false;
  for (size_t b = 0, e = 0; b < blocks; ++b) {
    if (entry[b] < 3) {
      r->width[b] = name[entry[b]];
    } else {
      r->width[b] = (uint8_t)(as_bytes ? rest[e] : rest[e / 2] >> (4 * (e % 2)) & 15);
      ++e;
    }
    sum += r->width[b];
    if (r->width[b] > (r->flags & wide ? 64 : 32)) return false;
  }
  return sum == r->plane_bytes;
}

/* Reads a bitmap of which only the bytes other than 0 are stored; false: reject. */
static bool read_sparse_map(struct second_cursor* c, size_t bytes, uint8_t* map) {
  const uint8_t* const marks = second_take(c, (bytes + 7) / 8);
  if (marks == NULL || (bytes % 8 != 0 && marks[bytes / 8] >> (bytes % 8) != 0)) return false;
  for (size_t i = 0; i < bytes; ++i) {
    map[i] = 0;
    if (!(marks[i / 8] >> (i % 8) & 1)) continue;
    const uint8_t* const byte = second_take(c, 1);
    if (byte == NULL || *byte == 0) return false;
    map[i] = *byte;
  }
  return true;
}

/* Reads the widths of all blocks; false: reject. */
static bool read_widths(struct second_cursor* c, size_t blocks, struct record* r) {
  if ((r->flags & (two_bits | dense)) == two_bits) return read_named_widths(c, blocks, r);
  const uint8_t* map = NULL;
  uint8_t sparse[chunk_blocks / 8];
  size_t coded = blocks;
  if ((r->flags & (two_bits | dense)) != dense) {
    if (!(r->flags & two_bits))
      map = second_take(c, (blocks + 7) / 8);
    else if (read_sparse_map(c, (blocks + 7) / 8, sparse))
      map = sparse;
    if (map == NULL || (blocks % 8 != 0 && map[blocks / 8] >> (blocks % 8) != 0)) return false;
    coded = 0;
    for (size_t b = 0; b < blocks; ++b) coded += map[b / 8] >> (b % 8) & 1;
  }
  const bool bytes = (r->flags & byte_widths) != 0;
  const uint8_t* const entries = second_take(c, bytes ? coded : (coded + 1) / 2);
  if (entries == NULL) return false;
  size_t sum = 0;
  for (size_t b = 0, e = 0; b < blocks; ++b) {
    r->width[b] = 0;
    if (map != NULL && !(map[b / 8] >> (b % 8) & 1)) continue;
    r->width[b] = (uint8_t)(bytes ? entries[e] : entries[e / 2] >> (4 * (e % 2)) & 15);
    ++e;
    sum += r->width[b];
    if (r->width[b] > (r->flags & wide ? 64 : 32)) return false;
  }
  return sum == r->plane_bytes;
}

/* Reads a record up to its runs; false: reject. */
static bool read_head(const struct decoder* d, struct second_cursor* c, struct record* r) {
  const uint8_t* const start = c->at;
  const uint8_t* const head = second_take(c, 4);
  if (head == NULL || head[1] != 0) return false;
  r->flags = head[0];
  if (r->flags & two_bits && d->frame->parameters[2] == 0) return false;
  r->plane_bytes = (size_t)second_number(head + 2, 2);
  const unsigned base_bytes = r->flags & wide ? 8 : 4;
  const uint8_t* const base = second_take(c, base_bytes);
  if (base == NULL) return false;
  r->base = second_signed(second_number(base, base_bytes), 8 * base_bytes);
  if (d->frame->parameters[0] == 0 && r->base != 0) return false;
  if (d->frame->step == 0 && (r->base != 0 || r->flags & (has_planes | has_runs))) return false;
  const bool referred = d->frame->parameters[2] > 0 && !second_by_addend(d->frame);
  if ((d->lag_count > 0 || referred) && r->flags & has_layers) return false;
  const bool narrow = d->lag_count > 0 || (referred && d->frame->type->precision != 53);
  if (narrow && r->flags & wide) return false;
  memset(r->width, 0, sizeof r->width);
  if (r->flags & has_planes) {
    if (r->plane_bytes == 0) return false;
    r->planes = second_take(c, r->plane_bytes);
    if (r->planes == NULL || !read_widths(c, blocks_of(d->n), r)) return false;
  } else if (r->plane_bytes != 0 || r->flags & (dense | byte_widths | two_bits)) {
    return false;
  }
  return second_take(c, (size_t)(-(c->at - start) & 3)) != NULL;
}

/* Sets the integers of the chunk from the planes. */
static void read_integers(struct decoder* d, const struct record* r) {
  const unsigned bits = r->flags & wide ? 64 : 32;
  const uint8_t* plane = r->planes;
  const int predictor = d->frame->parameters[0];
  for (size_t i = 0; i < d->n; ++i) {
    const unsigned width = r->width[i / block_values];
    uint64_t difference = 0;
    for (unsigned k = 0; k < width; ++k) difference = difference << 1 | (plane[k] >> (i % block_values) & 1);
    if (width > 0) difference = (uint64_t)second_signed(difference, width);
    if (width > 0 && i % block_values == block_values - 1) plane += width; /* null without planes */
    const uint64_t one = (uint64_t)(i >= 1 ? d->q[i - 1] : r->base),
                   two = (uint64_t)(i >= 2 ? d->q[i - 2] : r->base);
    const uint64_t predicted[] = {0, one, two, 2 * one - two};
    d->q[i] = second_signed(difference + predicted[predictor], bits);
  }
}

static int32_t before(const struct decoder* d, size_t i, size_t distance) {
  return i >= distance ? d->history[i - distance] : 0;
}

/* Adds what the lags predict. */
static void undo_lags(struct decoder* d) {
  if (d->lag_count == 0) return;
  for (size_t k = 0; k < d->n; ++k) {
    const size_t i = d->first + k, a = d->lags[0], b = d->lags[1];
    uint64_t q = (uint64_t)d->q[k] + (uint64_t)(int64_t)before(d, i, a);
    if (d->lag_count == 2) q += (uint64_t)(int64_t)before(d, i, b) - (uint64_t)(int64_t)before(d, i, a + b);
    d->q[k] = second_signed(q, 32);
    d->history[i] = (int32_t)d->q[k];
  }
}

/* Returns the integer of a reference value, of at most `most` bits, by rule 2 of "What an encoder writes"; 0
 * if it has none. */
static int64_t reference_integer(const struct second_frame* frame, uint64_t bits, int most) {
  const double value = second_value(frame->type, bits), step = frame->step;
  if (!isfinite(value)) return 0;
  if (frame->type->precision != 53) {
    const float inverse = (float)(1 / step), scaled = (float)value * inverse, near = nearbyintf(scaled);
    if (near >= -0x1p14f && near < 0x1p14f) return (int64_t)near;
  }
  const double near = nearbyint(value * (1 / step));
  return near >= -ldexp(1, most) && near < ldexp(1, most) ? (int64_t)near : 0;
}

/* Adds what the references predict. */
static void add_references(struct decoder* d, unsigned flags) {
  const struct second_frame* const frame = d->frame;
  const int most = flags & wide && !second_by_addend(frame) ? 43 : 22;
  for (size_t k = 0; k < d->n && frame->parameters[2] > 0; ++k) {
    const size_t i = d->first + k;
    int64_t predicted = reference_integer(frame, second_part(frame, 0, i), most);
    if (frame->parameters[2] == 2)
      predicted = 2 * predicted - reference_integer(frame, second_part(frame, 1, i), most);
    const uint64_t times = second_by_addend(frame) ? 1 : frame->addends;
    d->q[k] = second_signed((uint64_t)d->q[k] + times * (uint64_t)predicted, flags & wide ? 64 : 32);
  }
}

/* Notes if an integer exceeds every sum of so many addends: the format does not specify its value. */
static void check_range(struct decoder* d, unsigned flags) {
  const int bits = flags & wide ? d->frame->type->value_bits : flags & large ? 22 : 14;
  double most = ldexp((double)d->frame->addends, bits);
  if (!(flags & wide) && most > 0x1p30) most = 0x1p30;
  for (size_t i = 0; i < d->n; ++i) d->unspecified |= fabs((double)d->q[i]) > most;
}

/* Sets *q to the integer that a value in a run or a layer stands for, the one next to value / step; false:
 * none. */
static bool stands_for(const struct decoder* d, uint64_t bits, int64_t* q) {
  const double value = second_value(d->frame->type, bits), limit = ldexp(1, d->frame->type->value_bits);
  if (!isfinite(value) || d->frame->step == 0) return false;
  const double near = nearbyint(value / d->frame->step);
  if (!(near >= -limit && near < limit)) return false;
  *q = (int64_t)near;
  return product(d, *q) == bits;
}

/* Adds a value to a place, or takes it away. */
static void put(const struct decoder* d, struct place* place, uint64_t bits, bool away) {
  int64_t q;
  const size_t one = away ? SIZE_MAX : 1;
  if (stands_for(d, bits, &q)) {
    place->holds += away ? (uint64_t)q : 0 - (uint64_t)q;
    return;
  }
  const double value = second_value(d->frame->type, bits);
  place->exact += one;
  place->bits ^= bits;
  if (isnan(value))
    place->nans += one;
  else if (isinf(value) && value > 0)
    place->above += one;
  else if (isinf(value))
    place->below += one;
  else
    second_add(&place->finite, value, away);
}

/* Returns the bits of the value at a place, whose planes hold `integer`. Holds that no encoder writes make an
 * integer that exceeds every sum of so many addends: the format does not specify its value. */
static uint64_t total(struct decoder* d, const struct place* place, int64_t integer) {
  const int64_t q = (int64_t)((uint64_t)integer - place->holds);
  d->unspecified |= fabs((double)q) > ldexp((double)d->frame->addends, d->frame->type->value_bits);
  if (place->exact == 0) return product(d, q);
  if (place->exact == 1 && q == 0) return place->bits;
  const double infinity = (double)INFINITY;
  if (place->nans > 0 || (place->above > 0 && place->below > 0))
    return second_round(d->frame->type, (double)NAN);
  if (place->above > 0 || place->below > 0)
    return second_round(d->frame->type, place->above > 0 ? infinity : -infinity);
  struct second_sum sum = place->finite;
  second_add_product(&sum, (double)q, d->frame->step);
  return second_rounded(&sum, d->frame->type);
}

static bool in_order(const struct run* a, const struct run* b) {
  if (a->start != b->start) return a->start < b->start;
  if (a->length != b->length) return a->length < b->length;
  return a->hold != b->hold ? a->hold < b->hold : a->bits <= b->bits;
}

/* Reads the runs into *runs, which the caller frees; false: reject. */
static bool read_runs(const struct decoder* d, struct second_cursor* c, unsigned flags, struct run** runs,
                      size_t* n) {
  const unsigned hold_bytes = flags & wide ? 8 : 4, value_bytes = d->frame->type->bytes;
  const uint8_t* const count = second_take(c, 4);
  if (count == NULL) return false;
  *n = (size_t)second_number(count, 4);
  const size_t size = 4 + hold_bytes + value_bytes;
  if (*n == 0 || *n > (size_t)(c->end - c->at) / size || *n > (uint64_t)d->frame->addends * d->n)
    return false;
  *runs = malloc(*n * sizeof **runs);
  for (size_t i = 0; i < *n; ++i) {
    const uint8_t* const from = second_take(c, size);
    struct run* const run = *runs + i;
    run->start = (size_t)second_number(from, 2);
    run->length = (size_t)second_number(from + 2, 2);
    run->hold = second_signed(second_number(from + 4, hold_bytes), 8 * hold_bytes);
    run->bits = second_number(from + 4 + hold_bytes, value_bytes);
    if (run->length == 0 || run->start + run->length > d->n || (i > 0 && !in_order(run - 1, run)))
      return false;
  }
  return true;
}

/* Writes the values of the chunk, place by place: runs begin and end, layers add one value each. */
static void write_values(struct decoder* d, struct run* runs, size_t n, const uint8_t* layers,
                         size_t layer_count) {
  static struct run* ends_at[chunk_values + 1];
  const unsigned bytes = d->frame->type->bytes;
  if (n > 0) memset(ends_at, 0, (d->n + 1) * sizeof *ends_at);
  struct place place = {.exact = 0};
  for (size_t i = 0, next = 0; i < d->n; ++i) {
    for (struct run* run = n > 0 ? ends_at[i] : NULL; run != NULL; run = run->next) {
      place.holds -= (uint64_t)run->hold;
      put(d, &place, run->bits, true);
    }
    for (; next < n && runs[next].start == i; ++next) {
      struct run* const run = runs + next;
      place.holds += (uint64_t)run->hold;
      put(d, &place, run->bits, false);
      run->next = ends_at[i + run->length];
      ends_at[i + run->length] = run;
    }
    for (size_t k = 0; k < layer_count; ++k)
      put(d, &place, second_number(layers + (k * d->n + i) * bytes, bytes), false);
    second_put(d->values + (d->first + i) * bytes, total(d, &place, d->q[i]), bytes);
    for (size_t k = 0; k < layer_count; ++k)
      put(d, &place, second_number(layers + (k * d->n + i) * bytes, bytes), true);
  }
}

/* Decodes the record of a chunk; false: reject. */
static bool read_record(struct decoder* d, struct second_cursor c) {
  struct record r = {.flags = 0};
  struct run* runs = NULL;
  size_t run_count = 0, layer_count = 0;
  const uint8_t *const start = c.at, *layers = NULL;
  const bool empty = c.at == c.end;
  if (!empty && !read_head(d, &c, &r)) return false;
  bool good = empty || !(r.flags & has_runs) || read_runs(d, &c, r.flags, &runs, &run_count);
  if (good && r.flags & has_layers) {
    const uint8_t* const count = second_take(&c, 4);
    const size_t bytes = d->n * d->frame->type->bytes;
    layer_count = count == NULL ? 0 : (size_t)second_number(count, 4);
    good = layer_count > 0 && layer_count <= (size_t)(c.end - c.at) / bytes;
    layers = good ? second_take(&c, layer_count * bytes) : NULL;
  }
  good = good && second_take(&c, (size_t)(-(c.at - start) & 3)) != NULL && c.at == c.end;
  if (good) {
    read_integers(d, &r);
    undo_lags(d);
    add_references(d, r.flags);
    check_range(d, r.flags);
    if (!d->unspecified) write_values(d, runs, run_count, layers, layer_count);
  }
  free(runs);
  return good;
}

bool second_check_planes_header(const struct second_frame* frame) {
  return frame->parameters[0] <= 3 && frame->addends > 0 && in_step_range(frame);
}

/* Returns the number of lags that the frame may have. */
static unsigned most_lags(const struct second_frame* frame) {
  if (frame->parameters[2] == 0) return 2;
  return second_by_addend(frame) ? 0 : 1;
}

enum second_verdict second_planes(const struct second_frame* frame, uint8_t* values) {
  struct second_cursor payload = {frame->payload, frame->end}, records;
  static struct decoder decoder;
  struct decoder* const d = &decoder;
  d->history = NULL;
  d->unspecified = false;
  d->frame = frame;
  d->values = values;
  d->lag_count = frame->parameters[1];
  const size_t chunks = (frame->count + chunk_values - 1) / chunk_values;
  bool good = second_check_planes_header(frame) && (frame->step > 0 || frame->parameters[2] == 0) &&
              d->lag_count <= most_lags(frame) && second_states(frame, &payload) &&
              second_lags(&payload, d->lag_count, frame->count, d->lags);
  const uint8_t* const ends = good ? second_index(payload, chunks, true, &records) : NULL;
  good = ends != NULL;
  if (good && d->lag_count > 0) d->history = malloc(frame->count * sizeof *d->history);
  for (size_t i = 0; good && i < chunks; ++i) {
    d->first = i * chunk_values;
    d->n = frame->count - d->first < chunk_values ? frame->count - d->first : chunk_values;
    good = read_record(d, second_record(ends, i, records));
  }
  const enum second_verdict verdict = !good            ? second_rejected
                                      : d->unspecified ? second_unspecified
                                                       : second_decoded;
  free(d->history);
  return verdict;
}
