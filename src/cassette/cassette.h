#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cassette/yaml_node.h"

namespace verbatim::cassette {

using Pairs = std::vector<std::pair<std::string, std::string>>;

struct RecordedRequest {
  std::string method;
  std::string path;  // begins with '/', without query
  Pairs query;       // not percent-decoded
  Pairs headers;
  std::string body;  // JSON, an object; "{}" also where the request had none
};

struct RecordedResponse {
  int status = 0;
  Pairs headers;
  // Exactly one of the two. JSON; a string of it where the content type is not JSON's.
  std::optional<std::string> body;
  // The lines of a stream as they stood on the wire, each with its line end.
  std::optional<std::vector<std::string>> sse;
  // How it ended where it did not end well; empty: it did.
  std::string stream_error;     // an error inside of a stream
  std::string transport_error;  // the connection
};

struct RecordedTurn {
  std::string filename;  // t1, t2, ...
  RecordedRequest request;
  RecordedResponse response;
  std::size_t line = 0;  // in its file
};

// Requests to an engine and what it answered, as they crossed the wire, in order. Format: that of
// the recorded cassettes of vllm-project/agentic-api: `provider` (who answered, free of form),
// `turns`, each a `filename`, a `request` {method, path, query_params, headers, body} and a
// `response` {status_code, headers, body | sse, stream_error, transport_error}.
struct Cassette {
  std::string provider;  // JSON, an object; empty: not said
  std::vector<RecordedTurn> turns;
};

// Reads a file and judges it by every rule of its format:
//   - `turns` is a list with at least one turn, and no key is there that the format does not know;
//   - a request has a method, a path that begins with '/', a body that is an object;
//   - a response has a status of three digits, and either a body or lines of events;
//   - a body is a string where the content type is not JSON's;
//   - every data line of a stream is JSON or [DONE], every line but the last has its line end;
//   - a stream with a status of 2xx has an event, and ends with a terminal one (response.completed,
//     .incomplete, .failed, message_stop) or with [DONE], if no error of stream or transport is
//     noted.
// `problems` in order of lines; only where there are none `cassette` is whole.
struct Reading {
  Cassette cassette;
  std::vector<Problem> problems;
};
Reading read_cassette(std::string_view text);

// The text of a file that read_cassette() reads back as this, field by field; the error names what
// would not come back (a body with a key that stands there twice) or break a rule.
base::Result<std::string> write_cassette(const Cassette& cassette);

// The value of the header field, names compared without case; empty: none.
std::string_view header(const Pairs& headers, std::string_view name);
// Whether a content type says JSON.
bool is_json(std::string_view content_type);
// Whether a text of YAML is meant to be a cassette: it has `turns`.
bool looks_like_cassette(std::string_view text);

// "t1 POST /v1/responses": for messages.
std::string name_of(const RecordedTurn& turn);

}  // namespace verbatim::cassette
