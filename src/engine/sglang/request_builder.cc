#include "engine/sglang/request_builder.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "json/writer.h"

namespace verbatim::engine::sglang {
namespace {

using message::Sampling;

constexpr unsigned kMaxTopLogprobs = 20;

// Prints ids through a small buffer on the stack: one pass over the prompt, one growing string.
class IdPrinter {
 public:
  explicit IdPrinter(std::string& out) : out_(out) {}
  void print(TokenId id) {
    if (buffer_.size() - used_ < kLongest) flush();
    if (!first_) buffer_[used_++] = ',';
    first_ = false;
    const auto end = std::to_chars(buffer_.data() + used_, buffer_.data() + buffer_.size(), id).ptr;
    used_ = static_cast<std::size_t>(end - buffer_.data());
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

std::size_t bytes_for(std::size_t ids) {
  return ids * 7 + 1024;  // vocabularies end below a million: six digits and a comma
}

std::vector<TokenId> stop_ids(const TokenRequest& request) {
  std::vector<TokenId> ids = request.stop_token_ids;
  for (const TokenId id : request.sampling.stop_token_ids) {
    if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
  }
  return ids;
}

template <class T>
void optional_field(json::Writer& w, std::string_view name, const std::optional<T>& value) {
  if (value) w.field(name, *value);
}

std::string sampling_params(const TokenRequest& request) {
  const Sampling& s = request.sampling;
  json::Writer w;
  w.begin_object();
  w.field("max_new_tokens", request.max_new_tokens);
  optional_field(w, "temperature", s.temperature);
  optional_field(w, "top_p", s.top_p);
  optional_field(w, "top_k", s.top_k);
  optional_field(w, "min_p", s.min_p);
  optional_field(w, "frequency_penalty", s.frequency_penalty);
  optional_field(w, "presence_penalty", s.presence_penalty);
  optional_field(w, "repetition_penalty", s.repetition_penalty);
  optional_field(w, "sampling_seed", s.seed);
  if (!s.stop.empty()) {
    w.key("stop").begin_array();
    for (const auto& text : s.stop) w.string(text);
    w.end_array();
  }
  if (const auto ids = stop_ids(request); !ids.empty()) {
    w.key("stop_token_ids").begin_array();
    for (const TokenId id : ids) w.unsigned_integer(id);
    w.end_array();
  }
  w.field("skip_special_tokens", false);
  w.field("spaces_between_special_tokens", false);
  w.field("no_stop_trim", true);
  w.end_object();
  return w.take();
}

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

std::string generate_body(const TokenRequest& request) {
  std::string body;
  body.reserve(bytes_for(request.prompt_size()));
  body += "{\"rid\":";
  json::append_string(body, request.request_id);
  body += ",\"input_ids\":[";
  IdPrinter printer(body);
  for (const auto& piece : request.prompt) {
    for (const TokenId id : piece) printer.print(id);
  }
  printer.flush();
  body += "],\"sampling_params\":";
  body += sampling_params(request);
  body += ",\"return_logprob\":true,\"logprob_start_len\":-1,\"top_logprobs_num\":";
  body += std::to_string(request.sampling.logprobs ? request.sampling.top_logprobs : 0);
  body += ",\"stream\":true}";
  return body;
}

std::string abort_body(std::string_view request_id) {
  json::Writer w;
  w.begin_object().field("rid", request_id).end_object();
  return w.take();
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

}  // namespace verbatim::engine::sglang
