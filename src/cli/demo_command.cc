#include <cstdlib>

#include <CLI/CLI.hpp>
#include <unistd.h>

#include "cli/child.h"
#include "cli/command.h"
#include "cli/demo_files.h"
#include "cli/demo_report.h"
#include "cli/demo_stage.h"
#include "cli/model_options.h"

namespace verbatim::cli {
namespace {

using base::Error;
using base::Result;
using base::Status;
using base::Task;

constexpr std::size_t kTurns = 4;

struct DemoOptions {
  std::string colour = "auto";
  std::string keep;
};

Colour colour_of(const std::string& wanted) {
  if (wanted != "auto") return wanted == "always" ? Colour::kOn : Colour::kOff;
  const char* no_color = std::getenv("NO_COLOR");
  const bool refused = no_color != nullptr && *no_color != '\0';
  return ::isatty(STDOUT_FILENO) == 1 && !refused ? Colour::kOn : Colour::kOff;
}

// The folder of one run: vocabulary, template, records. Removed at the end unless it is to stay.
class Workplace {
 public:
  Workplace(base::Files& files, const std::string& keep) : files_(files), keeps_(!keep.empty()) {
    const char* temporary = std::getenv("TMPDIR");
    const auto random = base::system_random();
    dir_ = keeps_ ? keep
                  : std::string(temporary == nullptr ? "/tmp" : temporary) + "/verbatim-demo-" +
                        base::new_hex_id(*random);
  }
  Workplace(const Workplace&) = delete;
  ~Workplace() {
    if (keeps_) return;
    for (const auto& dir : {record_dir(), model_dir(), dir_}) remove(dir);
  }

  Status prepare() {
    if (auto status = files_.make_directories(model_dir()); !status.ok()) return status;
    if (auto status = files_.make_directories(record_dir()); !status.ok()) return status;
    if (auto status = files_.replace(model_dir() + "/tokenizer.json", kToyTokenizer); !status.ok())
      return status;
    return files_.replace(model_dir() + "/chat_template.jinja", kToyTemplate);
  }
  [[nodiscard]] std::string model_dir() const { return dir_ + "/toy"; }
  [[nodiscard]] std::string record_dir() const { return dir_ + "/records"; }
  [[nodiscard]] bool keeps() const { return keeps_; }

