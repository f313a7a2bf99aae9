#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/value.h"

namespace verbatim::sim::vllm {

// Errors as vLLM 0.32 answers them. An error carries the whole answer in `upstream`.

// Where an error of a request comes up. It decides what a stream makes of it.
enum class Stage {
  kRequest,  // before the stream begins: an HTTP status
  kEngine,   // within it: 200 and an error event
};

// {"error":{"message","type","param","code"}}
std::string error_json(int status, std::string_view type, std::optional<std::string_view> param,
                       std::string_view message);
// The type that goes with a status: 400 BadRequestError, 404 NotFoundError ...
std::string_view error_type(int status);

base::Error refused(int status, std::string_view type, std::optional<std::string_view> param,
                    std::string_view message, Stage stage = Stage::kRequest);
// 400 BadRequestError.
base::Error bad_request(std::optional<std::string_view> param, std::string_view message,
                        Stage stage = Stage::kRequest);
[[nodiscard]] Stage stage_of(const base::Error& error);
// {"detail":"Not Found"}: what the web framework answers by itself.
base::Error framework_error(int status, std::string_view detail);

// What the checks of a request's types find, in order, as pydantic words it.
class Problems {
 public:
  explicit Problems(std::string root = "body") : root_(std::move(root)) {}
  // `at`: dotted path below the body ("token_ids.0"); `context`: Python text of a dict.
  void add(std::string_view type, std::string_view at, std::string_view message,
           std::string_view input, std::string_view context = {});
  void missing(std::string_view field, const json::Value& object);

  [[nodiscard]] bool empty() const { return lines_.empty(); }
  [[nodiscard]] std::size_t size() const { return lines_.size(); }
  // Puts another problem in front of those from number `at` on.
  void insert(std::size_t at, std::string_view type, std::string_view where,
              std::string_view message, std::string_view input, std::string_view context);
  [[nodiscard]] base::Error error() const;

 private:
  struct Line {
    std::string loc;
    std::string text;
  };
  [[nodiscard]] Line line(std::string_view type, std::string_view at, std::string_view message,
                          std::string_view input, std::string_view context) const;
  std::string root_;
  std::vector<Line> lines_;
};

// How pydantic shows a value that it refuses: "<list of 2 items>", "hot", "None".
std::string shown(const json::Value& value);
// repr(str) of Python.
std::string python_repr(std::string_view text);

// A body that is JSON and an object; else the error that vLLM answers.
base::Result<json::Document> parse_body(std::string_view body);

}  // namespace verbatim::sim::vllm
