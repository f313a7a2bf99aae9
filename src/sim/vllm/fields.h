#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"
#include "sim/vllm/errors.h"

namespace verbatim::sim::vllm {

// Reads the fields of one object as pydantic does in its lax mode (2.13): "872", 872.0 and true are
// integers. What does not fit goes to `problems`; such a field reads as absent.
class Fields {
 public:
  // `path`: of the object below the body, "" or "sampling_params".
  Fields(const json::Value& object, std::string path, Problems& problems)
      : object_(object), path_(std::move(path)), problems_(problems) {}

  // Null reads as absent.
  std::optional<std::int64_t> integer(std::string_view name);
  std::optional<double> number(std::string_view name);
  std::optional<bool> flag(std::string_view name);
  std::optional<std::string> string(std::string_view name);
  std::optional<std::vector<std::int64_t>> integers(std::string_view name);
  // A string, or a list of strings.
  std::optional<std::vector<std::string>> strings(std::string_view name);

 private:
  std::optional<std::int64_t> as_integer(const json::Value& value, const std::string& at);
  [[nodiscard]] std::string at(std::string_view name) const;

  const json::Value& object_;
  std::string path_;
  Problems& problems_;
};

// Stands for integers beyond 64 bits: no id, count or seed is as high.
inline constexpr std::int64_t kBeyond = INT64_MAX;

}  // namespace verbatim::sim::vllm