 private:
  void remove(const std::string& dir) {
    const auto names = files_.list(dir);
    if (!names) return;
    for (const auto& name : *names) (void)files_.remove(std::string(dir).append("/").append(name));
    (void)files_.remove(dir);
  }
  base::Files& files_;
  std::string dir_;
  bool keeps_;
};

// What a run leaves behind.
struct Played {
  AgentLog log;
  std::vector<sim::Completion> sampled;
};

Task<void> play(DemoStage& stage, net::AsioLoop& loop, Result<AgentLog>& outcome) {
  auto status = co_await stage.start();
  if (status.ok()) {
    const auto gateway = stage.gateway();
    outcome = co_await run_agent(stage.runtime(), gateway);
  } else {
    outcome = status.error();
  }
  co_await stage.stop();
  loop.stop();
}

Result<Played> play(base::Files& files, const std::shared_ptr<gateway::Model>& model,
                    const std::string& record_dir) {
  net::AsioLoop loop;
  DemoStage stage(loop, files, model, record_dir, agent_script());
  Result<AgentLog> outcome = base::error(base::ErrorKind::kInternal, "nothing was played");
  base::spawn(play(stage, loop, outcome));
  loop.run();
  if (!outcome) return std::move(outcome).error();
  return Played{std::move(*outcome), stage.sampled()};
}

Error unproved(std::string what) {
  return base::error(base::ErrorKind::kInternal, std::move(what));
}

// The record holds what the engine sampled, id by id and logprob by logprob.
Status check_sampled(const std::vector<DemoTurn>& turns,
                     const std::vector<sim::Completion>& sampled) {
  if (turns.size() != kTurns || sampled.size() != kTurns)
    return unproved("expected " + std::to_string(kTurns) + " turns, found " +
                    std::to_string(turns.size()) + " on record and " +
                    std::to_string(sampled.size()) + " sampled");
  for (std::size_t i = 0; i < kTurns; ++i) {
    if (turns[i].turn.completion != sampled[i].ids || turns[i].turn.logprobs != sampled[i].logprobs)
      return unproved("turn " + std::to_string(i + 1) +
                      " is not on record as the engine sampled it");
  }
  return {};
}

Status prove(Page& page, const std::string& record_dir, const std::vector<DemoTurn>& turns,
             const std::vector<sim::Completion>& sampled) {
  page.indent(2);
  page.words(Ink::kFaint, "$ verbatim audit --record-dir " + record_dir);
  page.end_line();
  const auto audit = run_self({"audit", "--record-dir", record_dir});
  if (!audit) return audit.error();
  if (audit->code != 0)
    return unproved("the audit (process " + std::to_string(audit->pid) + ") ended with code " +
                    std::to_string(audit->code));
  if (auto status = check_sampled(turns, sampled); !status.ok()) return status;
  std::size_t ids = 0;
  for (const auto& completion : sampled) ids += completion.ids.size();
  page.end_line();
  page.words(Ink::kGood, "Proved");
  page.words(Ink::kPlain, " from the record alone, by process " + std::to_string(audit->pid) +
                              ": every prompt begins with the turn before. And all " +
                              std::to_string(ids) +
                              " sampled ids with their logprobs are those that the simulated "
                              "engine says it sampled.");
  page.end_line();
  return {};
}

Status compare(Page& page, const chat::Renderer& renderer, const AgentLog& log,
               const std::vector<DemoTurn>& turns) {
  const auto second = rerender(renderer, log.requests[1], turns[1].turn.prompt);
  if (!second) return second.error();
  const auto last = rerender(renderer, log.requests.back(), turns.back().turn.prompt);
  if (!last) return last.error();
  const auto losses = answer_losses(renderer, log.requests.back(), turns);
  if (!losses) return losses.error();
  print_rerender(page, renderer.tokenizer(), *second, *last, *losses);
  return {};
}

Status show(Page& page, base::Files& files, const Workplace& place) {
  ModelOptions options;
  options.tokenizer_dir = place.model_dir();
  auto model = load_model(files, options);
  if (!model) return std::move(model).error();
  auto played = play(files, *model, place.record_dir());
  if (!played) return std::move(played).error();
  const auto& log = played->log;
  const auto turns = read_demo_record(files, place.record_dir() + "/" + log.session_id + ".jsonl");
  if (!turns) return turns.error();
  if (turns->size() != kTurns)
    return unproved("expected " + std::to_string(kTurns) + " turns on record, found " +
                    std::to_string(turns->size()));
  const auto& renderer = *(*model)->renderer;
  const auto& leaf = turns->back().turn;

  page.indent(0);
  page.words(Ink::kFaint,
             "An agent, the gateway and a simulated engine, over HTTP in this process.\n");
  page.heading("1", "A conversation, as people read it");
  print_conversation(page, log.said);
  page.heading(
      "2", "As the model saw it: " + std::to_string(leaf.prompt.size() + leaf.completion.size()) +
               " token ids, by who wrote them");
  print_trajectory(page, renderer.tokenizer(), log.said, *turns);
  page.heading("3", "The proof, by a second process that has only the record");
  if (auto status = prove(page, place.record_dir(), *turns, played->sampled); !status.ok())
    return status;
  page.heading("4", "What rendering the history again would have done");
  return compare(page, renderer, log, *turns);
}

Exit run(const DemoOptions& options) {
  const auto files = base::system_files();
  Workplace place(*files, options.keep);
  if (auto status = place.prepare(); !status.ok()) return fail(status.error());
  Page page(colour_of(options.colour));
  if (auto status = show(page, *files, place); !status.ok()) return fail(status.error());
  return Exit::kOk;
}

}  // namespace

Run add_demo(CLI::App& program) {
  auto* command = program.add_subcommand(
      "demo", "a token-exact tool conversation with a simulated engine, its trajectory, the proof");
  auto options = std::make_shared<DemoOptions>();
  command->add_option("--color", options->colour, "auto (on a terminal), always or never")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->capture_default_str();
  command->add_option("--keep", options->keep,
                      "folder in which vocabulary, template and record stay (default: none)");
  command->footer(
      "Needs nothing but this binary. Exit code 0 only if all proofs hold.\n"
      "Example: verbatim demo --color always | less -R");
  return [options] { return run(*options); };
}

}  // namespace verbatim::cli
