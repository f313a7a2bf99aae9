#include "sim/testing/captures.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/files.h"
#include "net/sse.h"

namespace verbatim::sim::testing {
namespace {

using json::Document;
using json::Value;

constexpr std::uint64_t kMaxCapture = 8U << 20;

// The member `name`, which must be there.
Value member(const Value& object, std::string_view name) {
  const auto found = object.find(name);
  if (!found) std::abort();
  return *found;
}

// Lists of ids that were recorded once and sent `times` times.
std::string repeated(const Value& body, std::int64_t times) {
  std::string out = "{";
  for (const auto& each : body) {
    if (out.size() > 1) out += ',';
    out.append(each.raw_name()).append(":");
    if (each.name() != "token_ids" && each.name() != "prompt") {
      out += each.value.raw();
      continue;
    }
    const std::string_view list = each.value.raw();
    out += '[';
    for (std::int64_t i = 0; i < times; ++i)
      out.append(i == 0 ? "" : ",").append(list.substr(1, list.size() - 2));
    out += ']';
  }
  return out + "}";
}

std::string from_hex(const std::string& digits) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
    bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  return bytes;
}

std::string request_body(const Value& request) {
  if (const auto hex = request.get("raw_hex")) return from_hex(hex->string());
  if (const auto raw = request.get("raw")) return raw->string();
  const auto body = request.get("body");
  if (!body) return {};
  const auto times = request.get("times");
  return times ? repeated(*body, *times->integer()) : std::string(body->raw());
}

Capture read_capture(const Value& entry) {
  Capture capture;
  capture.name = member(entry, "case").string();
  const Value request = member(entry, "request"), response = member(entry, "response");
  capture.method = member(request, "method").string();
  capture.path = member(request, "path").string();
  if (const auto headers = request.get("headers")) {
    for (const auto& header : *headers)
      capture.headers.emplace_back(header.name(), header.value.string());
  }
  capture.body = request_body(request);
  capture.status = static_cast<int>(*member(response, "status").integer());
  if (const auto type = response.get("content_type")) capture.content_type = type->string();
  if (const auto sampled = response.get("sampled")) {
    for (const auto& id : *sampled)
      capture.sampled.push_back(static_cast<TokenId>(*id.value.integer()));
  }
  if (const auto events = response.get("sse")) {
    capture.stream = true;
    capture.answer = events->string();
  } else if (const auto text = response.get("text")) {
    capture.answer = text->string();
  } else if (const auto body = response.get("body")) {
    capture.answer = body->raw();
  }
  return capture;
}

// Each run of 8 or more hex digits, '-' between them, with '#' for the digits.
std::string without_drawn(std::string text) {
  constexpr std::string_view kDrawn = "0123456789abcdef-";
  for (std::size_t at = text.find_first_of(kDrawn); at != std::string::npos;) {
    const std::size_t end = std::min(text.find_first_not_of(kDrawn, at), text.size());
    for (std::size_t i = at; end - at >= 8 && i < end; ++i) {
      if (text[i] != '-') text[i] = '#';
    }
    at = text.find_first_of(kDrawn, end);
  }
  return text;
}

// Without " at line 1 column 20".
std::string without_place(const std::string& text) {
  return text.substr(0, text.rfind(" at line "));
}

// Compares two JSON texts, value by value.
class Comparison {
 public:
  explicit Comparison(const std::vector<Volatile>& volatiles) : volatiles_(volatiles) {}

  std::string compare(const Value& expected, const Value& found, const std::string& place) {
    const auto* rule = rule_for(place);
    if (expected.kind() != found.kind())
      return differs(place, json::describe(expected.kind()), json::describe(found.kind()));
    const bool any =
        rule != nullptr && (rule->may == Volatile::May::kVary || rule->may == Volatile::May::kList);
    if (any && !expected.is_object()) return {};
    if (expected.is_object()) return compare_objects(expected, found, place, rule);
    if (expected.is_array()) return compare_arrays(expected, found, place);
    const bool drawn = rule != nullptr && rule->may == Volatile::May::kDrawn;
    if (drawn && without_drawn(expected.string()) == without_drawn(found.string())) return {};
    const bool placed = rule != nullptr && rule->may == Volatile::May::kPlace;
    if (placed && without_place(expected.string()) == without_place(found.string())) return {};
    return compare_scalars(expected, found, place);
  }

 private:
  static std::string differs(const std::string& place, std::string_view expected,
                             std::string_view found) {
    std::string text = place.empty() ? "the answer" : place;
    return text.append(": expected ").append(expected).append(", found ").append(found);
  }

