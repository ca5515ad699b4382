#include "cli/jobs/installed_mpi.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "cli/arguments.hpp"
#include "cli/jobs/environment.hpp"

namespace taut::cli {
namespace {

namespace fs = std::filesystem;

// Returns the kind of MPI that an opened library is, as the drop-in's loader finds it.
const char* flavour_of_opened(void* library) {
  int major = -1, minor = -1;
  int (*abi)(int*, int*) = nullptr;
  *reinterpret_cast<void**>(&abi) = dlsym(library, "PMPI_Abi_get_version");
  if (abi != nullptr && abi(&major, &minor) == 0 && major > 0) return "mpiabi";
  return dlsym(library, "ompi_mpi_comm_self") != nullptr ? "openmpi" : "mpich";
}

// Opens an MPI library, and asks it for its version.
std::optional<Mpi> open_mpi(const std::string& file) {
  void* const library = dlopen(file.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) return std::nullopt;
  Mpi mpi{file, "no version", flavour_of_opened(library)};
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

// Returns the folders that may hold launchers: those of PATH, then those of systems and modules.
std::vector<fs::path> launcher_folders() {
  const std::vector<std::string> path = split(variable("PATH"), ':');
  std::vector<fs::path> folders(path.begin(), path.end());
  folders.insert(folders.end(), {"/usr/bin", "/usr/local/bin"});
  for (const char* parent : {"/usr/lib64", "/opt"})
    for (std::error_code error; const auto& entry : fs::directory_iterator(parent, error))
      folders.push_back(entry.path() / "bin");
  return folders;
}

// Returns the launchers of a folder: mpiexec, and mpiexec.* of systems that have several MPIs.
std::vector<std::string> launchers_in(const fs::path& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name == "mpiexec" || name.starts_with("mpiexec.")) files.push_back(entry.path().string());
  }
  std::ranges::sort(files);
  return files;
}

// Returns true for a program that the dynamic loader starts. Others would run where the loader is to list
// libraries.
bool is_dynamic_program(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  Elf64_Ehdr header{};
  if (!in.read(reinterpret_cast<char*>(&header), sizeof header)) return false;
  if (!std::equal(header.e_ident, header.e_ident + SELFMAG, ELFMAG) || header.e_ident[EI_CLASS] != ELFCLASS64)
    return false;
  in.seekg(static_cast<std::streamoff>(header.e_phoff));
  Elf64_Phdr segment{};
  for (int i = 0; i < header.e_phnum && in.read(reinterpret_cast<char*>(&segment), sizeof segment); ++i)
    if (segment.p_type == PT_INTERP) return true;
  return false;
}

constexpr const char* names_of_standard_abi[] = {"libmpi_abi.so.1", "libmpi_abi.so.0", "libmpi_abi.so"};

// Returns the folders that may hold the libraries installed with a launcher.
std::vector<fs::path> library_folders(const fs::path& launcher) {
  std::vector<fs::path> folders;
  std::error_code error;
  for (const fs::path& program : {launcher, fs::canonical(launcher, error)})
    for (const char* lib : {"lib", "lib64", "lib/x86_64-linux-gnu", "lib/aarch64-linux-gnu"})
      folders.push_back(program.parent_path().parent_path() / lib);
  return folders;
}

// Returns the kind of MPI that has a library of this name; "" if it is no MPI's.
std::string flavour_of_library(const std::string& name) {
  if (name.starts_with("libmpi_abi.so")) return "mpiabi";
  if (name.starts_with("libmpich.so") || name == "libmpi.so.12") return "mpich";
  return name.starts_with("libmpi.so.") ? "openmpi" : "";
}

}  // namespace

std::optional<LinkedMpi> mpi_of_program(const std::string& file) {
  if (!is_dynamic_program(file)) return std::nullopt;
  std::istringstream lines(output_of({file}, {"LD_TRACE_LOADED_OBJECTS=1"}).text);
  for (std::string name, line; lines >> name && std::getline(lines, line);)
    if (const std::string flavour = flavour_of_library(name); !flavour.empty())
      return LinkedMpi{name, flavour};
  return std::nullopt;
}

std::string launcher_mismatch(const std::string& launcher, Launcher kind, const std::string& program) {
  const std::string served = flavour_of(kind);  // kind of MPI whose programs the launcher starts
  const auto mpi = mpi_of_program(program);
  if (!mpi || served.empty() || mpi->flavour == "mpiabi" || mpi->flavour == served) return "";
  std::string remedy = "start it with the mpiexec of " + mpi->flavour;
  for (const InstalledLauncher& other : installed_launchers())
    if (flavour_of(other.kind) == mpi->flavour) remedy = "start it with " + other.file;
  return program + " is a program of " + mpi->flavour + " (" + mpi->library + "), and " + launcher +
         " starts those of " + served + ": 4 ranks would be 4 programs of 1 rank; " + remedy;
}

Launcher kind_of_launcher(const std::string& file) {
  if (access(file.c_str(), X_OK) != 0) return Launcher::none;
  if (const Launcher known = launcher_of(file); known != Launcher::none) return known;
  return launcher_of_version(output_of({file, "--version"}).text);
}

std::optional<Mpi> find_mpi(const std::optional<std::string>& launcher, bool openmpi) {
  constexpr const char* names[] = {"libmpi.so.12", "libmpi.so.40", "libmpich.so.12", "libmpi.so"};
  for (const fs::path& folder : launcher ? library_folders(*launcher) : std::vector<fs::path>())
    for (const char* name : names)
      if (std::error_code error; fs::exists(folder / name, error))
        if (auto mpi = open_mpi((folder / name).string()); mpi && (mpi->flavour == "openmpi") == openmpi)
          return mpi;
  if (launcher)  // an MPI may have the standard ABI alone
    if (auto mpi = find_standard_abi(*launcher)) return mpi;
  for (const char* name : names)
    if (auto mpi = open_mpi(name)) return mpi;
  for (const char* name : names_of_standard_abi)
    if (auto mpi = open_mpi(name)) return mpi;
  return std::nullopt;
}

std::optional<Mpi> find_standard_abi(const std::string& launcher) {
  for (const fs::path& folder : library_folders(launcher))
    for (const char* name : names_of_standard_abi)
      if (std::error_code error; fs::exists(folder / name, error))
        if (auto mpi = open_mpi((folder / name).string()); mpi && mpi->flavour == "mpiabi") return mpi;
  return std::nullopt;
}

std::vector<InstalledLauncher> installed_launchers() {
  std::vector<InstalledLauncher> found;
  for (const fs::path& folder : launcher_folders())
    for (const std::string& file : launchers_in(folder)) {
      if (found.size() == 2) return found;  // one of each kind: MPICH's Hydra and Open MPI's
      const Launcher kind = kind_of_launcher(file);
      if (kind != Launcher::none && std::ranges::find(found, kind, &InstalledLauncher::kind) == found.end())
        found.push_back({file, kind});
    }
  return found;
}

const char* flavour_of(Launcher launcher) noexcept {
  return launcher == Launcher::hydra ? "mpich" : launcher == Launcher::openmpi ? "openmpi" : "";
}

}  // namespace taut::cli
