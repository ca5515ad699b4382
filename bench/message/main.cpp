// taut_bench_messages: measures messages of floats between ranks 0 and 1 and prints a row of JSON for each
// size. Rounds of all measurements alternate.
//   --rows ping_pong   half the time of a ping-pong by MPI_Send and MPI_Recv, by TAUT_Send and TAUT_Recv
//                      without a policy, and with the policy
//   --rows steps       the time of a message beside those of its steps: encoding, sending the frame by MPI,
//                      decoding. If the steps overlap, the message takes hardly longer than the longest one.
// Exit status: 0; 1 if a value is not within 1e-3 (`smooth` under the default policy); 2 for a wrong command
// line.

#include <mpi.h>
#include <taut/taut.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>

#include "../command_line.hpp"
#include "compressor/base/json.hpp"

namespace bench {
namespace {

struct Options {
  std::string policy = "abs:1e-3", data = "smooth", rows = "ping_pong";
  std::size_t least = 8, most = std::size_t{16} << 20;
  double seconds = 0.5;  // about how long each size takes
};

Options parse(const std::vector<std::string>& words) {
  Options o;
  const auto set_sizes = [&o](const std::string& text) {
    const std::vector<std::string> sizes = split(text, ':');
    o.least = byte_size(sizes.front());
    o.most = byte_size(sizes.back());
  };
  const Setters setters{{"--policy", [&o](const std::string& text) { o.policy = text; }},
                        {"--data", [&o](const std::string& text) { o.data = text; }},
                        {"--rows", [&o](const std::string& text) { o.rows = text; }},
                        {"--sizes", set_sizes},
                        {"--seconds", [&o](const std::string& text) { o.seconds = positive_number(text); }}};
  if (!take_options(words, setters).empty() || (o.data != "smooth" && o.data != "random") ||
      (o.rows != "ping_pong" && o.rows != "steps"))
    throw std::invalid_argument(
        "usage: taut_bench_messages [--policy P] [--data smooth|random] [--rows ping_pong|steps] "
        "[--sizes MIN:MAX] [--seconds S]");
  return o;
}

// Makes a wave with noise, whose ratio is about 6 under abs:1e-3, or finite floats of random bits.
std::vector<float> make_values(const Options& options) {
  std::mt19937 random(1);
  std::vector<float> values(options.most / sizeof(float) + 1);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double noise = static_cast<double>(random()) * 0x1p-32;
    const double wave = 10 * std::sin(0.001 * static_cast<double>(i)) + 0.02 * noise;
    values[i] = static_cast<float>(
        options.data == "smooth" ? wave : noise * std::pow(10, static_cast<double>(random() % 20) - 10));
  }
  return values;
}

// The messages of one size between this rank and the other one, and the steps that they consist of.
class Messages {
 public:
  Messages(const Options& options, int rank)
      : options_(options), rank_(rank), sent_(make_values(options)), got_(sent_.size()) {
    MPI_Comm_dup(MPI_COMM_WORLD, &plain_);
    MPI_Comm_dup(MPI_COMM_WORLD, &coded_);
    TAUT_Comm_set_policy(coded_, options.policy.c_str());
  }
  void resize(std::size_t bytes) { count_ = bytes / sizeof(float); }
  std::size_t bytes() const { return count_ * sizeof(float); }

  void by_mpi() { swap(sent_.data(), got_.data(), static_cast<int>(count_), MPI_FLOAT); }
  void without_policy() { by_taut(plain_); }
  void with_policy() { by_taut(coded_); }

  void encode() {
    frame_.resize(TAUT_Max_bytes(TAUT_FLOAT32, count_, 1));
    TAUT_Encode(sent_.data(), count_, TAUT_FLOAT32, options_.policy.c_str(), frame_.data(), frame_.size(),
                &frame_bytes_);
  }
  void wire() { swap(frame_.data(), frame_.data(), static_cast<int>(frame_bytes_), MPI_BYTE); }
  void decode() { TAUT_Decode(frame_.data(), frame_bytes_, got_.data(), count_, TAUT_FLOAT32); }
  std::size_t frame_bytes() const { return frame_bytes_; }

  double worst() const {
    double worst = 0;
    for (std::size_t i = 0; i < count_; ++i)
      worst = std::max(worst, static_cast<double>(std::abs(sent_[i] - got_[i])));
    return worst;
  }

