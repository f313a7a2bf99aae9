#include "cli/log.h"

#include <vector>

#include <gtest/gtest.h>

#include "base/sim/sim_executor.h"
#include "json/value.h"

namespace verbatim::cli {
namespace {

using gateway::TurnOutcome;
using gateway::TurnReport;

// Runs jobs when it is told to, so that a reader that stands still can be played.
class HeldWorker final : public base::Worker {
 public:
  explicit HeldWorker(std::vector<std::function<void()>>& jobs) : jobs_(jobs) {}
  void run(std::function<void()> job) override { jobs_.push_back(std::move(job)); }

 private:
  std::vector<std::function<void()>>& jobs_;
};

struct Scene {
  explicit Scene(std::string format, std::string level = "")
      : log({std::move(format), std::move(level)}, executor.clock(),
            std::make_unique<HeldWorker>(jobs),
            [this](std::string_view line) { lines.emplace_back(line); }) {}
  std::vector<std::string>& printed() {
    for (const auto& job : jobs) job();
    jobs.clear();
    return lines;
  }
  base::sim::SimExecutor executor{1};
  std::vector<std::function<void()>> jobs;
  std::vector<std::string> lines;
  Log log;
};

TurnReport report(TurnOutcome outcome) {
  TurnReport report;
  report.request_id = "req_1";
  report.session_id = "s1";
  report.outcome = outcome;
  report.status = 200;
  auto turn = std::make_shared<trajectory::Turn>();
  turn->id = 7;
  turn->seq = 3;
  turn->attach.kind = trajectory::Attach::Kind::kChild;
  turn->attach.reason = "history";
  turn->engine_url = "http://r0";
  turn->completion = {1, 2};
  turn->row_size = 12;
  if (outcome == TurnOutcome::kAnswered) report.turns.push_back(std::move(turn));
  return report;
}

TurnReport failed(TurnOutcome outcome, base::Error error) {
  auto told = report(outcome);
  told.failure = std::move(error);
  return told;
}

std::string at(const std::string& line, std::string_view key) {
  const auto document = json::Document::parse(line);
  if (!document) return "no JSON: " + line;
  const auto value = document->root().get(key);
  if (!value) return "";
  return value->is_string() ? value->string() : std::string(value->raw());
}

TEST(Log, as_text_the_usual_level_says_what_the_program_does_and_no_requests) {
  Scene scene("text");
  scene.log.notice("engine answers");
  scene.log.turn(report(TurnOutcome::kAnswered));
  EXPECT_EQ(scene.printed(), std::vector<std::string>{"verbatim: engine answers"});
}

TEST(Log, a_request_is_one_line_of_json) {
  Scene scene("json");
  scene.log.turn(report(TurnOutcome::kAnswered));
  ASSERT_EQ(scene.printed().size(), 1U);
  const auto& line = scene.lines[0];
  EXPECT_EQ(at(line, "level"), "info");
  EXPECT_EQ(at(line, "event"), "turn");
  EXPECT_EQ(at(line, "request_id"), "req_1");
  EXPECT_EQ(at(line, "session"), "s1");
  EXPECT_EQ(at(line, "turns"), "[\"7\"]");
  EXPECT_EQ(at(line, "outcome"), "answered");
  EXPECT_EQ(at(line, "attach"), "child");
  EXPECT_EQ(at(line, "reason"), "history");
  EXPECT_EQ(at(line, "engine"), "http://r0");
  EXPECT_EQ(at(line, "prompt_tokens"), "10");
  EXPECT_EQ(at(line, "sampled_tokens"), "2");
}

TEST(Log, levels_leave_out_what_is_less_grave) {
  Scene scene("json", "warn");
  scene.log.notice("a notice");
  scene.log.turn(report(TurnOutcome::kAborted));
  scene.log.turn(failed(TurnOutcome::kTimeout, base::error(base::ErrorKind::kTimeout, "late")));
  scene.log.turn(failed(TurnOutcome::kError, base::error(base::ErrorKind::kInternal, "oh")));
  ASSERT_EQ(scene.printed().size(), 2U);
  EXPECT_EQ(at(scene.lines[0], "level"), "warn");
  EXPECT_EQ(at(scene.lines[0], "message"), "late");
  EXPECT_EQ(at(scene.lines[1], "level"), "error");
}

// Errors of refusals repeat what the client sent, and those of engines may.
TEST(Log, what_a_request_or_an_engine_said_is_never_in_it) {
  auto refused = base::invalid("messages[0].content", "found \"my secret\"");
  auto engine = base::error(base::ErrorKind::kEngine, "found \"my secret\"");
  auto upstream = base::error(base::ErrorKind::kUnavailable, "my secret");
  upstream.upstream = std::make_shared<base::UpstreamAnswer>(
      base::UpstreamAnswer{503, {{"x", "my secret"}}, "my secret"});
  for (const char* format : {"json", "text"}) {
    Scene scene(format, "info");
    for (const auto& error : {refused, engine, upstream})
      scene.log.turn(failed(TurnOutcome::kRefused, error));
    ASSERT_EQ(scene.printed().size(), 3U);
    for (const auto& line : scene.lines) EXPECT_EQ(line.find("secret"), std::string::npos) << line;
  }
}

TEST(Log, names_from_outside_stay_on_one_line_of_plain_letters) {
  for (const char* format : {"json", "text"}) {
    Scene scene(format, "info");
    auto told = report(TurnOutcome::kAnswered);
    told.request_id = "a\n{\"level\":\"error\"}\x1b[2J\xe2\x80\xae";
    told.session_id = "\xff\"" + std::string(1000, 'x');
    scene.log.turn(told);
    ASSERT_EQ(scene.printed().size(), 1U);
    for (const char c : scene.lines[0]) {
      EXPECT_GE(c, 0x20);
      EXPECT_LT(c, 0x7f);
    }
    if (std::string(format) == "json") {
      EXPECT_EQ(at(scene.lines[0], "level"), "info");
    }
  }
}

TEST(Log, a_reader_that_stands_still_costs_lines_and_stops_nobody) {
  Scene scene("text");
  base::Metrics metrics;
  scene.log.count_in(metrics);
  for (std::size_t i = 0; i < Log::kMaxWaiting + 3; ++i) scene.log.notice("x");
  EXPECT_EQ(scene.printed().size(), Log::kMaxWaiting);
  EXPECT_NE(metrics.text().find("verbatim_log_lines_left_out_total 3\n"), std::string::npos);
  scene.log.notice("again");
  EXPECT_EQ(scene.printed().back(), "verbatim: again");
}

}  // namespace
}  // namespace verbatim::cli
