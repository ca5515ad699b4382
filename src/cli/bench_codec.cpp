// taut bench-codec: ratio, error and speed of each codec on given arrays.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <functional>
#include <vector>

#include "cli/command.hpp"
#include "cli/input.hpp"
#include "cli/quality.hpp"
#include "compressor/base/json.hpp"
#include "compressor/file/coding.hpp"

namespace taut::cli {
namespace {

constexpr double shortest_sample_s = 100e-6;  // some hundred times the cost of reading the clock
constexpr std::size_t least_samples = 5, most_samples = 101;

double now() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

double seconds_of(const std::function<void()>& call, int times) {
  const double start = now();
  for (int i = 0; i < times; ++i) call();
  return (now() - start) / times;
}

// Returns the median seconds of each call. The calls run in turn, because the speed of memory changes from
// minute to minute on a shared machine. The clock is this thread's CPU time, which excludes other processes.
std::vector<double> median_seconds(const std::vector<std::function<void()>>& calls, double seconds_for_all) {
  std::vector<int> times;
  for (const auto& call : calls) {
    call();  // touches all pages
    times.push_back(std::max(1, static_cast<int>(shortest_sample_s / std::max(seconds_of(call, 1), 1e-8))));
  }
  std::vector<std::vector<double>> samples(calls.size());
  const double start = now();
  for (std::size_t n = 0; n < least_samples || (n < most_samples && now() - start < seconds_for_all); ++n)
    for (std::size_t i = 0; i < calls.size(); ++i) samples[i].push_back(seconds_of(calls[i], times[i]));

  std::vector<double> medians;
  for (auto& of_call : samples) {
    const auto middle = of_call.begin() + static_cast<std::ptrdiff_t>(of_call.size() / 2);
    std::ranges::nth_element(of_call, middle);
    medians.push_back(*middle);
  }
  return medians;
}

constexpr Option options[] = {
    {"bound", 'b', "BOUND",
     "as in taut compress, but without codec=; may be repeated: one table each;\ndefault: rel:1e-3"},
    {"codec", 0, "A,B", "codecs to measure; default: all that serve the bound, and auto"},
    dtype_option,
    shape_option,
    {"seconds", 0, "S", "to spend on each line; default: 0.5"},
    {"json", 0, "", "print the table as JSON"},
};

constexpr const char* details =
    "IN is as for taut compress. Of each, its middle part of at most 2^22 values is coded as one frame; rel "
    "and\n"
    "psnr refer to that part. Without IN: waves with noise, made here. GB/s are of values, one thread, "
    "medians;\n"
    "beside them the share of memcpy of as many bytes, which takes turns with the codec.\n\n";

struct Row {
  std::string subject, codec, frame_codec;
  double ratio, encode, decode, copy;  // GB/s
  double max_error, psnr;
};

Row measure(const Subject& subject, const ArrayCoding& coding, const std::string& codec, double seconds) {
  const ConstSlice values = subject.slice();
  const ValueRange range = coding.range(values);
  const std::string text = coding.frame_text(subject.type, range) + ",codec=" + codec;
  const Room frame(most_frame_bytes(subject.type, values.count)), decoded(values.bytes()),
      copied(values.bytes());
  std::size_t bytes = 0;
  const auto encoding = [&] {
    bytes = encode(subject.piece, values.as_bytes(), subject.type, text, frame.all());
  };
  const auto decoding = [&] {
    if (!decode(frame.first(bytes), values.count, subject.type, decoded.all()))
      fail(subject.name + ": codec " + codec + " cannot decode its own frame; please report it");
  };
  const auto copying = [&] { std::memcpy(copied.all().data(), values.data, values.bytes()); };
  const std::vector<double> medians = median_seconds({copying, encoding, decoding}, seconds);

  Quality quality(coding.bound(subject.type, range), coding.fill());
  quality.compare(values, {{decoded.all().data(), values.count, subject.type}});
  if (quality.beyond() > 0)
    throw Failure(Exit::bound_broken,
                  subject.name + ": codec " + codec + " went beyond the bound; please report it");
  const double total = static_cast<double>(values.bytes());
  FrameFacts facts;
  const bool known = read_facts(frame.first(bytes), facts);
  return {subject.name,
          codec,
          known ? facts.codec : "",
          total / static_cast<double>(bytes),
          total / medians[1] * 1e-9,
          total / medians[2] * 1e-9,
          total / medians[0] * 1e-9,
          quality.max_error(),
          quality.psnr()};
}

// Returns the codecs named by --codec; empty if the option is not given.
std::vector<std::string> named_codecs(const Arguments& arguments) {
  const auto list = arguments.value("codec");
  if (!list) return {};
  std::vector<std::string> names = split(*list, ',');
  for (const std::string& name : names)
    if (name != "auto" && find_codec(name.c_str()) == nullptr)
      reject("--codec: '" + name + "' is no codec of this build");
  return names;
}

// Returns true if the codec supports this value of the bound: not every codec has all rates.
bool supports(const CodecInfo& codec, Bound bound) {
  try {
    return codec.make({.bound = bound}) != nullptr;
  } catch (const Error&) {
    return false;
  }
}

// Returns all codecs that serve the subject, and the choice of `auto`.
std::vector<std::string> codecs_that_serve(const Subject& subject, const ArrayCoding& coding) {
  const Bound bound = coding.bound(subject.type, coding.range(subject.slice()));
  std::vector<std::string> names;
  for (const CodecInfo* codec : registered_codecs())
    if (codec->serves(subject.type, bound.kind) && supports(*codec, bound)) names.emplace_back(codec->name);
  names.emplace_back("auto");
  return names;
}

void print(const Row& row) {
  const std::string codec = row.codec == "auto" ? "auto: " + row.frame_codec : row.codec;
  std::printf("%-24s %-13s %8.2f  %8.2f %5.0f %%  %8.2f %5.0f %%  %10.3g  %7s\n", row.subject.c_str(),
              codec.c_str(), row.ratio, row.encode, 100 * row.encode / row.copy, row.decode,
              100 * row.decode / row.copy, row.max_error, rounded(row.psnr, 4).c_str());
}

std::string json_of(const Row& row) {
  json::Object object;
  object.add("input", row.subject).add("codec", row.codec).add("frame_codec", row.frame_codec);
  object.add("ratio", row.ratio).add("encode_gb_s", row.encode).add("decode_gb_s", row.decode);
  object.add("memcpy_gb_s", row.copy).add("max_error", row.max_error).add("psnr_db", row.psnr);
  return object.text();
}

// Prints the table of one bound.
void measure_under(const ArrayCoding& coding, const Arguments& arguments) {
  const auto given = arguments.value("seconds");
  const double seconds = given ? positive_number("seconds", *given) : 0.5;
  const bool as_json = arguments.has("json");
  const std::vector<std::string> codecs = named_codecs(arguments);
  std::vector<std::string> names = arguments.names();
  if (names.empty()) names.emplace_back();
  if (!as_json)
    std::printf("%-24s %-13s %8s  %16s  %16s  %10s  %7s\n", coding.text().c_str(), "codec", "ratio",
                "encode GB/s   ", "decode GB/s   ", "max error", "PSNR dB");
  std::vector<Row> rows;
  for (const std::string& name : names) {
    const Subject subject = name.empty() ? built_in_subject() : subject_of(name, arguments);
    check_coded(subject.type);
    for (const std::string& codec : codecs.empty() ? codecs_that_serve(subject, coding) : codecs) {
      rows.push_back(measure(subject, coding, codec, seconds));
      if (!as_json) print(rows.back());
    }
  }
  if (as_json) {
    json::Object all;
    all.add("bound", coding.text()).add_text("lines", json::list(rows, json_of));
    std::puts(all.text().c_str());
  }
}

Exit run(const Arguments& arguments) {
  const std::vector<std::string> usual{"rel:1e-3"};
  const auto given = arguments.values("bound");
  std::vector<ArrayCoding> codings;
  for (const std::string& bound : given.empty() ? std::span(usual) : given) {
    if (codings.emplace_back("bound", bound).names_codec())
      reject("--bound: takes no codec= here; name codecs with --codec");
  }
  for (const ArrayCoding& coding : codings) measure_under(coding, arguments);
  return Exit::ok;
}

}  // namespace

extern constinit const Command bench_codec_command{"bench-codec",
                                                   "ratio and speed of each codec beside memcpy",
                                                   "[IN...] [--bound BOUND]... [--codec A,B]",
                                                   details,
                                                   options,
                                                   run};

}  // namespace taut::cli