  [[nodiscard]] const Volatile* rule_for(const std::string& place) const {
    for (const auto& rule : volatiles_) {
      if (rule.place == place) return &rule;
    }
    return nullptr;
  }

  std::string compare_objects(const Value& expected, const Value& found, const std::string& place,
                              const Volatile* rule) {
    if (expected.size() != found.size()) return differs(place, expected.raw(), found.raw());
    const bool other = rule != nullptr && rule->may == Volatile::May::kOtherNames;
    auto at = found.begin();
    for (const auto& each : expected) {
      const auto beside = *at;
      if (!other && each.name() != beside.name())
        return differs(place, "the key " + each.name(), "the key " + beside.name());
      const std::string name = other ? "*" : each.name();
      std::string at_name = place;
      at_name.append(place.empty() ? "" : ".").append(name);
      auto where = compare(each.value, beside.value, at_name);
      if (!where.empty()) return where;
      ++at;
    }
    return {};
  }

  std::string compare_arrays(const Value& expected, const Value& found, const std::string& place) {
    if (expected.size() != found.size()) return differs(place, expected.raw(), found.raw());
    auto at = found.begin();
    for (const auto& each : expected) {
      auto where = compare(each.value, (*at).value, place + "[]");
      if (!where.empty()) return where;
      ++at;
    }
    return {};
  }

  static std::string compare_scalars(const Value& expected, const Value& found,
                                     const std::string& place) {
    const bool same = expected.is_string() ? expected.string() == found.string()
                      : expected.is_number()
                          ? expected.number() == found.number() &&
                                expected.written_as_integer() == found.written_as_integer()
                          : expected.raw() == found.raw();
    return same ? std::string() : differs(place, expected.raw(), found.raw());
  }

  const std::vector<Volatile>& volatiles_;
};

std::string compare_json(std::string_view expected, std::string_view found,
                         const std::vector<Volatile>& volatiles) {
  const auto left = Document::parse(std::string(expected));
  const auto right = Document::parse(std::string(found));
  if (!left.ok() || !right.ok())
    return expected == found
               ? std::string()
               : "expected " + std::string(expected) + ", found " + std::string(found);
  Comparison comparison(volatiles);
  return comparison.compare(left->root(), right->root(), "");
}

// (name, data) of each event.
std::vector<std::pair<std::string, std::string>> events_of(std::string_view stream) {
  std::vector<std::pair<std::string, std::string>> events;
  net::SseReader reader(kMaxCapture);
  const auto status = reader.feed(stream, [&](const net::SseEvent& event) {
    events.emplace_back(event.event, event.data);
    return base::Status();
  });
  if (!status.ok()) std::abort();
  return events;
}

std::string compare_events(std::string_view expected, std::string_view found,
                           const std::vector<Volatile>& volatiles) {
  const auto left = events_of(expected), right = events_of(found);
  for (std::size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
    if (left[i].first != right[i].first)
      return "event " + std::to_string(i) + ": expected the name " + left[i].first + ", found " +
             right[i].first;
    const auto where = compare_json(left[i].second, right[i].second, volatiles);
    if (!where.empty()) return "event " + std::to_string(i) + ": " + where;
  }
  if (left.size() == right.size()) return {};
  return "expected " + std::to_string(left.size()) + " events, found " +
         std::to_string(right.size()) + ": " + std::string(found);
}

}  // namespace

std::vector<Capture> read_captures(const std::string& file) {
  const auto files = base::system_files();
  auto text = files->read("tests/captures/" + file, kMaxCapture);
  if (!text.ok()) std::abort();
  const auto document = Document::parse(std::move(*text));
  if (!document.ok()) std::abort();
  std::vector<Capture> captures;
  for (const auto& entry : member(document->root(), "cases"))
    captures.push_back(read_capture(entry.value));
  return captures;
}

Answered replay(const Capture& capture, const SimOptions& options) {
  Scene scene;
  scene.options = options;
  Answered answered;
  const bool ended = scene.run([&](Scene& s) -> base::Task<void> {
    answered = co_await s.call(capture.method, capture.path, capture.body, capture.headers);
  });
  if (!ended) std::abort();
  return answered;
}

std::string difference(const Capture& expected, const Answered& found,
                       const std::vector<Volatile>& volatiles) {
  if (expected.status != found.status)
    return "expected status " + std::to_string(expected.status) + ", found " +
           std::to_string(found.status) + ": " + found.body;
  if (expected.content_type != found.content_type)
    return "expected content type " + expected.content_type + ", found " + found.content_type;
  if (expected.stream) return compare_events(expected.answer, found.body, volatiles);
  return compare_json(expected.answer == "null" ? "" : expected.answer, found.body, volatiles);
}

}  // namespace verbatim::sim::testing
