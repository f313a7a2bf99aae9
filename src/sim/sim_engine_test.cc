#include "sim/sim_engine.h"

#include <functional>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "json/value.h"
#include "sim/testing/scene.h"

namespace verbatim::sim {
namespace {

using base::Task;
using std::chrono::milliseconds;

using testing::Answered;
using testing::Scene;

std::string body(std::string_view more = "", std::string_view params = "\"max_new_tokens\":100") {
  return "{\"rid\":\"r1\",\"input_ids\":[1,2,3],\"return_logprob\":true" + std::string(more) +
         ",\"sampling_params\":{\"skip_special_tokens\":false," + std::string(params) + "}}";
}

// One call of POST /generate against an engine set up by `set`.
Answered generate(const std::function<void(SimOptions&)>& set, const std::string& request) {
  return testing::answer_to(set, "/generate", request);
}

void script(SimOptions& options, std::string_view text) {
  options.script = testing::script(text);
}

TEST(SimEngine, answers_a_scripted_request_whole) {
  const auto got = generate(
      [](SimOptions& o) {
        script(o, R"({"steps":[{"output_ids":[65,66],"logprobs":[-0.5,-2],"finish":"stop",
                     "matched":66}]})");
      },
      body());
  EXPECT_EQ(got.status, 200);
  const auto answer = json::Document::parse(got.body);
  ASSERT_TRUE(answer.ok()) << got.body;
  const auto root = answer->root();
  EXPECT_EQ(root.find("output_ids")->raw(), "[65,66]");
  const auto meta = *root.find("meta_info");
  EXPECT_EQ(meta.find("finish_reason")->raw(), R"({"type":"stop","matched":66})");
  EXPECT_EQ(meta.find("output_token_logprobs")->raw(), "[[-0.5,65,null],[-2,66,null]]");
  EXPECT_EQ(meta.find("prompt_tokens")->raw(), "3");
  EXPECT_EQ(meta.find("completion_tokens")->raw(), "2");
  EXPECT_EQ(meta.find("id")->raw(), "\"r1\"");
}

TEST(SimEngine, streams_in_each_form) {
  const std::vector<std::pair<Streaming, std::pair<const char*, const char*>>> rows = {
      {Streaming::kCumulative, {"\"output_ids\":[65,66]", "[[-0.5,65,null],[-2,66,null]]"}},
      {Streaming::kIncremental,
       {"\"output_ids\":[66]", "\"output_token_logprobs\":[[-2,66,null]]"}},
      {Streaming::kMixed, {"\"output_ids\":[66]", "[[-0.5,65,null],[-2,66,null]]"}}};
  for (const auto& [streaming, expected] : rows) {
    const auto form = streaming;
    const auto got = generate(
        [form](SimOptions& o) {
          o.streaming = form;
          script(o, R"({"steps":[{"output_ids":[65,66],"logprobs":[-0.5,-2],"finish":"stop"}]})");
        },
        body(",\"stream\":true"));
    EXPECT_NE(got.body.find(expected.first), std::string::npos) << got.body;
    EXPECT_NE(got.body.find(expected.second), std::string::npos) << got.body;
    EXPECT_TRUE(got.body.ends_with("data: [DONE]\n\n"));
  }
}

TEST(SimEngine, refuses_what_the_real_one_refuses) {
  const std::vector<std::pair<std::string, const char*>> rows = {
      {"not json", ""},
      {R"({"input_ids":[]})", "input_ids"},
      {R"({"input_ids":[1],"max_tokens":5})", "max_tokens"},
      {R"({"input_ids":[1],"sampling_params":{"seed":5}})", "seed"},
      {R"({"input_ids":[1,99999999]})", "input_ids"},
      {R"({"input_ids":[1,2],"sampling_params":{"max_new_tokens":15}})", "context length"},
      {R"({"input_ids":[1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7],"sampling_params":{}})", "longer than"}};
  for (const auto& [request, says] : rows) {
    const auto got = generate([](SimOptions& o) { o.max_model_len = 16; }, request);
    EXPECT_EQ(got.status, 400);
    EXPECT_NE(got.body.find(says), std::string::npos) << got.body;
  }
}

TEST(SimEngine, honours_the_limit_and_stop_strings) {
  const auto fixed = [](SimOptions& o) {
    o.behaviour = Behaviour::kFixedText;
    o.fixed_text = "one two three four five";
  };
  auto got = generate(fixed, body("", "\"max_new_tokens\":3"));
  EXPECT_NE(got.body.find(R"({"type":"length","length":3})"), std::string::npos) << got.body;
  got = generate(fixed, body("", R"("max_new_tokens":50,"stop":"two")"));
  EXPECT_NE(got.body.find(R"("matched":"two")"), std::string::npos) << got.body;
}

