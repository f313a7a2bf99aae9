#include "net/http_head.h"

#include <algorithm>
#include <cstring>

#include <llhttp.h>

namespace verbatim::net {

void HeadCollector::start(std::string& into) {
  head_ = &into;
  head_->clear();
  line_at_ = fields_ = 0;
  done_ = skipped_empty_line_ = false;
  failure_.reset();
}

void HeadCollector::refuse(int status, const char* code, const char* message) {
  failure_ = HttpFailure{status, code, message};
}

std::size_t HeadCollector::feed(std::string_view bytes) {
  std::size_t taken = 0;
  while (taken < bytes.size() && !done_ && !failure_) {
    const std::string_view rest = bytes.substr(taken);
    // Something that is no HTTP at all (a TLS hello) has no line ends to wait for.
    if (const char c = rest.front();
        head_->empty() && c != '\r' && c != '\n' && !is_token({&c, 1})) {
      refuse(400, "bad_request_line", "this is not HTTP");
      break;
    }
    const std::size_t newline = rest.find('\n');
    const std::size_t n = newline == std::string_view::npos ? rest.size() : newline + 1;
    const std::size_t room = limits_.head_bytes - std::min(limits_.head_bytes, head_->size());
    const bool first_line = line_at_ == 0;
    if (first_line && head_->size() + n > limits_.target_bytes + 64) {
      refuse(414, "target_too_long", "the request target is too long");
      break;
    }
    if (n > room) {
      refuse(431, "headers_too_large", "the header fields are too long");
      break;
    }
    head_->append(rest.substr(0, n));
    taken += n;
    if (newline != std::string_view::npos) end_line();
  }
  return taken;
}

void HeadCollector::end_line() {
  std::string_view line = std::string_view(*head_).substr(line_at_);
  line.remove_suffix(1);
  if (line.empty() || line.back() != '\r')
    return refuse(400, "bad_line_end", "a line of the head ends in LF without CR");
  line.remove_suffix(1);
  if (line.empty()) {
    if (line_at_ != 0) {
      done_ = true;
    } else if (skipped_empty_line_) {
      refuse(400, "bad_request_line", "empty lines before the start line");
    } else {
      skipped_empty_line_ = true;  // RFC 9112 2.2: one is forgiven
      head_->clear();
    }
    return;
  }
  if (!is_field_value(line))
    return refuse(400, "bad_character", "the head holds a control character");
  if (line_at_ != 0) check_field_line(line);
  line_at_ = head_->size();
}

void HeadCollector::check_field_line(std::string_view line) {
  if (++fields_ > limits_.header_fields)
    return refuse(431, "too_many_headers", "there are too many header fields");
  if (line.front() == ' ' || line.front() == '\t') {
    return refuse(400, "folded_header", "a header line begins with white space");
  }
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos)
    return refuse(400, "bad_header", "a header line has no colon");
  if (!is_token(line.substr(0, colon)))
    return refuse(400, "bad_header", "a header field's name is not a token");
}

namespace {

// Where llhttp's callbacks put what they are told. The head is one contiguous piece, so spans are
// views into it.
struct Scan {
  Headers* headers = nullptr;
  std::string_view method, target, name, value;
  int major = 0, minor = 0, status = 0;
  unsigned flags = 0;
  std::uint64_t content_length = 0;
  bool keep_alive = false;
  bool complete = false;
};

Scan& scan_of(llhttp_t* parser) {
  return *static_cast<Scan*>(parser->data);
}

void extend(std::string_view& span, const char* at, std::size_t n) {
  const char* begin = span.data() == nullptr ? at : span.data();
  span = {begin, static_cast<std::size_t>(at + n - begin)};
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

llhttp_settings_t make_settings() {
  llhttp_settings_t s;
  llhttp_settings_init(&s);
  s.on_method = [](llhttp_t* p, const char* at, std::size_t n) {
    extend(scan_of(p).method, at, n);
    return 0;
  };
  s.on_url = [](llhttp_t* p, const char* at, std::size_t n) {
    extend(scan_of(p).target, at, n);
    return 0;
  };
  s.on_header_field = [](llhttp_t* p, const char* at, std::size_t n) {
    extend(scan_of(p).name, at, n);
    return 0;
  };
  s.on_header_value = [](llhttp_t* p, const char* at, std::size_t n) {
    extend(scan_of(p).value, at, n);
    return 0;
  };
  s.on_header_value_complete = [](llhttp_t* p) {
    Scan& scan = scan_of(p);
    scan.headers->add(scan.name, trimmed(scan.value));
    scan.name = scan.value = {};
    return 0;
  };
  s.on_headers_complete = [](llhttp_t* p) {
    Scan& scan = scan_of(p);
    scan.complete = true;
    scan.major = p->http_major;
    scan.minor = p->http_minor;
    scan.status = p->status_code;
    scan.flags = p->flags;
    scan.content_length = p->content_length;
    scan.keep_alive = llhttp_should_keep_alive(p) != 0;
    return static_cast<int>(HPE_PAUSED);
  };
  return s;
}

HttpFailure failure_of(const llhttp_t& parser) {
  const char* reason = parser.reason != nullptr ? parser.reason : "malformed";
  switch (static_cast<llhttp_errno_t>(parser.error)) {
    case HPE_INVALID_VERSION:
      return {505, "http_version", "only HTTP/1.1 and HTTP/1.0 are spoken here"};
    case HPE_PAUSED_H2_UPGRADE:
      return {505, "http_version", "only HTTP/1.1 and HTTP/1.0 are spoken here"};
    case HPE_INVALID_METHOD:
      return {501, "unknown_method", "the request method is unknown"};
    default:
      return {400, "bad_head", reason};
  }
}

// 1 to 18 digits and nothing else.
std::optional<std::uint64_t> plain_number(std::string_view text) {
  if (text.empty() || text.size() > 18) return std::nullopt;
  std::uint64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return value;
}

HttpFailure bad_version() {
  return {505, "http_version", "only HTTP/1.1 and HTTP/1.0 are spoken here"};
}

// "HTTP/1.1": nullopt when it is one of ours.
std::optional<HttpFailure> check_version(std::string_view version) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  if (version.size() != 8 || !version.starts_with("HTTP/") || !digit(version[5]) ||
      version[6] != '.' || !digit(version[7])) {
    return HttpFailure{400, "bad_start_line", "the start line holds no HTTP version"};
  }
  if (version[5] != '1' || version[7] > '1') return bad_version();
  return std::nullopt;
}

// llhttp forgives more than one space between the parts; a reader in front of us may see another
// target then.
std::optional<HttpFailure> check_request_line(std::string_view line) {
  HttpFailure bad{400, "bad_start_line",
                  "the request line is not method, target and version with one space between"};
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) return bad;
  const std::string_view target = line.substr(first + 1, last - first - 1);
  if (!is_token(line.substr(0, first)) || target.empty() ||
      target.find_first_of(" \t") != std::string_view::npos)
    return bad;
  return check_version(line.substr(last + 1));
}

