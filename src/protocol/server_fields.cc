#include "protocol/server_fields.h"

#include <algorithm>

#include "protocol/typed.h"

namespace verbatim::protocol {

using base::Result;
using base::Status;
using json::Value;

base::Error theirs(base::Error error) {
  error.kind = base::ErrorKind::kEngine;
  return error;
}

base::Error not_believed(std::string field, std::string message) {
  return theirs(base::invalid(std::move(field), std::move(message)));
}

Result<std::string> text_of(const Value& object, std::string_view name, std::string_view path) {
  const auto value = object.get(name);
  if (!value) return std::string();
  auto text = read_string(*value, std::string(path) + std::string(name));
  if (!text) return theirs(std::move(text).error());
  return text;
}

Status put(Result<std::string> text, std::string& into) {
  if (!text) return std::move(text).error();
  into = std::move(*text);
  return {};
}

Result<std::uint64_t> count_of(const Value& object, std::string_view name, std::string_view path) {
  const auto value = object.get(name);
  if (!value) return std::uint64_t{0};
  auto count = read_integer(*value, std::string(path) + std::string(name),
                            {.min = 0, .expected = "a count"});
  if (!count) return theirs(std::move(count).error());
  return static_cast<std::uint64_t>(*count);
}

Status read_detail(const Value& usage, std::string_view details, std::string_view name,
                   std::string_view path, std::optional<std::uint64_t>& into) {
  const auto told = usage.get(details);
  if (!told || !told->is_object() || !told->get(name)) return {};
  const auto count = count_of(*told, name, std::string(path) + std::string(details) + ".");
  if (!count) return count.error();
  into = *count;
  return {};
}

Result<Value> object_of(const Value& object, std::string_view name, std::string_view path) {
  const auto value = object.get(name);
  const std::string field = std::string(path) + std::string(name);
  if (!value) return not_believed(field, "missing; expected an object");
  if (!value->is_object()) return theirs(mismatch(field, "an object", *value));
  return *value;
}

bool is_whole(const std::string& arguments) {
  return json::Document::parse(arguments).ok();
}

Result<message::FinishReason> finish_of(std::span<const FinishWord> words, const std::string& word,
                                        std::string_view field) {
  std::string known;
  for (const auto& each : words) {
    if (each.word == word) return each.finish;
    known.append(known.empty() ? "" : ", ").append(each.word);
  }
  if (word.empty()) return not_believed(std::string(field), "missing; expected one of " + known);
  // A word can be as long as the server likes: cut between two characters.
  std::size_t shown = std::min<std::size_t>(word.size(), 40);
  while (shown < word.size() && (static_cast<unsigned char>(word[shown]) & 0xC0) == 0x80) --shown;
  return not_believed(std::string(field), "found \"" + word.substr(0, shown) +
                                              "\", which ends no answer; expected one of " + known);
}

}  // namespace verbatim::protocol