 private:
  // Rank 0 sends to rank 1, and back.
  void swap(const void* from, void* to, int count, MPI_Datatype type) {
    if (rank_ == 0) MPI_Send(from, count, type, 1, 0, plain_);
    if (rank_ < 2) MPI_Recv(to, count, type, 1 - rank_, 0, plain_, MPI_STATUS_IGNORE);
    if (rank_ == 1) MPI_Send(from, count, type, 0, 0, plain_);
  }
  void by_taut(MPI_Comm comm) {
    const auto count = static_cast<MPI_Count>(count_);
    if (rank_ == 0) TAUT_Send(sent_.data(), count, MPI_FLOAT, 1, 0, comm);
    if (rank_ < 2) TAUT_Recv(got_.data(), count, MPI_FLOAT, 1 - rank_, 0, comm, MPI_STATUS_IGNORE);
    if (rank_ == 1) TAUT_Send(sent_.data(), count, MPI_FLOAT, 0, 0, comm);
  }

  Options options_;
  int rank_;
  std::vector<float> sent_, got_;
  std::size_t count_ = 0, frame_bytes_ = 0;
  std::vector<unsigned char> frame_;
  MPI_Comm plain_ = MPI_COMM_NULL, coded_ = MPI_COMM_NULL;
};

struct Timed {
  const char* name;
  void (Messages::*run)();
  int parts;  // messages or steps in a run
  std::vector<double> us{};

  double at_share(double share) const {
    std::vector<double> sorted = us;
    std::sort(sorted.begin(), sorted.end());
    return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
  }
};

// Runs rounds of all measurements in turn, as many as the time allows; rank 0 decides.
void measure(Messages& messages, std::vector<Timed>& all, double seconds) {
  const int rounds = messages.bytes() <= 8192 ? 20 : 1;
  int more = 1;
  for (const double begin = MPI_Wtime(); more != 0; MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD)) {
    for (Timed& one : all) {
      MPI_Barrier(MPI_COMM_WORLD);
      const double start = MPI_Wtime();
      for (int i = 0; i < rounds; ++i) (messages.*one.run)();
      one.us.push_back(1e6 * (MPI_Wtime() - start) / (one.parts * rounds));
    }
    const std::size_t samples = all[0].us.size();
    more = samples < 5 || (MPI_Wtime() - begin < seconds && samples < 20000);
  }
}

// Prints the median of each measurement; of steps also the least and the lower quartile, and 1.1 x the
// longest step + one segment, which a message with steps that overlap does not exceed.
void print_row(const Messages& messages, const std::vector<Timed>& all, bool steps) {
  taut::json::Object row;
  row.add("bytes", messages.bytes());
  for (const Timed& one : all) row.add(std::string(one.name) + "_us", one.at_share(0.5));
  if (!steps) {
    row.add("over_mpi", all[2].at_share(0.5) / all[0].at_share(0.5));
  } else {
    const double bytes = static_cast<double>(messages.bytes());
    row.add("ratio", bytes / static_cast<double>(messages.frame_bytes()));
    for (const double share : {0.0, 0.25, 0.5}) {
      const double e = all[0].at_share(share), w = all[1].at_share(share), d = all[2].at_share(share);
      const std::string suffix = "_us_" + taut::shortest(share);
      row.add("message" + suffix, all[3].at_share(share));
      row.add("limit" + suffix, 1.1 * std::max({e, w, d}) + (e + w + d) / std::max(1.0, bytes / 0x1p20));
    }
  }
  std::puts(row.add("samples", all[0].us.size()).text().c_str());
  std::fflush(stdout);
}

int run(const std::vector<std::string>& arguments) {
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  Options options;
  try {
    options = parse(arguments);
    if (ranks < 2) throw std::invalid_argument("messages need two ranks");
  } catch (const std::exception& error) {
    if (rank == 0) std::fprintf(stderr, "taut_bench_messages: %s\n", error.what());
    return 2;
  }
  Messages messages(options, rank);
  const bool steps = options.rows == "steps";
  for (std::size_t bytes = options.least; bytes <= options.most; bytes *= bytes < 65536 ? 8 : 4) {
    std::vector<Timed> all{{"mpi", &Messages::by_mpi, 2},
                           {"no_policy", &Messages::without_policy, 2},
                           {"taut", &Messages::with_policy, 2}};
    if (steps)
      all = {{"encode", &Messages::encode, 1},
             {"wire", &Messages::wire, 2},
             {"decode", &Messages::decode, 1},
             {"message", &Messages::with_policy, 2}};
    messages.resize(bytes);
    measure(messages, all, options.seconds);
    if (rank == 0) print_row(messages, all, steps);
  }
  const bool judged = options.policy == "abs:1e-3" && options.data == "smooth" && rank < 2;
  const bool good = !judged || messages.worst() <= 1e-3;
  if (!good) std::printf("rank %d: a value is %g off\n", rank, messages.worst());
  return good ? 0 : 1;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int status = bench::run({argv + 1, argv + argc});
  MPI_Finalize();
  return status;
}
