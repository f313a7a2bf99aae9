#include "sim/completion.h"

#include <algorithm>

namespace verbatim::sim {
namespace {

std::optional<std::string> stop_in(const std::string& text, std::size_t from,
                                   const std::vector<std::string>& stops) {
  for (const auto& stop : stops) {
    if (stop.empty()) continue;
    const std::size_t begin = from < stop.size() ? 0 : from - stop.size();
    if (text.find(stop, begin) != std::string::npos) return stop;
  }
  return std::nullopt;
}

}  // namespace

Completion sample_within(const tokenizer::Tokenizer& tokenizer, const TokenIds& planned,
                         const Limits& limits) {
  Completion done;
  done.finish.type = "stop";
  tokenizer::IncrementalDecoder decoder(tokenizer);
  std::string text;
  for (const TokenId id : planned) {
    done.ids.push_back(id);
    const std::size_t before = text.size();
    if (!limits.stop_strings.empty()) decoder.feed(id, text);
    if (done.ids.size() >= limits.max_new_tokens) {
      done.finish.type = "length";
      break;
    }
    if (std::find(limits.stop_ids.begin(), limits.stop_ids.end(), id) != limits.stop_ids.end()) {
      done.finish.matched_id = id;
      break;
    }
    if (auto stop = stop_in(text, before, limits.stop_strings)) {
      done.finish.matched_string = std::move(stop);
      break;
    }
  }
  return done;
}

}  // namespace verbatim::sim
