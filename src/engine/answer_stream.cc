#include "engine/answer_stream.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "engine/fields.h"

namespace verbatim::engine {
namespace {

using base::ErrorKind;

// Goes into records: plain, and no longer than an id.
std::string request_id_of(const net::Headers& headers) {
  constexpr std::size_t kMax = 512;
  const auto id = headers.find("x-request-id");
  const bool plain = std::all_of(id.begin(), id.end(), [](char c) { return c > 0x20 && c < 0x7f; });
  return plain && id.size() <= kMax ? std::string(id) : std::string();
}

base::Error cut_short(std::string found) {
  auto error = base::error(ErrorKind::kEngine, "the engine's answer was cut: " + std::move(found));
  error.code = "cut_answer";
  return error;
}

void append(TokenChunk& to, TokenChunk&& from) {
  if (to.empty()) {
    to = std::move(from);
    return;
  }
  std::move(from.events.begin(), from.events.end(), std::back_inserter(to.events));
  // One list of top logprobs for each id, or none at all.
  if (!to.top_logprobs.empty() || !from.top_logprobs.empty()) {
    to.top_logprobs.resize(to.ids.size());
    from.top_logprobs.resize(from.ids.size());
    std::move(from.top_logprobs.begin(), from.top_logprobs.end(),
              std::back_inserter(to.top_logprobs));
  }
  to.ids.insert(to.ids.end(), from.ids.begin(), from.ids.end());
  to.logprobs.insert(to.logprobs.end(), from.logprobs.begin(), from.logprobs.end());
}

}  // namespace

AnswerStream::AnswerStream(HttpPeer& peer, net::ClientResponse response, Setup setup)
    : peer_(peer),
      reader_(std::move(setup.reader)),
      deadline_(setup.deadline),
      on_abort_(std::move(setup.on_abort)),
      response_(std::move(response)),
      body_(net::is_event_stream(response_->headers().find("content-type")) ? Body::kEvents
                                                                            : Body::kWhole),
      events_(peer.options().max_event),
      engine_request_id_(request_id_of(response_->headers())) {
  if (setup.cancel != nullptr)
    on_cancel_.emplace(*setup.cancel, [this] { give_up("the request was given up"); });
}

AnswerStream::~AnswerStream() {
  abort();
}

base::Task<base::Status> AnswerStream::start() {
  while (!heard_ && !failure_) co_await read_more();
  // An error behind good events comes after them, from next().
  if (failure_ && chunk_.empty()) co_return *failure_;
  co_return base::Status();
}

base::Task<base::Result<std::optional<TokenChunk>>> AnswerStream::next() {
  for (;;) {
    if (!chunk_.empty()) co_return std::optional<TokenChunk>(std::exchange(chunk_, {}));
    if (failure_) co_return *failure_;
    if (done_) co_return std::optional<TokenChunk>();
    co_await read_more();
  }
}

base::MonoTime AnswerStream::read_deadline() const {
  return std::min(deadline_, peer_.in(peer_.options().idle_timeout));
}

base::Task<void> AnswerStream::read_more() {
  auto bytes = co_await response_->read(read_deadline());
  if (failure_) co_return;  // given up meanwhile
  if (!bytes.ok()) {
    base::Error error = std::move(bytes).error();
    error.message = "reading the engine's answer: " + error.message;
    // A stream that breaks off is the engine's failure, whatever the transport calls it.
    if (error.kind != ErrorKind::kTimeout) error.kind = ErrorKind::kEngine;
    fail(std::move(error));
    co_return;
  }
  if (bytes->empty()) {
    take_end();
  } else {
    take(*bytes);
  }
}

void AnswerStream::take(std::string_view bytes) {
  if (body_ == Body::kWhole) {
    if (bytes.size() > peer_.options().max_event - whole_.size()) {
      fail(malformed("", "more than " + std::to_string(peer_.options().max_event) + " bytes",
                     "less"));
      return;
    }
    whole_ += bytes;
    return;
  }
  auto status = events_.feed(bytes, [this](const net::SseEvent& event) -> base::Status {
    return done_ ? base::Status() : take_event(event.data);
  });
  if (!status.ok()) {
    base::Error error = std::move(status).error();
    error.kind = ErrorKind::kEngine;
    fail(std::move(error));
    return;
  }
  if (done_) peer_.drain(std::move(*std::exchange(response_, std::nullopt)));
}

base::Status AnswerStream::take_event(std::string_view data) {
  heard_ = true;
  if (data != "[DONE]") {
    if (auto status = take_object(data); !status.ok() || !reader_->ended()) return status;
  }
  auto end = reader_->finish();
  if (!end.ok()) return std::move(end).error();
  set_end(std::move(*end));
  return {};
}

base::Status AnswerStream::take_object(std::string_view data) {
  auto chunk = reader_->feed(data);
  if (!chunk.ok()) return std::move(chunk).error();
  append(chunk_, std::move(*chunk));
  return {};
}

void AnswerStream::take_end() {
  heard_ = true;
  if (body_ == Body::kEvents)
    return fail(cut_short("found the end of the stream, expected its last event"));
  if (auto status = take_object(whole_); !status.ok()) return fail(std::move(status).error());
  if (auto status = take_event("[DONE]"); !status.ok()) return fail(std::move(status).error());
  response_.reset();
}

void AnswerStream::set_end(TokenEnd end) {
  end_ = std::move(end);
  end_.engine_url = net::url_text(peer_.options().url);
  end_.engine_request_id = engine_request_id_;
  done_ = true;
}

void AnswerStream::fail(base::Error error) {
  failure_ = std::move(error);
  tell_engine();
}

void AnswerStream::give_up(const char* reason) {
  if (failure_ || done_) return;
  chunk_ = {};
  fail(base::error(ErrorKind::kCancelled, reason));
}

void AnswerStream::tell_engine() {
  if (response_) response_->close();
  if (reader_->engine_is_done()) return;
  if (on_abort_) on_abort_(heard_ ? Heard::kSomething : Heard::kNothing);
}

base::Status AnswerStream::cut() {
  if (failure_) return *failure_;
  if (done_) return {};
  auto end = reader_->cut();
  if (!end.ok()) {
    fail(std::move(end).error());
    return *failure_;
  }
  chunk_ = {};
  set_end(std::move(*end));
  tell_engine();
  return {};
}

base::Task<base::Result<std::unique_ptr<TokenStream>>> start_stream(HttpPeer& peer,
                                                                    net::ClientResponse response,
                                                                    AnswerStream::Setup setup) {
  if (response.status() != 200)
    co_return co_await peer.read_refusal(std::move(response), setup.deadline);
  auto stream = std::make_unique<AnswerStream>(peer, std::move(response), std::move(setup));
  auto started = co_await stream->start();
  if (!started.ok()) co_return std::move(started).error();
  co_return std::unique_ptr<TokenStream>(std::move(stream));
}

}  // namespace verbatim::engine
