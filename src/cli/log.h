#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/executor.h"
#include "base/metrics.h"
#include "base/result.h"
#include "base/worker.h"
#include "cli/command.h"
#include "gateway/turn_report.h"

namespace verbatim::cli {

// How grave a line is; a log has those of its level and above.
enum class LogLevel {
  kError,   // it can't go on, or the fault is this program's
  kWarn,    // something an operator may have to see to: an engine left out, a turn that failed
  kNotice,  // what the program does: starts, stops, an engine that is back
  kInfo,    // each request for turns
};

struct LogOptions {
  std::string format = "text";  // text, json
  std::string level;            // error, warn, notice, info; empty: notice as text, info as JSON

  void add(CLI::App& command);
};

// What a running server tells, a line for each event, on stderr: words for people, or JSON for
// programs (docs/guides/observing.md). Never holds what conversations say, nor keys.
//
// Thread-safe. Lines are written by a thread of its own, so that a reader that stands still stops
// nobody: of more than kMaxWaiting lines that wait, further ones are left out and counted.
// Destroyed, it writes what waits.
class Log {
 public:
  static constexpr std::size_t kMaxWaiting = 10'000;

  // `print` gets whole lines, without their end.
  using Print = std::function<void(std::string_view line)>;
  // `clock` outlives this.
  Log(const LogOptions& options, const base::Clock& clock, std::unique_ptr<base::Worker> worker,
      Print print = print_log_line);

  // What people are to know.
  void tell(LogLevel level, std::string_view what);
  void notice(std::string_view what) { tell(LogLevel::kNotice, what); }
  // A request for turns that has ended.
  void turn(const gateway::TurnReport& report);
  // Returns when all that was told is printed: before what is printed elsewhere.
  void flush();
  // The same, then says the error that ends the program.
  Exit fail(const base::Error& error, Exit exit = Exit::kFailed);
  // Counts what is left out from here on, until stop_counting(); `metrics` lives until then.
  void count_in(base::Metrics& metrics);
  void stop_counting();

 private:
  [[nodiscard]] bool wants(LogLevel level) const { return level <= level_; }
  void put(std::string line);

  const bool json_;
  const LogLevel level_;
  const base::Clock& clock_;
  const Print print_;
  std::atomic<std::size_t> waiting_ = 0;
  std::mutex mutex_;
  base::Counter* left_out_ = nullptr;  // under the mutex
  std::unique_ptr<base::Worker> worker_;
};

}  // namespace verbatim::cli
