#include <optional>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/model_options.h"
#include "json/writer.h"
#include "net/asio_network.h"
#include "sim/sim_engine.h"

namespace verbatim::cli {
namespace {

using base::Result;
using base::Task;

constexpr std::uint64_t kMaxScript = 64U << 20;

struct SimCommandOptions {
  ModelOptions model;
  std::string face = "sglang";
  std::string profile;
  bool no_token_routes = false;
  bool no_message_routes = false;
  bool no_extensions = false;
  std::string script;
  std::string behaviour = "call-first-tool-then-answer";
  std::optional<std::string> text;
  std::vector<std::string> faults;
  std::string log;
  std::string host = "127.0.0.1";
  std::uint16_t port = 30000;
  bool incremental = false;
  std::uint64_t ids_per_event = 1;
  std::uint64_t delay_ms = 0;
  std::uint64_t token_delay_ms = 0;
  std::uint64_t max_model_len = 32768;
  std::string weight_version = "default";
  std::uint64_t seed = 1;
};

std::string log_line(const sim::GenerateCall& call, const sim::Completion& done,
                     std::optional<sim::Fault> fault) {
  json::Writer w;
  w.begin_object().field("rid", call.rid).key("prompt_ids").begin_array();
  for (const auto id : call.prompt) w.unsigned_integer(id);
  w.end_array().key("output_ids").begin_array();
  for (const auto id : done.ids) w.unsigned_integer(id);
  w.end_array().key("logprobs").begin_array();
  for (const double value : done.logprobs) w.number(value);
  w.end_array().field("finish", done.finish.type).key("fault");
  fault ? w.string(sim::name(*fault)) : w.null();
  w.field("stream", call.stream).field("max_tokens", call.limits.max_new_tokens);
  w.end_object();
  return w.take() + "\n";
}

Result<sim::Script> load_script(base::Files& files, const std::string& path) {
  auto text = files.read(path, kMaxScript);
  if (!text) return std::move(text).error();
  auto script = sim::Script::parse(*text);
  if (!script) return std::move(script).error().within(path);
  return script;
}

Result<sim::FaultRates> fault_rates(const std::vector<std::string>& faults) {
  std::string all;
  for (const auto& fault : faults) all += (all.empty() ? "" : ",") + fault;
  if (all.empty()) return sim::FaultRates();
  auto rates = sim::FaultRates::parse(all);
  if (!rates) return base::invalid("--fault", rates.error().message);
  return rates;
}

// What the options say, files read.
Result<sim::SimOptions> read_options(base::Files& files, const SimCommandOptions& options) {
  sim::SimOptions sim;
  sim.face = *sim::face_named(options.face);
  if (!options.profile.empty() && !sim::has_profile(sim.face, options.profile))
    return base::invalid("--profile", "found \"" + options.profile + "\", expected one of " +
                                          sim::profile_names(sim.face) + " with --face " +
                                          options.face);
  sim.profile = options.profile;
  sim.token_routes = !options.no_token_routes;
  sim.message_routes = !options.no_message_routes;
  sim.nvext = !options.no_extensions;
  sim.behaviour =
      options.text ? sim::Behaviour::kFixedText : *sim::behaviour_named(options.behaviour);
  if (options.text) sim.fixed_text = *options.text;
  auto faults = fault_rates(options.faults);
  if (!faults) return std::move(faults).error();
  sim.faults = *faults;
  if (!options.script.empty()) {
    auto script = load_script(files, options.script);
    if (!script) return std::move(script).error();
    sim.script = std::move(*script);
  }
  auto tokenizer = load_tokenizer(files, options.model);
  if (!tokenizer) return std::move(tokenizer).error();
  sim.tokenizer = std::move(*tokenizer);
  sim.vocab_size = options.model.vocab_size;
  if (!options.model.name.empty()) sim.model = options.model.name;
  sim.weight_version = options.weight_version;
  sim.max_model_len = options.max_model_len;
  sim.seed = options.seed;
  sim.streaming = options.incremental ? sim::Streaming::kIncremental : sim::Streaming::kCumulative;
  sim.ids_per_event = options.ids_per_event;
  sim.delay = std::chrono::milliseconds(options.delay_ms);
  sim.token_delay = std::chrono::milliseconds(options.token_delay_ms);
  return sim;
}

Task<void> shut_down(sim::SimEngine& engine, net::AsioLoop& loop) {
  co_await engine.stop();
  loop.stop();
}

Exit run(const SimCommandOptions& options) {
  const auto files = base::system_files();
  auto sim = read_options(*files, options);
  if (!sim) return fail(sim.error(), Exit::kUsage);
  std::unique_ptr<base::AppendFile> log;
  if (!options.log.empty()) {
    auto opened = files->open_append(options.log);
    if (!opened) return fail(opened.error(), Exit::kUsage);
    log = std::move(*opened);
    sim->on_planned = [&log](const sim::GenerateCall& call, const sim::Completion& done,
                             std::optional<sim::Fault> fault) {
      if (auto status = log->append(log_line(call, done, fault)); !status.ok())
        say("--log: " + status.error().message);
    };
  }
  net::AsioLoop loop;
  const auto network = net::asio_network(loop);
  const auto random = base::system_random();
  const auto worker = base::thread_worker("files");
  base::Runtime runtime{loop, *network, *random, *files, *worker};
  sim::SimEngine engine(runtime, std::move(*sim));
  const auto port = engine.start(options.host, options.port);
  if (!port) return fail(cannot_listen(port.error()));
  announce("simulated " + options.face + " on http://" + options.host + ":" +
           std::to_string(*port));
  bool stopping = false;
  loop.on_terminate([&](int) {
    if (!std::exchange(stopping, true)) base::spawn(shut_down(engine, loop));
  });
  loop.run();
  return Exit::kOk;
}

void add_face(CLI::App& command, SimCommandOptions& options) {
  command.add_option("--face", options.face, "whose wire is spoken: sglang, vllm, dynamo, openai")
      ->check(CLI::IsMember({"sglang", "vllm", "dynamo", "openai"}))
      ->capture_default_str();
  command.add_option("--profile", options.profile,
                     "the release that is played (default: the first): of sglang " +
                         sim::profile_names(sim::FaceKind::kSglang) + "; of vllm " +
                         sim::profile_names(sim::FaceKind::kVllm) + "; of dynamo " +
                         sim::profile_names(sim::FaceKind::kDynamo));
  command.add_flag(
      "--no-token-routes", options.no_token_routes,
      "the token routes are 404: vllm as without --enable-scale-out, dynamo without its "
      "generate route");
  command.add_flag("--no-message-routes", options.no_message_routes,
                   "/v1/responses and /v1/messages are 404, as on servers without them");
  command.add_flag("--no-extensions", options.no_extensions,
                   "dynamo: its extensions, token ids with them, are dropped without a word");
}

void add_model(CLI::App& command, SimCommandOptions& options) {
  options.model.add_tokenizer(command);
  command.add_option("--model-name", options.model.name, "name of the model (default: sim)");
  command.add_option("--vocab-size", options.model.vocab_size,
                     "the model's vocab_size (default: the tokenizer's)");
  command.add_option("--max-model-len", options.max_model_len, "context length in tokens")
      ->capture_default_str();
  command
      .add_option("--weight-version", options.weight_version,
                  "weight version that the engine reports")
      ->capture_default_str();
}

void add_speech(CLI::App& command, SimCommandOptions& options) {
  command.add_option("--script", options.script,
                     "JSON file: what is answered to which prompt; behind its end --behaviour");
  command
      .add_option("--behaviour", options.behaviour,
                  "what the model does: call-first-tool-then-answer, echo, fixed-text")
      ->check(CLI::IsMember({"call-first-tool-then-answer", "echo", "fixed-text"}))
      ->capture_default_str();
  command.add_option("--text", options.text,
                     "answers this every time; takes the place of --behaviour");
  command.add_option("--seed", options.seed, "seed of ids, logprobs and faults that are drawn")
      ->capture_default_str();
}

void add_wire(CLI::App& command, SimCommandOptions& options) {
  command.add_flag("--incremental", options.incremental,
                   "sglang: events bring new ids only (default: all so far, as SGLang does)");
  command.add_option("--ids-per-event", options.ids_per_event, "ids that an event brings, at most")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  command.add_option("--delay-ms", options.delay_ms, "time before the first id");
  command.add_option("--token-delay-ms", options.token_delay_ms, "time for each id");
  command
      .add_option(
          "--fault", options.faults,
          "NAME=PERMILLE: how often, in a thousand, an answer goes wrong in this way (names: "
          "below; all=3 for each)")
      ->take_all();
  command.add_option("--log", options.log,
                     "file for a line per accepted request: prompt ids, sampled ids, logprobs");
  command.add_option("--host", options.host, "address to listen on")->capture_default_str();
  command.add_option("--port", options.port, "port to listen on, 0 for a free one")
      ->check(CLI::Range(0, 65535))
      ->capture_default_str();
}

}  // namespace

Run add_sim(CLI::App& program) {
  auto* command = program.add_subcommand(
      "sim",
      "a simulated engine: the wire of a real one, without a model; can be scripted, "
      "slowed down and broken");
  auto options = std::make_shared<SimCommandOptions>();
  add_face(*command, *options);
  add_model(*command, *options);
  add_speech(*command, *options);
  add_wire(*command, *options);
  command->footer(
      "Faults: " + sim::fault_names("\n        ") +
      "\nGET /sim/stats counts requests, aborts and faults.\n"
      "Example: verbatim sim --tokenizer models/qwen3 --port 30000 --fault http_500=20\n"
      "Example: verbatim sim --tokenizer models/qwen3 --face vllm --profile 0.30\n"
      "Example: verbatim sim --tokenizer models/qwen3 --face dynamo --no-extensions");
  return [options] { return run(*options); };
}

}  // namespace verbatim::cli
