#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "net/http_parser.h"

// The first byte chooses request or response and where the rest is cut in two: both cuts must give
// the same messages, and nothing may be taken for one that a strict reader would not see so.
namespace verbatim::net {
namespace {

const HttpLimits& limits() {
  static const HttpLimits kLimits{.head_bytes = 2048,
                                  .header_fields = 20,
                                  .target_bytes = 256,
                                  .body_bytes = 4096,
                                  .chunk_line_bytes = 64,
                                  .chunk_extension_bytes = 256,
                                  .trailer_bytes = 256};
  return kLimits;
}

void require(bool holds) {
  if (!holds) std::abort();
}

std::string requests_of(const std::vector<std::string_view>& pieces) {
  std::string out;
  RequestParser parser(limits());
  Request request;
  parser.start(request);
  for (std::string_view piece : pieces) {
    while (!piece.empty()) {
      const std::size_t taken = parser.feed(piece);
      piece.remove_prefix(taken);
      if (parser.state() == RequestParser::State::kFailed) {
        return out + "failed " + std::to_string(parser.failure().status) + parser.failure().code;
      }
      if (parser.state() != RequestParser::State::kDone) {
        require(taken != 0);
        continue;
      }
      require(request.body.size() <= limits().body_bytes);
      require(request.headers.size() <= limits().header_fields);
      require(request.path.find_first_of("\r\n ") == std::string_view::npos);
      require(request.headers.count("content-length") +
                  request.headers.count("transfer-encoding") <=
              1);
      out += std::string(request.method) + " " + std::string(request.target) + "\n";
      for (const auto field : request.headers) {
        require(is_token(field.name) && is_field_value(field.value));
        out += std::string(field.name) + ":" + std::string(field.value) + "\n";
      }
      out += request.body + "\n";
      parser.start(request);
    }
  }
  return out;
}

std::string response_of(const std::vector<std::string_view>& pieces, ResponseParser::Request kind) {
  ResponseParser parser(limits());
  parser.start(kind);
  std::string out;
  for (std::string_view piece : pieces) {
    while (!piece.empty() && !parser.failure() &&
           !(parser.head_done() && (parser.body().done() || parser.body().failed()))) {
      if (!parser.head_done()) {
        piece.remove_prefix(parser.feed_head(piece));
        continue;
      }
      const auto step = parser.body().next(piece);
      require(step.consumed != 0 || parser.body().failed());
      out += step.data;
      piece.remove_prefix(step.consumed);
    }
  }
  if (parser.failure()) return "failed";
  if (!parser.head_done()) return "unfinished";
  if (parser.body().failed()) return "failed body";
  return std::to_string(parser.status()) + (parser.body().done() ? " done " : " open ") + out;
}

}  // namespace
}  // namespace verbatim::net

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace verbatim::net;
  if (size < 3) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  const std::size_t cut =
      (static_cast<std::size_t>(data[0] & 0x7f) * 256 + data[1]) % (bytes.size() + 1);
  const std::vector<std::string_view> whole{bytes};
  const std::vector<std::string_view> pieces{bytes.substr(0, cut), bytes.substr(cut)};
  if ((data[0] & 0x80) == 0) {
    require(requests_of(whole) == requests_of(pieces));
  } else {
    const auto kind =
        (data[1] & 1) != 0 ? ResponseParser::Request::kHead : ResponseParser::Request::kOther;
    require(response_of(whole, kind) == response_of(pieces, kind));
  }
  return 0;
}
