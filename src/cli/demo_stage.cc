#include "cli/demo_stage.h"

#include "engine/sglang/engine.h"

namespace verbatim::cli {

using base::Status;
using base::Task;

namespace {

constexpr const char* kHost = "127.0.0.1";
constexpr base::Duration kPatience = std::chrono::seconds(10);
constexpr std::uint64_t kSeed = 7;

}  // namespace

DemoStage::DemoStage(net::AsioLoop& loop, base::Files& files, std::shared_ptr<gateway::Model> model,
                     const std::string& record_dir, std::string_view script)
    : model_(std::move(model)),
      network_(net::asio_network(loop)),
      runtime_{loop, *network_, *random_, files, *worker_},
      recorder_(files, *worker_, record_dir, model_->checkpoint),
      sim_(runtime_, sim_options(script)) {}

sim::SimOptions DemoStage::sim_options(std::string_view script) {
  sim::SimOptions options;
  options.tokenizer = {model_, &model_->renderer->tokenizer()};
  options.script = std::move(*sim::Script::parse(script));  // a script that doesn't parse is a bug
  options.seed = kSeed;
  options.on_planned = [this](const sim::GenerateCall&, const sim::Completion& done,
                              std::optional<sim::Fault>) { sampled_.push_back(done); };
  return options;
}

std::unique_ptr<engine::Engine> DemoStage::make_engine(std::uint16_t port) {
  engine::sglang::Options options;
  options.url.endpoint = {kHost, port, false};
  options.vocab_size = model_->vocab_size;
  return std::make_unique<engine::sglang::SglangEngine>(runtime_, std::move(options));
}

Task<Status> DemoStage::start() {
  if (auto status = recorder_.open(); !status.ok()) co_return status;
  const auto engine_port = sim_.start(kHost, 0);
  if (!engine_port) co_return engine_port.error();
  instance_ = std::make_unique<api::Instance>(runtime_, *model_, make_engine(*engine_port), store_,
                                              &recorder_, base::new_hex_id(*random_));
  const auto port = instance_->start(kHost, 0, base::Network::PortUse::kExclusive);
  if (!port) co_return port.error();
  port_ = *port;
  const auto probe = co_await instance_->learn(runtime_.clock().now() + kPatience);
  if (!probe) co_return probe.error();
  co_return Status();
}

Task<void> DemoStage::stop() {
  if (instance_) co_await instance_->drain(runtime_.clock().now() + kPatience);
  co_await sim_.stop();
}

}  // namespace verbatim::cli
