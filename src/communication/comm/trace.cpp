#include "communication/comm/process_report.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "communication/comm/call_site.hpp"
#include "communication/team/algorithm.hpp"
#include "communication/team/call.hpp"
#include "compressor/base/json.hpp"

namespace taut {
namespace {

// A trace shows each segment of a call as a thread, with a range of thread numbers for each call in flight.
constexpr unsigned threads_of_a_slot = 64;
static_assert(threads_of_a_slot >= max_segments);

unsigned thread_of(const Event& event) noexcept { return event.slot * threads_of_a_slot + event.segment; }

std::string label_text(const Call& call) {
  std::string text = name_of(call.collective);
  if (call.coded()) text += std::string(" ") + name_of(call.type);
  return call.coded() && reduces(call.collective) ? text + " " + name_of(call.op) : text;
}

// Returns nanoseconds as a text in microseconds, with a point in any locale.
std::string microseconds(std::uint64_t nanoseconds) {
  const std::string fraction = std::to_string(1000 + nanoseconds % 1000);
  return std::to_string(nanoseconds / 1000) + "." + fraction.substr(1);
}

// Texts of call sites, each of which is looked up once.
class SiteTexts {
 public:
  // Returns the member of an event's arguments that names the site; "" if it is unknown.
  const std::string& of(const void* site) {
    const auto [found, added] = texts_.try_emplace(site);
    if (added) {
      const std::string name = call_site_name(site);
      if (!name.empty()) found->second = ", \"site\": " + json::quoted(name);
    }
    return found->second;
  }

 private:
  std::map<const void*, std::string> texts_;
};

void write_event(std::FILE* file, const Event& event, std::uint64_t origin, int rank, SiteTexts& sites) {
  const std::string call = label_text(Call::of_kind(event.kind));
  std::fprintf(file,
               ",\n{\"ph\": \"X\", \"name\": \"%s\", \"cat\": \"%s\", \"pid\": %d, \"tid\": %u, \"ts\": %s, "
               "\"dur\": %s, \"args\": {\"call\": %lu, \"bytes\": %llu%s}}",
               event.phase == Phase::call ? call.c_str() : name_of(event.phase), call.c_str(), rank,
               thread_of(event), microseconds(event.begin - origin).c_str(),
               microseconds(event.end - event.begin).c_str(), static_cast<unsigned long>(event.call),
               static_cast<unsigned long long>(event.bytes), sites.of(event.site).c_str());
}

void write_name(std::FILE* file, const char* what, int rank, unsigned thread, const std::string& name) {
  std::fprintf(file,
               "{\"ph\": \"M\", \"name\": \"%s\", \"pid\": %d, \"tid\": %u, \"args\": {\"name\": \"%s\"}}",
               what, rank, thread, name.c_str());
}

void write_thread_names(std::FILE* file, const Recorder& recorder, int rank) {
  std::vector<unsigned> threads;
  recorder.for_each([&](const Event& event) {
    const unsigned thread = thread_of(event);
    if (std::ranges::find(threads, thread) == threads.end()) threads.push_back(thread);
  });
  for (const unsigned thread : threads) {
    const unsigned slot = thread / threads_of_a_slot;
    std::string name = "segment " + std::to_string(thread % threads_of_a_slot);
    if (slot != 0) name += " of call " + std::to_string(slot + 1) + " at a time";
    std::fputs(",\n", file);
    write_name(file, "thread_name", rank, thread, name);
  }
}

// Returns a time of clock_now() as nanoseconds since 1970, which aligns the traces of several nodes.
std::int64_t unix_nanoseconds(std::uint64_t time) {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  const std::int64_t wall = std::chrono::duration_cast<std::chrono::nanoseconds>(since).count();
  return wall - static_cast<std::int64_t>(clock_now() - time);
}

}  // namespace

bool write_trace(std::FILE* file, const Recorder& recorder, int rank) {
  std::uint64_t origin = clock_now();
  recorder.for_each([&](const Event& event) { origin = std::min(origin, event.begin); });
  std::fprintf(file, "{\"otherData\": {\"rank\": %d, \"origin_unix_ns\": %lld, \"lost_events\": %llu},\n",
               rank, static_cast<long long>(unix_nanoseconds(origin)),
               static_cast<unsigned long long>(recorder.lost()));
  std::fputs("\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n", file);
  write_name(file, "process_name", rank, 0, "rank " + std::to_string(rank));
  write_thread_names(file, recorder, rank);
  SiteTexts sites;
  recorder.for_each([&](const Event& event) { write_event(file, event, origin, rank, sites); });
  std::fputs("\n]}\n", file);
  return std::ferror(file) == 0;
}

}  // namespace taut
