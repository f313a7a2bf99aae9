#include "sim/script.h"

#include <algorithm>

#include "json/value.h"

namespace verbatim::sim {

using base::Result;
using base::Status;
using json::Value;

// Reads one step, field by field.
class StepReader {
 public:
  explicit StepReader(Script::Step& step) : step_(step), reply_(step.reply) {}

  Status read(const Value& value) {
    if (!value.is_object()) return base::invalid("", "a step is an object");
    for (const auto& member : value) {
      const std::string field = member.name();
      if (auto status = take(field, member.value); !status.ok())
        return std::move(status).error().within(field);
    }
    if (reply_.ids && !reply_.logprobs.empty() && reply_.ids->size() != reply_.logprobs.size())
      return base::invalid("logprobs", "expected one for each of output_ids");
    if (!reply_.text && !reply_.ids && !reply_.http && !reply_.fault)
      return base::invalid("", "a step needs text, output_ids, status or fault");
    return {};
  }

 private:
  static base::Error expected(std::string_view what, const Value& found) {
    return base::invalid("", "expected " + std::string(what) + ", found " +
                                 std::string(json::describe(found.kind())));
  }

  static Status take_text(const Value& value, std::optional<std::string>& into) {
    if (!value.is_string()) return expected("a string", value);
    into = value.string();
    return {};
  }

  static Result<std::int64_t> number(const Value& value, std::int64_t least, std::int64_t most) {
    const auto read = value.is_number() ? value.integer() : std::nullopt;
    if (!read || *read < least || *read > most)
      return base::invalid(
          "", "expected an integer from " + std::to_string(least) + " to " + std::to_string(most));
    return *read;
  }

  template <class T>
  static Status take_numbers(const Value& value, std::int64_t least, std::vector<T>& into) {
    if (!value.is_array()) return expected("an array", value);
    for (const auto& member : value) {
      const auto read = number(member.value, least, UINT32_MAX);
      if (!read.ok()) return read.error();
      into.push_back(static_cast<T>(*read));
    }
    return {};
  }

  static Status take_ids(const Value& value, std::optional<TokenIds>& into) {
    return take_numbers(value, 0, into.emplace());
  }

  static Result<base::Duration> milliseconds(const Value& value) {
    const auto read = number(value, 0, 3'600'000);
    if (!read.ok()) return read.error();
    return base::Duration(std::chrono::milliseconds(*read));
  }

  Status take(const std::string& field, const Value& value) {
    if (field == "when") return take_when(value);
    if (field == "text") return take_text(value, reply_.text);
    if (field == "output_ids") return take_ids(value, reply_.ids);
    if (field == "logprobs") return take_logprobs(value);
    if (field == "events") return take_numbers(value, 0, reply_.events);
    if (field == "weight_version") return take_text(value, reply_.weight_version);
    if (field == "routed_experts") {
      reply_.routed_experts = value.raw();
      return {};
    }
    if (field == "finish" || field == "matched") return take_finish(field, value);
    if (field == "status" || field == "headers" || field == "body") return take_http(field, value);
    if (field == "delay_ms" || field == "token_delay_ms") {
      const auto read = milliseconds(value);
      if (!read.ok()) return read.error();
      if (field == "delay_ms") {
        reply_.delay = *read;
      } else {
        reply_.token_delay = *read;
      }
      return {};
    }
    if (field == "repeat") {
      if (!value.is_bool()) return expected("a boolean", value);
      step_.repeat = value.boolean();
      return {};
    }
    if (field == "fault") {
      reply_.fault = value.is_string() ? fault_named(value.string()) : std::nullopt;
      return reply_.fault ? Status() : Status(expected("the name of a fault", value));
    }
    return base::invalid("", "no such field in a step");
  }

  Status take_when(const Value& value) {
    if (!value.is_object()) return expected("an object", value);
    for (const auto& member : value) {
      const std::string field = member.name();
      Status status = field == "tail"         ? take_text(member.value, step_.tail)
                      : field == "prompt_ids" ? take_ids(member.value, step_.prompt)
                                              : Status(base::invalid("", "no such condition"));
      if (!status.ok()) return std::move(status).error().within(field);
    }
    return {};
  }

  Status take_logprobs(const Value& value) {
    if (!value.is_array()) return expected("an array", value);
    for (const auto& member : value) {
      const auto read = member.value.is_number() ? member.value.number() : std::nullopt;
      if (!read) return expected("a number", member.value);
      reply_.logprobs.push_back(*read);
    }
    return {};
  }

  Status take_finish(const std::string& field, const Value& value) {
    if (!reply_.finish) reply_.finish.emplace().type = "stop";
    Finish& finish = *reply_.finish;
    if (field == "finish") {
      if (!value.is_string() && !value.is_null()) return expected("a string or null", value);
      finish.type = value.is_null() ? "" : value.string();
      return {};
    }
    if (value.is_string()) {
      finish.matched_string = value.string();
      return {};
    }
    const auto read = number(value, 0, UINT32_MAX);
    if (!read.ok()) return read.error();
    finish.matched_id = static_cast<TokenId>(*read);
    return {};
  }

  Status take_http(const std::string& field, const Value& value) {
    if (!reply_.http) reply_.http.emplace();
    HttpReply& http = *reply_.http;
    if (field == "body") {
      http.body = value.is_string() ? value.string() : std::string(value.raw());
      return {};
    }
    if (field == "status") {
      const auto read = number(value, 200, 599);
      if (!read.ok()) return read.error();
      http.status = static_cast<int>(*read);
      return {};
    }
    if (!value.is_object()) return expected("an object", value);
    for (const auto& member : value) {
      if (!member.value.is_string()) return expected("strings", member.value);
      http.headers.emplace_back(member.name(), member.value.string());
    }
    return {};
  }

  Script::Step& step_;
  Reply& reply_;
};

Result<Script> Script::parse(std::string_view text) {
  const auto document = json::Document::parse(std::string(text));
  if (!document.ok()) return document.error();
  const Value root = document->root();
  const auto steps = root.is_object() ? root.get("steps") : std::nullopt;
  if (!steps || !steps->is_array()) return base::invalid("steps", "expected an array of steps");
  Script script;
  for (const auto& member : *steps) {
    Step step;
    if (auto status = StepReader(step).read(member.value); !status.ok())
      return std::move(status).error().within("steps[" + std::to_string(script.steps_.size()) +
                                              "]");
    script.steps_.push_back(std::move(step));
  }
  return script;
}

const Reply* Script::next(std::span<const TokenId> prompt, std::string_view tail) {
  for (Step& step : steps_) {
    if (step.used && !step.repeat) continue;
    if (step.tail && tail.find(*step.tail) == std::string_view::npos) continue;
    if (step.prompt &&
        !std::equal(prompt.begin(), prompt.end(), step.prompt->begin(), step.prompt->end()))
      continue;
    step.used = true;
    return &step.reply;
  }
  return nullptr;
}

bool Script::reads_text() const {
  return std::any_of(steps_.begin(), steps_.end(),
                     [](const Step& step) { return step.tail.has_value(); });
}

}  // namespace verbatim::sim
