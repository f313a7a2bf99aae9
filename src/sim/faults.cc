#include "sim/faults.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

namespace verbatim::sim {
namespace {

constexpr std::array<std::string_view, kFaults> kNames = {"no_output_ids",
                                                          "no_logprobs",
                                                          "short_logprobs",
                                                          "nan_logprob",
                                                          "null_logprob",
                                                          "count_off_by_one",
                                                          "wrong_prompt_tokens",
                                                          "id_out_of_range",
                                                          "id_negative",
                                                          "id_string",
                                                          "id_bool",
                                                          "id_null",
                                                          "id_huge",
                                                          "wrong_logprob_id",
                                                          "null_finish",
                                                          "wrong_index",
                                                          "abort",
                                                          "error_body",
                                                          "html_body",
                                                          "cut_stream",
                                                          "no_done",
                                                          "stall",
                                                          "slow_body",
                                                          "error_event",
                                                          "extra_event",
                                                          "comments",
                                                          "http_400",
                                                          "http_429",
                                                          "http_500",
                                                          "http_503",
                                                          "closed",
                                                          "ids_past_stop",
                                                          "split_bytes",
                                                          "trimmed_stop",
                                                          "stand_in_logprob",
                                                          "unknown_finish",
                                                          "bare_error_event",
                                                          "no_engine_data",
                                                          "empty_answer",
                                                          "http_404",
                                                          "http_413",
                                                          "http_529"};
static_assert(static_cast<std::size_t>(Fault::kHttp529) + 1 == kFaults);

base::Error bad(std::string_view item, std::string_view expected) {
  return base::invalid("faults",
                       "found \"" + std::string(item) + "\", expected " + std::string(expected));
}

}  // namespace

std::string fault_names(std::string_view line_break) {
  constexpr std::size_t kWidth = 80;
  std::string names;
  std::size_t width = 0;
  for (const auto name : kNames) {
    if (!names.empty()) names += ", ";
    if (width + name.size() > kWidth && !line_break.empty()) {
      names.back() = line_break.front();
      names += line_break.substr(1);
      width = 0;
    }
    width += name.size() + 2;
    names += name;
  }
  return names;
}

// Ids and logprobs are not shown there, nor can a count be compared with anything.
bool applies_by_messages(Fault fault) {
  static constexpr std::array kAll = {
      Fault::kNullFinish,     Fault::kUnknownFinish, Fault::kWrongIndex, Fault::kAbort,
      Fault::kErrorBody,      Fault::kHtmlBody,      Fault::kCutStream,  Fault::kNoDone,
      Fault::kStall,          Fault::kSlowBody,      Fault::kErrorEvent, Fault::kComments,
      Fault::kHttp400,        Fault::kHttp429,       Fault::kHttp500,    Fault::kHttp503,
      Fault::kClosed,         Fault::kSplitBytes,    Fault::kHttp404,    Fault::kHttp413,
      Fault::kBareErrorEvent, Fault::kHttp529};
  return std::find(kAll.begin(), kAll.end(), fault) != kAll.end();
}

bool applies(Fault fault, FaceKind face) {
  if (face == FaceKind::kOpenai) return applies_by_messages(fault);
  if (fault == Fault::kStandInLogprob) return face == FaceKind::kVllm;
  if (fault == Fault::kNoEngineData || fault == Fault::kEmptyAnswer || fault == Fault::kHttp529)
    return face == FaceKind::kDynamo;
  return fault != Fault::kWrongIndex || face != FaceKind::kSglang;  // its answers have no index
}

bool needs_events(Fault fault) {
  return fault == Fault::kNoDone || fault == Fault::kExtraEvent || fault == Fault::kComments ||
         fault == Fault::kBareErrorEvent;
}

std::string_view name(Fault fault) {
  return kNames[static_cast<std::size_t>(fault)];
}

std::optional<Fault> fault_named(std::string_view text) {
  for (std::size_t i = 0; i < kFaults; ++i) {
    if (kNames[i] == text) return static_cast<Fault>(i);
  }
  return std::nullopt;
}

std::optional<Fault> FaultRates::draw(base::Random& random) const {
  std::uint64_t at = random.below(1000);
  for (std::size_t i = 0; i < kFaults; ++i) {
    if (at < permille_[i]) return static_cast<Fault>(i);
    at -= permille_[i];
  }
  return std::nullopt;
}

base::Result<FaultRates> FaultRates::parse(std::string_view text) {
  FaultRates rates;
  unsigned sum = 0;
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(item.size() == text.size() ? item.size() : item.size() + 1);
    const auto equals = item.find('=');
    if (equals == std::string_view::npos) return bad(item, "name=thousandths");
    const std::string_view key = item.substr(0, equals);
    const std::string_view digits = item.substr(equals + 1);
    unsigned permille = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), permille);
    if (read.ec != std::errc() || read.ptr != digits.data() + digits.size() || permille > 1000)
      return bad(item, "thousandths from 0 to 1000");
    const auto fault = fault_named(key);
    if (!fault && key != "all") return bad(item, "the name of a fault: all, " + fault_names());
    for (std::size_t i = 0; i < kFaults; ++i) {
      if (!fault || i == index(*fault)) rates.permille_[i] = permille;
    }
  }
  for (const unsigned each : rates.permille_) sum += each;
  if (sum > 1000) return base::invalid("faults", "found rates that sum to more than 1000");
  return rates;
}

}  // namespace verbatim::sim
