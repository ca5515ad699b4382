// taut doctor: checks that everything Taut needs is there, and prints what it found.
#define TAUT_NO_MPI
#include <taut/taut.h>

#include <dlfcn.h>
#include <sched.h>

#include <cstdio>
#include <filesystem>
#include <vector>

#include "cli/command.hpp"
#include "cli/environment.hpp"
#include "cli/launcher.hpp"
#include "codecs/planes/kernels/kernels.hpp"
#include "policy/plan/rules.hpp"
#include "policy/text/options.hpp"

namespace taut::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* details =
    "One line for each thing that matters, with a ! before what has to be fixed. The MPI is the one whose "
    "mpiexec is in\n"
    "PATH, or the one that --mpiexec names. The exit code is 1 where something has to be fixed.\n\n";

constexpr Option options[] = {{"mpiexec", 0, "FILE", "the launcher to look at (default: mpiexec in PATH)"}};

class Page {
 public:
  void line(const char* what, const std::string& text) { std::printf("  %-12s %s\n", what, text.c_str()); }
  void fault(const char* what, const std::string& text) {
    std::printf("! %-12s %s\n", what, text.c_str());
    ++faults_;
  }
  int faults() const noexcept { return faults_; }

 private:
  int faults_ = 0;
};

// ---- This program

