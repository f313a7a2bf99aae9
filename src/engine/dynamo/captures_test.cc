#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "engine/dynamo/answer_reader.h"
#include "gtest/gtest.h"
#include "json/value.h"
#include "net/sse.h"

// Answers that real Dynamo frontends gave (tests/captures/dynamo-raw).
namespace verbatim::engine::dynamo {
namespace {

using json::Document;
using json::Value;

Document capture(const std::string& name) {
  std::ifstream in("tests/captures/dynamo-raw/" + name + ".json");
  std::ostringstream text;
  text << in.rdbuf();
  auto document = Document::parse(text.str());
  if (!document.ok()) throw std::runtime_error(name + ": " + document.error().message);
  return std::move(*document);
}

TokenIds ids_of(const std::optional<Value>& list) {
  TokenIds ids;
  if (!list) return ids;
  for (const auto& member : *list) ids.push_back(static_cast<TokenId>(*member.value.integer()));
  return ids;
}

// The objects of an answer that began well, as the stream would be read; [DONE] is one of them.
std::vector<std::string> objects_of(const Value& response) {
  std::vector<std::string> objects;
  if (response.get("status")->integer() != 200) return objects;
  if (const auto whole = response.get("json")) return {std::string(whole->raw()), "[DONE]"};
  const auto text = response.get("sse");
  if (!text) return objects;
  net::SseReader reader(std::size_t{1} << 20);
  const auto status = reader.feed(text->string(), [&](const net::SseEvent& event) -> base::Status {
    objects.emplace_back(event.data);
    return {};
  });
  EXPECT_TRUE(status.ok());
  return objects;
}

struct Outcome {
  TokenIds ids;
  std::optional<TokenEnd> end;
  std::string field;  // of the error
  int status = 0;     // of the engine's own error
};
Outcome read(const std::vector<std::string>& objects, const Value& request) {
  const TokenIds prompt = ids_of(request.get("nvext")->get("token_data"));
  const auto limit = request.get("max_completion_tokens");
  AnswerReader reader({{prompt},
                       ids_of(request.get("stop_token_ids")),
                       limit ? static_cast<std::uint64_t>(*limit->integer()) : 1000,
                       151936,
                       false});
  Outcome out;
  const auto failed = [&](const base::Error& error) {
    EXPECT_EQ(error.kind, base::ErrorKind::kEngine);
    out.field = error.field.empty() ? error.message : error.field;
    out.status = error.upstream ? error.upstream->status : 0;
    return out;
  };
  for (const auto& object : objects) {
    if (object == "[DONE]") break;
    auto chunk = reader.feed(object);
    if (!chunk.ok()) return failed(chunk.error());
    out.ids.insert(out.ids.end(), chunk->ids.begin(), chunk->ids.end());
  }
  auto end = reader.finish();
  if (!end.ok()) return failed(end.error());
  out.end = std::move(*end);
  return out;
}

TEST(DynamoCaptures, answers_to_requests_as_they_are_sent_are_read_or_refused_for_their_fault) {
  struct Expected {
    TokenIds ids;
    std::string field;
    int status = 0;
  };
  const std::string finish = "choices[0].finish_reason", data = "nvext.engine_data";
  const std::map<std::string, Expected> table = {
      {"one_token_a_chunk", {{70, 71, 72, 554}, ""}},
      {"three_tokens_a_chunk", {{70, 71, 72, 73, 74, 75, 554}, ""}},
      {"cut_characters", {{172, 253, 239, 119, 110, 107, 554}, ""}},
      {"finish_length", {{70, 71, 72, 73, 74}, ""}},
      {"stop_id_of_the_client", {{70, 71, 80}, ""}},
      {"hidden_eos", {{70, 552}, ""}},
      {"cancelled_inside", {{}, finish}},
      {"no_finish", {{}, finish}},
      {"no_engine_data", {{}, data}},
      {"a_logprob_short", {{}, data + ".completion_logprobs"}},
      {"other_ids_in_engine_data", {{}, data + ".completion_token_ids[1]"}},
      {"other_prompt_in_engine_data", {{}, data + ".prompt_token_ids"}},
      {"other_logprobs_in_engine_data", {{}, data + ".completion_logprobs[1]"}},
      {"not_finished", {{}, data + ".finished"}},
      {"nothing_sampled", {{}, finish}},
      {"engine_error_behind_ids", {{}, "the engine reported an error: Internal server error", 500}},
      {"refused", {{}, "the engine reported an error: Rate limit exceeded", 429}},
      {"content_filter", {{}, finish}},
  };
  const Document file = capture("chat_token_ids");
  std::size_t seen = 0;
  for (const auto& member : file.root()) {
    const auto name = member.name();
    const auto found = table.find(name.substr(0, name.rfind('_')));
    ASSERT_NE(found, table.end()) << name;
    const auto objects = objects_of(*member.value.get("response"));
    if (objects.empty()) continue;  // refused with a status
    ++seen;
    const auto got = read(objects, *member.value.get("request")->get("json"));
    EXPECT_EQ(got.field, found->second.field) << name;
    EXPECT_EQ(got.status, found->second.status) << name;
    EXPECT_EQ(got.end.has_value(), found->second.field.empty()) << name;
    if (found->second.field.empty()) {
      EXPECT_EQ(got.ids, found->second.ids) << name;
    }
  }
  EXPECT_EQ(seen, 2 * table.size() - 2);
}

TEST(DynamoCaptures, the_exact_logprobs_are_the_workers) {
  const Document file = capture("chat_token_ids");
  const auto exchange = *file.root().get("one_token_a_chunk_stream");
  const auto got =
      read(objects_of(*exchange.get("response")), *exchange.get("request")->get("json"));
  ASSERT_TRUE(got.end);
  EXPECT_EQ(*got.end->exact_logprobs,
            (std::vector<double>{-0.1234567890123456, -1e-7, -2.000000001, -30.5}));
  EXPECT_EQ(got.end->cached_tokens, 4u);
  EXPECT_EQ(got.end->finish.matched_id, 554u);
}

// Whatever was asked, of whichever release: what is accepted is what the worker says it sampled
// behind the prompt that was sent.
TEST(DynamoCaptures, nothing_is_accepted_that_the_worker_does_not_confirm) {
  std::size_t read_through = 0, accepted = 0;
  for (const char* name : {"chat_scripted", "details", "faults", "nvext_disabled", "dynamo_1.4.1",
                           "worker_death", "worker_errors", "chat_mocker"}) {
    const Document file = capture(name);
    for (const auto& member : file.root()) {
      const auto request = member.value.get("request");
      const auto body = request ? request->get("json") : std::nullopt;
      if (!body || !body->is_object() || request->get("path")->string() != "/v1/chat/completions")
        continue;
      const auto nvext = body->get("nvext");
      if (!nvext || !nvext->is_object() || !nvext->get("token_data")) continue;
      const auto objects = objects_of(*member.value.get("response"));
      if (objects.empty()) continue;
      ++read_through;
      const auto got = read(objects, *body);
      if (!got.end) continue;
      ++accepted;
      const std::string& last = objects[objects.size() - 2];
      const auto document = Document::parse(last);
      const auto data = document->root().get("nvext")->get("engine_data");
      EXPECT_EQ(got.ids, ids_of(data->get("completion_token_ids"))) << name << member.name();
      EXPECT_EQ(ids_of(body->get("nvext")->get("token_data")),
                ids_of(data->get("prompt_token_ids")))
          << name << member.name();
    }
  }
  EXPECT_GT(read_through, 20u);
  EXPECT_GT(accepted, 0u);
}

TEST(DynamoCaptures, errors_inside_a_stream_keep_the_status_that_they_name) {
  std::map<int, int> statuses;
  const Document file = capture("worker_errors");
  for (const auto& member : file.root()) {
    const auto objects = objects_of(*member.value.get("response"));
    if (objects.size() != 2 || objects[0].find("\"error\"") == std::string::npos) continue;
    AnswerReader reader({{}, {}, 1, 1, false});
    const auto chunk = reader.feed(objects[0]);
    ASSERT_FALSE(chunk.ok()) << member.name();
    ASSERT_TRUE(chunk.error().upstream) << member.name();
    EXPECT_TRUE(reader.engine_is_done());
    ++statuses[chunk.error().upstream->status];
  }
  for (const int status : {400, 401, 403, 404, 429, 499, 500, 503, 504, 529})
    EXPECT_GT(statuses[status], 0) << status;
}

}  // namespace
}  // namespace verbatim::engine::dynamo
