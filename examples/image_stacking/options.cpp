#include "options.hpp"

#include <functional>
#include <map>
#include <sstream>
#include <stdexcept>

namespace stacking {
namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  if (parts.empty()) throw std::invalid_argument("'" + text + "' is an empty list");
  return parts;
}

double positive_number(const std::string& text) {
  std::size_t end = 0;
  double value = 0;
  try {
    value = std::stod(text, &end);
  } catch (const std::exception&) {
    end = 0;
  }
  if (end == 0 || end != text.size() || !(value > 0))
    throw std::invalid_argument("'" + text + "' is no positive number");
  return value;
}

std::size_t positive_count(const std::string& text) {
  const double value = positive_number(text);
  const auto count = static_cast<std::size_t>(value);
  if (value > 1e12 || static_cast<double>(count) != value)
    throw std::invalid_argument("'" + text + "' is no count");
  return count;
}

int positive_int(const std::string& text) {
  const std::size_t count = positive_count(text);
  if (count > 1'000'000) throw std::invalid_argument("'" + text + "' is too large");
  return static_cast<int>(count);
}

std::vector<std::size_t> extents(const std::string& text) {
  std::vector<std::size_t> result;
  for (const std::string& part : split(text, 'x')) result.push_back(positive_count(part));
  return result;
}

void set_grid(Options& options, const std::string& text) {
  const std::vector<std::size_t> grid = extents(text);
  if (grid.size() != 2 || grid[0] < 51 || grid[1] < 51 || grid[0] > 10000 || grid[1] > 10000)
    throw std::invalid_argument("--grid wants NXxNZ, each from 51 to 10000");
  options.nx = static_cast<int>(grid[0]);
  options.nz = static_cast<int>(grid[1]);
}

using Setter = std::function<void(Options&, const std::string&)>;
const std::map<std::string, Setter>& setters() {
  static const std::map<std::string, Setter> table{
      {"--grid", set_grid},
      {"--offsets", [](Options& o, const std::string& v) { o.offsets = positive_int(v); }},
      {"--shots", [](Options& o, const std::string& v) { o.shots = positive_int(v); }},
      {"--input", [](Options& o, const std::string& v) { o.input = split(v, ','); }},
      {"--dtype", [](Options& o, const std::string& v) { o.dtype = v; }},
      {"--shape", [](Options& o, const std::string& v) { o.shape = extents(v); }},
      {"--bounds",
       [](Options& o, const std::string& v) {
         o.bounds.clear();
         for (const std::string& part : split(v, ',')) o.bounds.push_back(positive_number(part));
       }},
      {"--policies", [](Options& o, const std::string& v) { o.policies = split(v, ';'); }},
      {"--repeats", [](Options& o, const std::string& v) { o.repeats = positive_int(v); }},
      {"--out", [](Options& o, const std::string& v) { o.out = v; }},
      {"--link", [](Options& o, const std::string& v) { o.link = v; }},
      {"--mbit", [](Options& o, const std::string& v) { o.mbit = positive_number(v); }},
  };
  return table;
}

std::string type_by_name(const std::string& file) {
  const std::size_t dot = file.rfind('.');
  return dot == std::string::npos ? "" : file.substr(dot + 1);
}

}  // namespace

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--help" || name == "-h") {
      options.help = true;
    } else if (name == "--progress") {
      options.progress = true;
    } else if (const auto setter = setters().find(name); setter == setters().end()) {
      throw std::invalid_argument("unknown option '" + name + "'");
    } else if (i + 1 == argc) {
      throw std::invalid_argument(name + " wants a value");
    } else {
      setter->second(options, argv[++i]);
    }
  }
  if (options.offsets >= options.nx / 2)
    throw std::invalid_argument("--offsets must be below half the grid's width");
  if (!options.input.empty() && options.dtype.empty()) options.dtype = type_by_name(options.input.front());
  if (!options.input.empty() && options.dtype != "f32" && options.dtype != "f64")
    throw std::invalid_argument("--dtype must be f32 or f64");
  return options;
}

const char* usage() {
  return R"(image_stacking: the images of all ranks are stacked by an allreduce: plain MPI against Taut.

By default each rank migrates its shots of a synthetic seismic survey:
  --grid NXxNZ          points of the section               (401x161)
  --offsets N           subsurface offsets each way         (32: 65 images)
  --shots N             of all ranks together               (24)
or it takes its share of your own fields (raw, little-endian):
  --input FILE[,FILE..] fields of the same size
  --dtype f32|f64       (as the file's name ends)
  --shape AxBxC         extents, slowest first              (one dimension)
The comparison:
  --bounds E[,E..]      relative to the range of the result (1e-2,1e-3,1e-4)
  --policies P[;P..]    further variants, as rate:8,codec=zfp,when=always; their results are not checked
  --repeats N           timed calls of each variant         (7)
  --out DIR             report.json and raw images          (demo-out)
  --link TEXT           what joins the ranks; a label       (as it is)
  --mbit N              rate of emulated links, to tell what an ideal ring would take
  --progress            show the shots done
)";
}

}  // namespace stacking
