#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "json/value.h"
#include "message/event.h"
#include "protocol/answer_reader.h"

namespace verbatim::protocol {

// Typed reading of what servers answer: as typed.h, but what is wrong is the server's fault.

// The same error, but the server's fault.
base::Error theirs(base::Error error);
// "`field`: `message`" as the server's fault.
base::Error not_believed(std::string field, std::string message);

// The text under `name`, with `path` before it in errors; empty where it is absent or null.
base::Result<std::string> text_of(const json::Value& object, std::string_view name,
                                  std::string_view path);
base::Status put(base::Result<std::string> text, std::string& into);
// A count under `name`; 0 where it is absent.
base::Result<std::uint64_t> count_of(const json::Value& object, std::string_view name,
                                     std::string_view path);
// A count under `name` in the object `details` of a usage; `into` stays where either is absent.
base::Status read_detail(const json::Value& usage, std::string_view details, std::string_view name,
                         std::string_view path, std::optional<std::uint64_t>& into);
// An object under `name`; an error where it is absent.
base::Result<json::Value> object_of(const json::Value& object, std::string_view name,
                                    std::string_view path);

// Whether a call's arguments are a whole JSON text.
bool is_whole(const std::string& arguments);

base::Result<message::FinishReason> finish_of(std::span<const FinishWord> words,
                                              const std::string& word, std::string_view field);

}  // namespace verbatim::protocol
