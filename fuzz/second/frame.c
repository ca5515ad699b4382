/* Frame headers, stored frames, and what several codecs have in common: the index of records, and lags. */
#include <math.h>

#include "parts.h"

enum { stored = 1, failed = 2, checksummed = 4 };
enum { raw = 1, planes, mpc, szx, zfp, exponents, blocks };
enum { exact, absolute, snap, pointwise, rate, bound_kinds };

static const struct second_type types[] = {
    {0},
    {1, 4, 24, -149, 127, 22},   /* float32 */
    {1, 8, 53, -1074, 1023, 43}, /* float64 */
    {1, 2, 11, -24, 15, 22},     /* float16 */
    {1, 2, 8, -133, 127, 22},    /* bfloat16 */
    {2, 4, 24, -149, 127, 22},   /* complex64 */
    {2, 8, 53, -1074, 1023, 43}, /* complex128 */
    {1, 1, 0, 0, 0, 0},          /* int8, uint8 */
    {1, 1, 0, 0, 0, 0},
    {1, 2, 0, 0, 0, 0}, /* int16, uint16 */
    {1, 2, 0, 0, 0, 0},
    {1, 4, 0, 0, 0, 0}, /* int32, uint32 */
    {1, 4, 0, 0, 0, 0},
    {1, 8, 0, 0, 0, 0}, /* int64, uint64 */
    {1, 8, 0, 0, 0, 0},
};
static const int last_type = 14;
static const uint64_t most_values = 1u << 30;

static uint32_t crc32c(const uint8_t* bytes, size_t n) {
  static uint32_t table[256];
  if (table[1] == 0)
    for (uint32_t i = 0; i < 256; ++i) {
      uint32_t crc = i;
      for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (0x82F63B78u & (0u - (crc & 1)));
      table[i] = crc;
    }
  uint32_t crc = 0xFFFFFFFFu;
  for (size_t i = 0; i < n; ++i) crc = (crc >> 8) ^ table[(crc ^ bytes[i]) & 0xFF];
  return crc ^ 0xFFFFFFFFu;
}

static double float64_at(const uint8_t* from) {
  const uint64_t bits = second_number(from, 8);
  double number;
  memcpy(&number, &bits, sizeof number);
  return number;
}

/* Returns true if the codec makes frames of this type under this kind of bound. */
static bool makes(int codec, int type, int kind) {
  const bool is_real = type <= 6;
  switch (codec) {
    case planes: return is_real && (kind == absolute || kind == snap);
    case mpc: return kind == exact || (kind == pointwise && is_real);
    case szx: return type <= 2 && kind == absolute;
    case exponents: return (type == 3 || type == 4) && kind == exact;
    case blocks: return (type == 1 || type == 3 || type == 4) && kind == rate;
    default: return true;
  }
}

/* Checks the header; false: reject. */
static bool read_header(const uint8_t* from, size_t bytes, struct second_frame* frame) {
  if (bytes < 64 || memcmp(from, "TAUT", 4) != 0 || from[4] != 1) return false;
  if (second_number(from + 60, 4) != crc32c(from, 60) || second_number(from + 57, 3) != 0) return false;
  const double bound = float64_at(from + 16);
  frame->number = from[6];
  frame->bound_kind = from[56];
  frame->bound = bound;
  frame->step = float64_at(from + 24);
  frame->addends = (uint32_t)second_number(from + 40, 4);
  frame->parameters = from + 44;
  if (frame->number < 1 || frame->number > last_type || frame->bound_kind >= bound_kinds) return false;
  if (from[5] < raw || from[5] > blocks || from[7] > 7 || (from[7] & failed)) return false;
  if (!isfinite(bound) || signbit(bound) || (bound == 0) != (frame->bound_kind == exact)) return false;
  if (!isfinite(frame->step) || signbit(frame->step)) return false;
  const uint64_t payload_bytes = second_number(from + 32, 8);
  if (payload_bytes > bytes - 64) return false;
  const uint64_t count = second_number(from + 8, 8);
  if (count > most_values || (count + 65535) / 65536 > (payload_bytes + 3) / 4) return false;
  frame->type = &types[frame->number];
  frame->payload = from + 64;
  frame->end = frame->payload + payload_bytes;
  return !(from[7] & checksummed) ||
         second_number(from + 48, 4) == crc32c(frame->payload, (size_t)payload_bytes);
}

