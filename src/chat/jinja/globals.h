#pragma once

#include <string_view>

#include "chat/jinja/runtime.h"

namespace verbatim::chat::jinja {

// Functions every template can call.
enum class Global : std::uint16_t {
  kRange,
  kDict,
  kNamespace,
  kRaiseException,
  kStrftimeNow,
  kJoiner,
  kCycler
};
// The function of this name; kMissing when there is none.
Value find_global(std::string_view name);

Value call_range(Runtime& runtime, Arguments& arguments);
Value call_dict(Runtime& runtime, Arguments& arguments);
Value call_dict_fromkeys(Runtime& runtime, Arguments& arguments);
Value call_namespace(Runtime& runtime, Arguments& arguments);
Value call_raise_exception(Runtime& runtime, Arguments& arguments);
Value call_strftime_now(Runtime& runtime, Arguments& arguments);
Value call_joiner(Runtime& runtime, Arguments& arguments);
Value call_cycler(Runtime& runtime, Arguments& arguments);

// datetime.strftime of a local time without a time zone, in the C locale.
std::string format_time(const Clock& clock, std::string_view format);

}  // namespace verbatim::chat::jinja
