#include <algorithm>
#include <charconv>
#include <cstdio>
#include <utility>

#include "base/random.h"
#include "base/utf8.h"
#include "net/http_error_body.h"
#include "net/server_connection.h"
#include "net/server_impl.h"

// The writing half of a connection: how an answer looks on the wire.
namespace verbatim::net {
namespace {

bool written_by_server(std::string_view name) {
  for (const std::string_view own : {"server", "date", "connection", "content-length",
                                     "transfer-encoding", "keep-alive", "trailer", "upgrade"}) {
    if (equals_ignoring_case(name, own)) return true;
  }
  return false;
}

constexpr std::string_view kRequestId = "x-request-id";
constexpr std::size_t kMaxRequestId = 512;
constexpr unsigned kOwnLetters = 24;

bool has_no_body(int status) {
  return status / 100 == 1 || status == 204 || status == 304;
}

void append_number(std::string& out, std::uint64_t value) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  out.append(digits, static_cast<std::size_t>(end - digits));
}

}  // namespace

std::string error_body(const HttpFailure& failure) {
  std::string body = R"({"error":{"message":")";
  for (const char c : failure.message) {
    if (c == '"' || c == '\\') body += '\\';
    body += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  body += R"(","type":")";
  body += failure.status >= 500 ? "server_error" : "invalid_request_error";
  body += R"(","code":")";
  body += failure.code;
  body += R"(","param":null}})";
  return body;
}

const std::string& ServerConnection::request_id() {
  if (!request_id_.empty()) return request_id_;
  const std::string_view theirs = request_.headers.find(kRequestId);
  const bool kept = !theirs.empty() && theirs.size() <= kMaxRequestId && is_field_value(theirs) &&
                    base::valid_utf8(theirs);
  request_id_ = kept ? std::string(theirs)
                     : "req_" + base::new_base62_id(server_.runtime.random, kOwnLetters);
  return request_id_;
}

void ServerConnection::begin_head(int status, std::string_view content_type,
                                  const Headers* headers) {
  status_ = status;
  head_.clear();
  head_ += "HTTP/1.1 ";
  append_number(head_, static_cast<std::uint64_t>(status));
  head_ += ' ';
  head_ += status_text(status);
  head_ += "\r\n";
  head_ += server_.standard_fields();
  if (!content_type.empty()) {
    head_ += "Content-Type: ";
    head_ += content_type;
    head_ += "\r\n";
  }
  const bool says_id = headers != nullptr && headers->has(kRequestId);
  if (server_.options.request_ids && !says_id) {
    head_ += "X-Request-Id: ";
    head_ += request_id();
    head_ += "\r\n";
  }
  if (headers != nullptr) {
    for (const auto field : *headers) {
      // Data of others may end up here: nothing may open a second header line.
      if (written_by_server(field.name) || !is_token(field.name) || !is_field_value(field.value))
        continue;
      head_ += field.name;
      head_ += ": ";
      head_ += field.value;
      head_ += "\r\n";
    }
  }
  if (server_.draining) keep_ = false;
  if (!keep_) {
    head_ += "Connection: close\r\n";
  } else if (request_.minor_version == 0) {
    head_ += "Connection: keep-alive\r\n";
  }
}

base::Status ServerConnection::misuse(const char* what) const {
  return base::error(base::ErrorKind::kInternal, what);
}

base::Error ServerConnection::gone() const {
  return base::error(base::ErrorKind::kCancelled,
                     timed_out_ ? "the client reads too slowly" : "the client has gone");
}

ResponseWrite ServerConnection::send(int status, std::string_view content_type,
                                     const Headers* headers, std::string_view body) {
  if (answer_ == Answer::kFailed || broken_) return ResponseWrite(gone());
  if (answer_ != Answer::kNone) return ResponseWrite(misuse("the answer has begun already"));
  answer_ = Answer::kEnded;
  begin_head(status, content_type, headers);
  if (!has_no_body(status)) {
    head_ += "Content-Length: ";
    append_number(head_, body.size());
    head_ += "\r\n";
  }
  head_ += "\r\n";
  const bool with_body = !has_no_body(status) && request_.method != "HEAD";
  const std::string_view pieces[] = {head_, with_body ? body : std::string_view()};
  return ResponseWrite(*this, pieces);
}

base::Status ServerConnection::begin_stream(int status, std::string_view content_type,
                                            const Headers* headers, BodyEnd end) {
  if (answer_ == Answer::kFailed || broken_) return gone();
  if (answer_ != Answer::kNone) return misuse("the answer has begun already");
  answer_ = Answer::kHeadHeld;
  head_only_ = has_no_body(status) || request_.method == "HEAD";
  // HTTP/1.0 knows no chunks.
  if (request_.minor_version == 0 && end.kind == BodyEnd::Kind::kChunked)
    end.kind = BodyEnd::Kind::kClose;
  body_end_ = end;
  if (end.kind == BodyEnd::Kind::kClose && !head_only_) keep_ = false;
  begin_head(status, content_type, headers);
  if (!has_no_body(status)) append_framing();
  head_ += "\r\n";
  return {};
}

void ServerConnection::append_framing() {
  if (body_end_.kind == BodyEnd::Kind::kChunked) head_ += "Transfer-Encoding: chunked\r\n";
  if (body_end_.kind != BodyEnd::Kind::kLength) return;
  head_ += "Content-Length: ";
  append_number(head_, body_end_.length);
  head_ += "\r\n";
}

