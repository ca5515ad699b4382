// taut doctor: checks that everything Taut needs is there, and prints what it found.
#define TAUT_NO_MPI
#include <dlfcn.h>
#include <link.h>
#include <taut/taut.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <vector>

#include "cli/command.hpp"
#include "cli/jobs/environment.hpp"
#include "cli/jobs/installed_mpi.hpp"
#include "communication/policy/plan/rules.hpp"
#include "compressor/base/options.hpp"
#include "compressor/codecs/planes/kernels/kernels.hpp"

namespace taut::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* details =
    "One line for each thing that matters, with a ! before what has to be fixed. The MPI is the one whose "
    "mpiexec is in\n"
    "PATH, or the one that --mpiexec names. Without --mpiexec, other MPIs of the machine are named as well.\n"
    "A PROGRAM is checked for its MPI: that of the launcher, and one that has a layer.\n"
    "The exit code is 1 where something has to be fixed.\n\n";

constexpr Option options[] = {
    {"mpiexec", 0, "FILE", "the launcher to look at, and no other (default: mpiexec in PATH)"}};

// Printed findings. Those that start with ! are faults.
class Findings {
 public:
  void print(const char* what, const std::string& text) { std::printf("  %-12s %s\n", what, text.c_str()); }
  void fault(const char* what, const std::string& text) {
    std::printf("! %-12s %s\n", what, text.c_str());
    ++faults_;
  }
  int faults() const noexcept { return faults_; }

 private:
  int faults_ = 0;
};

// ---- This program

void examine_processor(Findings& findings) {
  const std::string& wanted = taut::options().kernels;
  const planes::KernelSet* const kernels = choose_kernels(planes::kernel_sets(), wanted.c_str());
  if (kernels == nullptr)
    findings.fault("processor", "no kernel set '" + wanted + "' here; unset TAUT_KERNELS");
  else
    findings.print("processor", "kernels " + std::string(kernels->name) + ", " +
                                    std::to_string(usable_cores()) + " cores for this process, " +
                                    std::to_string(taut::options().threads) +
                                    " to code an array (TAUT_THREADS)");
  std::string names;
  for (const CodecInfo* codec : registered_codecs()) names += std::string(codec->name) + " ";
  for (const AbsentCodec& codec : absent_codecs()) names += std::string("(without ") + codec.name + ") ";
  findings.print("codecs", names);
}

// ---- MPI

struct Examined {
  std::optional<Mpi> mpi;
  std::optional<Mpi> standard_abi = {};  // nothing if it is `mpi` itself
  Launcher launcher = Launcher::none;
  std::string launcher_file = {};
};

Examined examine_mpi(Findings& findings, const std::optional<std::string>& asked) {
  const auto launcher = find_program(asked.value_or("mpiexec"));
  const Launcher kind = launcher ? kind_of_launcher(*launcher) : Launcher::none;
  if (!launcher)
    findings.fault("launcher",
                   asked.value_or("mpiexec") + " is not in PATH; install an MPI, or load its module");
  else if (kind == Launcher::none)
    findings.fault(
        "launcher",
        *launcher +
            ": neither MPICH's, Intel MPI's, Open MPI's, Slurm's nor LSF's; taut run works only if "
            "it passes LD_PRELOAD and TAUT_RULES on to the ranks");
  else
    findings.print("launcher", *launcher + ": " + name_of(kind));
  auto mpi = find_mpi(launcher, kind == Launcher::openmpi);
  if (!mpi)
    findings.fault("MPI", "no libmpi beside the launcher or on the loader's path; set LD_LIBRARY_PATH");
  else
    findings.print("MPI", mpi->file + " (" + mpi->flavour + "): " + mpi->version);
  std::optional<Mpi> abi;
  if (launcher && mpi && mpi->flavour != "mpiabi") abi = find_standard_abi(*launcher);
  if (abi) findings.print("standard ABI", abi->file + " (" + abi->flavour + "): for programs of mpicc_abi");
  return {std::move(mpi), std::move(abi), kind, launcher.value_or("")};
}

// ---- The drop-in

// Returns the CMake variable that names the folder of an MPI's mpi.h.
std::string variable_of(std::string flavour) {
  std::ranges::transform(flavour, flavour.begin(), [](char c) { return static_cast<char>(std::toupper(c)); });
  return "-DTAUT_" + flavour + "_INCLUDE=FOLDER";
}

// Returns the kinds of MPI whose layers lie beside the preloaded library.
std::vector<std::string> layers_beside(const fs::path& library) {
  std::vector<std::string> layers;
  for (const char* flavour : {"mpich", "openmpi", "mpiabi"}) {
    std::error_code error;
    if (fs::exists(library.parent_path() / ("libtaut_" + std::string(flavour) + ".so"), error))
      layers.emplace_back(flavour);
  }
  return layers;
}

bool contains(const std::vector<std::string>& layers, const std::string& flavour) {
  return std::ranges::find(layers, flavour) != layers.end();
}

// Prints the installed MPIs of other kinds than `examined`, and whether there is a layer for their programs.
void examine_other_mpis(Findings& findings, Launcher examined, const std::vector<std::string>& layers) {
  for (const InstalledLauncher& other : installed_launchers()) {
    if (other.kind == examined) continue;
    const std::string flavour = flavour_of(other.kind), text = other.file + ": " + name_of(other.kind);
    if (contains(layers, flavour))
      findings.print("other MPI", text);
    else
      findings.fault("other MPI",
                     text + ", whose programs run without Taut, as no layer was built for it; build one (" +
                         variable_of(flavour) + " of its mpi.h), or check one MPI with --mpiexec");
  }
}