/* Decodes a frame that holds the values themselves. Stored frames of planes and szx are checked for the
 * header fields that say how values are coded; those of other codecs ignore them. */
static enum second_verdict copy_stored(const struct second_frame* frame, int codec, uint8_t* values) {
  const size_t size = (size_t)(frame->end - frame->payload);
  if (size != frame->count * frame->type->bytes) return second_rejected;
  if (codec == planes &&
      (!second_check_planes_header(frame) || frame->parameters[1] != 0 || frame->parameters[2] != 0))
    return second_rejected;
  if (codec == blocks) return second_rejected;
  if (codec == szx && (frame->addends != 1 || second_number(frame->parameters, 4) != 0))
    return second_rejected;
  if (size > 0) memcpy(values, frame->payload, size);
  return second_decoded;
}

enum second_verdict second_decode(const uint8_t* bytes, size_t size, int type, uint64_t count,
                                  const struct second_reference* references, size_t reference_count,
                                  void* values) {
  struct second_frame frame = {.references = references, .reference_count = reference_count};
  if (!read_header(bytes, size, &frame)) return second_rejected;
  const int codec = bytes[5];
  if (frame.number != type || second_number(bytes + 8, 8) != count) return second_rejected;
  if (codec == zfp) return second_foreign;
  if (!makes(codec, type, (int)frame.bound_kind)) return second_rejected;
  frame.count = (size_t)count * frame.type->parts;
  if (bytes[7] & stored) return copy_stored(&frame, codec, values);
  switch (codec) {
    case planes: return second_planes(&frame, values);
    case mpc: return second_mpc(&frame, values);
    case szx: return second_szx(&frame, values);
    case blocks: return second_blocks(&frame, values);
    case exponents: return second_exponents(&frame, values);
    default: return second_rejected; /* raw frames are stored */
  }
}

const uint8_t* second_index(struct second_cursor payload, size_t chunks, bool leading_zero,
                            struct second_cursor* records) {
  if (leading_zero) {
    const uint8_t* const zero = second_take(&payload, 4);
    if (zero == NULL || second_number(zero, 4) != 0) return NULL;
  }
  const uint8_t* const ends = second_take(&payload, 4 * chunks);
  if (ends == NULL) return NULL;
  uint64_t before = 0;
  for (size_t i = 0; i < chunks; ++i) {
    const uint64_t end = second_number(ends + 4 * i, 4);
    if (end < before) return NULL;
    before = end;
  }
  if (4 * before != (uint64_t)(payload.end - payload.at)) return NULL;
  *records = payload;
  return ends;
}

struct second_cursor second_record(const uint8_t* ends, size_t chunk, struct second_cursor records) {
  const uint64_t first = chunk == 0 ? 0 : second_number(ends + 4 * (chunk - 1), 4),
                 last = second_number(ends + 4 * chunk, 4);
  return (struct second_cursor){records.at + 4 * first, records.at + 4 * last};
}

bool second_lags(struct second_cursor* payload, unsigned n, size_t count, uint32_t* lags) {
  if (n > 2) return false;
  const uint8_t* const from = second_take(payload, 4 * (size_t)n);
  uint32_t before = 64;
  for (unsigned i = 0; i < n; ++i) {
    if (from == NULL) return false;
    lags[i] = (uint32_t)second_number(from + 4 * i, 4);
    if (lags[i] < before || lags[i] >= count) return false;
    before = lags[i];
  }
  return from != NULL || n == 0;
}

bool second_by_addend(const struct second_frame* frame) { return frame->parameters[2] == 3; }

bool second_states(const struct second_frame* frame, struct second_cursor* payload) {
  const size_t n = second_by_addend(frame) ? 1 : frame->parameters[2];
  if (n > 2 || n > frame->reference_count) return false;
  const uint8_t* const from = second_take(payload, 8 * n);
  if (from == NULL) return false;
  for (size_t k = 0; k < n; ++k)
    if (second_number(from + 8 * k, 8) != frame->references[k].state) return false;
  return true;
}

uint64_t second_part(const struct second_frame* frame, size_t reference, size_t i) {
  const unsigned bytes = frame->type->bytes;
  return second_number((const uint8_t*)frame->references[reference].values + i * bytes, bytes);
}
