#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/runtime.h"
#include "engine/background.h"
#include "engine/engine.h"
#include "engine/known_pages.h"
#include "json/value.h"
#include "net/http_client.h"
#include "net/url.h"

namespace verbatim::engine {

// Whether the engine has shown that it has the request that is to be aborted.
enum class Heard { kNothing, kSomething };

struct PeerOptions {
  net::Url url;         // "http://host:port", with the base path of a router
  std::string api_key;  // sent as a bearer token; empty: none
  // One event of a stream, or a whole answer that is not streamed.
  std::size_t max_event = std::size_t{16} << 20;
  base::Duration head_timeout = std::chrono::seconds(600);  // queueing counts
  base::Duration idle_timeout = std::chrono::seconds(300);  // between two bytes of an answer
  base::Duration abort_timeout = std::chrono::seconds(5);
  // An abort that may have overtaken its request is sent again after this time.
  base::Duration abort_repeat = std::chrono::milliseconds(250);
  base::Duration connect_retry = std::chrono::milliseconds(50);  // one more try after this time
  net::ClientOptions client;
  std::shared_ptr<KnownPages> known;  // pages that get_json() need not ask for, and where it puts
                                      // those it asked for; null: none
};

// What every request of a kind must hold before anything is sent: an id, a prompt, room for an
// answer, somebody who waits for it.
base::Status check_request(const TokenRequest& request);

// A status that says: no such path here.
bool is_missing(int status);

// The HTTP side of an engine at one base URL, whatever its kind. A request that samples is sent a
// second time only when no connection came about, or a kept one broke before all of it was written.
// On one executor. Life: created, used, stop()ped to the end, destroyed.
class HttpPeer {
 public:
  HttpPeer(base::Runtime& runtime, PeerOptions options);

  // With the key and the policy of requests that are safe to repeat.
  [[nodiscard]] net::ClientRequest request_to(std::string_view method,
                                              std::string_view target) const;
  // `path` behind the base path of the URL.
  [[nodiscard]] std::string target(std::string_view path) const {
    return options_.url.base_path + std::string(path);
  }

  struct Sent {
    net::Headers headers;  // beside Content-Type, Accept and the key
    base::CancelSignal* cancel = nullptr;
    base::MonoTime deadline = base::kNever;
  };
  // POSTs a JSON body that makes the engine sample and waits for the head of its answer, at most
  // head_timeout. Errors name the engine; kUnavailable: nothing can have been sampled.
  base::Task<base::Result<net::ClientResponse>> post(std::string_view path, std::string_view body,
                                                     Sent sent);
  // Sends on a request of somebody else as it is, under the key of this side, by the same rules.
  struct Forward {
    std::string_view method;
    std::string_view target;  // behind the base path, with its query
    net::Headers headers;     // what goes up; none of them is the key
    std::string_view body;
    base::CancelSignal* cancel = nullptr;
  };
  base::Task<base::Result<net::ClientResponse>> forward(const Forward& request);
  // The error behind an answer that is no 200.
  base::Task<base::Error> read_refusal(net::ClientResponse response, base::MonoTime deadline);

  base::Task<base::Result<net::ClientResponse>> get(std::string path, base::MonoTime deadline);
  // nullopt where the engine does not have the path.
  base::Task<base::Result<std::optional<json::Document>>> get_json(std::string path,
                                                                   base::MonoTime deadline);
  // POSTs a small body whose answer nobody waits for: aborts.
  base::Task<void> tell(std::string_view path, std::string_view body, base::MonoTime deadline);

  // Starts the call that tells an engine to abort a request; stop() waits for it. Engines answer
  // 200 for requests they do not know, so where nothing was heard of it the call is made twice.
  void abort(std::string_view path, std::string body, Heard heard);

  // Work that outlives its caller; stop() waits for it. Each task bounds its own time.
  void run(base::Task<void> task) { background_.run(std::move(task)); }
  // Reads the little that follows a proved end, so that the connection can be kept.
  void drain(net::ClientResponse response);
  base::Task<void> stop();

  [[nodiscard]] const PeerOptions& options() const { return options_; }
  [[nodiscard]] base::Runtime& runtime() const { return runtime_; }
  [[nodiscard]] base::MonoTime in(base::Duration time) const {
    return runtime_.clock().now() + time;
  }

 private:
  base::Task<base::Result<KnownPages::Page>> get_page(const std::string& path,
                                                      base::MonoTime deadline);
  base::Task<base::Result<net::ClientResponse>> send(const net::ClientRequest& request,
                                                     base::MonoTime deadline);
  base::Task<void> abort_call(std::string path, std::string body, Heard heard);
  base::Task<void> read_rest(net::ClientResponse response);

  base::Runtime& runtime_;
  const PeerOptions options_;
  net::HttpClient client_;
  Background background_;
};

// The request did not reach the engine: no connection came about.
bool never_sent(const base::Error& error);

}  // namespace verbatim::engine
