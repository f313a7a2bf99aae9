#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/timer.h"
#include "net/http_parser.h"
#include "net/http_server.h"
#include "net/read_pump.h"

namespace verbatim::net {

// One accepted connection. Owns itself from start() on: it is destroyed when run() ends, and tells
// the server.
class ServerConnection final : ReadPump::Observer {
 public:
  enum class Role { kServe, kRefuse };  // kRefuse: one too many, answered 503
  ServerConnection(HttpServer::Impl& server, std::unique_ptr<base::ByteStream> stream, Role role);
  ServerConnection(const ServerConnection&) = delete;
  ~ServerConnection();

  void start();
  // The server stops: an idle connection ends, a busy one after its request.
  void drain();
  // The server can't wait any longer: a handler may still say so to its client.
  void cancel(const char* reason);
  void abort(const char* reason);
  [[nodiscard]] Role role() const { return role_; }

  // Responder's side. Each returns what to write; see Responder.
  ResponseWrite send(int status, std::string_view content_type, const Headers* headers,
                     std::string_view body);
  base::Status begin_stream(int status, std::string_view content_type, const Headers* headers,
                            BodyEnd end);
  ResponseWrite write(std::span<const std::string_view> pieces);
  ResponseWrite end(std::string_view last_piece);
  ResponseWrite flush_head();
  void fail();
  [[nodiscard]] bool begun() const { return answer_ != Answer::kNone; }
  [[nodiscard]] int status() const { return begun() ? status_ : 0; }
  [[nodiscard]] const std::string& request_id();

  // ResponseWrite's side.
  void start_write(std::span<const std::string_view> pieces, base::IoCompletion& done);
  base::Status end_write(base::Result<std::size_t> result);

  ServerConnection* list_next = nullptr;  // the server's list
  ServerConnection* list_prev = nullptr;

 private:
  enum class Next { kRequest, kRefuse, kClose };
  enum class Wait { kNothing, kRequest, kPeerClosing };
  enum class Answer { kNone, kHeadHeld, kStreaming, kEnded, kFailed };

  base::Task<void> run();
  base::Task<Next> read_request();
  // What feeding what has arrived leads to; nullopt: more is needed.
  std::optional<Next> feed();
  base::Task<void> handle();
  base::Task<void> call_handler(Responder& responder);
  base::Task<void> refuse(const HttpFailure& failure);
  base::Task<void> linger();
  void on_stream_end() override;

  void begin_head(int status, std::string_view content_type, const Headers* headers);
  ResponseWrite chunk(std::span<const std::string_view> pieces, bool last);
  void append_framing();
  base::Status count_down(std::size_t size, bool last);
  base::Status misuse(const char* what) const;
  [[nodiscard]] base::Error gone() const;

  void set_deadline(base::Duration from_now);
  void clear_deadline() { deadline_ = base::kNever; }
  void on_timer();

  HttpServer::Impl& server_;
  std::unique_ptr<base::ByteStream> stream_;
  const Role role_;
  const std::string peer_;
  ReadPump pump_;
  RequestParser parser_;
  Request request_;
  std::optional<base::CancelSignal> cancel_;  // while a handler runs
  Answer answer_ = Answer::kNone;
  int status_ = 0;              // of the answer, once it has begun
  Wait wait_ = Wait::kNothing;  // for bytes, in read_request() or linger()
  bool keep_ = true;            // the connection lives on behind this answer
  bool head_only_ = false;      // an answer without body on the wire
  BodyEnd body_end_;            // of a stream; its length counts down
  bool broken_ = false;         // nothing can be written any more
  bool timed_out_ = false;
  bool sent_continue_ = false;
  bool in_body_ = false;
  std::string head_;        // of the answer
  std::string request_id_;  // empty: nobody has asked yet
  char size_line_[24];
  base::Timer timer_;
  base::MonoTime armed_for_;
  base::MonoTime deadline_ = base::kNever;
};

}  // namespace verbatim::net
