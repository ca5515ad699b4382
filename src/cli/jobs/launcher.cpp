#include "cli/jobs/launcher.hpp"

#include <algorithm>

#include "compressor/file/failure.hpp"

namespace taut::cli {
namespace {

using Words = std::vector<std::string>;

std::string_view base_name(std::string_view path) noexcept { return path.substr(path.rfind('/') + 1); }

void insert(Words& command, std::size_t at, const Words& words) {
  command.insert(command.begin() + static_cast<std::ptrdiff_t>(at), words.begin(), words.end());
}

// Adds -x options for Open MPI, which passes on the variables that -x names, separately for each program of
// the command line. The options give names alone: some versions cut the value of NAME=VALUE at a semicolon.
void pass_by_name(Words& command, const Variables& variables, const std::string& preload) {
  Words words;
  for (const auto& [name, value] : variables) insert(words, words.size(), {"-x", name});
  insert(words, words.size(), {"-x", "LD_PRELOAD=" + preload});
  for (std::size_t i = 0; i < command.size(); ++i)
    if (i == 0 || command[i] == ":") {
      insert(command, i + 1, words);
      i += words.size();
    }
}

// Sets LD_PRELOAD by --export for Slurm, which passes on all variables unless --export says otherwise.
void pass_by_export(Words& command, const std::string& preload) {
  for (const std::string& word : command)
    if (word.starts_with("--export"))
      file::reject("srun has an " + word + " of its own; leave it out, or set LD_PRELOAD=" + preload +
                   " and TAUT_RULES there");
  insert(command, 1, {"--export=ALL,LD_PRELOAD=" + preload});
}

// Returns the word quoted for a shell.
std::string quoted(const std::string& word) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  std::string text = "'";
  for (const char c : word) c == '\'' ? text.append("'\\''") : text.append(1, c);
  return text.append("'");
}

}  // namespace

const char* name_of(Launcher launcher) noexcept {
  switch (launcher) {
    case Launcher::hydra: return "Hydra (MPICH, Intel MPI)";
    case Launcher::openmpi: return "Open MPI";
    case Launcher::srun: return "Slurm";
    case Launcher::jsrun: return "jsrun";
    case Launcher::none: break;
  }
  return "none";
}

bool is_mpiexec(std::string_view program) noexcept {
  return base_name(program) == "mpiexec" || base_name(program) == "mpirun";
}

Launcher launcher_of(std::string_view program) noexcept {
  constexpr struct {
    std::string_view name;
    Launcher launcher;
  } known[] = {{"mpiexec.hydra", Launcher::hydra},
               {"mpirun.mpich", Launcher::hydra},
               {"mpiexec.mpich", Launcher::hydra},
               {"orterun", Launcher::openmpi},
               {"prterun", Launcher::openmpi},
               {"mpirun.openmpi", Launcher::openmpi},
               {"mpiexec.openmpi", Launcher::openmpi},
               {"srun", Launcher::srun},
               {"jsrun", Launcher::jsrun}};
  const auto* const found =
      std::ranges::find(known, base_name(program), [](const auto& one) { return one.name; });
  return found == std::end(known) ? Launcher::none : found->launcher;
}

Launcher launcher_of_version(std::string_view version) noexcept {
  const auto says = [&](const char* text) { return version.find(text) != std::string_view::npos; };
  if (says("Open MPI") || says("OpenRTE") || says("PRRTE")) return Launcher::openmpi;
  return says("HYDRA") || says("Hydra") || says("Intel(R) MPI") ? Launcher::hydra : Launcher::none;
}

Start started(Launcher launcher, Words command, const Variables& variables, const std::string& library,
              const std::string& inherited) {
  const std::string preload = inherited.empty() ? library : library + ":" + inherited;
  Start start{std::move(command), variables};
  switch (launcher) {
    case Launcher::openmpi: pass_by_name(start.command, variables, preload); break;
    case Launcher::hydra: insert(start.command, 1, {"-genv", "LD_PRELOAD", preload}); break;
    case Launcher::srun: pass_by_export(start.command, preload); break;
    case Launcher::jsrun: start.set.emplace_back("OMPI_LD_PRELOAD_PREPEND", library); break;
    case Launcher::none: start.set.emplace_back("LD_PRELOAD", preload); break;
  }
  return start;
}

std::string shell_line(const Start& start) {
  std::string line = "env";
  for (const auto& [name, value] : start.set) line.append(" ").append(name).append("=").append(quoted(value));
  for (const std::string& word : start.command) line.append(" ").append(quoted(word));
  return line;
}

}  // namespace taut::cli
