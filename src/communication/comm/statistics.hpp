// Statistics of a communicator's calls on this rank: counts, bytes and times, by kind of call.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "communication/comm/result_check.hpp"
#include "communication/policy/plan/plan.hpp"
#include "communication/team/recorder.hpp"

namespace taut {

struct Statistics {
  std::uint64_t calls = 0, compressed_calls = 0;
  std::uint64_t failed_calls = 0;                   // calls that ended with an error of this library
  std::uint64_t message_bytes = 0;                  // whole messages of all calls, all blocks included
  std::uint64_t value_bytes = 0, frame_bytes = 0;   // values encoded, and the frames made from them
  std::uint64_t carried_bytes = 0;                  // values that the sent frames represent
  std::uint64_t sent_bytes = 0, sent_messages = 0;  // in compressed calls, agreement included
  std::uint64_t packed_calls = 0;                   // calls in which samples showed packed integers
  std::uint64_t referring_calls = 0;                // compressed calls whose frames refer to earlier calls
  std::array<std::uint64_t, fallback_reasons> plain{};  // calls by reason
  PhaseTimes times;

  std::uint64_t plain_unsupported() const noexcept;  // plain calls for what was asked, not for size or gain
  double ratio() const noexcept;                     // ratio of values to frames; 0: nothing was encoded
  Statistics& operator+=(const Statistics& other) noexcept;
};

// How a compressed call was served.
struct Decision {
  const char* codec = nullptr;  // null: no call was compressed
  char predictor[40] = {};
  const char* algorithm = nullptr;
  Arithmetic arithmetic = Arithmetic::values;
  int segments = 0;
  Bound bound;            // bound of one value, for the codec
  bool by_nodes = false;  // hierarchical: communication/team/hierarchical.hpp
};

// Compressibility of the values of calls, by samples on this rank, under bounds relative to the range of the
// finite values, and without loss. For each bound the codec and predictor that compress best count.
struct Compressibility {
  static constexpr double relative[] = {1e-2, 1e-3, 1e-4, 1e-5, 1e-6};
  static constexpr std::size_t bounds = 6;  // number of relative bounds, and one for lossless

  struct Sum {
    std::uint64_t value_bytes = 0, frame_bytes = 0;
    std::uint64_t nanoseconds = 0;  // time to encode the values
  };

  std::uint64_t samples = 0;
  std::uint64_t packed = 0;  // samples with packed integers (compressor/frame/packed_integers.hpp)
  std::uint64_t in_place =
      0;  // samples of inputs that are also result memory: root of a broadcast, allgather in place
  std::uint64_t pickles = 0;   // samples of bytes that begin as an object that Python has pickled
  std::uint64_t constant = 0;  // samples all of whose values were equal
  double least = std::numeric_limits<double>::infinity(), greatest = -least;  // finite values that were seen
  std::array<Sum, bounds> sums{};

  Compressibility& operator+=(const Compressibility& other) noexcept;
};

// Gain of a history for the values of calls: pieces of a few calls in a row, coded alone and with references
// to the pieces before, under the bounds of Compressibility.
struct Repetition {
  struct Sum {
    std::uint64_t value_bytes = 0;
    std::uint64_t alone_bytes = 0, referring_bytes = 0;  // frames, without headers
    std::uint64_t nanoseconds = 0;                       // time to encode the values with references
  };

  std::uint64_t samples = 0;
  std::uint64_t period = 0;  // greatest distance in calls at which a piece was alike; 0: none was
  std::array<Sum, Compressibility::bounds> sums{};

  // Returns how many times smaller references make frames under a bound that is this share of the range; 0:
  // without loss. The result is 1 if nothing is known.
  double gain(double share) const noexcept;
  Repetition& operator+=(const Repetition& other) noexcept;
};

// Time of a plain call on this rank, and the gap before it.
struct PlainTime {
  static constexpr std::uint64_t unknown = UINT64_MAX;

  std::uint64_t nanoseconds = 0;  // 0: not timed
  std::uint64_t gap = unknown;    // nanoseconds since the plain call before on the same communicator
};

// Times of plain calls of one kind, by the number of the call, which is the same on all ranks. A reader
// compares the ranks' times of each call. Each `every`-th call is kept; `every` doubles when the table is
// full. Empty without memory, and after tables were added up.
class PlainTimes {
 public:
  static constexpr std::size_t most = 128;

  void note(std::uint64_t call, PlainTime time) noexcept;
  void forget() noexcept;  // for good

  std::uint64_t every() const noexcept { return every_; }
  std::span<const PlainTime> kept() const noexcept { return kept_; }

 private:
  std::vector<PlainTime> kept_;  // of the calls 0, every_, 2 every_, ...
  std::uint64_t every_ = 1;
  bool lost_ = false;
};

// Row of the table: the calls of one key.
struct CallRow {
  CallKey key{};
  Statistics sum;
  Decision decision;                   // decision for the last compressed call
  Fallback fallback = Fallback::none;  // reason of the last fallback
  float expected_ratio =
      0;  // expected by the rank that gains least, at the last agreement; 0: no samples were taken
  Compressibility values = {};
  Repetition repetition = {};
  PlainTimes plain_times = {};    // if a report is asked for
  ResultChecks checks = {};       // under TAUT_CHECK
  std::uint64_t next_sample = 1;  // number of the next call to be sampled, counted from 1
  bool followed = false;          // the sampler follows a stream of these calls

  Call call() const noexcept { return Call::of_key(key); }  // the smallest call of this key

  void add_call(std::size_t message_bytes) noexcept {
    ++sum.calls;
    sum.message_bytes += message_bytes;
  }
  void note_plain(Fallback why) noexcept {  // for a call that is already counted
    ++sum.plain[static_cast<std::size_t>(why)];
    fallback = why;
  }
};

// Table with a row for each kind of call. The size is bounded: kinds beyond most_kinds, or for which memory
// lacks, share a row.
class CallTable {
 public:
  static constexpr std::size_t most_kinds = 64;

  CallRow& row(const CallKey& key) noexcept {
    return last_ < keys_.size() && keys_[last_] == key ? rows_[last_] : find(key);
  }
  CallRow& count(const CallKey& key, std::size_t message_bytes) noexcept {  // counts one more call
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

  std::vector<CallKey> keys_;  // keys of the rows, stored close together for searches
  std::vector<CallRow> rows_;
  std::size_t last_ = 0;  // row found last: calls of a kind often follow each other
  CallRow rest_;
};

}  // namespace taut