std::optional<HttpFailure> check_status_line(std::string_view line) {
  if (auto failure = check_version(line.substr(0, 8))) return failure;
  HttpFailure bad{400, "bad_start_line", "the status line holds no status of three digits"};
  if (line.size() < 12 || line[8] != ' ' || line[9] < '1' || (line.size() > 12 && line[12] != ' '))
    return bad;
  for (const char c : line.substr(9, 3)) {
    if (c < '0' || c > '9') return bad;
  }
  return std::nullopt;
}

std::optional<HttpFailure> check_start_line(HeadKind kind, std::string_view head) {
  const std::string_view line = head.substr(0, head.find('\r'));
  return kind == HeadKind::kRequest ? check_request_line(line) : check_status_line(line);
}

bool response_has_no_body(int status) {
  return status / 100 == 1 || status == 204 || status == 304;
}

std::optional<HttpFailure> decide_framing(HeadKind kind, const Scan& scan, const Headers& headers,
                                          HeadFacts& facts) {
  const std::size_t lengths = headers.count("content-length");
  const std::size_t codings = headers.count("transfer-encoding");
  if (lengths > 1)
    return HttpFailure{400, "bad_content_length", "Content-Length is given more than once"};
  if (codings > 0) {
    if (lengths > 0)
      return HttpFailure{400, "bad_framing", "both Content-Length and Transfer-Encoding are given"};
    if (facts.minor_version == 0)
      return HttpFailure{400, "bad_framing", "Transfer-Encoding does not exist in HTTP/1.0"};
    if (codings > 1 || !equals_ignoring_case(headers.find("transfer-encoding"), "chunked")) {
      return HttpFailure{400, "bad_framing",
                         "the only Transfer-Encoding taken here is one \"chunked\""};
    }
    // Two readers must agree on where the body ends.
    if ((scan.flags & F_CHUNKED) == 0)
      return HttpFailure{400, "bad_framing", "Transfer-Encoding is malformed"};
    facts.body = BodyFraming::Kind::kChunked;
  } else if (lengths == 1) {
    const auto length = plain_number(headers.find("content-length"));
    if (!length || (scan.flags & F_CONTENT_LENGTH) == 0 || scan.content_length != *length) {
      return HttpFailure{400, "bad_content_length", "Content-Length is not a plain number"};
    }
    facts.body = BodyFraming::Kind::kLength;
    facts.length = *length;
  } else {
    facts.body =
        kind == HeadKind::kRequest ? BodyFraming::Kind::kNone : BodyFraming::Kind::kUntilClose;
  }
  if (kind == HeadKind::kResponse && response_has_no_body(scan.status))
    facts.body = BodyFraming::Kind::kNone;
  return std::nullopt;
}

}  // namespace

std::optional<HttpFailure> read_head(HeadKind kind, std::string_view head, const HttpLimits& limits,
                                     HeadFacts& facts, Headers& headers) {
  static const llhttp_settings_t kSettings = make_settings();
  headers.clear();
  facts = {};
  if (auto failure = check_start_line(kind, head)) return failure;
  Scan scan;
  scan.headers = &headers;
  llhttp_t parser;
  llhttp_init(&parser, kind == HeadKind::kRequest ? HTTP_REQUEST : HTTP_RESPONSE, &kSettings);
  parser.data = &scan;
  const llhttp_errno_t error = llhttp_execute(&parser, head.data(), head.size());
  // It must stop exactly behind the head: a parser that saw the end elsewhere disagrees with
  // HeadCollector.
  if (!scan.complete) {
    return error == HPE_OK ? HttpFailure{400, "bad_head", "the head has no end"}
                           : failure_of(parser);
  }
  const char* end = llhttp_get_error_pos(&parser);
  if (error != HPE_PAUSED || end == nullptr || end + 1 < head.data() + head.size()) {
    return HttpFailure{400, "bad_head", "the head ends early"};
  }
  if (scan.major != 1 || scan.minor > 1) return bad_version();
  if (scan.target.size() > limits.target_bytes) {
    return HttpFailure{414, "target_too_long", "the request target is too long"};
  }
  facts.method = scan.method;
  facts.target = scan.target;
  facts.status = scan.status;
  facts.major_version = scan.major;
  facts.minor_version = scan.minor;
  facts.keep_alive = scan.keep_alive;
  return decide_framing(kind, scan, headers, facts);
}

}  // namespace verbatim::net
