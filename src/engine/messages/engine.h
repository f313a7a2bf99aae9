#pragma once

#include <memory>
#include <string>

#include "base/runtime.h"
#include "engine/engine.h"
#include "engine/http_peer.h"
#include "engine/mode.h"

namespace verbatim::engine::messages {

struct Options : PeerOptions {
  std::string kind;
  Mode mode;
  std::string context;       // what the context length is called in GET /v1/models
  bool low_is_soon = false;  // the engine's sense of `priority`
  protocol::Silent functions = protocol::Silent::kStrict;
  std::string model;      // for requests of this side's own; empty: the first that is listed
  bool may_cost = false;  // somebody may have to pay for a request of this side's own
};

// The message path: whole conversations go up over one of three public protocols, whatever the kind
// of engine. Tokens are not exact: there are no ids and no logprobs. Closing the connection is how
// a generation is aborted. One per base URL and executor; see Engine for its life.
class MessageEngine final : public Engine {
 public:
  MessageEngine(base::Runtime& runtime, const Options& options);

  [[nodiscard]] std::string_view kind() const override { return kind_; }
  [[nodiscard]] std::string_view mode() const override { return mode_.name; }
  [[nodiscard]] Path driven_by() const override { return Path::kMessages; }
  [[nodiscard]] base::Status check(const message::Sampling& sampling) const override;
  [[nodiscard]] base::Status check_messages(const protocol::Conversation& asked) const override;
  base::Task<base::Result<std::unique_ptr<TokenStream>>> generate(TokenRequest request) override;
  base::Task<base::Result<std::unique_ptr<TokenStream>>> complete(MessageRequest request) override;
  base::Task<base::Result<Probe>> probe(base::MonoTime deadline) override;
  // A token was made; of a server whose requests may cost something, only that a model is listed.
  base::Task<base::Status> ready(base::MonoTime deadline) override;
  base::Task<base::Status> samples(base::MonoTime deadline) override;
  base::Task<void> stop() override { return peer_.stop(); }

 private:
  [[nodiscard]] std::string body_of(const protocol::Conversation& asked) const;
  // The model for requests of this side's own.
  base::Task<base::Result<std::string>> listed_model(base::MonoTime deadline);

  base::Runtime& runtime_;
  HttpPeer peer_;
  const std::string kind_;
  const Mode mode_;
  const std::string context_;
  const bool low_is_soon_;
  const protocol::Silent functions_;
  const std::string model_;
  const bool may_cost_;
};

}  // namespace verbatim::engine::messages
