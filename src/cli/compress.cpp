// taut compress: writes an array file to a .taut file, frame by frame.
#include <cmath>
#include <cstdio>
#include <optional>

#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "cli/earlier_files.hpp"
#include "cli/input.hpp"
#include "cli/progress.hpp"
#include "cli/quality.hpp"
#include "compressor/base/json.hpp"
#include "compressor/file/bound_check.hpp"
#include "compressor/file/coding.hpp"
#include "compressor/file/file_format.hpp"

namespace taut::cli {
namespace {

constexpr Option options[] = {
    {"output", 'o', "OUT", "file to write, or a folder for all IN; default: IN.taut; -: standard output"},
    {"bound", 'b', "BOUND",
     "what may be lost: lossless (default), abs:E, rel:R, psnr:D, pwrel:R,\n"
     "snap:E, rate:B or block:B; options of the coding behind commas: rel:1e-3,codec=planes"},
    dtype_option,
    shape_option,
    {"reference", 0, "OLD",
     "earlier file with as many values, .npy, .taut or raw; IN is coded as what has\n"
     "changed since. decompress needs the same OLD. Also twice, the newest first"},
    {"series", 0, "[=K]",
     "each IN is coded as what has changed since the one before, except for each K-th\n"
     "(default 16), which stands alone. Keeps the values of two files in memory"},
    {"force", 'f', "", "replace OUT if there is one"},
    {"no-verify", 0, "", "do not decode each frame to check it"},
    {"quiet", 'q', "", "print nothing but errors, and no warnings"},
    {"json", 0, "", "print the summary as JSON"},
};

constexpr const char* details =
    "IN is a .npy file, or holds raw little-endian values; -: standard input. rel and psnr refer to the\n"
    "range of the whole file. Integers are coded without loss under every bound.\n"
    "Example: taut compress wave.f32 --shape 120x225x225 --bound rel:1e-3\n\n";

struct Summary {
  std::uint64_t frames = 0, file_bytes = 0;
  std::uint64_t referring = 0;  // number of frames that refer to earlier files
  std::string frame_text;
  Bound bound;
  std::map<std::string, std::uint64_t> codecs;  // number of frames, by codec
  double encode_seconds = 0, decode_seconds = 0;
};

class Compression {
 public:
  // `series`: null if the file stands alone.
  Compression(const Arguments& arguments, const ArrayCoding& coding, const FileNames& names,
              FileSeries* series)
      : arguments_(arguments),
        coding_(coding),
        series_(series),
        output_name_(names.output),
        file_(names.input),
        input_(read_input(file_, arguments)),
        earlier_(arguments, input_.array, file_.path(), series),
        pieces_(pieces_of(input_.array.shape)),
        bound_check_(coding, type()) {
    check_coded(type());
    std::size_t most_values = 0;
    for (const Piece& piece : pieces_) most_values = std::max(most_values, piece.count());
    values_ = Room(most_values * size_of(type()));
    if (verified() || series_ != nullptr) decoded_ = Room(most_values * size_of(type()));
    frame_ = Room(most_frame_bytes(type(), most_values));
  }

  Exit run() {
    OutputFile output(output_name_, arguments_.has("force"));
    const ValueRange range = coding_.needs_range(type()) ? find_range() : ValueRange{};
    summary_.frame_text = coding_.frame_text(type(), range);
    summary_.bound = coding_.bound(type(), range);
    Quality quality(summary_.bound, coding_.fill());
    write(output, quality);
    check_psnr(quality);
    output.commit();
    if (series_ != nullptr) series_->end(input_.array, output.path());
    if (!arguments_.has("quiet")) warn(range);
    if (arguments_.has("json"))
      print_json(output, quality);
    else if (!arguments_.has("quiet"))
      print(output, quality);
    return Exit::ok;
  }

 private:
  DType type() const noexcept { return input_.array.type; }
  bool quiet() const { return arguments_.has("quiet") || arguments_.has("json"); }
  bool verified() const { return !arguments_.has("no-verify"); }
  double ratio() const noexcept {
    return static_cast<double>(file_.size()) / static_cast<double>(summary_.file_bytes);
  }
  double rate(double seconds) const noexcept {
    return static_cast<double>(input_.array.bytes()) / seconds * 1e-9;
  }

  ConstSlice read(const Piece& piece) {
    const Bytes bytes = values_.first(piece.count() * size_of(type()));
    file_.read(input_.values_at + piece.first * size_of(type()), bytes);
    return {{bytes.data(), piece.count(), type()}};
  }

