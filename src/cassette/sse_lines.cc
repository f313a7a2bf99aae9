#include "cassette/sse_lines.h"

#include <algorithm>
#include <array>

#include "json/value.h"

namespace verbatim::cassette {
namespace {

constexpr std::string_view kDone = "[DONE]";
// Of Responses and of Messages; a stream of Chat Completions ends with [DONE] alone.
constexpr std::array<std::string_view, 4> kTerminal = {"response.completed", "response.incomplete",
                                                       "response.failed", "message_stop"};

bool is_terminal(const json::Value& event) {
  if (!event.is_object()) return false;
  const auto type = event.get("type");
  return type && type->is_string() &&
         std::find(kTerminal.begin(), kTerminal.end(), type->string()) != kTerminal.end();
}

}  // namespace

std::vector<std::string> cut_lines(std::string_view bytes) {
  std::vector<std::string> lines;
  while (!bytes.empty()) {
    const auto end = bytes.find('\n');
    const auto size = end == std::string_view::npos ? bytes.size() : end + 1;
    lines.emplace_back(bytes.substr(0, size));
    bytes.remove_prefix(size);
  }
  return lines;
}

std::string_view data_of(std::string_view line) {
  if (!line.starts_with("data:")) return {};
  line.remove_prefix(5);
  if (line.starts_with(' ')) line.remove_prefix(1);
  while (line.ends_with('\n') || line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::vector<StreamProblem> check_stream(const std::vector<std::string>& lines, StreamEnd end) {
  std::vector<StreamProblem> problems;
  std::size_t events = 0;
  bool terminal = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto feed = lines[i].find('\n');
    const bool last = i + 1 == lines.size();
    if (feed == std::string::npos ? !last || end == StreamEnd::kWhole
                                  : feed + 1 != lines[i].size()) {
      problems.push_back({i, "a line has one line end, and at its end"});
      continue;
    }
    const auto data = data_of(lines[i]);
    if (data.data() == nullptr) continue;
    ++events;
    if (data == kDone) {
      terminal = true;
      continue;
    }
    // The last line of a stream that was cut may be half a line.
    if (feed == std::string::npos) continue;
    auto event = json::Document::parse(std::string(data));
    if (event) {
      terminal = terminal || is_terminal(event->root());
    } else {
      problems.push_back({i, "data that is no JSON: " + event.error().message});
    }
  }
  if (end == StreamEnd::kWhole && events == 0) problems.push_back({lines.size(), "no event"});
  // What could not be read may have been the end.
  if (end == StreamEnd::kWhole && events != 0 && !terminal && problems.empty()) {
    problems.push_back({lines.size(),
                        "ends neither with a terminal event nor with [DONE]; a stream that was cut "
                        "says how in stream_error or transport_error"});
  }
  return problems;
}

}  // namespace verbatim::cassette