int usable_cores() noexcept {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

void examine_processor(Page& page) {
  const std::string& wanted = taut::options().kernels;
  const planes::KernelSet* const kernels = choose_kernels(planes::kernel_sets(), wanted.c_str());
  if (kernels == nullptr)
    page.fault("processor", "no kernel set '" + wanted + "' here; unset TAUT_KERNELS");
  else
    page.line("processor", "kernels " + std::string(kernels->name) + ", " + std::to_string(usable_cores()) +
                               " cores for this process, " + std::to_string(taut::options().threads) +
                               " threads a frame");
  std::string names;
  for (const CodecInfo* codec : registered_codecs()) names += std::string(codec->name) + " ";
  for (const AbsentCodec& codec : absent_codecs()) names += std::string("(without ") + codec.name + ") ";
  page.line("codecs", names);
}

// ---- MPI

struct Mpi {
  std::string file, version, flavour;
};

// Opens an MPI library. Its symbols tell its kind, as in the drop-in's loader.
std::optional<Mpi> open_mpi(const std::string& file) {
  void* const library = dlopen(file.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) return std::nullopt;
  Mpi mpi{file, "no version", dlsym(library, "ompi_mpi_comm_self") != nullptr ? "openmpi" : "mpich"};
  int (*version)(char*, int*) = nullptr;
  *reinterpret_cast<void**>(&version) = dlsym(library, "MPI_Get_library_version");
  std::vector<char> text(16384);  // more than any MPI's MPI_MAX_LIBRARY_VERSION_STRING
  int length = 0;
  if (version != nullptr && version(text.data(), &length) == 0) {
    mpi.version = text.data();
    for (char& c : mpi.version)
      if (c == '\n' || c == '\t') c = ' ';
    mpi.version.resize(std::min<std::size_t>(mpi.version.size(), 70));
  }
  return mpi;
}

// Finds the MPI library: the one installed with the launcher, else the one that the dynamic loader finds.
std::optional<Mpi> find_mpi(const std::optional<std::string>& launcher, bool openmpi) {
  constexpr const char* names[] = {"libmpi.so.12", "libmpi.so.40", "libmpich.so.12", "libmpi.so"};
  std::vector<fs::path> folders;
  if (launcher) {
    std::error_code error;
    const fs::path found = *launcher, real = fs::canonical(found, error);
    for (const fs::path& program : {found, real})
      for (const char* lib : {"lib", "lib64", "lib/x86_64-linux-gnu", "lib/aarch64-linux-gnu"})
        folders.push_back(program.parent_path().parent_path() / lib);
  }
  for (const fs::path& folder : folders)
    for (const char* name : names)
      if (std::error_code error; fs::exists(folder / name, error))
        if (auto mpi = open_mpi((folder / name).string()); mpi && (mpi->flavour == "openmpi") == openmpi)
          return mpi;
  for (const char* name : names)
    if (auto mpi = open_mpi(name)) return mpi;
  return std::nullopt;
}

std::optional<Mpi> examine_mpi(Page& page, const std::optional<std::string>& asked) {
  const auto launcher = find_program(asked.value_or("mpiexec"));
  const Launcher kind =
      launcher ? launcher_of_version(output_of({*launcher, "--version"}).text) : Launcher::none;
  if (!launcher)
    page.fault("launcher", asked.value_or("mpiexec") + " is not in PATH; install an MPI, or load its module");
  else if (kind == Launcher::none)
    page.fault("launcher", *launcher + ": of no kind that is known; taut run hands on its own environment");
  else
    page.line("launcher", *launcher + ": " + name_of(kind));
  const auto mpi = find_mpi(launcher, kind == Launcher::openmpi);
  if (!mpi)
    page.fault("MPI", "no libmpi beside the launcher or on the loader's path; set LD_LIBRARY_PATH");
  else
    page.line("MPI", mpi->file + " (" + mpi->flavour + "): " + mpi->version);
  return mpi;
}

// ---- The drop-in

void examine_preload(Page& page, const std::optional<Mpi>& mpi) {
  const auto library = find_preload();
  if (!library)
    return page.fault("preload",
                      "libtaut_preload.so is not beside this program (../lib/taut); set TAUT_PRELOAD");
  const Output silent = output_of({"true"}, {"LD_PRELOAD=" + *library});
  if (silent.status != 0 || !silent.text.empty())
    return page.fault("preload", *library + " cannot be preloaded: " + silent.text.substr(0, 200));
  page.line("preload", *library);
  std::string layers;
  bool fits = !mpi;
  for (const char* flavour : {"mpich", "openmpi", "mpiabi"}) {
    std::error_code error;
    if (!fs::exists(fs::path(*library).parent_path() / ("libtaut_" + std::string(flavour) + ".so"), error))
      continue;
    layers += std::string(flavour) + " ";
    fits |= mpi && mpi->flavour == flavour;
  }
  fits ? page.line("layers", layers)
       : page.fault("layers",
                    layers + "- none for this MPI (" + (mpi ? mpi->flavour : "") + "); build Taut with it");
}

// ---- The environment

void examine_environment(Page& page) {
  for (const char* const entry : environment()) {
    const std::string_view text = entry;
    if (text.starts_with("TAUT=") || text.starts_with("TAUT_")) page.line("environment", std::string(text));
  }
  for (const std::string& warning : taut::options().warnings) page.fault("environment", warning);
  try {
    const Rules rules = read_rules(taut::options().rules, taut::options().config, taut::options().kernels);
    page.line("rules", rules.empty() ? "none: calls without a policy are plain MPI's"
                                     : std::to_string(rules.all().size()));
  } catch (const Error& error) {
    page.fault("rules", error.what());
  }
  if (!taut::options().enabled) page.line("rules", "TAUT=0: nothing is compressed");
}

Exit run(const Arguments& arguments) {
  if (!arguments.names().empty())
    reject("'" + arguments.names()[0] + "' belongs to no option; doctor takes no names");
  Page page;
  int major = 0, minor = 0, patch = 0;
  TAUT_Get_version(&major, &minor, &patch);
  std::error_code error;
  std::printf("taut %d.%d.%d, %s\n", major, minor, patch, fs::canonical("/proc/self/exe", error).c_str());
  examine_processor(page);
  const std::optional<Mpi> mpi = examine_mpi(page, arguments.value("mpiexec"));
  examine_preload(page, mpi);
  examine_environment(page);
  if (page.faults() == 0)
    std::puts("all is well");
  else
    std::printf("%d to be fixed: see the lines with !\n", page.faults());
  return page.faults() == 0 ? Exit::ok : Exit::failed;
}

}  // namespace

extern constinit const Command doctor_command{
    "doctor", "is everything there that Taut needs?", "[--mpiexec FILE]", details, options, run};

}  // namespace taut::cli
