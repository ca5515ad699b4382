// ranks [VALUES]: runs MPI ranks that share one GPU. Each rank encodes its values on the GPU. Frames are sent
// through pinned memory of the host, and are added and decoded on the GPU, in two ways: all frames at once,
// or from rank to rank. Every rank must end with the same bits as the CPU. Rank 0 prints one JSON object a
// line.
#include <mpi.h>

#include <algorithm>
#include <climits>

#include "../../tests/gpu/kernels/patterns.hpp"
#include "compressor/frame/frame.hpp"
#include "device.hpp"

namespace {

using namespace taut;
using namespace taut::gpu;

constexpr double bound = 1e-3;
constexpr int predictor = 1;
constexpr const char* coding = "abs:1e-3,codec=planes,predictor=delta";  // the same in words
constexpr int most_ranks = 8;                                            // limit of one sum

int rank() {
  int own = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &own);
  return own;
}
int ranks() {
  int all = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &all);
  return all;
}

void require(bool good, const char* what) {
  if (good) return;
  std::printf("{\"check\": \"ranks\", \"ok\": false, \"rank\": %d, \"error\": \"%s\"}\n", rank(), what);
  std::fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::exit(1);
}

std::size_t rounded(std::size_t bytes) { return (bytes + 15) / 16 * 16; }

// Buffers of a rank on the GPU and in pinned memory.
template <class T>
class Member {
 public:
  explicit Member(const std::vector<T>& x)
      : x_(x),
        room_(rounded(cpu_codec(bound, predictor)->max_bytes(dtype_of<T>, x.size(), ranks()))),
        values_(x.data(), x.size() * sizeof(T)),
        decoded_(x.size() * sizeof(T)),
        frames_(room_ * ranks()),
        sum_(room_),
        here_(room_ * ranks()) {}

  std::size_t encode() {
    call(TAUT_Encode_enqueue(values_.at(), x_.size(), type, coding, frame(rank()), room_, result_.at,
                             nullptr));
    return result_.at->bytes;
  }

  // Gives all frames to every rank, which adds them at once. Returns the bytes of the sum.
  std::size_t gathered() {
    const int own = static_cast<int>(encode()), n = ranks();
    std::vector<int> bytes(n), places(n);
    for (int r = 0; r < n; ++r) places[r] = static_cast<int>(room_) * r;
    MPI_Allgather(&own, 1, MPI_INT, bytes.data(), 1, MPI_INT, MPI_COMM_WORLD);
    copy(here(rank()), frame(rank()), own);
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, here_.at(), bytes.data(), places.data(), MPI_BYTE,
                   MPI_COMM_WORLD);
    const void* frames[most_ranks];
    std::size_t sizes[most_ranks];
    for (int r = 0; r < n; ++r) {
      if (r != rank()) copy(frame(r), here(r), bytes[r]);
      frames[r] = frame(r);
      sizes[r] = static_cast<std::size_t>(bytes[r]);
    }
    add(frames, sizes, n);
    return decode();
  }

  // Adds each rank's frame to the sum that the preceding rank sends; the last rank broadcasts the result.
  // Returns the bytes of the sum.
  std::size_t handed_on() {
    const int last = ranks() - 1;
    int bytes = static_cast<int>(encode());
    if (rank() > 0) {
      MPI_Status status;
      MPI_Recv(here_.at(), static_cast<int>(room_), MPI_BYTE, rank() - 1, 0, MPI_COMM_WORLD, &status);
      int got = 0;
      MPI_Get_count(&status, MPI_BYTE, &got);
      const int before = rank() - 1;  // any slot except that of the own frame
      copy(frame(before), here_.at(), got);
      const void* const both[] = {frame(before), frame(rank())};
      const std::size_t sizes[] = {static_cast<std::size_t>(got), static_cast<std::size_t>(bytes)};
      add(both, sizes, 2);
      bytes = static_cast<int>(result_.at->bytes);
    }
    copy(here_.at(), rank() > 0 ? sum_.at() : frame(0), bytes);
    if (rank() < last) MPI_Send(here_.at(), bytes, MPI_BYTE, rank() + 1, 0, MPI_COMM_WORLD);
    MPI_Bcast(&bytes, 1, MPI_INT, last, MPI_COMM_WORLD);
    MPI_Bcast(here_.at(), bytes, MPI_BYTE, last, MPI_COMM_WORLD);
    copy(sum_.at(), here_.at(), bytes);
    result_.at->bytes = static_cast<std::uint64_t>(bytes);
    return decode();
  }

  // Reduces the uncompressed values through the host, for comparison.
  void plain() {
    const std::size_t bytes = x_.size() * sizeof(T);
    copy(here_.at(), values_.at(), bytes);
    MPI_Allreduce(MPI_IN_PLACE, here_.at(), static_cast<int>(x_.size()),
                  sizeof(T) == 4 ? MPI_FLOAT : MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    copy(decoded_.at(), here_.at(), bytes);
  }

  std::vector<std::byte> own_frame(std::size_t bytes) const { return read(frame(rank()), bytes); }
  std::vector<std::byte> sum(std::size_t bytes) const { return read(sum_.at(), bytes); }
  std::vector<std::byte> decoded() const { return decoded_.read(decoded_.bytes()); }

 private:
  static constexpr int type = static_cast<int>(dtype_of<T>);

  std::byte* frame(int r) const { return static_cast<std::byte*>(frames_.at()) + room_ * r; }
  std::byte* here(int r) const { return here_.at() + room_ * r; }

  static void copy(void* to, const void* from, std::size_t bytes) {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, nullptr));
    check(cudaStreamSynchronize(nullptr));
  }
  static std::vector<std::byte> read(const void* at, std::size_t bytes) {
    std::vector<std::byte> to(bytes);
    copy(to.data(), at, bytes);
    return to;
  }

  void call(int status) {
    require(status == 0, "a call was refused");
    check(cudaStreamSynchronize(nullptr));
    require(result_.at->status == 0, "a kernel reports an error");
  }
  void add(const void* const* frames, const std::size_t* bytes, int n) {
    call(TAUT_Frame_add_enqueue(frames, bytes, n, x_.size(), type, coding, sum_.at(), room_, result_.at,
                                nullptr));
  }
  std::size_t decode() {
    const std::size_t bytes = result_.at->bytes;
    call(TAUT_Decode_enqueue(sum_.at(), bytes, decoded_.at(), x_.size(), type, coding, result_.at, nullptr));
    return bytes;
  }

  const std::vector<T>& x_;
  std::size_t room_;
  Device values_, decoded_, frames_, sum_;
  Pinned here_;
  Result result_;
};

