#include "options.hpp"

#include <stdexcept>

#include "../comparison/options.hpp"

namespace fft {
namespace {

using bench::split;
using comparison::count;

template <std::size_t n>
std::array<int, n> counts(const std::string& text, int least) {
  const std::vector<std::string> parts = split(text, 'x');
  if (parts.size() != n)
    throw std::invalid_argument("'" + text + "' does not have " + std::to_string(n) + " extents");
  std::array<int, n> result{};
  for (std::size_t i = 0; i < n; ++i) result[i] = count(parts[i], least);
  return result;
}

const comparison::Setters<Options>& setters() {
  static const comparison::Setters<Options> table{
      {"--shape", [](Options& o, const std::string& v) { o.shape = counts<3>(v, 4); }},
      {"--ranks", [](Options& o, const std::string& v) { o.ranks = counts<2>(v, 0); }},
      {"--data", [](Options& o, const std::string& v) { o.data = v; }},
      {"--variants", [](Options& o, const std::string& v) { o.variants = split(v, ';'); }},
      {"--repeats", [](Options& o, const std::string& v) { o.repeats = count(v, 1); }},
      {"--out", [](Options& o, const std::string& v) { o.out = v; }},
      {"--link", [](Options& o, const std::string& v) { o.link = v; }},
  };
  return table;
}

}  // namespace

Options parse(int argc, char** argv) {
  Options options;
  options.variants = split(
      "lossless;abs:1e-2,when=always;abs:1e-4,when=always;abs:1e-4;abs:1e-6,when=always;abs:1e-8,when=always",
      ';');
  comparison::set_options(options, setters(), argc, argv);
  return options;
}

const char* usage() {
  return "fft [options]: Fourier transform of a real array in pencils; the transpositions go by "
         "MPI_Alltoallw and\n"
         "by TAUT_Alltoallw, in turn.\n"
         "  --shape 128x128x128  extents of the array, slowest first\n"
         "  --ranks 2x2          grid of the ranks; 0: MPI chooses; 4x1 and 1x4 need one transposition only\n"
         "  --data turbulence    or noise, a file of raw values (NAME.f32, NAME.f64), or tight: the values "
         "with the\n"
         "                       greatest error under the first variant, abs:E\n"
         "  --variants 'lossless;abs:1e-4;abs:1e-6,when=always'\n"
         "                       policies; bounds of abs are in units of the root mean square of the field\n"
         "  --repeats 7\n"
         "  --out fft-out        folder of report.json\n"
         "  --link TEXT          name of the network, for the report\n";
}

}  // namespace fft
