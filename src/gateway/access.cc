#include "gateway/access.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_set>

#include "base/sha256.h"
#include "base/utf8.h"

namespace verbatim::gateway {

using base::ErrorKind;
using base::invalid;
using base::Result;
using base::Task;

namespace {

constexpr std::size_t kMaxOwner = 128;
constexpr std::size_t kMinKey = 16;
constexpr std::size_t kMaxKey = 512;
constexpr std::size_t kMaxKeys = 10'000;
constexpr unsigned kSecretLetters = 43;  // 256 bits
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

std::string_view next_word(std::string_view& line) {
  const auto begin = std::min(line.find_first_not_of(" \t\r"), line.size());
  line.remove_prefix(begin);
  const auto end = std::min(line.find_first_of(" \t\r"), line.size());
  const auto word = line.substr(0, end);
  line.remove_prefix(end);
  return word;
}

// Beside the blanks that part words, and the CR of a line's end.
bool holds_control(std::string_view line) {
  return std::any_of(line.begin(), line.end(), [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\r') || c == 0x7f;
  });
}

// Reads all of both, whatever they hold.
bool equal_in_constant_time(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  return difference == 0;
}

// What the client shows as its key; of several the first.
std::string_view shown_key(const net::Headers& headers) {
  constexpr std::string_view kBearer = "bearer ";
  std::string_view value = headers.find("authorization");
  if (value.size() > kBearer.size() &&
      net::equals_ignoring_case(value.substr(0, kBearer.size()), kBearer)) {
    value.remove_prefix(kBearer.size());
    return next_word(value);
  }
  return headers.find("x-api-key");
}

base::Error refused(std::string message) {
  auto failure = base::error(ErrorKind::kUnauthorized, std::move(message));
  failure.code = "invalid_api_key";
  return failure;
}

base::Error no_owner(std::string_view key) {
  return refused(key.empty()
                     ? "a key is needed: send Authorization: Bearer KEY, or x-api-key"
                     : "unknown key: expected one of the operator's keys, or a session's secret");
}

}  // namespace

Result<ApiKeys> ApiKeys::read(std::string_view text) {
  ApiKeys keys;
  std::unordered_set<std::string> known;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const auto end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::string place = "line " + std::to_string(number);
    if (!base::valid_utf8(line) || line.starts_with(kByteOrderMark) || holds_control(line))
      return invalid(place,
                     "expected plain text in UTF-8, found bytes that are none, a byte order mark "
                     "or a control character");
    const auto owner = next_word(line);
    if (owner.empty() || owner.front() == '#') continue;
    const auto key = next_word(line);
    if (owner.size() > kMaxOwner)
      return invalid(place,
                     "the owner's name has more than " + std::to_string(kMaxOwner) + " bytes");
    if (key.size() < kMinKey || key.size() > kMaxKey || !next_word(line).empty())
      return invalid(place, "expected OWNER KEY with a key of " + std::to_string(kMinKey) + " to " +
                                std::to_string(kMaxKey) + " bytes without blanks");
    if (key.starts_with(kSecretPrefix))
      return invalid(place, "keys that begin with " + std::string(kSecretPrefix) +
                                " are secrets of sessions: choose another");
    std::string hash = base::sha256_hex(key);
    if (!known.insert(hash).second) return invalid(place, "this key stands there already");
    if (keys.keys_.size() == kMaxKeys)
      return invalid(place, "more than " + std::to_string(kMaxKeys) + " keys");
    keys.keys_.push_back({std::move(hash), std::string(owner)});
  }
  if (keys.empty()) return invalid("", "no key in it: expected lines OWNER KEY");
  return keys;
}

std::size_t ApiKeys::owners() const {
  std::set<std::string_view> owners;
  for (const auto& each : keys_) owners.insert(each.owner);
  return std::max<std::size_t>(owners.size(), 1);
}

const std::string* ApiKeys::owner_of(std::string_view key) const {
  const std::string hash = base::sha256_hex(key);
  const std::string* owner = nullptr;
  for (const auto& each : keys_) {
    if (equal_in_constant_time(each.hash, hash)) owner = &each.owner;
  }
  return owner;
}

std::string new_secret(base::Random& random) {
  return std::string(kSecretPrefix) + base::new_base62_id(random, kSecretLetters);
}

std::string secret_hash(std::string_view secret) {
  return base::sha256_hex(secret);
}

Task<Result<Caller>> identify(const ApiKeys& keys, store::Store& store,
                              const net::Headers& headers) {
  const std::string_view key = shown_key(headers);
  Caller caller;
  if (key.starts_with(kSecretPrefix)) {
    const auto session = co_await store.session_of_secret(secret_hash(key));
    if (!session) co_return session.error();
    if (!session->has_value())
      co_return refused("no session has this secret: its session was deleted, or never was");
    caller.owner = (*session)->spec->owner;
    caller.session_id = (*session)->spec->id;
    co_return caller;
  }
  if (keys.empty()) co_return caller;
  const std::string* owner = keys.owner_of(key);
  if (owner == nullptr) co_return no_owner(key);
  caller.owner = *owner;
  co_return caller;
}

base::Status check_key(const ApiKeys& keys, const net::Headers& headers) {
  const std::string_view key = shown_key(headers);
  if (keys.empty() || keys.owner_of(key) != nullptr) return {};
  return no_owner(key);
}

}  // namespace verbatim::gateway
