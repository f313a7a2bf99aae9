#include "sim/openai/answer.h"

#include <algorithm>
#include <utility>

#include "chat/parsers/token_parser.h"
#include "sim/call.h"

namespace verbatim::sim::openai {
namespace {

using protocol::Wire;

// What each id says, the end of the turn with the last.
std::vector<message::Events> parse(const TokenIds& ids, const Finish& finish,
                                   const Request& request, const tokenizer::Tokenizer& tokenizer,
                                   const Dialect& dialect,
                                   const std::function<std::string()>& draw) {
  const auto* grammar = chat::parsers::grammar_named("hermes");
  const TokenIds ends = finish.matched_id ? TokenIds{*finish.matched_id} : TokenIds{};
  const chat::parsers::TokenMarkers markers(tokenizer, *grammar, ends);
  chat::parsers::TokenParser parser(markers,
                                    {.reasoning_open = request.reasoning_open,
                                     .tools = request.tools,
                                     .keeps_layout = dialect.keeps_layout},
                                    request.call.limits.stop_strings);
  std::vector<message::Events> by_id(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    parser.feed({&ids[i], 1}, by_id[i]);
    if (i + 1 < ids.size()) continue;
    const bool cut = finish.type == "length";
    parser.finish(cut ? message::FinishReason::kLength : message::FinishReason::kStop, by_id[i]);
  }
  for (auto& events : by_id) {
    for (auto& event : events) {
      if (auto* start = std::get_if<message::ToolCallStart>(&event))
        start->native_id = dialect.call_id(request.wire, draw());
    }
  }
  return by_id;
}

bool is_reasoning(const message::Event& event) {
  return std::holds_alternative<message::ReasoningDelta>(event);
}

bool is_end(const message::Event& event) {
  return std::holds_alternative<message::ToolCallEnd>(event);
}

// The same where calls come in one piece: with the id that closes them, or the last.
std::vector<message::Events> with_whole_calls(const std::vector<message::Events>& by_id) {
  std::vector<message::Events> gathered(by_id.size());
  message::Events call;  // start and arguments of the one that is being read
  const auto put = [&call](message::Events& into) {
    into.insert(into.end(), call.begin(), call.end());
    call.clear();
  };
  for (std::size_t id = 0; id < by_id.size(); ++id) {
    for (const auto& event : by_id[id]) {
      const auto* more = std::get_if<message::ToolCallArguments>(&event);
      if (const auto* start = std::get_if<message::ToolCallStart>(&event)) {
        put(gathered[id]);
        call = {event, message::ToolCallArguments{start->index, {}}};
      } else if (more != nullptr && !call.empty()) {
        std::get<message::ToolCallArguments>(call.back()).text += more->text;
      } else {
        if (is_end(event)) put(gathered[id]);
        gathered[id].push_back(event);
      }
    }
  }
  if (!gathered.empty()) put(gathered.back());
  return gathered;
}

}  // namespace

TalkAnswer::TalkAnswer(Spelling spelling, const Request& request,
                       const tokenizer::Tokenizer& tokenizer, const Heading& heading,
                       const Dialect& dialect)
    : Answer(std::move(spelling)),
      wire_(request.wire),
      dialect_(dialect),
      by_id_(
          parse(spelling_.plain_ids, spelling_.finish, request, tokenizer, dialect, heading.draw)),
      writer_(make_writer(request.wire, heading, dialect)) {
  if (dialect.whole_calls) by_id_ = with_whole_calls(by_id_);
  for (std::size_t id = 0; id < by_id_.size(); ++id) {
    auto& events = by_id_[id];
    calls_ = calls_ || std::any_of(events.begin(), events.end(), is_end);
    if (std::any_of(events.begin(), events.end(), is_reasoning)) reasoning_ = id + 1;
    if (dialect.reasons_if_asked && wire_ == Wire::kResponses && !request.asks_summary)
      std::erase_if(events, is_reasoning);
  }
}

bool TalkAnswer::apply(Fault fault, std::uint64_t at) {
  if (fault == Fault::kWrongIndex && wire_ != Wire::kChat) return false;
  return Answer::apply(fault, at);
}

message::Events TalkAnswer::between(std::size_t from, std::size_t to) const {
  message::Events events;
  for (std::size_t i = from; i < std::min(to, by_id_.size()); ++i)
    events.insert(events.end(), by_id_[i].begin(), by_id_[i].end());
  return events;
}

Ending TalkAnswer::ending(const Finish& finish, std::size_t to) const {
  return {spelling_.has_finish ? finish.type : "",
          calls_,
          {spelling_.prompt_tokens, to, std::uint64_t{0}},
          std::min(reasoning_, to)};
}

std::string TalkAnswer::numbered(std::string text) const {
  if (spelling_.index == 0) return text;
  constexpr std::string_view kFirst = R"([{"index":0)";
  for (auto at = text.find(kFirst); at != std::string::npos; at = text.find(kFirst, at + 1))
    text.replace(at, kFirst.size(), R"([{"index":1)");
  return text;
}

HttpReply TalkAnswer::whole(const Part& part) const {
  return {200, {}, numbered(writer_->whole(between(0, part.to), ending(*part.finish, part.to)))};
}

std::string TalkAnswer::events(const Part& part) const {
  sent_ = part.to;
  std::string out = writer_->events(between(part.from, part.to));
  if (part.finish != nullptr) {
    ending_ = ending(*part.finish, part.to);
    out += writer_->ending(ending_);
  }
  return numbered(std::move(out));
}

std::string TalkAnswer::aborted_events(const Part& part) const {
  ending_ = ending(*part.finish, part.to);
  return writer_->ending(ending_);
}

std::string TalkAnswer::last_events() const {
  return failed_ ? writer_->after_failure() : writer_->last(ending_);
}

HttpReply TalkAnswer::refusal(int status, std::string_view message) const {
  return {status, {}, dialect_.refusal(wire_, status, message)};
}

HttpReply TalkAnswer::refusal_in_200(std::string_view message) const {
  return {200, {}, error_body(wire_, 500, message)};
}

std::string TalkAnswer::error_event(int, std::string_view message) const {
  failed_ = true;
  return writer_->failure(message, {spelling_.prompt_tokens, sent_, std::uint64_t{0}});
}

}  // namespace verbatim::sim::openai
