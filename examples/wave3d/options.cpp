#include "options.hpp"

#include <stdexcept>

#include "../comparison/options.hpp"

namespace wave3d {
namespace {

using bench::split;
using comparison::count;

constexpr const char* default_variants =
    "plain/collective;lossless;lossless/collective;rate:16;rate:8;rate:4;"
    "abs:1e-3;abs:1e-4;abs:5e-5;abs:5e-5/collective;abs:1e-5;rel:1e-4";

Triple triple(const std::string& text, int least) {
  const std::vector<std::string> parts = split(text, 'x');
  if (parts.size() != 3) throw std::invalid_argument("'" + text + "' is not of the form 2x2x1");
  return {count(parts[0], least), count(parts[1], least), count(parts[2], least)};
}

std::string plain_variant(const std::string& way) {
  if (way != "messages" && way != "collective")
    throw std::invalid_argument("--plain is messages or collective, not '" + way + "'");
  return way == "messages" ? "plain" : "plain/collective";
}

const comparison::Setters<Options>& setters() {
  static const comparison::Setters<Options> table{
      {"--cells", [](Options& o, const std::string& v) { o.cells = triple(v, 4); }},
      {"--ranks", [](Options& o, const std::string& v) { o.ranks = triple(v, 0); }},
      {"--steps", [](Options& o, const std::string& v) { o.steps = count(v, 1); }},
      {"--sponge", [](Options& o, const std::string& v) { o.sponge = count(v, 0); }},
      {"--surface", [](Options& o, const std::string& v) { o.free_surface = v != "no"; }},
      {"--variants", [](Options& o, const std::string& v) { o.variants = split(v, ';'); }},
      {"--plain", [](Options& o, const std::string& v) { o.plain = plain_variant(v); }},
      {"--out", [](Options& o, const std::string& v) { o.out = v; }},
      {"--link", [](Options& o, const std::string& v) { o.link = v; }},
  };
  return table;
}

}  // namespace

Options parse(int argc, char** argv) {
  Options options;
  options.variants = split(default_variants, ';');
  comparison::set_options(options, setters(), argc, argv);
  return options;
}

const char* usage() {
  return "wave3d [options]: elastic waves in 3 dimensions; the halos go by plain MPI and by Taut, step by "
         "step.\n"
         "  --cells 64x64x64   cells of each rank\n"
         "  --ranks 1x0x0      ranks along x, y and z; 0: MPI chooses\n"
         "  --steps 1000\n"
         "  --sponge 16        cells of the absorbing sponge; 0: none\n"
         "  --surface no       a sponge in place of the free surface\n"
         "  --variants 'lossless;rate:8;abs:1e-3;abs:1e-3/collective'\n"
         "                     policies, compared with plain MPI; /collective: one neighbourhood "
         "collective\n"
         "  --plain messages   calls of plain MPI; collective: MPI_Ineighbor_alltoallv. With --variants '' "
         "the "
         "program\n"
         "                     makes no other calls, and `taut run` and `taut tune` serve these by rules\n"
         "  --out wave3d-out   folder of report.json, seismograms and slices\n"
         "  --link TEXT        name of the network, for the report\n";
}

}  // namespace wave3d
