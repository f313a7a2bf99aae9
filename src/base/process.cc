#include "base/process.h"

#include <charconv>
#include <optional>
#include <vector>

#include <unistd.h>

namespace verbatim::base {
namespace {

constexpr unsigned kHundredths = 2;
constexpr std::int64_t kTicksShown = 100;
constexpr std::uint64_t kMaxFile = 65536;
using Type = Metric::Type;

constexpr Metric kCpu{"process_cpu_seconds_total", "Processor time of this process", Type::kCounter,
                      kHundredths};
constexpr Metric kStart{"process_start_time_seconds", "When this process began, since 1970",
                        Type::kGauge, kHundredths};
constexpr Metric kResident{"process_resident_memory_bytes", "Memory of this process that is in use",
                           Type::kGauge};
constexpr Metric kVirtual{"process_virtual_memory_bytes", "Addresses that this process has mapped",
                          Type::kGauge};
constexpr Metric kDescriptors{"process_open_fds", "Open file descriptors", Type::kGauge};
constexpr Metric kThreads{"process_threads", "Threads of this process", Type::kGauge};

std::int64_t number(std::string_view text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> found;
  while (!text.empty()) {
    const auto begin = text.find_first_not_of(" \n");
    if (begin == std::string_view::npos) break;
    text.remove_prefix(begin);
    const auto end = std::min(text.find_first_of(" \n"), text.size());
    found.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return found;
}

struct Stat {
  std::int64_t cpu_ticks = 0, threads = 0, start_ticks = 0, virtual_bytes = 0, resident_pages = 0;
};

// proc(5), /proc/pid/stat: fields behind the name, which stands in parentheses and may hold any.
std::optional<Stat> read_stat(Files& files) {
  const auto text = files.read("/proc/self/stat", kMaxFile);
  if (!text) return std::nullopt;
  const auto name_end = text->rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  const auto fields = words(std::string_view(*text).substr(name_end + 1));
  constexpr std::size_t kFirst = 3;  // of the fields, as proc(5) counts them
  const auto field = [&](std::size_t i) { return number(fields[i - kFirst]); };
  if (fields.size() < 24 - kFirst + 1) return std::nullopt;
  return Stat{field(14) + field(15), field(20), field(22), field(23), field(24)};
}

// When the machine began, in seconds since 1970.
std::int64_t boot_seconds(Files& files) {
  const auto text = files.read("/proc/stat", std::uint64_t{16} << 20);
  if (!text) return 0;
  constexpr std::string_view kBoot = "btime ";
  const auto at = text->find(kBoot);
  return at == std::string::npos ? 0 : number(std::string_view(*text).substr(at + kBoot.size()));
}

std::int64_t shown_ticks(std::int64_t ticks) {
  return ticks * kTicksShown / ::sysconf(_SC_CLK_TCK);
}

}  // namespace

ProcessMetrics::ProcessMetrics(Metrics& metrics, Files& files) : files_(files) {
  const auto stat = read_stat(files);
  if (!stat) return;
  cpu_ = &metrics.counter(kCpu);
  resident_ = &metrics.gauge(kResident);
  virtual_ = &metrics.gauge(kVirtual);
  descriptors_ = &metrics.gauge(kDescriptors);
  threads_ = &metrics.gauge(kThreads);
  metrics.gauge(kStart).set(boot_seconds(files) * kTicksShown + shown_ticks(stat->start_ticks));
}

void ProcessMetrics::refresh() {
  if (cpu_ == nullptr) return;
  if (const auto stat = read_stat(files_)) {
    const auto cpu = static_cast<std::uint64_t>(shown_ticks(stat->cpu_ticks));
    // Of two scrapes at a time the one that read first may store last.
    std::lock_guard lock(cpu_mutex_);
    if (cpu > cpu_->value()) cpu_->set(cpu);
    resident_->set(stat->resident_pages * ::sysconf(_SC_PAGESIZE));
    virtual_->set(stat->virtual_bytes);
    threads_->set(stat->threads);
  }
  if (const auto open = files_.list("/proc/self/fd"))
    descriptors_->set(static_cast<std::int64_t>(open->size()) - 1);  // without that of the list
}

}  // namespace verbatim::base
