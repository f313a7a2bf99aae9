#include "cli/log.h"

#include <array>
#include <future>
#include <utility>

#include <CLI/CLI.hpp>

#include "base/terminal.h"
#include "base/timestamp.h"
#include "gateway/session_options.h"
#include "gateway/usage.h"
#include "json/dumps.h"
#include "json/writer.h"

namespace verbatim::cli {
namespace {

using gateway::Stage;
using gateway::TurnOutcome;
using gateway::TurnReport;

constexpr base::Metric kLeftOut{"verbatim_log_lines_left_out_total",
                                "Lines that were not logged because too many waited"};
constexpr std::array<std::string_view, 4> kLevelNames = {"error", "warn", "notice", "info"};
constexpr std::size_t kMaxWord = 200;  // of what comes from outside

std::string_view name(LogLevel level) {
  return kLevelNames[static_cast<std::size_t>(level)];
}

LogLevel level_of(const LogOptions& options) {
  if (options.level.empty()) return options.format == "json" ? LogLevel::kInfo : LogLevel::kNotice;
  for (std::size_t i = 0; i < kLevelNames.size(); ++i) {
    if (options.level == kLevelNames[i]) return static_cast<LogLevel>(i);
  }
  return LogLevel::kNotice;
}

LogLevel level_of(TurnOutcome outcome) {
  switch (outcome) {
    case TurnOutcome::kError:
      return LogLevel::kError;
    case TurnOutcome::kEngineError:
    case TurnOutcome::kTimeout:
    case TurnOutcome::kUnavailable:
      return LogLevel::kWarn;
    default:
      return LogLevel::kInfo;
  }
}

// Whatever it holds, it stands on one line of plain letters.
class Fields {
 public:
  Fields(LogLevel level, std::string_view event, std::int64_t wall_ms) {
    w_.begin_object().field("time", base::timestamp(wall_ms)).field("level", name(level));
    w_.field("event", event);
  }
  void text(std::string_view key, std::string_view value) {
    std::string dumped;
    const auto line = base::for_terminal(value);
    json::append_dumped_string(dumped, line, true);
    w_.key(key).raw(dumped);
  }
  // Left out where there is none.
  void word(std::string_view key, std::string_view value) {
    if (!value.empty()) text(key, base::for_terminal(value).substr(0, kMaxWord));
  }
  void number(std::string_view key, std::uint64_t value) { w_.field(key, value); }
  void truth(std::string_view key, bool value) { w_.field(key, value); }
  json::Writer& writer() { return w_; }
  std::string take() {
    w_.end_object();
    return w_.take();
  }

