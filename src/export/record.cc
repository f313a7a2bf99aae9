#include "export/record.h"

#include "json/value.h"

namespace verbatim::exporting {

using base::invalid;
using base::Result;

namespace {

Result<std::string> string_member(const json::Value& line, const std::string& name) {
  const auto value = line.get(name);
  if (!value || !value->is_string()) return invalid(name, "expected a string");
  return value->string();
}

Result<TokenIds> ids_member(const json::Value& line, const std::string& name) {
  const auto value = line.get(name);
  if (!value || !value->is_array()) return invalid(name, "expected an array of token ids");
  TokenIds ids;
  ids.reserve(value->size());
  for (const auto member : *value) {
    const auto id = member.value.is_number() ? member.value.integer() : std::nullopt;
    if (!id || *id < 0 || *id > UINT32_MAX)
      return invalid(name,
                     "expected token ids, found " + std::string(member.value.raw().substr(0, 40)));
    ids.push_back(static_cast<TokenId>(*id));
  }
  return ids;
}

Result<std::vector<double>> numbers_member(const json::Value& line, const std::string& name) {
  const auto value = line.get(name);
  if (!value || !value->is_array()) return invalid(name, "expected an array of numbers");
  std::vector<double> numbers;
  numbers.reserve(value->size());
  for (const auto member : *value) {
    const auto number = member.value.is_number() ? member.value.number() : std::nullopt;
    if (!number)
      return invalid(
          name, "expected finite numbers, found " + std::string(member.value.raw().substr(0, 40)));
    numbers.push_back(*number);
  }
  return numbers;
}

}  // namespace

Result<std::optional<RecordedTurn>> read_record(std::string line) {
  auto doc = json::Document::parse(std::move(line));
  if (!doc) return std::move(doc).error();
  const auto root = doc->root();
  if (!root.is_object()) return invalid("", "expected an object");
  auto schema = string_member(root, "schema_version");
  if (!schema) return std::move(schema).error();
  // The line that ends a session: no turn, no error.
  if (*schema == "tito.session.v1") return std::optional<RecordedTurn>();
  if (*schema != "tito.record.v1")
    return invalid("schema_version", "expected \"tito.record.v1\", found \"" + *schema + "\"");
  RecordedTurn turn;
  for (const auto& [name, target] : {std::pair{"session_id", &turn.session_id},
                                     {"turn", &turn.turn},
                                     {"finish_reason", &turn.finish_reason}}) {
    auto text = string_member(root, name);
    if (!text) return std::move(text).error();
    *target = std::move(*text);
  }
  if (const auto parent = root.get("parent_turn"))
    turn.parent = parent->is_string() ? parent->string() : "";
  // Older lines do not say.
  const auto exact = root.get("token_exact");
  if (exact && !exact->is_bool()) return invalid("token_exact", "expected a boolean");
  turn.token_exact = !exact || exact->boolean();
  auto prompt = ids_member(root, "prompt_token_ids");
  if (!prompt) return std::move(prompt).error();
  auto completion = ids_member(root, "completion_token_ids");
  if (!completion) return std::move(completion).error();
  auto logprobs = numbers_member(root, "completion_logprobs");
  if (!logprobs) return std::move(logprobs).error();
  if (logprobs->size() != completion->size())
    return invalid("completion_logprobs", "expected one per completion id");
  turn.prompt = std::move(*prompt);
  turn.completion = std::move(*completion);
  turn.logprobs = std::move(*logprobs);
  return std::optional(std::move(turn));
}

std::size_t drop_inexact(std::vector<RecordedTurn>& turns) {
  return std::erase_if(turns, [](const RecordedTurn& turn) { return !turn.token_exact; });
}

Result<std::vector<RecordedTurn>> read_records(std::string_view text) {
  std::vector<RecordedTurn> turns;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const auto end = text.find('\n');
    if (end == std::string_view::npos) break;
    auto turn = read_record(std::string(text.substr(0, end)));
    if (!turn) return std::move(turn).error().within("line " + std::to_string(number));
    if (*turn) turns.push_back(std::move(**turn));
    text.remove_prefix(end + 1);
  }
  return turns;
}

}  // namespace verbatim::exporting
