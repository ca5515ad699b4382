// make_seeds FOLDER: writes the seeds of the fuzz targets, FOLDER/<target>/<number>: frames of every
// registered codec, type, bound and predictor, sums of them, raw values, and policies from the documentation.
#include <filesystem>
#include <fstream>
#include <limits>

#include "earlier.hpp"
#include "golden/values.hpp"
#include "hostile_frame.hpp"
#include "support/subjects.hpp"
#include "support/values.hpp"

namespace taut::fuzz {
namespace {

using Text = std::string;  // bytes of an input

template <class... Fields>
Text bytes_of(const Fields&... fields) {
  Text text;
  (text.append(reinterpret_cast<const char*>(&fields), sizeof fields), ...);
  return text;
}
Text text_of(ConstBytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

class Seeds {
 public:
  explicit Seeds(std::filesystem::path folder) : folder_(std::move(folder)) {}
  void add(const char* target, const Text& input) {
    std::filesystem::create_directories(folder_ / target);
    char name[16];
    std::snprintf(name, sizeof name, "%05zu", written_++);
    std::ofstream file(folder_ / target / name, std::ios::binary);
    file.write(input.data(), static_cast<std::streamsize>(input.size()));
    if (!file) throw Error(Status::internal, "cannot write " + (folder_ / target / name).string());
  }
  std::size_t written() const noexcept { return written_; }

 private:
  std::filesystem::path folder_;
  std::size_t written_ = 0;
};

constexpr std::size_t counts[] = {0, 1, 9, 65, 300, 700, 4200}, few_counts[] = {1, 65};

// Returns the numbers of values; fewer for subjects that differ little from others.
std::span<const std::size_t> counts_for(const test::Subject& subject) {
  const bool usual = subject.type == DType::f32 || subject.type == DType::f64;
  if (usual && !subject.options.checksum) return counts;
  return few_counts;
}

// Repairs of decode_frame: the receiver posts the type and count of the header, the frame names its
// references.
constexpr std::uint8_t as_posted = 8, refer = 16;

// Returns data of kind number `kind`, the kinds that codecs treat differently.
test::Values data(DType type, std::size_t count, std::size_t kind) {
  using test::Pattern;
  constexpr Pattern patterns[] = {Pattern::smooth, Pattern::noisy, Pattern::sparse, Pattern::steps,
                                  Pattern::wild};
  test::Values values = test::make_values(type, count, patterns[kind % 5], kind);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double specials[] = {infinity, -infinity, std::numeric_limits<double>::quiet_NaN(),
                                 1e30,     -0.0,      1e-42};
  if (kind % 7 >= 5)
    for (std::size_t i = kind % 11; i < count; i += 13 + kind % 17) values.set(i, specials[(i + kind) % 6]);
  return values;
}

Text encoded(const Codec& codec, ConstSlice values, References references = {}) {
  Text frame(codec.max_bytes(values.type, values.count), 0);
  const SizeOrStatus size = codec.encode(values, references, std::as_writable_bytes(std::span(frame)));
  if (size.status != Status::ok) throw Error(size.status, "a seed cannot be encoded");
  frame.resize(size.bytes);
  return frame;
}

Text summed(const Codec& codec, DType type, std::size_t count, const Text& a, const Text& b) {
  const ConstBytes both[] = {std::as_bytes(std::span(a)), std::as_bytes(std::span(b))};
  Text sum(codec.max_bytes(type, count, 4), 0);
  const SizeOrStatus size = codec.arithmetic()->sum(both, std::as_writable_bytes(std::span(sum)));
  if (size.status != Status::ok) throw Error(size.status, "seeds cannot be added");
  sum.resize(size.bytes);
  return sum;
}

void add_sums(const test::Subject& subject, const Codec& codec, const Text& a, const Text& b,
              std::size_t count, Seeds& seeds) {
  const Text total = summed(codec, subject.type, count, a, b);
  const auto room = static_cast<std::uint32_t>(codec.max_bytes(subject.type, count, 4));
  seeds.add("decode_frame",
            bytes_of(std::uint8_t{all_repairs | as_posted}, std::uint8_t{0}, std::uint8_t{0}, 0u) + total);
  for (const auto& [first, second] : {std::pair{&a, &b}, {&total, &a}})
    seeds.add("add_frames", bytes_of(std::uint8_t{all_repairs}, subject.info->frame_id, room,
                                     static_cast<std::uint32_t>(first->size())) +
                                *first + *second);
}

// Adds a sum with a history: each of its addends refers to one of its own.
void add_sum_behind(const test::Subject& subject, const Codec& codec, std::size_t count, Seeds& seeds) {
  const Earlier earlier(subject.type, count, 1);
  Reference own = earlier.references()[0];
  own.by_addend = true;
  Text frame(codec.max_bytes(subject.type, count, 2), 0);
  const test::Values values = test::make_values(subject.type, count, test::Pattern::smooth, 1);
  const SizeOrStatus size =
      codec.encode(values.slice(), References(&own, 1), std::as_writable_bytes(std::span(frame)));
  if (size.status != Status::ok) throw Error(size.status, "a seed cannot be encoded");
  frame.resize(size.bytes);
  seeds.add("decode_frame",
            bytes_of(std::uint8_t{all_repairs | as_posted | refer}, std::uint8_t{0}, std::uint8_t{0}, 0u) +
                summed(codec, subject.type, count, frame, frame));
}

// Adds frames of values of which every `apart`-th has changed since the references.
void add_frames_behind(const test::Subject& subject, const Codec& codec, std::size_t count, Seeds& seeds,
                       std::size_t apart = 7) {
  for (std::size_t n = 1; n <= max_references && subject.info->takes_references; ++n) {
    const Earlier earlier(subject.type, count, n);
    test::Values values = test::make_values(subject.type, count, test::Pattern::smooth, 0);
    for (std::size_t i = n; i < count; i += apart) values.set(i, values.at(i) + 1);
    const Text frame = encoded(codec, std::as_const(values).slice(), earlier.references());
    seeds.add("decode_frame",
              bytes_of(std::uint8_t{all_repairs | as_posted | refer}, std::uint8_t{0}, std::uint8_t{0}, 0u) +
                  frame);
  }
  const bool has_history = subject.type == DType::f32 || subject.type == DType::f64;
  if (has_history && subject.info->takes_references && codec.arithmetic() != nullptr)
    add_sum_behind(subject, codec, count, seeds);
}

// Adds frames of planes whose records behind references have 32-bit or 64-bit integers, and many or few coded
// blocks.
void add_frames_of_planes_behind(Seeds& seeds) {
  test::Subject subject;
  subject.info = find_codec("planes");
  subject.type = DType::f64;
  for (const double bound : {1e-3, 1e-9}) {
    const auto codec = subject.info->make({.bound = bound, .predictor = "delta"});
    for (const std::size_t count : {130u, 301u, 4100u})
      for (const std::size_t apart : {7u, 200u}) add_frames_behind(subject, *codec, count, seeds, apart);
  }
}

// Returns the contents of a .taut file (docs/spec/file.md) of one frame. Targets set the checksums.
Text file_of(const test::Values& values, const Text& frame) {
  const Text coding = "lossless";
  const auto header = static_cast<std::uint32_t>(24 + 8 + coding.size() + 4);
  const auto type = static_cast<std::uint8_t>(values.type());
  return Text("\x89TAUT\r\n\x1a", 8) +
         bytes_of(1u, header, type, std::uint8_t{1}, std::uint8_t{1}, std::uint8_t{0}, 8u,
                  std::uint64_t{values.count()}) +
         coding + bytes_of(0u) + frame +
         bytes_of(std::uint64_t{frame.size()}, static_cast<std::uint32_t>(values.count()), 0u,
                  std::uint64_t{header + frame.size()}, std::uint64_t{1}, 0u, 0u, 0u, 0u) +
         "TAUT end";
}

void add_frames(const test::Subject& subject, Seeds& seeds) {
  const auto codec = subject.make();
  std::size_t kind = seeds.written() % 35;
  for (const std::size_t count : counts_for(subject)) {
    const test::Values values = data(subject.type, count, kind++);
    const Text frame = encoded(*codec, values.slice());
    const auto type = static_cast<std::uint8_t>(subject.type);
    const auto posted = static_cast<std::uint32_t>(count);
    seeds.add("decode_frame",
              bytes_of(std::uint8_t{all_repairs | as_posted}, type, std::uint8_t{0}, posted) + frame);
    seeds.add("decode_frame", bytes_of(std::uint8_t{0}, type, std::uint8_t{1}, posted) + frame);
    if (count <= 700)
      seeds.add("frame_calls", bytes_of(std::uint8_t{all_repairs}, static_cast<std::uint32_t>(frame.size())) +
                                   frame + frame);
    seeds.add("open_message",
              bytes_of(std::uint8_t{0}, type, static_cast<std::uint16_t>(values.slice().bytes())) + frame);
    add_frames_behind(subject, *codec, count, seeds);
    if (count > 0) seeds.add("read_file", bytes_of(std::uint8_t{1}) + file_of(values, frame));
    if (count <= 65) seeds.add("read_header", bytes_of(std::uint8_t{seal}) + frame);
    if (codec->arithmetic() == nullptr) continue;
    const test::Values other = data(subject.type, count, kind++);
    add_sums(subject, *codec, frame, encoded(*codec, other.slice()), count, seeds);
  }
}

// Adds frames of mpc with each form of grid.
void add_grids(DType type, Seeds& seeds) {
  constexpr std::size_t count = 301;
  const auto codec = find_codec("mpc")->make({.predictor = "grid"});
  for (const char* pattern : {"packed", "triangle", "units22", "units46", "printed22", "printed46"}) {
    const std::vector<std::byte> values = test::golden_values(type, pattern, count, 0);
    const Text frame = encoded(*codec, {{values.data(), count, type}});
    seeds.add("decode_frame",
              bytes_of(std::uint8_t{all_repairs | as_posted}, std::uint8_t{0}, std::uint8_t{0}, 0u) + frame);
  }
}

// Adds the format that fuzz/round_trip.cpp reads.
void add_values(const test::Subject& subject, Seeds& seeds) {
  const std::size_t step = counts_for(subject).size() / 2;
  for (std::size_t making = 0; making < 8; making += step) {
    const auto flags = static_cast<std::uint8_t>(making | (subject.options.checksum ? 8 : 0));
    const test::Values values = data(subject.type, 200, seeds.written());
    seeds.add("round_trip",
              bytes_of(subject.info->frame_id, static_cast<std::uint8_t>(subject.type),
                       static_cast<std::uint8_t>(subject.options.bound.kind), std::uint8_t{0},
                       static_cast<std::int16_t>(-10), std::uint8_t{0}, flags,
                       static_cast<std::uint16_t>(making * 20), static_cast<std::uint8_t>(making),
                       std::uint8_t{10}, static_cast<std::uint8_t>(making % 3)) +
                  text_of(values.slice().as_bytes()));
  }
}

void add_policies(Seeds& seeds) {
  for (const char* text : {"",
                           "off",
                           "lossless",
                           "abs:1e-4",
                           "rel:1e-3",
                           "psnr:60",
                           "snap:0.5",
                           "pwrel:1e-2",
                           "rate:8",
                           "abs:1e-3,on=input,codec=planes,algorithm=ring,reduction=frames",
                           "abs:0.5, segments=4, min_bytes=64KiB, checksum=on, predictor=pairs",
                           "lossless,codec=raw,segments=64,same_bits=on",
                           "abs:1e-400",
                           "abs:1e308,codec=planes",
                           "rel:1e-3,fill=1e20,dims=5x8",
                           "abs:1,codec=szx",
                           "rate:12,codec=zfp",
                           "block:6,min_bytes=0",
                           "abs:1,min_bytes=4611686018427387904GiB",
                           "abs:1,segments=-1",
                           "abs:nan",
                           "abs:inf",
                           ",",
                           "abs:1,,",
                           "lossless,codec=mpc,predictor=delta,checksum=on"})
    seeds.add("parse_policy", text);
  for (const CodecInfo* info : registered_codecs())
    for (const char* predictor : test::predictors_of(*info, {}))
      for (const char* bound : {"lossless", "abs:0.01"})
        seeds.add("parse_policy", std::string(bound) + ",codec=" + info->name + ",predictor=" + predictor);
}

void add_rules(Seeds& seeds) {
  for (const char* text :
       {"Allreduce f32 sum >=1MiB : abs=1e-4 on=result ; Bcast,Allgather >=4MiB : lossless ; * : off",
        "* min,max <2GiB comm=name:halo comm=size:>=8 scope=inter callsite=solve+0x1f3 : rel=1e-3 codec=szx",
        "Reduce_scatter f64,bf16 >4KiB comm=world scope=intra : abs:1,algorithm=ring,segments=4",
        "[[rule]]\ncall = [\"Allreduce\", 'Bcast']  # two\ndtype = \"f64\"\nmin_bytes = 4096\nbound = "
        "\"abs:1e-6\"\nchecksum = true\n\n[[rule]]\nbound = \"off\"\n"})
    seeds.add("parse_rules", std::string(text));
}

// Adds the formats that fuzz/read_file.cpp and fuzz/read_texts.cpp read.
void add_files(Seeds& seeds) {
  for (const char* header : {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n",
                             "{'descr': '<c16', 'fortran_order': True, 'shape': (4,), }\n"}) {
    const Text text = header;
    seeds.add("read_file",
              bytes_of(std::uint8_t{2}) + "\x93NUMPY" +
                  bytes_of(std::uint8_t{1}, std::uint8_t{0}, static_cast<std::uint16_t>(text.size())) + text +
                  Text(64, '\1'));
  }
  for (const char* json : {"{\"a\": [1, -2.5e3, \"x\\u00e9\\n\", null, true], \"b\": {}}", "[[[[]]]]", "0"})
    seeds.add("read_texts", bytes_of(std::uint8_t{0}) + json);
  seeds.add("read_texts",
            bytes_of(std::uint8_t{1}) +
                "{\"taut\":\"0.2.0\",\"rank\":0,\"ranks\":2,\"seconds\":1,\"communicators\":[]}");
  for (const char* variable :
       {"=0", "_THREADS=3", "_RULES=* : lossless", "_SUMMARY=1", "_RULE=x", "_THREADS=65"})
    seeds.add("read_texts", bytes_of(std::uint8_t{2}) + variable);
}

int make(const char* folder) {
  Seeds seeds(folder);
  for (const bool checksum : {false, true}) {
    for (const CodecInfo* info : registered_codecs()) {
      for (const test::Subject& subject : test::subjects_of(*info, checksum)) {
        add_frames(subject, seeds);
        add_values(subject, seeds);
      }
    }
  }
  add_frames_of_planes_behind(seeds);
  for (const DType type : {DType::f32, DType::f64, DType::c64}) add_grids(type, seeds);
  add_policies(seeds);
  add_rules(seeds);
  add_files(seeds);
  std::printf("%zu inputs in %s\n", seeds.written(), folder);
  return 0;
}

}  // namespace
}  // namespace taut::fuzz

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: make_seeds FOLDER\n"), 2;
  try {
    return taut::fuzz::make(argv[1]);
  } catch (const std::exception& error) {
    return std::fprintf(stderr, "make_seeds: %s\n", error.what()), 1;
  }
}