// Returns the file of a library that is in the folder, one or two above, or where the loader looks; "" if it
// cannot be opened.
std::string file_of_library(const fs::path& folder, const std::string& name) {
  for (const fs::path& place : {folder / name, folder / ".." / name, folder / "../.." / name, fs::path(name)})
    if (void* const library = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      const link_map* entry = nullptr;
      std::error_code error;
      return dlinfo(library, RTLD_DI_LINKMAP, &entry) == 0 ? fs::canonical(entry->l_name, error).string()
                                                           : place.string();
    }
  return "";
}

// Prints the libraries for GPU memory and NCCL, which are not part of every build.
void examine_gpu_libraries(Findings& findings, const fs::path& folder) {
  const std::string cuda = file_of_library(folder, "libtaut_cuda.so.0");
  const std::string nccl = file_of_library(folder, "libtaut_nccl.so.0");
  if (cuda.empty())
    return findings.print("GPU memory", "no libtaut_cuda.so.0: MPI and NCCL serve all calls on GPU memory");
  findings.print("GPU memory", cuda);
  findings.print("NCCL", !nccl.empty() ? nccl : "no libtaut_nccl.so.0: NCCL serves all its calls");
}

// Prints the MPI that a program is linked to, and returns its kind; "" if it is linked to none. A launcher of
// another MPI starts each rank as a program of one rank.
std::string examine_program(Findings& findings, const std::string& program, const Examined& examined) {
  const auto file = find_program(program);
  if (!file) {
    findings.fault("program", program + ": there is no such program; check its name and PATH");
    return "";
  }
  const auto mpi = mpi_of_program(*file);
  if (!mpi) {
    findings.print("program",
                   *file + ": linked to no MPI (a script, a static program, or MPI is loaded later)");
    return "";
  }
  const std::string mismatch = launcher_mismatch(examined.launcher_file, examined.launcher, *file);
  if (mismatch.empty())
    findings.print("program", *file + ": " + mpi->library + " (" + mpi->flavour + ")");
  else
    findings.fault("program", mismatch);
  return mpi->flavour;
}

// Prints the layers that are installed, and those that are missing for the program, or without one for
// programs of the MPI.
void examine_layers(Findings& findings, const std::vector<std::string>& layers, const std::string& program,
                    const Examined& examined) {
  std::vector<std::string> needed;
  if (!program.empty()) needed.push_back(program);
  for (const std::optional<Mpi>& mpi : {examined.mpi, examined.standard_abi})
    if (mpi && program.empty()) needed.push_back(mpi->flavour);
  std::string names, missing;
  for (const std::string& layer : layers) names += layer + " ";
  for (const std::string& flavour : needed)
    if (!contains(layers, flavour))
      missing += "- none for " + flavour + ", whose programs run without Taut; build Taut with its mpi.h (" +
                 variable_of(flavour) + ") ";
  if (missing.empty())
    findings.print("layers", names.empty() ? "none" : names);
  else
    findings.fault("layers", names + missing);
}

void examine_dropin(Findings& findings, const Examined& examined, const std::string& program, bool others) {
  const auto library = find_preload();
  if (!library) return findings.fault("preload", missing_preload_message());
  const Output trial = output_of({"true"}, {"LD_PRELOAD=" + *library});
  if (trial.status != 0 || !trial.text.empty())
    return findings.fault("preload", *library + " cannot be preloaded: " +
                                         (trial.text.empty() ? "exit status " + std::to_string(trial.status)
                                                             : trial.text.substr(0, 200)));
  findings.print("preload", *library);
  const std::vector<std::string> layers = layers_beside(*library);
  examine_layers(findings, layers, program, examined);
  examine_gpu_libraries(findings, fs::path(*library).parent_path());
  if (others) examine_other_mpis(findings, examined.launcher, layers);
}

// ---- The environment

void examine_environment(Findings& findings) {
  for (const char* const entry : environment()) {
    const std::string_view text = entry;
    if (text.starts_with("TAUT=") || text.starts_with("TAUT_"))
      findings.print("environment", std::string(text));
  }
  for (const std::string& warning : taut::options().warnings) findings.fault("environment", warning);
  try {
    const Rules rules = read_rules(taut::options().rules, taut::options().config, taut::options().kernels);
    findings.print("rules", rules.empty()
                                ? "none: calls are compressed where a program sets a policy"
                                : std::to_string(rules.all().size()) + " (taut config --print shows them)");
  } catch (const Error& error) {
    findings.fault("rules", error.what());
  }
  if (!taut::options().enabled) findings.print("TAUT=0", "nothing is compressed");
}

Exit run(const Arguments& arguments) {
  if (arguments.names().size() > 1)
    reject("'" + arguments.names()[1] + "' is one name too many; doctor takes one program");
  Findings findings;
  int major = 0, minor = 0, patch = 0;
  TAUT_Get_version(&major, &minor, &patch);
  std::error_code error;
  std::printf("taut %d.%d.%d, %s\n", major, minor, patch, fs::canonical("/proc/self/exe", error).c_str());
  examine_processor(findings);
  const auto asked = arguments.value("mpiexec");
  const Examined examined = examine_mpi(findings, asked);
  std::string program;  // kind of MPI of the program
  if (!arguments.names().empty()) program = examine_program(findings, arguments.names()[0], examined);
  examine_dropin(findings, examined, program, !asked);
  examine_environment(findings);
  if (findings.faults() == 0)
    std::puts("all is well");
  else
    std::printf("%d to be fixed: see the lines with !\n", findings.faults());
  return findings.faults() == 0 ? Exit::ok : Exit::failed;
}

}  // namespace

extern constinit const Command doctor_command{
    "doctor", "is everything there that Taut needs?", "[--mpiexec FILE] [PROGRAM]", details, options, run};

}  // namespace taut::cli
