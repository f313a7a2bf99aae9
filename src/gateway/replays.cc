#include "gateway/replays.h"

#include <algorithm>

#include "base/sha256.h"
#include "json/writer.h"

namespace verbatim::gateway {

using base::MonoTime;
using base::Result;

namespace {

constexpr std::size_t kMaxKey = 255;

bool printable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c <= '~'; });
}

// As a client counts: 1, 2 and so on, and nothing else.
bool counts_a_repeat(std::string_view count) {
  return !count.empty() && count.front() != '0' &&
         std::all_of(count.begin(), count.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::string name_of(std::string_view kind, const Door& door, std::string_view value) {
  json::Writer w;
  w.begin_array().string(kind).string(door.owner).string(door.session_id).string(value).end_array();
  return w.take();
}

}  // namespace

Result<std::optional<RetryKey>> retry_key(const net::Request& http, const Door& door) {
  constexpr std::string_view kCount = "x-stainless-retry-count";
  const std::string_view key = http.headers.find("idempotency-key");
  const bool counted = http.headers.has(kCount);
  if (key.data() == nullptr && !counted) return std::optional<RetryKey>();
  RetryKey retry;
  retry.body = base::sha256_hex(http.body);
  if (key.data() != nullptr) {
    if (key.empty() || key.size() > kMaxKey || !printable(key))
      return base::invalid("idempotency-key", "expected 1 to " + std::to_string(kMaxKey) +
                                                  " printable characters, found " +
                                                  std::to_string(key.size()) + " bytes");
    retry.name = name_of("key", door, key);
    retry.by_key = true;
    retry.repeats = true;
    return std::optional(std::move(retry));
  }
  retry.name = name_of("body", door, retry.body);
  retry.repeats = counts_a_repeat(http.headers.find(kCount));
  return std::optional(std::move(retry));
}

Result<std::shared_ptr<TurnLog>> Replays::claim(const RetryKey& key, std::shared_ptr<TurnLog> own,
                                                MonoTime now) {
  std::lock_guard lock(mutex_);
  shrink(now);
  auto [it, end] = entries_.equal_range(key.name);
  if (key.by_key && it != end) {
    if (it->second.body != key.body)
      return base::error(base::ErrorKind::kConflict,
                         "this Idempotency-Key came with another body before: use a new key for a "
                         "new request, and the same body for a repeat");
    it->second.log->expect_reader();
    return it->second.log;
  }
  for (; key.repeats && it != end; ++it) {
    if (it->second.log->take_abandoned()) return it->second.log;
  }
  Entry entry;
  entry.log = own;
  entry.body = key.body;
  entries_.emplace(key.name, std::move(entry));
  return own;
}

bool Replays::give_up(const RetryKey& key, const std::shared_ptr<TurnLog>& log) {
  std::lock_guard lock(mutex_);
  if (!log->take_uncommitted()) return false;
  if (const auto it = find(key, log); it != entries_.end()) erase(it);
  return true;
}

Replays::Entries::iterator Replays::find(const RetryKey& key, const std::shared_ptr<TurnLog>& log) {
  auto [it, end] = entries_.equal_range(key.name);
  while (it != end && it->second.log != log) ++it;
  return it == end ? entries_.end() : it;
}

void Replays::ended(const RetryKey& key, const std::shared_ptr<TurnLog>& log, Delivery delivery,
                    MonoTime now) {
  std::lock_guard lock(mutex_);
  const auto it = find(key, log);
  if (it == entries_.end()) return;  // given up, or dropped
  const bool keeps = delivery == Delivery::kNot || (delivery == Delivery::kWhole && key.by_key);
  if (!keeps) return erase(it);
  Entry& entry = it->second;
  if (entry.until != base::kNever) return;
  entry.until = now + limits_.keeps;
  entry.number = ++numbers_;
  entry.bytes = log->bytes();
  bytes_ += entry.bytes;
  ended_.emplace(entry.number, it);
  shrink(now);
}

void Replays::erase(Entries::iterator it) {
  if (it->second.until != base::kNever) {
    ended_.erase(it->second.number);
    bytes_ -= it->second.bytes;
  }
  entries_.erase(it);
}

void Replays::shrink(MonoTime now) {
  while (!ended_.empty()) {
    const auto oldest = ended_.begin()->second;
    const bool over = bytes_ > limits_.bytes || entries_.size() > limits_.answers;
    if (!over && oldest->second.until > now) return;
    erase(oldest);
  }
}

std::size_t Replays::size() const {
  std::lock_guard lock(mutex_);
  return entries_.size();
}

}  // namespace verbatim::gateway
