#include "sim/testing/captures.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/files.h"
#include "net/sse.h"
#include "sim/testing/comparison.h"

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

std::string compare_json(std::string_view expected, std::string_view found,
                         Comparison& comparison) {
  const auto left = Document::parse(std::string(expected));
  const auto right = Document::parse(std::string(found));
  if (!left.ok() || !right.ok())
    return expected == found
               ? std::string()
               : "expected " + std::string(expected) + ", found " + std::string(found);
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
                           Comparison& comparison) {
  const auto left = events_of(expected), right = events_of(found);
  for (std::size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
    if (left[i].first != right[i].first)
      return "event " + std::to_string(i) + ": expected the name " + left[i].first + ", found " +
             right[i].first;
    const auto where = compare_json(left[i].second, right[i].second, comparison);
    if (!where.empty()) return "event " + std::to_string(i) + ": " + where;
  }
  if (left.size() == right.size()) return {};
  return "expected " + std::to_string(left.size()) + " events, found " +
         std::to_string(right.size()) + ": " + std::string(found);
}

std::string compare_answers(const Capture& expected, const Answered& found,
                            Comparison& comparison) {
  if (expected.status != found.status)
    return "expected status " + std::to_string(expected.status) + ", found " +
           std::to_string(found.status) + ": " + found.body;
  if (expected.content_type != found.content_type)
    return "expected content type " + expected.content_type + ", found " + found.content_type;
  if (expected.stream) return compare_events(expected.answer, found.body, comparison);
  return compare_json(expected.answer == "null" ? "" : expected.answer, found.body, comparison);
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
  Comparison comparison(volatiles);
  return compare_answers(expected, found, comparison);
}

std::string difference(const Capture& expected, const Answered& found, const Tolerance& tolerance,
                       Needed& needed) {
  Comparison comparison(tolerance, needed);
  return compare_answers(expected, found, comparison);
}

std::vector<std::string> unused(const Tolerance& tolerance, const Needed& needed) {
  std::vector<std::string> places;
  for (const auto* list : {&tolerance.left_out, &tolerance.added, &tolerance.differs}) {
    for (const auto& place : *list) {
      if (!needed.contains(place)) places.push_back(place);
    }
  }
  return places;
}

}  // namespace verbatim::sim::testing