// Results that the CPU computes from the values of all ranks.
template <class T>
struct Expected {
  std::vector<std::byte> own, sum, decoded;

  Expected(Pattern pattern, std::size_t n) : decoded(n * sizeof(T)) {
    const auto codec = cpu_codec(bound, predictor);
    std::vector<std::vector<std::byte>> frames;
    std::vector<ConstBytes> all;
    for (int r = 0; r < ranks(); ++r)
      frames.push_back(cpu_encode(*codec, make<T>(pattern, n, static_cast<std::uint64_t>(r))));
    for (const auto& frame : frames) all.emplace_back(frame);
    own = frames[static_cast<std::size_t>(rank())];
    sum.resize(codec->max_bytes(dtype_of<T>, n, static_cast<std::uint32_t>(ranks())));
    sum.resize(codec->arithmetic()->sum(all, sum).bytes);
    codec->decode(sum, {{decoded.data(), n, dtype_of<T>}});
  }
};

// True if all ranks have the same bytes.
bool same_everywhere(const std::vector<std::byte>& bytes) {
  const std::uint32_t own = crc32c(bytes);
  std::uint32_t least = 0, greatest = 0;
  MPI_Allreduce(&own, &least, 1, MPI_UINT32_T, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(&own, &greatest, 1, MPI_UINT32_T, MPI_MAX, MPI_COMM_WORLD);
  return least == greatest;
}

template <class T>
bool compare(Pattern pattern, std::size_t n, const char* name) {
  const std::vector<T> x = make<T>(pattern, n, static_cast<std::uint64_t>(rank()));
  const Expected<T> expected(pattern, n);
  Member<T> member(x);
  int wrong = 0, all = 0;
  for (const bool at_once : {true, false}) {
    const auto sum = member.sum(at_once ? member.gathered() : member.handed_on());
    wrong += member.own_frame(expected.own.size()) != expected.own;
    wrong += sum != expected.sum || member.decoded() != expected.decoded;
    wrong += !same_everywhere(sum) || !same_everywhere(member.decoded());
  }
  MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank() == 0)
    std::printf(
        "{\"check\": \"ranks\", \"ranks\": %d, \"type\": \"%s\", \"pattern\": \"%s\", \"values\": %zu, "
        "\"differences\": %d, \"ok\": %s}\n",
        ranks(), name, name_of(pattern), n, all, all == 0 ? "true" : "false");
  return all == 0;
}

template <class Action>
double median_us(const Action& action) {
  std::vector<double> times;
  for (int i = 0; i < 9; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double from = MPI_Wtime();
    action();
    double own = MPI_Wtime() - from, longest = 0;
    MPI_Allreduce(&own, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    times.push_back(longest * 1e6);
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

void bench(std::size_t n) {
  const std::vector<float> x = make<float>(Pattern::walk, n, static_cast<std::uint64_t>(rank()));
  Member<float> member(x);
  const double ratio = static_cast<double>(n * sizeof(float)) / static_cast<double>(member.encode());
  const double gathered = median_us([&] { member.gathered(); }), on = median_us([&] { member.handed_on(); }),
               plain = median_us([&] { member.plain(); });
  if (rank() == 0)
    std::printf(
        "{\"bench\": \"ranks\", \"ranks\": %d, \"bytes\": %zu, \"ratio\": %.2f, \"gathered_us\": %.1f, "
        "\"handed_on_us\": %.1f, \"plain_us\": %.1f}\n",
        ranks(), n * sizeof(float), ratio, gathered, on, plain);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const std::size_t most = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : std::size_t{1} << 22;
  const char* why = "";
  const bool available = TAUT_Cuda_available(&why) != 0;
  require(available, why);
  require(ranks() <= most_ranks && most * sizeof(double) * 2 * ranks() < INT_MAX,
          "at most 8 ranks, and fewer values");
  bool good = true;
  for (const Pattern pattern : {Pattern::walk, Pattern::mixed}) {
    for (const std::size_t n : {std::size_t{1}, std::size_t{4097}, most}) {
      good &= compare<float>(pattern, n, "f32");
      good &= compare<double>(pattern, n, "f64");
    }
  }
  for (std::size_t n = most / 16; n <= most; n *= 4) bench(n);
  MPI_Finalize();
  return good ? 0 : 1;
}