// A client that counts must not take a part for the whole, nor a surplus for the next answer.
base::Status ServerConnection::count_down(std::size_t size, bool last) {
  if (body_end_.kind != BodyEnd::Kind::kLength || head_only_) return {};
  const bool right = last ? size == body_end_.length : size <= body_end_.length;
  body_end_.length -= std::min<std::uint64_t>(size, body_end_.length);
  if (right) return {};
  fail();
  return misuse("the body is not as long as its head says");
}

ResponseWrite ServerConnection::flush_head() {
  if (answer_ == Answer::kFailed || broken_) return ResponseWrite(gone());
  if (answer_ == Answer::kStreaming) return ResponseWrite(base::Status());
  if (answer_ != Answer::kHeadHeld) return ResponseWrite(misuse("no stream has begun"));
  answer_ = Answer::kStreaming;
  const std::string_view pieces[] = {head_};
  return ResponseWrite(*this, pieces);
}

ResponseWrite ServerConnection::write(std::span<const std::string_view> pieces) {
  return chunk(pieces, false);
}

ResponseWrite ServerConnection::end(std::string_view last_piece) {
  const std::string_view pieces[] = {last_piece};
  return chunk(pieces, true);
}

ResponseWrite ServerConnection::chunk(std::span<const std::string_view> pieces, bool last) {
  if (answer_ == Answer::kFailed || broken_) return ResponseWrite(gone());
  if (answer_ != Answer::kHeadHeld && answer_ != Answer::kStreaming)
    return ResponseWrite(misuse("no stream is open"));
  std::size_t size = 0;
  for (const std::string_view piece : pieces) size += piece.size();
  if (pieces.size() > 4) return ResponseWrite(misuse("too many pieces for one chunk"));
  if (auto status = count_down(size, last); !status.ok()) return ResponseWrite(std::move(status));
  if (size == 0 && !last) return ResponseWrite(base::Status());

  std::string_view out[ResponseWrite::kMaxPieces];
  std::size_t n = 0;
  if (answer_ == Answer::kHeadHeld) out[n++] = head_;
  answer_ = last ? Answer::kEnded : Answer::kStreaming;
  if (!head_only_) {
    const bool chunked = body_end_.kind == BodyEnd::Kind::kChunked;
    if (chunked && size != 0) {
      char* end = std::to_chars(size_line_, size_line_ + 18, size, 16).ptr;
      *end++ = '\r';
      *end++ = '\n';
      out[n++] = {size_line_, static_cast<std::size_t>(end - size_line_)};
    }
    for (const std::string_view piece : pieces) {
      if (!piece.empty()) out[n++] = piece;
    }
    if (chunked) {
      const std::string_view tail = size != 0 ? (last ? "\r\n0\r\n\r\n" : "\r\n") : "0\r\n\r\n";
      out[n++] = tail;
    }
  }
  if (n == 0) return ResponseWrite(base::Status());
  return ResponseWrite(*this, {out, n});
}

void ServerConnection::fail() {
  if (answer_ == Answer::kEnded) return;
  answer_ = Answer::kFailed;
  keep_ = false;
  pump_.close();
}

void ServerConnection::start_write(std::span<const std::string_view> pieces,
                                   base::IoCompletion& done) {
  std::size_t size = 0;
  for (const std::string_view piece : pieces) size += piece.size();
  set_deadline(server_.options.write_timeout + std::chrono::seconds(size / (16 * 1024)));
  stream_->start_write(pieces, done);
}

base::Status ServerConnection::end_write(base::Result<std::size_t> result) {
  clear_deadline();
  if (result.ok()) return {};
  broken_ = true;
  return gone();
}

ResponseWrite::ResponseWrite(ServerConnection& connection, std::span<const std::string_view> body)
    : connection_(&connection) {
  for (const std::string_view piece : body) {
    if (!piece.empty() && count_ < kMaxPieces) pieces_[count_++] = piece;
  }
}

void ResponseWrite::await_suspend(std::coroutine_handle<> waiter) {
  waiter_ = waiter;
  connection_->start_write({pieces_, count_}, *this);
}

base::Status ResponseWrite::await_resume() {
  if (connection_ == nullptr) return std::move(failed_);
  return connection_->end_write(std::move(*result_));
}

ResponseWrite Responder::send(int status, std::string_view content_type, std::string_view body) {
  return connection_.send(status, content_type, nullptr, body);
}
ResponseWrite Responder::send(int status, const Headers& headers, std::string_view body) {
  return connection_.send(status, {}, &headers, body);
}
base::Status Responder::begin_stream(int status, std::string_view content_type) {
  return connection_.begin_stream(status, content_type, nullptr, {});
}
base::Status Responder::begin_stream(int status, const Headers& headers, BodyEnd end) {
  return connection_.begin_stream(status, {}, &headers, end);
}
ResponseWrite Responder::flush_head() {
  return connection_.flush_head();
}
ResponseWrite Responder::write(std::string_view piece) {
  const std::string_view pieces[] = {piece};
  return connection_.write(pieces);
}
ResponseWrite Responder::write(std::span<const std::string_view> pieces) {
  return connection_.write(pieces);
}
ResponseWrite Responder::end(std::string_view last_piece) {
  return connection_.end(last_piece);
}
void Responder::fail() {
  connection_.fail();
}
bool Responder::begun() const {
  return connection_.begun();
}
int Responder::status() const {
  return connection_.status();
}
std::string_view Responder::request_id() {
  return connection_.request_id();
}

}  // namespace verbatim::net