 private:
  json::Writer w_;
};

double milliseconds_of(base::Duration time) {
  return static_cast<double>(time.count()) / 1000.0;
}

// What an error says that is no word of a conversation: those of refusals name what was found in
// the request, and engines may repeat what they were sent.
bool may_be_told(const base::Error& error) {
  if (error.upstream) return false;
  switch (error.kind) {
    case base::ErrorKind::kUnavailable:
    case base::ErrorKind::kTimeout:
    case base::ErrorKind::kCancelled:
      return true;
    default:
      return false;
  }
}

std::string_view name(base::ErrorKind kind) {
  switch (kind) {
    case base::ErrorKind::kInvalidRequest:
      return "invalid_request";
    case base::ErrorKind::kUnauthorized:
      return "unauthorized";
    case base::ErrorKind::kNotFound:
      return "not_found";
    case base::ErrorKind::kConflict:
      return "conflict";
    case base::ErrorKind::kTooLarge:
      return "too_large";
    case base::ErrorKind::kUnsupported:
      return "unsupported";
    case base::ErrorKind::kEngine:
      return "engine";
    case base::ErrorKind::kUnavailable:
      return "unavailable";
    case base::ErrorKind::kTimeout:
      return "timeout";
    case base::ErrorKind::kCancelled:
      return "cancelled";
    case base::ErrorKind::kInternal:
      break;
  }
  return "internal";
}

// What was sampled in all of a request's turns.
struct Tokens {
  message::Usage usage;
  explicit Tokens(const TurnReport& report) {
    if (!report.turns.empty()) usage = gateway::usage_of(report.turns);
  }
};

void add_turns(const TurnReport& report, Fields& fields) {
  if (report.turns.empty()) return;
  auto& w = fields.writer();
  w.key("turns").begin_array();
  for (const auto& turn : report.turns) w.string(std::to_string(turn->id));
  w.end_array();
  const auto& first = *report.turns.front();
  const bool root = first.attach.kind == trajectory::Attach::Kind::kRoot;
  fields.word("attach", root ? "root" : "child");
  fields.word("reason", first.attach.reason);
  fields.word("engine", first.engine_url);
  const Tokens tokens(report);
  fields.number("prompt_tokens", tokens.usage.prompt_tokens);
  if (tokens.usage.cached_tokens) fields.number("cached_tokens", *tokens.usage.cached_tokens);
  fields.number("sampled_tokens", tokens.usage.completion_tokens);
}

void add_failure(const base::Error& error, Fields& fields) {
  fields.word("error", name(error.kind));
  fields.word("code", error.upstream ? std::string_view() : std::string_view(error.code));
  if (error.upstream) fields.number("engine_status", static_cast<unsigned>(error.upstream->status));
  if (may_be_told(error)) fields.text("message", error.message);
}

std::string shown(double value) {
  std::string text = std::to_string(value);
  return text.substr(0, text.find('.') + 2);
}

std::string turn_line_json(LogLevel level, const TurnReport& report, std::int64_t wall_ms) {
  Fields fields(level, "turn", wall_ms);
  fields.word("request_id", report.request_id);
  fields.word("session", report.session_id);
  fields.word("owner", report.owner);
  fields.word("door", gateway::kDoorKindNames[static_cast<std::size_t>(report.door)]);
  fields.word("mode", gateway::name(report.mode));
  fields.truth("stream", report.stream);
  fields.word("outcome", gateway::kTurnOutcomeNames[static_cast<std::size_t>(report.outcome)]);
  fields.number("status", static_cast<unsigned>(report.status));
  fields.writer().field("ms", milliseconds_of(report.watch.whole()));
  fields.writer().key("stages_ms").begin_object();
  for (std::size_t i = 0; i < gateway::kStages; ++i) {
    const auto stage = static_cast<Stage>(i);
    if (report.watch.seen(stage))
      fields.writer().field(gateway::kStageNames[i], milliseconds_of(report.watch.spent(stage)));
  }
  fields.writer().end_object();
  add_turns(report, fields);
  if (report.failure) add_failure(*report.failure, fields);
  return fields.take();
}

std::string turn_line_text(const TurnReport& report) {
  const auto word = [](const std::string& text) { return text.substr(0, kMaxWord); };
  std::string line = "request " + word(report.request_id) + ": ";
  line += gateway::kTurnOutcomeNames[static_cast<std::size_t>(report.outcome)];
  if (report.status != 0) line += " " + std::to_string(report.status);
  line += " in " + shown(milliseconds_of(report.watch.whole())) + " ms";
  if (!report.session_id.empty()) line += ", session " + word(report.session_id);
  if (!report.turns.empty()) {
    const auto& first = *report.turns.front();
    const Tokens tokens(report);
    const bool root = first.attach.kind == trajectory::Attach::Kind::kRoot;
    line += ", turn " + std::to_string(first.seq) + (root ? " (root, " : " (child, ") +
            first.attach.reason + "), " + std::to_string(tokens.usage.prompt_tokens) + " + " +
            std::to_string(tokens.usage.completion_tokens) + " ids of " + first.engine_url;
  }
  if (report.failure) {
    line += std::string(", ") + std::string(name(report.failure->kind));
    if (may_be_told(*report.failure)) line += ": " + report.failure->message;
  }
  return line;
}

}  // namespace

void LogOptions::add(CLI::App& command) {
  command
      .add_option("--log-format", format,
                  "of what is told on stderr while it runs: text for people, json for programs")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str()
      ->envname("VERBATIM_LOG_FORMAT");
  command
      .add_option("--log-level", level,
                  "how much is told: error, warn, notice, info (each request for turns) (default: "
                  "notice as text, info as json)")
      ->check(CLI::IsMember({"error", "warn", "notice", "info"}))
      ->envname("VERBATIM_LOG_LEVEL");
}

Log::Log(const LogOptions& options, const base::Clock& clock, std::unique_ptr<base::Worker> worker,
         Print print)
    : json_(options.format == "json"),
      level_(level_of(options)),
      clock_(clock),
      print_(std::move(print)),
      worker_(std::move(worker)) {}

void Log::count_in(base::Metrics& metrics) {
  const std::lock_guard lock(mutex_);
  left_out_ = &metrics.counter(kLeftOut);
}

void Log::stop_counting() {
  const std::lock_guard lock(mutex_);
  left_out_ = nullptr;
}

void Log::tell(LogLevel level, std::string_view what) {
  if (!wants(level)) return;
  if (!json_) return put("verbatim: " + base::for_terminal(what));
  Fields fields(level, "notice", clock_.wall_ms());
  fields.text("message", what);
  put(fields.take());
}

void Log::turn(const TurnReport& report) {
  const auto level = level_of(report.outcome);
  if (!wants(level)) return;
  put(json_ ? turn_line_json(level, report, clock_.wall_ms())
            : "verbatim: " + base::for_terminal(turn_line_text(report)));
}

void Log::put(std::string line) {
  if (waiting_.fetch_add(1) >= kMaxWaiting) {
    --waiting_;
    const std::lock_guard lock(mutex_);
    if (left_out_ != nullptr) left_out_->add();
    return;
  }
  worker_->run([this, line = std::move(line)] {
    print_(line);
    --waiting_;
  });
}

void Log::flush() {
  std::promise<void> done;
  worker_->run([&done] { done.set_value(); });
  done.get_future().wait();
}

Exit Log::fail(const base::Error& error, Exit exit) {
  flush();
  return cli::fail(error, exit);
}

}  // namespace verbatim::cli
