#include <set>

#include "simulate/checks.h"

namespace verbatim::simulate {

using json::Value;
using trajectory::TokenIds;

namespace {

constexpr std::uint64_t kMaxFile = 64U << 20;

std::string text_of(const Value& line, std::string_view name) {
  const auto value = line.get(name);
  return value && value->is_string() ? value->string() : std::string();
}

std::uint64_t count_of(const Value& line, std::string_view name) {
  const auto value = line.get(name);
  const auto number = value && value->is_number() ? value->integer() : std::nullopt;
  return number ? static_cast<std::uint64_t>(*number) : UINT64_MAX;
}

TokenIds ids_of(const Value& line, std::string_view name) {
  TokenIds ids;
  const auto list = line.get(name);
  if (!list || !list->is_array()) return ids;
  for (const auto& item : *list) ids.push_back(static_cast<base::TokenId>(*item.value.integer()));
  return ids;
}

std::vector<double> numbers_of(const Value& line, std::string_view name) {
  std::vector<double> numbers;
  const auto list = line.get(name);
  if (!list || !list->is_array()) return numbers;
  for (const auto& item : *list) numbers.push_back(*item.value.number());
  return numbers;
}

// Where the segments of a prompt end, if they tile it from 0 on; else UINT64_MAX.
std::uint64_t tiled(const Value& line) {
  const auto segments = line.get("prompt_segments");
  std::uint64_t at = 0;
  if (!segments || !segments->is_array()) return UINT64_MAX;
  for (const auto& segment : *segments) {
    const std::uint64_t end = count_of(segment.value, "end");
    if (count_of(segment.value, "start") != at || end <= at) return UINT64_MAX;
    at = end;
  }
  return at;
}

}  // namespace

void Checks::records(base::Files& files, const std::string& dir,
                     std::optional<std::uint64_t> failed_lines) {
  const auto names = files.list(dir);
  check(names.ok(), "records", "the folder of records", "none");
  for (const auto& name : *names) {
    // Marks; and what a loss of power left of a session that was dropped.
    const auto& session = setup_.ledger.sessions[name.substr(0, name.rfind('.'))];
    if (!name.ends_with(".jsonl")) continue;
    if (!failed_lines && session.deleted && !session.created) continue;
    const auto text = files.read(dir + "/" + name, kMaxFile);
    check(text.ok(), "records", name + " readable", "an error");
    const bool ended = check_record_file(name, *text);
    // Of one that was deleted the end is there, whatever else is lost.
    check(failed_lines || !session.deleted || ended || text->empty(), "records",
          "an end of " + name + ", whose session was deleted", "none");
  }
  std::uint64_t missing = 0;
  for (const auto& [id, session] : setup_.ledger.sessions) {
    if (failed_lines || !session.deleted) missing += session.turns.size() - lines_[id];
  }
  check(missing == failed_lines.value_or(0), "records",
        std::to_string(failed_lines.value_or(0)) + " lines missing, as many as failed",
        std::to_string(missing));
}

bool Checks::check_record_file(const std::string& name, const std::string& text) {
  const std::string session = name.substr(0, name.rfind('.'));
  std::map<std::uint64_t, bool> indexes;
  std::size_t at = 0;
  bool ended = false;
  while (at < text.size()) {
    const auto end = text.find('\n', at);
    check(end != std::string::npos, "records", "whole lines in " + name, "half a line");
    const auto doc = json::Document::parse(text.substr(at, end - at));
    at = end + 1;
    check(doc.ok() && doc->root().is_object(), "records", "a JSON object for each line of " + name,
          "something else");
    check(!ended, "records", "nothing behind the end of " + name, "another line");
    ended = text_of(doc->root(), "schema_version") == "tito.session.v1";
    if (!ended) check_record(session, doc->root(), indexes);
  }
  check(!ended || setup_.ledger.sessions[session].deleted, "records",
        "an end for deleted sessions only", "one of " + session);
  return ended;
}

void Checks::check_record(const std::string& session, const Value& line,
                          std::map<std::uint64_t, bool>& indexes) {
  ++setup_.ledger.counts["check: record lines"];
  const std::string id = text_of(line, "request_id");
  const std::string which = "the record of " + id;
  const std::string number = text_of(line, "turn");
  store::TurnPtr turn;
  for (const auto& each : setup_.ledger.requests[id].turns) {
    if (each && std::to_string(each->id) == number) turn = each;
  }
  check(turn != nullptr && text_of(line, "session_id") == session && turn->session_id == session,
        "records", "a turn of session " + session, which);
  const TokenIds prompt = prompt_ids(*turn);
  check(ids_of(line, "prompt_token_ids") == prompt, "I4", "prompt ids in " + which + " as recorded",
        "others");
  check(ids_of(line, "completion_token_ids") == turn->completion, "I4",
        "completion ids in " + which + " as recorded", "others");
  check(numbers_of(line, "completion_logprobs") == turn->logprobs, "I4",
        "logprobs in " + which + " as recorded", "others");
  check(setup_.driven.by_messages() || tiled(line) == prompt.size(), "I7",
        "segments that tile the prompt in " + which, "they do not");
  const std::uint64_t index = count_of(line, "turn_index");
  const auto turns = setup_.ledger.sessions[session].turns.size();
  check(index < turns && indexes.emplace(index, true).second, "records",
        "a turn_index of its own below " + std::to_string(turns) + " in " + which,
        std::to_string(index));
  ++lines_[session];
}

}  // namespace verbatim::simulate
