#include "engine/request_fields.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>

namespace verbatim::engine {
namespace {

using message::Sampling;

// A number below a thousand, printed: with zeros in front, and without.
struct ThreeDigits {
  std::array<char, 3> padded;
  std::array<char, 3> plain;  // so many of them as its length says
  std::uint8_t length;
};

constexpr std::array<ThreeDigits, 1000> kThreeDigits = [] {
  std::array<ThreeDigits, 1000> table{};
  for (unsigned i = 0; i < table.size(); ++i) {
    auto& entry = table[i];
    entry.padded = {static_cast<char>('0' + i / 100), static_cast<char>('0' + i / 10 % 10),
                    static_cast<char>('0' + i % 10)};
    entry.length = i < 10 ? 1 : i < 100 ? 2 : 3;
    for (unsigned k = 0; k < entry.length; ++k) entry.plain[k] = entry.padded[3 - entry.length + k];
  }
  return table;
}();

// Prints ids through a small buffer on the stack: one pass over the prompt, one growing string. The
// history's ids are printed again in each turn, a tenth of what a turn of fifty costs: three digits
// at a time take half of what std::to_chars does.
class IdPrinter {
 public:
  explicit IdPrinter(std::string& out) : out_(out) {}
  void print(TokenId id) {
    if (buffer_.size() - used_ < kLongest) flush();
    if (!first_) buffer_[used_++] = ',';
    first_ = false;
    char* const at = buffer_.data() + used_;
    if (id >= 1'000'000) {
      used_ = static_cast<std::size_t>(std::to_chars(at, buffer_.data() + buffer_.size(), id).ptr -
                                       buffer_.data());
      return;
    }
    const auto& low = kThreeDigits[id % 1000];
    if (id < 1000) {
      std::memcpy(at, low.plain.data(), 3);
      used_ += low.length;
      return;
    }
    const auto& high = kThreeDigits[id / 1000];
    std::memcpy(at, high.plain.data(), 3);
    std::memcpy(at + high.length, low.padded.data(), 3);
    used_ += high.length + std::size_t{3};
  }
  void flush() {
    out_.append(buffer_.data(), used_);
    used_ = 0;
  }

 private:
  static constexpr std::size_t kLongest = 11;  // a comma and ten digits
  std::string& out_;
  std::array<char, 4096> buffer_;
  std::size_t used_ = 0;
  bool first_ = true;
};

base::Status check_number(const char* field, const std::optional<double>& value) {
  if (!value || std::isfinite(*value)) return {};
  return base::invalid(field, std::string(field) + " must be a finite number");
}

base::Status check_stops(const Sampling& sampling, std::uint64_t vocab_size) {
  for (std::size_t i = 0; i < sampling.stop.size(); ++i) {
    if (!sampling.stop[i].empty()) continue;
    return base::invalid("stop[" + std::to_string(i) + "]", "a stop string must not be empty");
  }
  for (std::size_t i = 0; i < sampling.stop_token_ids.size(); ++i) {
    const TokenId id = sampling.stop_token_ids[i];
    if (id < vocab_size) continue;
    return base::invalid("stop_token_ids[" + std::to_string(i) + "]",
                         "found " + std::to_string(id) +
                             ", expected an id below the vocabulary's " +
                             std::to_string(vocab_size));
  }
  return {};
}

}  // namespace

std::size_t bytes_for_prompt(const TokenRequest& request) {
  // Vocabularies end below a million: six digits and a comma.
  return request.prompt_size() * 7 + 1024;
}

void append_ids(std::string& out, std::span<const std::span<const TokenId>> pieces) {
  IdPrinter printer(out);
  for (const auto& piece : pieces) {
    for (const TokenId id : piece) printer.print(id);
  }
  printer.flush();
}

std::vector<TokenId> stop_ids(const TokenRequest& request) {
  std::vector<TokenId> ids = request.stop_token_ids;
  for (const TokenId id : request.sampling.stop_token_ids) {
    if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
  }
  return ids;
}

void write_strings(json::Writer& w, std::string_view name, const std::vector<std::string>& texts) {
  w.key(name).begin_array();
  for (const auto& text : texts) w.string(text);
  w.end_array();
}

void write_shared_sampling(json::Writer& w, const Sampling& s) {
  optional_field(w, "temperature", s.temperature);
  optional_field(w, "top_p", s.top_p);
  optional_field(w, "top_k", s.top_k);
  optional_field(w, "min_p", s.min_p);
  optional_field(w, "frequency_penalty", s.frequency_penalty);
  optional_field(w, "presence_penalty", s.presence_penalty);
  optional_field(w, "repetition_penalty", s.repetition_penalty);
}

void write_ids(json::Writer& w, std::string_view name, const std::vector<TokenId>& ids) {
  w.key(name).begin_array();
  for (const TokenId id : ids) w.unsigned_integer(id);
  w.end_array();
}

base::Status check_sampling(const Sampling& s, std::uint64_t vocab_size) {
  for (const auto& [field, value] :
       {std::pair("temperature", s.temperature), std::pair("top_p", s.top_p),
        std::pair("min_p", s.min_p), std::pair("frequency_penalty", s.frequency_penalty),
        std::pair("presence_penalty", s.presence_penalty),
        std::pair("repetition_penalty", s.repetition_penalty)}) {
    if (auto status = check_number(field, value); !status.ok()) return status;
  }
  if (s.top_logprobs > kMaxTopLogprobs) {
    return base::invalid("top_logprobs", "found " + std::to_string(s.top_logprobs) +
                                             ", expected at most " +
                                             std::to_string(kMaxTopLogprobs));
  }
  return check_stops(s, vocab_size);
}

}  // namespace verbatim::engine
