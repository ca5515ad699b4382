#include "cli/command.hpp"

namespace taut::cli {
namespace {

constexpr const Command* commands[] = {
#if TAUT_COMMUNICATION
    &run_command,        &advise_command,     &config_command, &doctor_command,
#endif
    &compress_command,   &decompress_command, &info_command,   &bench_codec_command,
    &completion_command, &manual_command,
};

constexpr PythonCommand in_python[] = {
    {"bounds", "what each error bound does to the values of files, and which to take", "hdf5"},
    {"tune", "the loosest error bounds that a program's own check accepts", ""},
    {"report", "reports of a run as tables and as a page with pictures", "", true},
    {"trace", "the traces of all ranks merged into one, for ui.perfetto.dev", "", true},
    {"calibrate", "from which size and ratio on compression pays between these ranks", "mpich"},
    {"bench-fabric", "plain MPI against Taut between these ranks, as JSON and a page to send in", "mpich"},
};

}  // namespace

std::span<const Command* const> all_commands() noexcept { return commands; }
std::span<const PythonCommand> python_commands() noexcept { return in_python; }

}  // namespace taut::cli
