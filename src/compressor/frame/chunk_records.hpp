// Records of a frame: each holds one encoded chunk. Records are stored one after another, with a table of
// their ends: 32 bits a chunk, in units of 4 bytes from the first record. An index is the word 0 and that
// table, in front of the records.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>

#include "compressor/base/unaligned.hpp"
#include "compressor/frame/parallel_chunks.hpp"

namespace taut {

inline constexpr std::size_t record_unit = 4;

// Appends records to a buffer and writes their ends to the table. `max_record_bytes`: the greatest number of
// bytes that a kernel writes for one record.
template <std::size_t max_record_bytes>
class RecordWriter {
 public:
  RecordWriter(std::byte* ends, Bytes room) noexcept
      : ends_(ends), records_(room.data()), at_(records_), end_(records_ + room.size()) {}
  RecordWriter(const RecordWriter&) = delete;
  RecordWriter& operator=(const RecordWriter&) = delete;

  // room() returns memory for a record of up to max_record_bytes: the final position, or a side buffer if
  // less is left. commit() appends the first `bytes` of that memory, a multiple of 4, and returns false if
  // they do not fit.
  std::byte* room() noexcept { return left() >= max_record_bytes ? at_ : side_buffer_; }
  bool commit(std::size_t bytes) noexcept {
    if (bytes > left()) return false;
    if (bytes > 0 && room() == side_buffer_) std::memcpy(at_, side_buffer_, bytes);
    advance(bytes);
    return true;
  }

  // Interface for records written in place: position, number of bytes left, and number of bytes written.
  std::byte* at() noexcept { return at_; }
  std::size_t left() const noexcept { return static_cast<std::size_t>(end_ - at_); }
  void advance(std::size_t bytes) noexcept {
    at_ += bytes;
    ends_ = store(ends_, static_cast<std::uint32_t>(this->bytes() / record_unit));
  }

  std::size_t bytes() const noexcept { return static_cast<std::size_t>(at_ - records_); }

 private:
  std::byte *ends_, *records_, *at_, *end_;
  alignas(64) std::byte side_buffer_[max_record_bytes];
};

// Memory for the records of a frame, and for their ends, one for each chunk. Threads write their records
// concurrently, each into a share of the memory with chunk_bytes for each of its chunks: the greatest size of
// a record, or an estimate.
struct RecordRoom {
  std::byte* ends;
  Bytes records;
  std::size_t chunks, chunk_bytes;

