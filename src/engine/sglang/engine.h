#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/runtime.h"
#include "engine/background.h"
#include "engine/engine.h"
#include "json/value.h"
#include "net/http_client.h"
#include "net/url.h"

namespace verbatim::engine::sglang {

struct Options {
  net::Url url;         // "http://host:port", with the base path of a router
  std::string api_key;  // sent as a bearer token; empty: none
  // The model's vocab_size: every id the engine names must be below it.
  std::uint64_t vocab_size = 0;
  // One event of a stream, or a whole answer that is not streamed. Cumulative events grow by about
  // 40 bytes for each sampled token.
  std::size_t max_event = std::size_t{16} << 20;
  base::Duration head_timeout = std::chrono::seconds(600);  // queueing counts
  base::Duration idle_timeout = std::chrono::seconds(300);  // between two bytes of an answer
  base::Duration abort_timeout = std::chrono::seconds(5);
  // An abort that may have overtaken its request is sent again after this time.
  base::Duration abort_repeat = std::chrono::milliseconds(250);
  base::Duration connect_retry = std::chrono::milliseconds(50);  // one more try after this time
  // A kept connection that the engine had closed already fails within this time; one that fails
  // later may have carried the request to a model.
  base::Duration stale_time = std::chrono::milliseconds(25);
  net::ClientOptions client;
};

// SGLang over its native POST /generate: prompts as ids, sampled ids with logprobs back. One per
// base URL and executor; see Engine for its life. Sends a request a second time only when no
// connection came about, or a kept one turned out to be closed already.
class SglangEngine final : public Engine {
 public:
  SglangEngine(base::Runtime& runtime, Options options);
  ~SglangEngine() override;

  [[nodiscard]] std::string_view kind() const override { return "sglang"; }
  [[nodiscard]] std::string_view mode() const override { return "generate"; }
  [[nodiscard]] base::Status check(const message::Sampling& sampling) const override;
  base::Task<base::Result<std::unique_ptr<TokenStream>>> generate(TokenRequest request) override;
  base::Task<base::Result<Probe>> probe(base::MonoTime deadline) override;
  base::Task<base::Status> ready(base::MonoTime deadline) override;
  base::Task<void> stop() override;

  // For its streams.

  enum class Heard { kNothing, kSomething };  // of the request to abort
  // Starts the abort call; stop() waits for it.
  void send_abort(std::string request_id, Heard heard);
  // Reads the little that follows a proved end, so that the connection can be kept.
  void drain(net::ClientResponse response);
  [[nodiscard]] const Options& options() const { return options_; }
  // As the last probe() found.
  [[nodiscard]] bool streams_new_only() const { return streams_new_only_; }
  [[nodiscard]] base::MonoTime in(base::Duration time) const {
    return runtime_.clock().now() + time;
  }

 private:
  base::Task<base::Result<net::ClientResponse>> post_generate(const TokenRequest& request);
  base::Task<base::Result<net::ClientResponse>> send_generate(const net::ClientRequest& post,
                                                              base::MonoTime deadline);
  base::Task<base::Result<net::ClientResponse>> get(std::string path, base::MonoTime deadline);
  // nullopt where the engine does not have the path.
  base::Task<base::Result<std::optional<json::Document>>> get_json(std::string path,
                                                                   base::MonoTime deadline);
  base::Task<base::Result<std::optional<json::Document>>> get_either(std::string path,
                                                                     std::string older,
                                                                     base::MonoTime deadline);
  base::Task<void> abort_call(std::string request_id, Heard heard);
  base::Task<void> post_abort(std::string_view body, base::MonoTime deadline);
  base::Task<void> read_rest(net::ClientResponse response);
  base::Task<base::Error> read_refusal(net::ClientResponse response, base::MonoTime deadline);
  [[nodiscard]] net::ClientRequest request_to(std::string_view method,
                                              std::string_view target) const;

  base::Runtime& runtime_;
  const Options options_;
  net::HttpClient client_;
  Background background_;
  bool streams_new_only_ = false;
};

}  // namespace verbatim::engine::sglang
