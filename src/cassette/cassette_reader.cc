#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <utility>

#include "cassette/cassette.h"
#include "cassette/sse_lines.h"

namespace verbatim::cassette {
namespace {

using Kind = YamlNode::Kind;

// Reads nodes into a cassette; what is wrong is noted, and reading goes on.
class Reader {
 public:
  explicit Reader(std::vector<Problem>& problems) : problems_(problems) {}

  void cassette(const YamlNode& root, Cassette& out) {
    if (!is(root, Kind::kMapping, "a cassette")) return;
    if (root.find("sessions") != nullptr)
      return note(root, "`sessions` (recorded WebSockets) are not read; `turns` are");
    only(root, "the cassette", {"provider", "turns"});
    if (const auto* provider = root.find("provider"); provider != nullptr)
      object(*provider, "provider", out.provider);
    const auto* turns = required(root, "turns");
    if (turns == nullptr || !is(*turns, Kind::kSequence, "turns")) return;
    if (turns->items.empty()) note(*turns, "turns: expected at least one");
    for (const auto& each : turns->items) turn(each, out.turns.emplace_back());
  }

 private:
  void note(const YamlNode& at, std::string message) {
    problems_.push_back({at.line, std::move(message)});
  }

  static std::string expected(Kind kind) {
    return kind == Kind::kMapping ? "a mapping" : kind == Kind::kSequence ? "a list" : "a string";
  }

  bool is(const YamlNode& node, Kind kind, const std::string& name) {
    if (node.kind == kind) return true;
    note(node, name + ": expected " + expected(kind) + ", found " + std::string(describe(node)));
    return false;
  }

  const YamlNode* required(const YamlNode& in, const std::string& name) {
    const auto* found = in.find(name);
    if (found == nullptr) note(in, name + " is missing");
    return found;
  }

  void only(const YamlNode& in, const std::string& what,
            std::initializer_list<std::string_view> known) {
    for (std::size_t i = 0; i < in.keys.size(); ++i) {
      if (std::find(known.begin(), known.end(), in.keys[i]) == known.end())
        note(in.items[i], what + " has no `" + in.keys[i] + "`");
    }
  }

  void text(const YamlNode& node, const std::string& name, std::string& out) {
    if (is(node, Kind::kScalar, name)) out = node.text;
  }

  void optional_text(const YamlNode& in, const std::string& name, std::string& out) {
    if (const auto* found = in.find(name); found != nullptr) text(*found, name, out);
  }

  void required_text(const YamlNode& in, const std::string& name, std::string& out) {
    const auto* found = required(in, name);
    if (found == nullptr) return;
    text(*found, name, out);
    if (found->kind == Kind::kScalar && out.empty()) note(*found, name + ": must not be empty");
  }

  void object(const YamlNode& node, const std::string& name, std::string& out) {
    if (is(node, Kind::kMapping, name)) append_json(out, node, problems_);
  }

  void pairs(const YamlNode& in, const std::string& name, Pairs& out) {
    const auto* found = in.find(name);
    if (found == nullptr || !is(*found, Kind::kMapping, name)) return;
    for (std::size_t i = 0; i < found->items.size(); ++i) {
      auto& pair = out.emplace_back(found->keys[i], "");
      text(found->items[i], name + "." + pair.first, pair.second);
    }
  }

  void turn(const YamlNode& node, RecordedTurn& out) {
    out.line = node.line;
    if (!is(node, Kind::kMapping, "a turn")) return;
    only(node, "a turn", {"filename", "request", "response"});
    required_text(node, "filename", out.filename);
    const auto* asked = required(node, "request");
    if (asked != nullptr && is(*asked, Kind::kMapping, "request")) request(*asked, out.request);
    const auto* answer = required(node, "response");
    if (answer != nullptr && is(*answer, Kind::kMapping, "response"))
      response(*answer, out.response);
  }

  void request(const YamlNode& node, RecordedRequest& out) {
    only(node, "a request", {"method", "path", "query_params", "headers", "body"});
    required_text(node, "method", out.method);
    required_text(node, "path", out.path);
    if (!out.path.empty() && out.path.front() != '/')
      note(*node.find("path"), "path: expected one that begins with /, found " + out.path);
    pairs(node, "query_params", out.query);
    pairs(node, "headers", out.headers);
    if (const auto* body = required(node, "body"); body != nullptr) object(*body, "body", out.body);
  }

  void response(const YamlNode& node, RecordedResponse& out) {
    only(node, "a response",
         {"status_code", "headers", "body", "sse", "stream_error", "transport_error"});
    if (const auto* status = required(node, "status_code"); status != nullptr)
      status_code(*status, out.status);
    pairs(node, "headers", out.headers);
    optional_text(node, "stream_error", out.stream_error);
    optional_text(node, "transport_error", out.transport_error);
    const auto* body = node.find("body");
    const auto* sse = node.find("sse");
    if ((body == nullptr) == (sse == nullptr)) {
      note(node, std::string("a response has either `body` or `sse`, found ") +
                     (body == nullptr ? "none" : "both"));
    }
    if (body != nullptr) answer_body(*body, out);
    if (sse != nullptr && is(*sse, Kind::kSequence, "sse")) stream(*sse, out);
  }

  void status_code(const YamlNode& node, int& out) {
    const auto* end = node.text.data() + node.text.size();
    const auto [read, error] = std::from_chars(node.text.data(), end, out);
    const bool number = node.kind == Kind::kScalar && node.plain && error == std::errc() &&
                        read == end && out >= 100 && out <= 599;
    if (!number) note(node, "status_code: expected a number from 100 to 599");
  }

  void answer_body(const YamlNode& node, RecordedResponse& out) {
    out.body.emplace();
    append_json(*out.body, node, problems_);
    const auto type = header(out.headers, "content-type");
    if (!is_json(type) && !out.body->starts_with('"'))
      note(node, "body: expected a string, as the content type \"" + std::string(type) +
                     "\" is not JSON's");
  }

  void stream(const YamlNode& node, RecordedResponse& out) {
    out.sse.emplace();
    std::vector<std::size_t> lines;
    for (const auto& item : node.items) {
      lines.push_back(item.line);
      text(item, "sse", out.sse->emplace_back());
    }
    const bool good_status = out.status >= 200 && out.status < 300;
    const bool ends = good_status && out.stream_error.empty() && out.transport_error.empty();
    for (auto& found : check_stream(*out.sse, ends ? StreamEnd::kWhole : StreamEnd::kCut)) {
      const auto line = found.index < lines.size() ? lines[found.index] : node.line;
      problems_.push_back({line, "sse: " + std::move(found.message)});
    }
  }

  std::vector<Problem>& problems_;
};

}  // namespace

Reading read_cassette(std::string_view text) {
  Reading out;
  auto yaml = read_yaml(text);
  out.problems = std::move(yaml.problems);
  if (out.problems.empty()) Reader(out.problems).cassette(yaml.root, out.cassette);
  std::stable_sort(out.problems.begin(), out.problems.end(),
                   [](const Problem& a, const Problem& b) { return a.line < b.line; });
  return out;
}

}  // namespace verbatim::cassette