  std::byte* ends_of(Range range) const noexcept { return ends + sizeof(std::uint32_t) * range.first; }
  Bytes share(std::size_t part, std::size_t parts) const noexcept {
    const Range range = part_range(chunks, part, parts);
    const std::size_t begin = range.first * chunk_bytes;
    return records.subspan(begin, part + 1 == parts ? records.size() - begin : range.count * chunk_bytes);
  }
};

// Returns the greatest whole number of units by which `bytes` divide evenly among the chunks.
constexpr std::size_t even_share(std::size_t bytes, std::size_t chunks) noexcept {
  return bytes / std::max<std::size_t>(chunks, 1) / record_unit * record_unit;
}

// Returns true if the ends of all records ascend, up to the end of `bytes` bytes of records.
inline bool ends_fit(const std::byte* ends, std::size_t chunks, std::size_t bytes) noexcept {
  std::uint32_t before = 0;
  for (std::size_t i = 0; i < chunks; ++i) {
    const auto end = load<std::uint32_t>(ends + i * sizeof before);
    if (end < before) return false;
    before = end;
  }
  return std::size_t{before} * record_unit == bytes;
}

// Moves the records of the chunks `range` from their thread's share to offset `before`, the size of all
// earlier records, and adds that offset to their ends.
inline void move_down(const RecordRoom& room, Range range, ConstBytes records, std::size_t before) noexcept {
  std::byte* const place = room.records.data() + before;
  if (place != records.data()) std::memmove(place, records.data(), records.size());
  std::byte* end = room.ends_of(range);
  for (std::size_t i = 0; i < range.count; ++i)
    end = store(end, static_cast<std::uint32_t>(load<std::uint32_t>(end) + before / record_unit));
}

// Writes all records with one thread for each part, and returns their size. write(range of chunks, writer) ->
// Status appends the records of a range and returns buffer_too_small if they do not fit. If the records of a
// thread do not fit into its share of the memory, one thread writes all records.
template <class Writer, class Write>
SizeOrStatus write_records(std::size_t parts, const RecordRoom& room, const Write& write) {
  const auto write_all = [&] {
    Writer writer(room.ends, room.records);
    const Status status = write(Range{0, room.chunks}, writer);
    return SizeOrStatus{status, writer.bytes()};
  };
  if (parts == 1) return write_all();
  SizeOrStatus all;
  // Part whose thread may move its records; each thread moves its own, which are in its cache.
  std::atomic<std::size_t> turn = 0;
  for_each_part(parts, room.chunks, [&](std::size_t part, Range range) {
    const Bytes share = room.share(part, parts);
    Writer writer(room.ends_of(range), share);
    const Status status = write(range, writer);
    for (std::size_t now = turn; now != part; now = turn) turn.wait(now);
    if (all.status == Status::ok) {
      all.status = status;
      move_down(room, range, share.first(writer.bytes()), all.bytes);
      all.bytes += writer.bytes();
    }
    turn = part + 1;
    turn.notify_all();
  });
  return all.status == Status::buffer_too_small ? write_all() : all;
}

// ---- Payloads with an index

constexpr std::size_t index_bytes(std::size_t chunks) noexcept { return record_unit * (chunks + 1); }

// Writes an index and records into `payload`, with at most `threads` threads; `write` as in write_records().
// Returns their bytes; 0 if they do not fit.
template <class Writer, class Write>
std::size_t write_indexed(Bytes payload, std::size_t chunks, int threads, const Write& write) {
  const std::size_t index = index_bytes(chunks);
  if (index > payload.size()) return 0;
  std::byte* const ends = store(payload.data(), std::uint32_t{0});
  const Bytes records = payload.subspan(index);
  const RecordRoom room{ends, records, chunks, even_share(records.size(), chunks)};
  const SizeOrStatus written = write_records<Writer>(useful_threads(threads, chunks), room, write);
  return written.status == Status::ok ? index + written.bytes : 0;
}

// Returns true if a payload begins with a valid index, whose ends lie inside the payload.
inline bool has_valid_index(ConstBytes payload, std::size_t chunks) noexcept {
  const std::size_t index = index_bytes(chunks);
  return payload.size() >= index && load<std::uint32_t>(payload.data()) == 0 &&
         ends_fit(payload.data() + record_unit, chunks, payload.size() - index);
}

// Returns the record of chunk i in a payload that has an index.
inline ConstBytes record_at(ConstBytes payload, std::size_t chunks, std::size_t i) noexcept {
  const std::byte* const entry = payload.data() + i * record_unit;
  const std::size_t first = load<std::uint32_t>(entry), end = load<std::uint32_t>(entry + record_unit);
  return payload.subspan(index_bytes(chunks) + first * record_unit, (end - first) * record_unit);
}

// ---- Records of chunks that are coded without loss. An empty record stands for a chunk of zeros. A record
// as long as its chunk, in whole units, holds the bytes of the chunk. Shorter records are encoded.

constexpr std::size_t whole_units(std::size_t bytes) noexcept {
  return (bytes + record_unit - 1) / record_unit * record_unit;
}

// Appends the record of a chunk. encode(record) -> bytes writes the encoded record. Returns false if the
// record does not fit.
template <class Writer, class Encode>
bool write_lossless(ConstBytes chunk, Writer& writer, const Encode& encode) noexcept {
  const std::byte* const bytes = chunk.data();
  if (bytes[0] == std::byte{0} && std::memcmp(bytes, bytes + 1, chunk.size() - 1) == 0)
    return writer.commit(0);
  std::byte* const record = writer.room();
  const std::size_t encoded = encode(record), whole = whole_units(chunk.size());
  if (encoded < whole) return writer.commit(encoded);
  store(record + whole - record_unit, std::uint32_t{0});
  std::memcpy(record, bytes, chunk.size());
  return writer.commit(whole);
}

// Reads a chunk of `size` bytes from its record. decode(record) -> bool decodes an encoded record; false: the
// record is malformed.
template <class Decode>
Status read_lossless(ConstBytes record, std::size_t size, std::byte* to, const Decode& decode) noexcept {
  const std::size_t whole = whole_units(size);
  if (record.empty()) {
    std::memset(to, 0, size);
  } else if (record.size() == whole) {
    std::memcpy(to, record.data(), size);
  } else if (record.size() > whole || !decode(record)) {
    return Status::corrupt_frame;
  }
  return Status::ok;
}

}  // namespace taut
