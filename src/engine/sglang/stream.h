#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/cancel.h"
#include "engine/engine.h"
#include "engine/sglang/answer_reader.h"
#include "net/http_client.h"
#include "net/sse.h"

namespace verbatim::engine::sglang {

class SglangEngine;

// One answer of POST /generate being read: its bytes go through SseReader (or are gathered, where
// the engine answers without streaming) into AnswerReader. What was read before a failure is given
// out before the failure is. Life and errors: see TokenStream.
class SglangStream final : public TokenStream {
 public:
  SglangStream(SglangEngine& engine, TokenRequest request, net::ClientResponse response);
  ~SglangStream() override;

  // Returns when the first event is there, or the error that came instead.
  base::Task<base::Status> start();

  base::Task<base::Result<std::optional<TokenChunk>>> next() override;
  [[nodiscard]] const TokenEnd& end() const override { return end_; }
  void abort() override { give_up("the generation was aborted"); }

 private:
  enum class Body { kEvents, kWhole };

  base::Task<void> read_more();
  void take(std::string_view bytes);
  base::Status take_event(std::string_view data);
  base::Status take_object(std::string_view data);
  void take_end();
  void fail(base::Error error);
  void give_up(const char* reason);
  void tell_engine();
  [[nodiscard]] base::MonoTime read_deadline() const;

  SglangEngine& engine_;
  const std::string request_id_;
  const base::MonoTime deadline_;
  std::optional<net::ClientResponse> response_;
  const Body body_;
  net::SseReader events_;
  std::string whole_;
  AnswerReader reader_;
  TokenChunk chunk_;  // read and not given out yet
  bool heard_ = false;
  bool done_ = false;  // end_ is proved
  std::optional<base::Error> failure_;
  TokenEnd end_;
  std::optional<base::CancelHook> on_cancel_;
};

}  // namespace verbatim::engine::sglang
