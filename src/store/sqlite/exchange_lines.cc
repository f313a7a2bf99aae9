#include "store/sqlite/exchange_lines.h"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "base/base64.h"
#include "base/sha256.h"
#include "json/value.h"
#include "json/writer.h"

namespace verbatim::store::sqlite {

using base::Result;
using base::Status;

namespace {

constexpr std::size_t kSumDigits = 32;
constexpr std::string_view kSum = R"(,"sum":")";
constexpr std::string_view kClose = R"("})";
constexpr std::string_view kHex = "0123456789abcdef";
constexpr std::string_view kSchemas = "verbatim.store.";

base::Error wrong(const std::string& what) {
  return base::error(base::ErrorKind::kInvalidRequest, what);
}

std::string sum_of(const std::string& before, std::string_view text) {
  return base::sha256_hex(before + std::string(text)).substr(0, kSumDigits);
}

void write(json::Writer& w, const StoreLine& line) {
  w.field("kind", "store").field("schema_version", kExchangeSchema).field("key", line.key);
  w.field("sessions", line.sessions).field("commits", line.commits);
}

void write(json::Writer& w, const SessionLine& line) {
  const SessionSpec& spec = *line.spec;
  w.field("kind", "session").field("id", spec.id).field("number", line.number);
  w.field("implicit", line.implicit).field("version", line.version).field("turns", line.turns);
  w.field("owner", spec.owner).field("options", spec.options).field("metadata", spec.metadata);
  w.field("secret_hash", spec.secret_hash).field("created_ms", spec.created_ms);
}

void write(json::Writer& w, const RootLine& line) {
  w.field("kind", "root").field("root", line.root).field("bytes", base::to_base64(line.bytes));
}

void write(json::Writer& w, const TurnLine& line) {
  std::string digest;
  for (const auto byte : line.digest.bytes) {
    digest += kHex[byte >> 4];
    digest += kHex[byte & 15];
  }
  w.field("kind", "turn").field("seq", line.seq).field("parent", line.parent);
  w.field("id", std::to_string(line.id)).field("branch", std::to_string(line.branch));
  w.field("root", line.root).field("commit", line.commit).field("digest", digest);
  w.field("bytes", base::to_base64(line.bytes));
}

void write(json::Writer& w, const ResponseLine& line) {
  const StoredResponse& response = *line.response;
  w.field("kind", "response").field("id", response.id);
  w.field("turn", std::to_string(response.turn)).field("instructed", response.instructed);
  w.field("created_ms", response.created_ms).field("body", response.body);
  w.field("input", response.input);
}

void write(json::Writer& w, const ConversationLine& line) {
  const Conversation& conversation = line.conversation;
  w.field("kind", "conversation").field("metadata", conversation.metadata);
  w.field("version", conversation.version).field("items", conversation.items);
  w.field("bytes", conversation.bytes).field("last", conversation.last);
  w.field("turn", std::to_string(conversation.turn)).field("answered", conversation.answered);
  w.field("instructed", conversation.instructed).field("carried", conversation.carried);
}

void write(json::Writer& w, const ItemLine& line) {
  w.field("kind", "item").field("seq", line.item->seq).field("id", line.item->id);
  w.field("body", line.item->body);
}

void write(json::Writer& w, const EndLine& line) {
  w.field("kind", "end").field("sessions", line.sessions).field("turns", line.turns);
}

// Reads members; the first that is not as it should be is the error.
class Members {
 public:
  explicit Members(json::Value line) : line_(line) {}

  std::string text(const char* name) {
    const auto value = line_.get(name);
    if (value && value->is_string()) return value->string();
    fail(name, "a text");
    return {};
  }
  std::uint64_t number(const char* name) {
    const auto value = line_.get(name);
    const auto number = value && value->is_number() ? value->integer() : std::nullopt;
    if (number && *number >= 0) return static_cast<std::uint64_t>(*number);
    fail(name, "a number that is not negative");
    return 0;
  }
  std::int64_t time(const char* name) {
    const auto value = line_.get(name);
    const auto number = value && value->is_number() ? value->integer() : std::nullopt;
    if (!number) fail(name, "an integer");
    return number.value_or(0);
  }
  bool flag(const char* name) {
    const auto value = line_.get(name);
    if (value && value->is_bool()) return value->boolean();
    fail(name, "true or false");
    return false;
  }
  std::uint64_t id(const char* name) {
    const std::string digits = text(name);
    std::uint64_t value = 0;
    const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (failed != std::errc() || end != digits.data() + digits.size())
      fail(name, "a number as text");
    return value;
  }
  trajectory::Digest digest(const char* name) {
    const std::string digits = text(name);
    trajectory::Digest digest;
    if (digits.size() != 2 * digest.bytes.size() ||
        digits.find_first_not_of(kHex) != std::string::npos) {
      fail(name, "32 hex digits");
      return digest;
    }
    for (std::size_t i = 0; i < digest.bytes.size(); ++i)
      digest.bytes[i] =
          static_cast<std::uint8_t>(kHex.find(digits[2 * i]) << 4 | kHex.find(digits[2 * i + 1]));
    return digest;
  }
  std::string bytes(const char* name) {
    auto bytes = base::from_base64(text(name));
    if (!bytes) fail(name, "base64");
    return bytes ? *std::move(bytes) : std::string();
  }
  [[nodiscard]] const std::string& error() const { return error_; }

 private:
  void fail(const char* name, const char* expected) {
    if (error_.empty()) error_ = std::string("member ") + name + ": expected " + expected;
  }

