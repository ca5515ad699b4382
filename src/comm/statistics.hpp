// What a communicator's calls did on this rank: counts, bytes and times, by kind of call.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "core/phase_times.hpp"
#include "policy/plan/plan.hpp"

namespace taut {

struct Statistics {
  std::uint64_t calls = 0, compressed_calls = 0;
  std::uint64_t failed_calls = 0;                   // that ended with an error of this library
  std::uint64_t message_bytes = 0;                  // of all calls: of the whole message, all blocks of it
  std::uint64_t value_bytes = 0, frame_bytes = 0;   // encoded, and what became of it
  std::uint64_t carried_bytes = 0;                  // values that the frames sent stand for
  std::uint64_t sent_bytes = 0, sent_messages = 0;  // in compressed calls, agreement included
  std::uint64_t packed_calls = 0;                   // that samples showed packed integers in
  std::array<std::uint64_t, fallback_reasons> plain{};  // calls by reason
  PhaseTimes times;

  std::uint64_t plain_unsupported() const noexcept;  // by reasons of what was asked for, not of size or gain
  double ratio() const noexcept;                     // of values to frames; 0: nothing was encoded
  Statistics& operator+=(const Statistics& other) noexcept;
};

// How a compressed call was served.
struct Decision {
  const char* codec = nullptr;  // null: none was compressed
  char predictor[40] = {};
  const char* algorithm = nullptr;
  Arithmetic how = Arithmetic::values;
  int segments = 0;
  Bound bound;            // of one value, for the codec
  bool by_nodes = false;  // core/hierarchical.hpp
};

// How well the values of calls would compress, by samples on this rank, under bounds relative to the range of
// the finite values, and without loss. Of each bound the codec and predictor that does best.
struct Compressibility {
  static constexpr double relative[] = {1e-2, 1e-3, 1e-4, 1e-5, 1e-6};
  static constexpr std::size_t bounds = 6;  // these, then without loss

  struct Sum {
    std::uint64_t value_bytes = 0, frame_bytes = 0;
    std::uint64_t nanoseconds = 0;  // that encoding them took
  };

  std::uint64_t samples = 0;
  std::uint64_t packed = 0;  // of them, with packed integers (core/packing.hpp)
  double least = std::numeric_limits<double>::infinity(), greatest = -least;  // finite values that were seen
  std::array<Sum, bounds> sums{};

  Compressibility& operator+=(const Compressibility& other) noexcept;
};

// The calls of one key.
struct CallRow {
  CallKey key{};
  Statistics sum;
  Decision decision;                // of the last one that was compressed
  Fallback plain = Fallback::none;  // why the last one that was not, was not
  float expected_ratio =
      0;  // by samples of the rank that gains least, at the last agreement; 0: none were taken
  Compressibility values = {};
  std::uint64_t next_sample = 1;  // the call that is to be looked at next, counted from 1

  Call call() const noexcept { return Call::of_key(key); }  // the smallest of them

  void add_call(std::size_t message_bytes) noexcept {
    ++sum.calls;
    sum.message_bytes += message_bytes;
  }
  void note_plain(Fallback why) noexcept {  // of a call that has been counted
    ++sum.plain[static_cast<std::size_t>(why)];
    plain = why;
  }
};

// A row for each kind of call. Bounded: what comes after most_kinds, or finds no memory, shares a row.
class CallTable {
 public:
  static constexpr std::size_t most_kinds = 64;

  CallRow& row(const CallKey& key) noexcept {
    return last_ < keys_.size() && keys_[last_] == key ? rows_[last_] : find(key);
  }
  CallRow& count(const CallKey& key, std::size_t message_bytes) noexcept {  // one call more
    CallRow& found = row(key);
    found.add_call(message_bytes);
    return found;
  }
  std::span<const CallRow> rows() const noexcept { return rows_; }
  const CallRow& rest() const noexcept { return rest_; }
  Statistics total() const noexcept;
  void merge(const CallTable& other) noexcept;

 private:
  CallRow& find(const CallKey& key) noexcept;
  CallRow* add(const CallKey& key) noexcept;

  std::vector<CallKey> keys_;  // of the rows: what is searched lies close together
  std::vector<CallRow> rows_;
  std::size_t last_ = 0;  // found: calls of a kind come in a row
  CallRow rest_;
};

}  // namespace taut
