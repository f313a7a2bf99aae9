#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/cancel.h"
#include "engine/answer_reader.h"
#include "engine/http_peer.h"
#include "net/sse.h"

namespace verbatim::engine {

// One answer being read: its bytes go through SseReader (or are gathered, where the engine answers
// without streaming) into the kind's reader. A stream must end with [DONE]. What was read before a
// failure is given out before the failure is. Life and errors: see TokenStream.
class AnswerStream final : public TokenStream {
 public:
  struct Setup {
    std::unique_ptr<AnswerReader> reader;
    base::MonoTime deadline = base::kNever;
    base::CancelSignal* cancel = nullptr;
    // Tells the engine to stop, beside the connection that is closed. Called at most once, and not
    // where the engine is done.
    std::function<void(Heard)> on_abort;
  };
  AnswerStream(HttpPeer& peer, net::ClientResponse response, Setup setup);
  ~AnswerStream() override;

  // Returns when the first event is there, or the error that came instead.
  base::Task<base::Status> start();

  base::Task<base::Result<std::optional<TokenChunk>>> next() override;
  [[nodiscard]] const TokenEnd& end() const override { return end_; }
  base::Status cut() override;
  void abort() override { give_up("the generation was aborted"); }

 private:
  enum class Body { kEvents, kWhole };

  base::Task<void> read_more();
  void take(std::string_view bytes);
  base::Status take_event(std::string_view data);
  base::Status take_object(std::string_view data);
  void take_end();
  void set_end(TokenEnd end);
  void fail(base::Error error);
  void give_up(const char* reason);
  void tell_engine();
  [[nodiscard]] base::MonoTime read_deadline() const;

  HttpPeer& peer_;
  std::unique_ptr<AnswerReader> reader_;
  const base::MonoTime deadline_;
  const std::function<void(Heard)> on_abort_;
  std::optional<net::ClientResponse> response_;
  const Body body_;
  net::SseReader events_;
  std::string whole_;
  TokenChunk chunk_;  // read and not given out yet
  bool heard_ = false;
  bool done_ = false;  // end_ is proved
  std::optional<base::Error> failure_;
  const std::string engine_request_id_;
  TokenEnd end_;
  std::optional<base::CancelHook> on_cancel_;
};

// Starts reading the answer to a request that samples: a refusal becomes its error.
base::Task<base::Result<std::unique_ptr<TokenStream>>> start_stream(HttpPeer& peer,
                                                                    net::ClientResponse response,
                                                                    AnswerStream::Setup setup);

}  // namespace verbatim::engine