  json::Value line_;
  std::string error_;
};

ExchangeLine read_session(Members& m) {
  auto spec = std::make_shared<SessionSpec>(m.text("id"), m.time("created_ms"));
  spec->owner = m.text("owner");
  spec->options = m.text("options");
  spec->metadata = m.text("metadata");
  spec->secret_hash = m.text("secret_hash");
  SessionLine line;
  line.number = m.number("number");
  line.version = m.number("version");
  line.turns = m.number("turns");
  line.implicit = m.flag("implicit");
  line.spec = std::move(spec);
  return line;
}

ExchangeLine read_turn(Members& m) {
  TurnLine line;
  line.seq = m.number("seq");
  line.parent = m.number("parent");
  line.id = m.id("id");
  line.branch = m.id("branch");
  line.root = m.number("root");
  line.commit = m.number("commit");
  line.digest = m.digest("digest");
  line.bytes = m.bytes("bytes");
  return line;
}

ExchangeLine read_response(Members& m) {
  auto response = std::make_shared<StoredResponse>();
  response->id = m.text("id");
  response->turn = m.id("turn");
  response->instructed = m.flag("instructed");
  response->created_ms = m.time("created_ms");
  response->body = m.text("body");
  response->input = m.text("input");
  return ResponseLine{std::move(response)};
}

ExchangeLine read_conversation(Members& m) {
  Conversation conversation;
  conversation.metadata = m.text("metadata");
  conversation.version = m.number("version");
  conversation.items = m.number("items");
  conversation.bytes = m.number("bytes");
  conversation.last = m.number("last");
  conversation.turn = m.id("turn");
  conversation.answered = m.number("answered");
  conversation.instructed = m.flag("instructed");
  conversation.carried = m.text("carried");
  return ConversationLine{std::move(conversation)};
}

ExchangeLine read_item(Members& m) {
  auto item = std::make_shared<ConversationItem>();
  item->seq = m.number("seq");
  item->id = m.text("id");
  item->body = m.text("body");
  return ItemLine{std::move(item)};
}

Result<ExchangeLine> read_members(json::Value object) {
  Members m(object);
  const std::string kind = m.text("kind");
  ExchangeLine line;
  if (kind == "store") {
    line = StoreLine{m.text("key"), m.number("sessions"), m.number("commits")};
  } else if (kind == "session") {
    line = read_session(m);
  } else if (kind == "root") {
    line = RootLine{m.number("root"), m.bytes("bytes")};
  } else if (kind == "turn") {
    line = read_turn(m);
  } else if (kind == "response") {
    line = read_response(m);
  } else if (kind == "conversation") {
    line = read_conversation(m);
  } else if (kind == "item") {
    line = read_item(m);
  } else if (kind == "end") {
    line = EndLine{m.number("sessions"), m.number("turns")};
  } else if (m.error().empty()) {
    return wrong("member kind: found \"" + kind +
                 "\", expected store, session, root, turn, response, conversation, item or end");
  }
  if (!m.error().empty()) return wrong(m.error());
  return line;
}

// Is it a file of this format at all, and of this version?
Status check_schema(std::string_view line) {
  const auto document = json::Document::parse(std::string(line.substr(0, kMaxExchangeLine)));
  const bool object = document && document->root().is_object();
  const auto schema = object ? document->root().get("schema_version") : std::nullopt;
  const std::string found = schema && schema->is_string() ? schema->string() : "";
  const auto& before = kExchangeSchemasBefore;
  if (found == kExchangeSchema ||
      std::find(std::begin(before), std::end(before), found) != std::end(before))
    return {};
  if (found.starts_with(kSchemas))
    return wrong("found " + found + ", this verbatim reads " + std::string(kExchangeSchema) +
                 "; use the newer verbatim that wrote it");
  return wrong("not an export of a store: expected the schema " + std::string(kExchangeSchema));
}

}  // namespace

std::string ExchangeWriter::line(const ExchangeLine& line) {
  json::Writer w;
  w.begin_object();
  std::visit([&w](const auto& each) { write(w, each); }, line);
  w.end_object();
  std::string text = w.take();
  text.pop_back();
  sum_ = sum_of(sum_, text);
  text.append(kSum).append(sum_).append(kClose).append("\n");
  return text;
}

Status ExchangeReader::check_sum(std::string_view line) {
  const std::size_t behind = kSum.size() + kSumDigits + kClose.size();
  const auto damaged = [] {
    return wrong(
        "damaged: its sum is not that of what it says and of the lines before; the file was "
        "changed, or cut here");
  };
  if (line.size() < behind || !line.ends_with(kClose)) return damaged();
  const auto text = line.substr(0, line.size() - behind);
  const auto rest = line.substr(text.size());
  if (!rest.starts_with(kSum)) return damaged();
  std::string sum = sum_of(sum_, text);
  if (rest.substr(kSum.size(), kSumDigits) != sum) return damaged();
  sum_ = std::move(sum);
  return {};
}

Result<ExchangeLine> ExchangeReader::read(std::string_view line) {
  if (!std::exchange(begun_, true)) {
    if (auto status = check_schema(line); !status.ok()) return std::move(status).error();
  }
  if (auto status = check_sum(line); !status.ok()) return std::move(status).error();
  json::ParseLimits limits;
  limits.max_bytes = kMaxExchangeLine;
  const auto document = json::Document::parse(std::string(line), limits);
  if (!document) return document.error();
  return read_members(document->root());
}

}  // namespace verbatim::store::sqlite