  ValueRange find_range() {
    Progress progress("range of the values", input_.array.bytes(), quiet());
    ValueRange range;
    for (const Piece& piece : pieces_) {
      const ConstSlice values = read(piece);
      range.merge(range_of(values, coding_.fill(), coding_.bits()));
      bound_check_.sample(values);
      progress.advance(values.bytes());
    }
    return range;
  }

  void write(OutputFile& output, Quality& quality) {
    FrameWriter writer(output, input_.array, coding_.text(), earlier_.size());
    if (series_ != nullptr) series_->begin(input_.array);
    Progress progress("compressing", input_.array.bytes(), quiet());
    for (const Piece& piece : pieces_) {
      const ConstSlice values = read(piece);
      if (!coding_.needs_range(type())) bound_check_.sample(values);
      const EarlierValues earlier = earlier_.next(values.count);
      const ConstBytes frame = encode_timed(piece, values, earlier);
      if (verified() || series_ != nullptr) {  // before it is written, perhaps to a pipe
        const ConstSlice decoded = decode_timed(frame, values, earlier);
        if (verified()) verify(values, decoded, quality);
        if (series_ != nullptr) series_->add(decoded.as_bytes());
      }
      writer.add(frame, values.count);
      progress.advance(values.bytes());
    }
    writer.finish();
    summary_.frames = writer.frames();
    summary_.file_bytes = output.written();
  }

  // Warns if the bound is so large that it removes most of the information. `range`: result of find_range().
  void warn(const ValueRange& range) {
    if (bound_check_.needs_all(range))
      for (const Piece& piece : pieces_) bound_check_.count(read(piece));
    if (const std::string text = bound_check_.warning(); !text.empty())
      std::fprintf(stderr, "taut compress: warning: %s: %s\n", file_.path().c_str(), text.c_str());
  }

  ConstBytes encode_timed(const Piece& piece, const ConstSlice& values, EarlierValues earlier) {
    const auto start = Clock::now();
    const std::size_t bytes =
        encode(piece, values.as_bytes(), type(), summary_.frame_text, frame_.all(), earlier);
    summary_.encode_seconds += seconds_since(start);
    FrameFacts facts;
    if (read_facts(frame_.first(bytes), facts)) {
      ++summary_.codecs[facts.codec];
      summary_.referring += facts.states.empty() ? 0 : 1;
    }
    return frame_.first(bytes);
  }

  ConstSlice decode_timed(ConstBytes frame, const ConstSlice& values, EarlierValues earlier) {
    const Bytes bytes = decoded_.first(values.bytes());
    const auto start = Clock::now();
    if (!decode(frame, values.count, type(), bytes, earlier)) fail_check("a frame cannot be decoded");
    summary_.decode_seconds += seconds_since(start);
    return {{bytes.data(), values.count, type()}};
  }

  void verify(const ConstSlice& values, const ConstSlice& decoded, Quality& quality) const {
    quality.compare(values, decoded);
    if (quality.beyond() > 0)
      fail_check(std::to_string(quality.beyond()) + " of " + std::to_string(values.count) +
                 " values of a frame came back beyond the bound");
  }

  [[noreturn]] void fail_check(const std::string& how) const {
    throw Failure(
        Exit::bound_broken,
        file_.path() + " under '" + summary_.frame_text + "': " + how +
            "; no file was written. This is a defect of the codec: please report it, and use codec=raw");
  }

  // Checks the PSNR that a psnr bound promises. Other bounds promise none.
  void check_psnr(const Quality& quality) const {
    const auto wanted = coding_.wanted_psnr();
    if (verified() && wanted && quality.psnr() < *wanted)
      fail_check("the PSNR is " + shortest(quality.psnr()) + " dB");
  }