TEST(SimEngine, an_abort_by_id_ends_the_stream_with_what_there_is) {
  Scene scene;
  scene.options.behaviour = Behaviour::kFixedText;
  scene.options.token_delay = milliseconds(100);
  EXPECT_TRUE(scene.run([&](Scene& s) -> Task<void> {
    auto response = co_await s.send("POST", "/generate", body(",\"stream\":true"));
    EXPECT_TRUE(response.ok());
    if (!response.ok()) co_return;
    auto first = co_await response->read();
    EXPECT_TRUE(first.ok());
    const auto aborted = co_await s.call("POST", "/abort_request", R"({"rid":"r1"})");
    EXPECT_EQ(aborted.status, 200);
    auto rest = co_await response->read_all(1 << 20);
    EXPECT_TRUE(rest.ok());
    if (!rest.ok()) co_return;
    EXPECT_NE(rest->find(R"({"type":"abort")"), std::string::npos);
    EXPECT_TRUE(rest->ends_with("data: [DONE]\n\n"));
  }));
  EXPECT_EQ(scene.engine->stats().aborted_by_id, 1u);
  EXPECT_EQ(scene.engine->stats().aborted_by_close, 0u);
  EXPECT_EQ(scene.engine->stats().running, 0u);
}

TEST(SimEngine, notices_at_once_that_its_client_hung_up) {
  Scene scene;
  scene.options.delay = std::chrono::seconds(1000);
  EXPECT_TRUE(scene.run([&](Scene& s) -> Task<void> {
    co_await s.leave("/generate", body(), milliseconds(50));
    EXPECT_EQ(s.engine->stats().aborted_by_close, 1u);
    EXPECT_EQ(s.engine->stats().running, 0u);
  }));
}

TEST(SimEngine, tells_of_itself) {
  Scene scene;
  EXPECT_TRUE(scene.run([&](Scene& s) -> Task<void> {
    auto got = co_await s.call("GET", "/v1/models");
    EXPECT_NE(got.body.find("\"max_model_len\":32768"), std::string::npos);
    got = co_await s.call("POST", "/update_weight_version", R"({"new_version":"w2"})");
    EXPECT_EQ(got.status, 200);
    for (const char* path : {"/model_info", "/get_model_info"}) {
      got = co_await s.call("GET", path);
      EXPECT_NE(got.body.find("\"weight_version\":\"w2\""), std::string::npos);
    }
    got = co_await s.call("GET", "/get_server_info");
    EXPECT_NE(got.body.find("\"context_length\":32768"), std::string::npos);
    got = co_await s.call("POST", "/flush_cache");
    EXPECT_EQ(got.status, 200);
    got = co_await s.call("GET", "/health_generate");
    EXPECT_EQ(got.status, 200);
    s.engine->set_healthy(false);
    got = co_await s.call("GET", "/health");
    EXPECT_EQ(got.status, 503);
    got = co_await s.call("GET", "/nowhere");
    EXPECT_EQ(got.status, 404);
    (void)co_await s.call("POST", "/generate", body());
    got = co_await s.call("GET", "/sim/stats");
    EXPECT_NE(got.body.find("\"requests\":1,\"running\":0,\"finished\":1"), std::string::npos)
        << got.body;
  }));
}

TEST(SimEngine, every_fault_fires_in_streams_and_is_counted) {
  for (std::size_t i = 0; i < kFaults; ++i) {
    const auto fault = static_cast<Fault>(i);
    if (!applies(fault, FaceKind::kSglang)) continue;
    Scene scene;
    scene.options.behaviour = Behaviour::kFixedText;
    scene.options.faults.set(fault, 1000);
    EXPECT_TRUE(scene.run([&](Scene& s) -> Task<void> {
      auto response = co_await s.send("POST", "/generate", body(",\"stream\":true"));
      // A stall ends when the client gives up.
      if (response.ok())
        (void)co_await response->read_all(1 << 20, base::MonoTime{} + std::chrono::seconds(60));
    }));
    EXPECT_EQ(scene.engine->stats().faults[i], 1u) << name(fault);
  }
}

TEST(SimEngine, keeps_a_log_of_what_it_served) {
  Scene scene;
  scene.options.keeps_log = true;
  scene.options.author = [](const GenerateCall&, base::Random&) {
    Reply reply;
    reply.ids = TokenIds{5, 6, 7};
    reply.weight_version = "w2";
    return reply;
  };
  EXPECT_TRUE(scene.run([](Scene& s) -> Task<void> {
    (void)co_await s.call("POST", "/generate",
                          body(",\"stream\":true", "\"max_new_tokens\":9,\"sampling_seed\":41"));
  }));
  ASSERT_EQ(scene.engine->served().size(), 1U);
  const Served& served = scene.engine->served().front();
  EXPECT_EQ(served.rid, "r1");
  EXPECT_EQ(served.seed, 41);
  EXPECT_EQ(served.prompt, (TokenIds{1, 2, 3}));
  EXPECT_TRUE(served.whole && served.ended && !served.stopped && !served.fault_fired);
  EXPECT_EQ(served.sent, served.ids.size());
  EXPECT_EQ(served.logprobs.size(), served.ids.size());
  EXPECT_EQ(served.weights, "w2");
}

TEST(SimEngine, logs_how_much_was_sent_before_a_stream_was_cut) {
  Scene scene;
  scene.options.keeps_log = true;
  scene.options.faults.set(Fault::kCutStream, 1000);
  EXPECT_TRUE(scene.run([](Scene& s) -> Task<void> {
    (void)co_await s.call("POST", "/generate", body(",\"stream\":true"));
  }));
  const Served& served = scene.engine->served().front();
  EXPECT_TRUE(served.fault_fired && !served.whole);
  EXPECT_LT(served.sent, served.ids.size());
}

}  // namespace
}  // namespace verbatim::sim
