#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "net/http_body.h"
#include "net/http_types.h"

namespace verbatim::net {

// Gathers the head of one message (start line to empty line), from bytes in any chunking, and
// refuses early what can't become one: a bare CR or LF, a control character, a line that begins
// with white space (obsolete folding), white space before a colon, no colon. What passes here
// leaves llhttp 8.1.0 no room for its known request smuggling faults (CVE-2023-30589 and
// CVE-2025-23167: a CR taken for a line end; CVE-2024-27982: a field behind leading white space).
class HeadCollector {
 public:
  explicit HeadCollector(const HttpLimits& limits) : limits_(limits) {}
  // Begins the next head, keeping memory.
  void start(std::string& into);
  // Bytes taken; stops behind the head.
  std::size_t feed(std::string_view bytes);
  [[nodiscard]] bool done() const { return done_; }
  [[nodiscard]] bool empty() const { return head_->empty(); }
  [[nodiscard]] const std::optional<HttpFailure>& failure() const { return failure_; }

 private:
  void end_line();
  void check_field_line(std::string_view line);
  void refuse(int status, const char* code, const char* message);

  const HttpLimits& limits_;
  std::string* head_ = nullptr;
  std::size_t line_at_ = 0;
  std::size_t fields_ = 0;
  bool done_ = false;
  bool skipped_empty_line_ = false;
  std::optional<HttpFailure> failure_;
};

// What a head says about its message.
struct HeadFacts {
  std::string_view method;  // views into the head
  std::string_view target;
  int status = 0;
  int major_version = 0;
  int minor_version = 0;
  bool keep_alive = false;
  bool expects_continue = false;
  BodyFraming::Kind body = BodyFraming::Kind::kNone;
  std::uint64_t length = 0;
};

enum class HeadKind { kRequest, kResponse };

// Reads a head that HeadCollector let pass, with llhttp (strict mode, lenient flags off), then
// decides the framing by RFC 9112 6.3 with everything doubtful refused: more than one
// Content-Length, one that is no plain number, Transfer-Encoding other than one "chunked", both
// together, or with HTTP/1.0.
std::optional<HttpFailure> read_head(HeadKind kind, std::string_view head, const HttpLimits& limits,
                                     HeadFacts& facts, Headers& headers);

}  // namespace verbatim::net