  void print(const OutputFile& output, const Quality& quality) const {
    std::FILE* const to = summary_stream(output);
    std::fprintf(to, "%s -> %s\n", file_.path().c_str(), output.path().c_str());
    std::fprintf(to, "  values     %s %s, %llu bytes\n", text_of(input_.array.shape).c_str(), name_of(type()),
                 static_cast<unsigned long long>(file_.size()));
    std::string codecs;
    for (const auto& [codec, frames] : summary_.codecs)
      codecs += (codecs.empty() ? "" : ", ") + codec + " x " + std::to_string(frames);
    std::fprintf(to, "  coded      %s", coding_.text().c_str());
    if (summary_.bound != coding_.coding().bound) std::fprintf(to, " = %s", text_of(summary_.bound).c_str());
    std::fprintf(to, "; frames: %s\n", codecs.empty() ? "none" : codecs.c_str());
    if (earlier_.size() > 0)
      std::fprintf(to, "  refers     %llu of %llu frames to %s\n",
                   static_cast<unsigned long long>(summary_.referring),
                   static_cast<unsigned long long>(summary_.frames), earlier_.names().c_str());
    std::fprintf(to, "  ratio      %.2f, %llu bytes\n", ratio(),
                 static_cast<unsigned long long>(summary_.file_bytes));
    if (verified()) {
      std::fprintf(to, "  max error  %s", rounded(quality.max_error(), 4).c_str());
      if (quality.rmse() > 0 && quality.range_width() > 0)
        std::fprintf(to, ", NRMSE %s, PSNR %s dB", rounded(quality.nrmse(), 3).c_str(),
                     rounded(quality.psnr(), 4).c_str());
      std::fprintf(to, "; decoded and checked\n");
      std::fprintf(to, "  speed      encode %s GB/s, decode %s GB/s\n",
                   rounded(rate(summary_.encode_seconds), 3).c_str(),
                   rounded(rate(summary_.decode_seconds), 3).c_str());
    } else {
      std::fprintf(to, "  speed      encode %s GB/s; not checked\n",
                   rounded(rate(summary_.encode_seconds), 3).c_str());
    }
  }

  void print_json(const OutputFile& output, const Quality& quality) const {
    json::Object codecs, all;
    for (const auto& [codec, frames] : summary_.codecs) codecs.add(codec, frames);
    all.add("input", file_.path()).add("output", output.path()).add("dtype", name_of(type()));
    all.add_text("shape", json::list(input_.array.shape, [](auto extent) { return json::text(extent); }));
    all.add("bound", coding_.text()).add("frame_bound", text_of(summary_.bound));
    all.add("frames", summary_.frames).add_text("codecs", codecs.text());
    if (earlier_.size() > 0) all.add("referring_frames", summary_.referring);
    all.add("input_bytes", file_.size()).add("output_bytes", summary_.file_bytes).add("ratio", ratio());
    all.add("encode_gb_s", rate(summary_.encode_seconds)).add("verified", verified());
    if (verified()) {
      all.add("decode_gb_s", rate(summary_.decode_seconds)).add("range", quality.range_width());
      all.add("max_error", quality.max_error()).add("rmse", quality.rmse());
      all.add("nrmse", quality.nrmse()).add("psnr_db", quality.psnr());
    }
    std::fprintf(summary_stream(output), "%s\n", all.text().c_str());
  }

  const Arguments& arguments_;
  const ArrayCoding& coding_;
  FileSeries* series_;
  std::string output_name_;
  InputFile file_;
  StoredArray input_;
  EarlierFiles earlier_;
  std::vector<Piece> pieces_;
  BoundCheck bound_check_;
  Room values_, decoded_, frame_;
  Summary summary_;
};

// Returns the series that --series asks for.
std::optional<FileSeries> series_of(const Arguments& arguments) {
  constexpr std::size_t usual_distance = 16;
  const auto text = arguments.value("series");
  if (!text) return {};
  const double distance = text->empty() ? usual_distance : positive_number("series", *text);
  if (distance != std::floor(distance) || distance > 1e9)
    reject("--series: '" + *text + "' is no number of files; use a whole one, as in --series=16");
  return FileSeries(static_cast<std::size_t>(distance));
}

Exit run(const Arguments& arguments) {
  check_one_refers(arguments);
  std::optional<FileSeries> series = series_of(arguments);
  const ArrayCoding coding("bound", arguments.value("bound").value_or("lossless"));
  const auto names = file_names(arguments, [](const std::string& input) { return input + ".taut"; });
  return each_reported("compress", names, [&](const FileNames& one) {
    return Compression(arguments, coding, one, series ? &*series : nullptr).run();
  });
}

}  // namespace

extern constinit const Command compress_command{
    "compress",
    "code an array within an error bound",
    "IN... [-o OUT] [--bound BOUND] [--dtype TYPE --shape AxBxC] [--reference OLD | --series[=K]]",
    details,
    options,
    run};

}  // namespace taut::cli
