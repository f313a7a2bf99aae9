#include "cli/serve_relay.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "api/relay_instance.h"
#include "cli/engine_options.h"
#include "cli/parts_end.h"
#include "net/asio_network.h"
#include "net/asio_threads.h"

namespace verbatim::cli {
namespace {

// One thread's part of the gateway.
struct Part {
  Part(net::AsioLoop& loop, base::Files& files, base::Worker& worker, engine::PeerOptions engine,
       api::Monitoring& monitoring)
      : network(net::asio_network(loop)),
        runtime{loop, *network, *random, files, worker},
        instance(runtime, std::move(engine), {}, &monitoring) {}
  std::unique_ptr<base::Random> random = base::system_random();
  std::unique_ptr<base::Network> network;
  base::Runtime runtime;
  api::RelayInstance instance;
};

class Relaying {
 public:
  Relaying(const RelayOptions& options, const engine::Choice& choice, Log& log)
      : options_(options),
        log_(log),
        engine_(engine::peer_of(choice)),
        loops_(options.threads == 0 ? net::usable_cores() : options.threads) {
    monitoring_.set_version(options.version);
    log_.count_in(monitoring_.metrics());
  }

  Relaying(const Relaying&) = delete;
  Relaying& operator=(const Relaying&) = delete;
  ~Relaying() { log_.stop_counting(); }

  base::Status start() {
    for (std::size_t i = 0; i < loops_.size(); ++i)
      parts_.push_back(std::make_unique<Part>(loops_[i], *files_, *worker_, engine_, monitoring_));
    const bool alone = parts_.size() == 1;
    std::uint16_t port = options_.port;
    if (!alone && port != 0) {
      auto status = check_port(*parts_[0]->network, options_.host, port);
      if (!status.ok()) return status;
    }
    using Use = base::Network::PortUse;
    for (const auto& part : parts_) {
      auto bound =
          part->instance.start(options_.host, port, alone ? Use::kExclusive : Use::kShared);
      if (!bound) return cannot_listen(bound.error());
      port = *bound;
    }
    log_.flush();
    announce("relaying on http://" + options_.host + ":" + std::to_string(port) + " (engine " +
             net::host_field(engine_.url.endpoint) + engine_.url.base_path + ", openai, " +
             std::to_string(parts_.size()) + " threads)");
    return {};
  }

  void run() {
    loops_[0].on_terminate([this](int) { end_.signalled(); });
    loops_.run();
  }

 private:
  const RelayOptions& options_;
  Log& log_;
  const engine::PeerOptions engine_;
  std::unique_ptr<base::Files> files_ = base::system_files();
  api::Monitoring monitoring_{*files_};
  std::unique_ptr<base::Worker> worker_ = base::thread_worker("files");
  net::LoopThreads loops_;
  std::vector<std::unique_ptr<Part>> parts_;
  PartsEnd end_{loops_, log_, "running answers",
                [this](std::size_t i) {
                  return parts_[i]->instance.drain(parts_[i]->runtime.clock().now() + kDrainTime);
                },
                [this](std::size_t i) { parts_[i]->instance.hurry(); }};
};

// What an engine of kind "auto" turns out to be, without a tokenizer at hand.
base::Result<engine::Choice> find_out(const engine::Choice& asked, Log& log) {
  auto found = std::move(inspect_engines({asked}).front());
  if (!found.ok()) return std::move(found).error();
  if (!found->reached.ok()) {
    return base::invalid("--tokenizer",
                         "--tokenizer: missing, and the engine does not answer yet: name the "
                         "folder with the model's tokenizer.json, or say --engine-kind openai to "
                         "relay messages, whose tokens are not exact");
  }
  if (!relays(found->choice)) return base::invalid("--tokenizer", needs_tokenizer(found->choice));
  log.tell(
      LogLevel::kWarn,
      "nothing shows this engine to be one that is driven by token ids, so messages are relayed to "
      "it: tokens can't be exact on this path, and nothing is recorded. For exact tokens give "
      "--tokenizer and --engine-kind, of " +
          engine::kinds_by_ids());
  return std::move(found->choice);
}

}  // namespace

bool relays(const engine::Choice& choice) {
  return engine::path_of(choice) == engine::Path::kRelay;
}

bool by_messages(const engine::Choice& choice) {
  if (engine::find_kind(choice.kind) != nullptr)
    return engine::path_of(choice) == engine::Path::kMessages;
  if (choice.mode.empty()) return false;
  const auto names = [&](const engine::Kind& kind) {
    const auto* mode = engine::find_mode(kind, choice.mode);
    return mode != nullptr && mode->path == engine::Path::kMessages;
  };
  return std::any_of(engine::kinds().begin(), engine::kinds().end(), names);
}

std::string needs_tokenizer(const engine::Choice& choice) {
  const auto* kind = engine::find_kind(choice.kind);
  const std::string modes =
      kind == nullptr ? "" : engine::mode_names(*kind, engine::Path::kMessages);
  return "--tokenizer: missing, and an engine of kind " + choice.kind +
         (choice.mode.empty() ? "" : " in mode " + choice.mode) +
         " is driven by token ids: name the folder with the model's tokenizer.json. Without it "
         "only "
         "messages can go up, whose tokens are not exact: --engine-mode " +
         modes + " for sessions and records, or --engine-kind openai to relay requests as they are";
}

Exit serve_relay(const std::vector<engine::Choice>& asked, const RelayOptions& options,
                 const char* token_option, Log& log) {
  engine::Choice choice = asked.front();
  if (!relays(choice) && choice.kind != "auto") return usage(needs_tokenizer(choice));
  if (!relays(choice)) {
    auto found = find_out(choice, log);
    if (!found.ok()) return log.fail(found.error(), Exit::kUsage);
    choice = std::move(*found);
  }
  const std::string kinds = engine::kinds_by_ids();
  if (asked.size() > 1) {
    return usage("--engine: one URL for a relay (--engine-kind openai), found " +
                 std::to_string(asked.size()) +
                 "; replicas have sessions: --engine-mode chat, responses or messages, or a kind "
                 "of " +
                 kinds);
  }
  if (token_option != nullptr) {
    return usage(std::string(token_option) +
                 ": not for --engine-kind openai, which relays messages: tokens are not exact and "
                 "nothing is recorded. Leave it out, or name a kind that is driven by token ids "
                 "with --engine-kind: " +
                 kinds +
                 "; or --engine-mode chat, responses or messages, which keep sessions without "
                 "exact tokens");
  }
  Relaying relaying(options, choice, log);
  if (auto status = relaying.start(); !status.ok()) return log.fail(status.error());
  relaying.run();
  return Exit::kOk;
}

}  // namespace verbatim::cli
