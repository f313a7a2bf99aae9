#include "gateway/turn_runner.h"

#include <gtest/gtest.h>

#include "gateway/testing/scene.h"
#include "message/fold.h"

namespace verbatim::gateway {
namespace {

using base::ErrorKind;
using base::Task;
using engine::EngineFinish;
using message::FinishReason;
using std::chrono::seconds;
using testing::EngineScript;
using testing::EngineStep;
using testing::FakeEngine;
using testing::Scene;
using trajectory::TokenIds;
using namespace chat::testing;  // NOLINT(google-build-using-namespace)

EngineStep step(TokenIds ids, base::Duration after = base::Duration(0)) {
  EngineStep step;
  step.ids = std::move(ids);
  step.after = after;
  return step;
}

EngineStep failing(base::Error error) {
  EngineStep step;
  step.error = std::move(error);
  return step;
}

EngineStep hanging() {
  EngineStep step;
  step.hang = true;
  return step;
}

EngineScript script(std::vector<EngineStep> steps) {
  EngineScript script;
  script.steps = std::move(steps);
  return script;
}

TurnRequest hello() {
  return Scene::request({user("hello")});
}

// Runs one turn that must fail and leave no trace.
base::Error failed(Scene& scene, TurnRequest request) {
  const std::string before = scene.store.dump();
  auto turn = scene.turn(std::move(request));
  EXPECT_FALSE(turn.ok());
  EXPECT_EQ(scene.store.dump(), before) << "a turn that fails leaves the store as it was";
  EXPECT_EQ(scene.engine.running, 0);
  return turn.ok() ? base::Error{} : turn.error();
}

TEST(TurnRunner, records_the_ids_that_the_engine_saw_and_sampled) {
  Scene scene;
  auto ids = encoded("fine<|im_end|>");
  scene.engine.scripts.push_back(FakeEngine::says(ids));
  const auto turn = scene.turn(hello());
  ASSERT_TRUE(turn.ok()) << turn.error().message;
  ASSERT_EQ(scene.engine.asked.size(), 1U);
  EXPECT_EQ(trajectory::prompt_of(*turn), scene.engine.asked[0].prompt);
  EXPECT_EQ((*turn)->completion, ids);
  EXPECT_EQ((*turn)->logprobs.size(), ids.size());
  EXPECT_EQ((*turn)->row_size, trajectory::row_of(*turn).size());
  EXPECT_EQ((*turn)->answer.text, "fine");
  EXPECT_TRUE((*turn)->closed);
  EXPECT_EQ((*turn)->seq, 1U);
  EXPECT_EQ(scene.watcher.planned, 1);
  EXPECT_EQ(scene.watcher.ids, ids);
}

TEST(TurnRunner, an_engine_that_was_not_asked_yet_is_asked_before_the_first_turn) {
  Scene scene;
  ASSERT_EQ(scene.model->max_model_len.load(), 0U);
  ASSERT_TRUE(scene.turn(hello()).ok());
  const auto& asked = scene.engine.asked.at(0);
  EXPECT_EQ(asked.prompt.size() + asked.max_new_tokens, 4096U) << "the context that it says it has";
  scene.model->max_model_len = 100;
  ASSERT_TRUE(scene.turn(hello()).ok());
  EXPECT_EQ(scene.engine.asked.at(1).prompt.size() + scene.engine.asked.at(1).max_new_tokens, 100U);
}

TEST(TurnRunner, each_runner_asks_its_own_engine_whatever_others_have_learned) {
  Scene scene;
  ASSERT_TRUE(scene.turn(hello()).ok());
  EXPECT_EQ(scene.engine.probed, 1);
  // Another thread's: it shares the model, whose context is known by now.
  FakeEngine engine(scene.world.runtime);
  TurnRunner runner(scene.world.runtime, *scene.model, engine, scene.store, nullptr, Scene::kKey);
  const auto turn = [&]() -> base::Task<void> {
    auto request = hello();
    const auto done = co_await runner.run(request, scene.watcher, scene.cancel);
    EXPECT_TRUE(done.ok());
  };
  scene.run(turn());
  EXPECT_EQ(engine.probed, 1) << "how its answers are read is its own to find out";
  scene.run(turn());
  EXPECT_EQ(engine.probed, 1) << "once";
}

TEST(TurnRunner, what_another_engine_of_the_server_has_said_is_not_asked_again) {
  Scene scene;
  engine::Probe probe;
  probe.models.push_back({"toy", 4096});
  scene.runner.adopt(probe);
  EXPECT_EQ(scene.model->max_model_len.load(), 4096U);
  ASSERT_TRUE(scene.turn(hello()).ok());
  EXPECT_EQ(scene.engine.probed, 0);
  EXPECT_EQ(scene.engine.adopted, 1);
}

TEST(TurnRunner, an_engine_that_says_nothing_of_itself_is_asked_once_where_the_context_is_given) {
  Scene scene;
  scene.engine.deaf = true;
  scene.model->max_model_len = 100;
  ASSERT_TRUE(scene.turn(hello()).ok());
  ASSERT_TRUE(scene.turn(hello()).ok());
  EXPECT_EQ(scene.engine.probed, 1);
}

TEST(TurnRunner, sampled_ids_that_are_not_canonical_are_kept_as_they_are) {
  Scene scene;
  const TokenIds ids{encoded("h")[0], encoded("e")[0], encoded("l")[0],
                     encoded("l")[0], encoded("o")[0], added("<|im_end|>")};
  ASSERT_NE(ids, encoded("hello<|im_end|>"));
  scene.engine.scripts.push_back(FakeEngine::says(ids));
  const auto turn = scene.turn(hello()).value();
  EXPECT_EQ(turn->completion, ids);
  const auto next = scene.plan(Scene::continued(turn, user("go on"))).value();
  const auto prompt = testing::prompt_of(next);
  const auto row = trajectory::row_of(turn);
  ASSERT_GT(prompt.size(), row.size());
  EXPECT_TRUE(std::equal(row.begin(), row.end(), prompt.begin()));
}

TEST(TurnRunner, chunks_join_to_one_completion_whatever_their_borders) {
  const auto ids = encoded("<think>\nso\n</think>\n\nhello there<|im_end|>");
  for (std::size_t size = 1; size <= ids.size(); ++size) {
    Scene scene;
    std::vector<EngineStep> steps;
    for (std::size_t at = 0; at < ids.size(); at += size) {
      const auto end = std::min(at + size, ids.size());
      steps.push_back(step(TokenIds(ids.begin() + static_cast<std::ptrdiff_t>(at),
                                    ids.begin() + static_cast<std::ptrdiff_t>(end))));
    }
    scene.engine.scripts.push_back(script(std::move(steps)));
    const auto turn = scene.turn(hello()).value();
    EXPECT_EQ(turn->completion, ids);
    EXPECT_EQ(turn->answer.text, "hello there");
    EXPECT_EQ(turn->answer.reasoning, "so");
    EXPECT_EQ(message::fold(scene.watcher.events).to_message(), turn->answer);
  }
}

TEST(TurnRunner, the_engine_is_asked_as_the_client_and_the_family_say) {
  Scene scene;
  auto request = hello();
  request.sampling.temperature = 0.25;
  request.sampling.seed = 9;
  request.sampling.max_tokens = 17;
  request.sampling.stop_token_ids = {5, added("<|im_end|>")};
  (void)scene.turn(std::move(request)).value();
  const auto& asked = scene.engine.asked.at(0);
  EXPECT_EQ(asked.sampling.temperature, 0.25);
  EXPECT_EQ(asked.sampling.seed, 9);
  EXPECT_EQ(asked.max_new_tokens, 17U);
  EXPECT_EQ(asked.stop_token_ids, (TokenIds{added("<|im_end|>"), added("<|endoftext|>"), 5}));
  EXPECT_EQ(asked.routing_key, Scene::kSession);
}

TEST(TurnRunner, ids_behind_a_stop_are_kept_apart_and_shown_to_nobody) {
  Scene scene;
  auto past = step(encoded("fine<|im_end|>\nmore"));
  for (std::size_t i = 0; i < past.ids.size(); ++i)
    past.logprobs.push_back(-static_cast<double>(i) - 1);
  scene.engine.scripts.push_back(script({past, step(encoded("and"))}));
  const auto turn = scene.turn(hello()).value();
  EXPECT_EQ(turn->completion, encoded("fine<|im_end|>"));
  auto rest = encoded("\nmore");
  const auto more = encoded("and");
  rest.insert(rest.end(), more.begin(), more.end());
  EXPECT_EQ(turn->discarded, rest);
  ASSERT_EQ(turn->discarded_logprobs.size(), rest.size());
  EXPECT_EQ(turn->discarded_logprobs[0], past.logprobs[turn->completion.size()]);
  EXPECT_EQ(turn->logprobs.size(), turn->completion.size());
  EXPECT_EQ(scene.watcher.ids, turn->completion);
  EXPECT_EQ(turn->answer.text, "fine");
}

TEST(TurnRunner, a_stop_id_that_the_engine_leaves_out_leaves_the_turn_open) {
  Scene scene;
  auto trimmed = FakeEngine::says(encoded("fine"));
  trimmed.finish.matched_id = added("<|im_end|>");
  scene.engine.scripts.push_back(trimmed);
  const auto turn = scene.turn(hello()).value();
  EXPECT_EQ(turn->completion, encoded("fine"));
  EXPECT_FALSE(turn->closed);
  EXPECT_EQ(turn->finish, FinishReason::kStop);
  const auto next = scene.plan(Scene::continued(turn, user("go on"))).value();
  EXPECT_TRUE(decoded(testing::prompt_of(next)).find("fine<|im_end|>\n<|im_start|>user") !=
              std::string::npos);
  EXPECT_EQ(next.rendered.spans.front().source, message::SpanSource::kClose);
}

TEST(TurnRunner, a_turn_cut_by_length_says_so_and_where_it_stands) {
  Scene scene;
  auto cut = FakeEngine::says(encoded("<think>\nthinking still"));
  cut.finish = {EngineFinish::Kind::kLength, "length", {}, {}};
  scene.engine.scripts.push_back(cut);
  const auto turn = scene.turn(hello()).value();
  EXPECT_EQ(turn->finish, FinishReason::kLength);
  EXPECT_EQ(turn->engine_finish, "length");
  EXPECT_TRUE(turn->reasoning_open);
  EXPECT_FALSE(turn->closed);
  EXPECT_EQ(turn->answer.text, "");
  EXPECT_TRUE(turn->answer.reasoning.has_value());
  const auto next =
      decoded(testing::prompt_of(scene.plan(Scene::continued(turn, user("go on"))).value()));
  EXPECT_NE(next.find("still</think>\n\n<|im_end|>\n<|im_start|>user"), std::string::npos);
}

TEST(TurnRunner, nothing_but_a_stop_is_a_turn_and_so_is_nothing_at_all) {
  Scene scene;
  scene.engine.scripts.push_back(FakeEngine::says({added("<|im_end|>")}));
  const auto stop = scene.turn(hello()).value();
  EXPECT_EQ(stop->completion, TokenIds{added("<|im_end|>")});
  EXPECT_EQ(stop->answer.text, "");
  scene.engine.scripts.push_back(script({}));
  const auto nothing = scene.turn(hello()).value();
  EXPECT_TRUE(nothing->completion.empty());
  EXPECT_FALSE(nothing->closed);
}

TEST(TurnRunner, calls_get_an_id_of_their_own_and_a_finish_reason) {
  Scene scene;
  scene.engine.scripts.push_back(FakeEngine::says(
      encoded("<tool_call>\n{\"name\": \"look\", \"arguments\": {\"a\": 1}}\n</tool_call>\n"
              "<tool_call>\n{\"name\": \"look\", \"arguments\": {}}\n</tool_call><|im_end|>")));
  const auto turn = scene.turn(hello()).value();
  ASSERT_EQ(turn->answer.tool_calls.size(), 2U);
  EXPECT_EQ(turn->finish, FinishReason::kToolCalls);
  EXPECT_EQ(turn->answer.tool_calls[0].arguments, "{\"a\": 1}");
  for (const auto& call : turn->answer.tool_calls) {
    EXPECT_TRUE(call.id.starts_with("call_"));
    EXPECT_EQ(call.id.size(), 29U);
  }
  EXPECT_NE(turn->answer.tool_calls[0].id, turn->answer.tool_calls[1].id);
  EXPECT_EQ(message::fold(scene.watcher.events).to_message(), turn->answer)
      << "the client saw the same ids";
}

TEST(TurnRunner, without_tools_a_call_is_text) {
  Scene scene;
  const std::string said = "<tool_call>\n{\"name\": \"look\", \"arguments\": {}}\n</tool_call>";
  scene.engine.scripts.push_back(FakeEngine::says(encoded(said + "<|im_end|>")));
  auto request = hello();
  request.wants_tools = false;
  const auto turn = scene.turn(std::move(request)).value();
  EXPECT_TRUE(turn->answer.tool_calls.empty());
  EXPECT_EQ(turn->answer.text, said);
  EXPECT_EQ(turn->finish, FinishReason::kStop);
}

TEST(TurnRunner, a_stop_string_of_the_client_ends_what_is_shown_but_not_what_is_recorded) {
  Scene scene;
  const auto ids = encoded("one STOP");
  scene.engine.scripts.push_back(FakeEngine::says(ids));
  auto request = hello();
  request.sampling.stop = {"STOP"};
  const auto turn = scene.turn(std::move(request)).value();
  EXPECT_EQ(turn->answer.text, "one ");
  EXPECT_EQ(turn->completion, ids);
  EXPECT_FALSE(turn->closed);
}

TEST(TurnRunner, stop_strings_that_the_engine_does_not_match_are_found_here_whatever_the_chunks) {
  const auto ids = encoded("fine, or not. More<|im_end|>");
  const auto before = encoded("fine, or").size();
  for (std::size_t size = 1; size <= ids.size(); ++size) {
    Scene scene;
    scene.engine.matches_stops = false;
    std::vector<EngineStep> steps;
    for (std::size_t at = 0; at < ids.size(); at += size) {
      const auto end = std::min(at + size, ids.size());
      steps.push_back(step(TokenIds(ids.begin() + static_cast<std::ptrdiff_t>(at),
                                    ids.begin() + static_cast<std::ptrdiff_t>(end))));
    }
    auto cut = script(std::move(steps));
    cut.finish = {EngineFinish::Kind::kLength, "length", {}, {}};
    // Whether the engine's own end came with the stop string.
    const auto completes = encoded("fine, or not").size() - 1;
    const bool at_end = completes / size == (ids.size() - 1) / size;
    scene.engine.scripts.push_back(std::move(cut));
    auto request = hello();
    request.sampling.stop = {" not"};
    const auto turn = scene.turn(std::move(request)).value();
    EXPECT_EQ(turn->answer.text, "fine, or") << "in chunks of " << size;
    EXPECT_EQ(turn->finish, FinishReason::kStop);
    EXPECT_FALSE(turn->closed);
    const auto kept = turn->completion.size();
    EXPECT_GT(kept, before);
    EXPECT_LE(kept, encoded("fine, or not").size()) << "up to the id that completes it";
    EXPECT_TRUE(std::equal(turn->completion.begin(), turn->completion.end(), ids.begin()));
    EXPECT_EQ(turn->logprobs.size(), kept);
    EXPECT_LT(kept + turn->discarded.size(), kept + size) << "the rest of its chunk";
    EXPECT_EQ(scene.engine.aborts, at_end ? 0 : 1) << "the engine is told, in chunks of " << size;
  }
}

TEST(TurnRunner, a_message_that_the_engine_parsed_stands_in_place_of_ours) {
  Scene scene;
  auto said = FakeEngine::says(encoded("<think>\nso\n</think>\n\nfine<|im_end|>"));
  message::Message parsed;
  parsed.role = message::Role::kAssistant;
  parsed.text = "as parsed";
  parsed.reasoning = "why";
  parsed.tool_calls = {{"", "f", "{\"a\": 1}"}};
  said.steps[0].parsed = parsed;
  const auto ids = said.steps[0].ids;
  scene.engine.scripts.push_back(std::move(said));
  const auto turn = scene.turn(hello()).value();
  EXPECT_EQ(turn->completion, ids) << "the ids are those that were sampled";
  EXPECT_EQ(turn->answer.text, "as parsed");
  EXPECT_EQ(turn->answer.reasoning, "why");
  ASSERT_EQ(turn->answer.tool_calls.size(), 1U);
  EXPECT_EQ(turn->answer.tool_calls[0].arguments, "{\"a\": 1}");
  EXPECT_EQ(turn->finish, FinishReason::kToolCalls);
  EXPECT_EQ(turn->engine_finish, "stop");
}

TEST(TurnRunner,
     a_stop_string_that_is_a_token_of_the_grammar_is_refused_where_it_can_not_be_found) {
  Scene scene;
  scene.engine.matches_stops = false;
  auto request = hello();
  request.sampling.stop = {"fine", "x</think>"};
  const auto error = failed(scene, std::move(request));
  EXPECT_EQ(error.kind, ErrorKind::kUnsupported);
  EXPECT_EQ(error.field, "stop[1]");
  scene.engine.matches_stops = true;
  request = hello();
  request.sampling.stop = {"x</think>"};
  EXPECT_TRUE(scene.turn(std::move(request)).ok()) << "engines that look for themselves find it";
}

TEST(TurnRunner, a_stop_id_in_front_of_a_stop_string_ends_the_turn_by_itself) {
  Scene scene;
  scene.engine.matches_stops = false;
  scene.engine.scripts.push_back(FakeEngine::says(encoded("fine<|im_end|> not")));
  auto request = hello();
  request.sampling.stop = {" not"};
  const auto turn = scene.turn(std::move(request)).value();
  EXPECT_EQ(turn->completion, encoded("fine<|im_end|>"));
  EXPECT_EQ(turn->engine_finish, "stop");
  EXPECT_EQ(scene.engine.aborts, 0);
}

TEST(TurnRunner, logprobs_that_the_engine_says_better_at_its_end_are_recorded) {
  Scene scene;
  auto said = FakeEngine::says(encoded("ok<|im_end|>"));
  const auto count = said.steps[0].ids.size();
  std::vector<double> exact;
  for (std::size_t i = 0; i < count; ++i) exact.push_back(-0.1 * static_cast<double>(i + 1));
  said.exact_logprobs = exact;
  scene.engine.scripts.push_back(said);
  EXPECT_EQ(scene.turn(hello()).value()->logprobs, exact);

  said.exact_logprobs->pop_back();
  scene.engine.scripts.push_back(said);
  const auto error = failed(scene, hello());
  EXPECT_EQ(error.kind, ErrorKind::kEngine);
  EXPECT_NE(error.message.find("one for each of " + std::to_string(count)), std::string::npos);
}

TEST(TurnRunner, a_stop_id_of_the_client_ends_the_turn_and_is_in_no_field) {
  Scene scene;
  const auto stop = encoded("!").at(0);
  auto ids = encoded("fine");
  ids.push_back(stop);
  auto more = ids;
  more.push_back(encoded("x").at(0));
  scene.engine.scripts.push_back(FakeEngine::says(more));
  auto request = hello();
  request.sampling.stop_token_ids = {stop};
  const auto turn = scene.turn(std::move(request)).value();
  EXPECT_EQ(turn->completion, ids);
  EXPECT_EQ(turn->discarded, encoded("x"));
  EXPECT_EQ(turn->answer.text, "fine");
  EXPECT_FALSE(turn->closed);
}

TEST(TurnRunner, what_the_engine_says_of_itself_is_recorded) {
  Scene scene;
  auto said = FakeEngine::says(encoded("fine<|im_end|>"));
  said.weights = {{"w1", 0}, {"w2", 1}};
  said.cached_tokens = 3;
  scene.engine.scripts.push_back(said);
  auto request = hello();
  request.template_kwargs = R"({"enable_thinking": true})";
  request.thread_id = "thread";
  const auto turn = scene.turn(std::move(request)).value();
  EXPECT_EQ(turn->engine_kind, "fake");
  EXPECT_EQ(turn->engine_mode, "scripted");
  ASSERT_EQ(turn->weight_versions.size(), 2U);
  EXPECT_EQ(turn->weight_versions[1], (trajectory::WeightSpan{"w2", 1}));
  EXPECT_EQ(turn->cached_tokens, 3U);
  EXPECT_EQ(turn->template_kwargs, R"({"enable_thinking": true})");
  EXPECT_EQ(turn->thread_id, "thread");
  EXPECT_EQ(turn->request_id, "req_1");
  EXPECT_EQ(turn->completion_id, "chatcmpl-1");
}

TEST(TurnRunner, a_turn_keeps_who_sampled_it_and_the_next_one_tells_the_engine) {
  Scene scene;
  for (const char* url : {"http://replica-1", "http://replica-2"}) {
    EngineScript said = FakeEngine::says(encoded("fine<|im_end|>"));
    said.engine_url = url;
    said.engine_request_id = "req_1";
    scene.engine.scripts.push_back(said);
  }
  const auto parent = scene.turn(hello()).value();
  EXPECT_EQ(parent->engine_url, "http://replica-1");
  EXPECT_EQ(parent->engine_request_id, "") << "it is the turn's own";
  const auto child = scene.turn(Scene::continued(parent, user("go on"))).value();
  EXPECT_EQ(child->engine_url, "http://replica-2");
  ASSERT_EQ(scene.engine.asked.size(), 2U);
  EXPECT_EQ(scene.engine.asked[0].last_engine_url, "");
  EXPECT_EQ(scene.engine.asked[1].last_engine_url, "http://replica-1");
}

TEST(TurnRunner, times_are_those_of_the_clock) {
  Scene scene;
  EngineScript slow =
      script({step(encoded("fi"), seconds(1)), step(encoded("ne<|im_end|>"), seconds(2))});
  slow.first_after = seconds(3);
  scene.engine.scripts.push_back(slow);
  const auto turn = scene.turn(hello()).value();
  EXPECT_NEAR(static_cast<double>(turn->times.first_token_us), 4e6, 2e4);
  EXPECT_NEAR(static_cast<double>(turn->times.total_us), 6e6, 2e4);
  EXPECT_NEAR(static_cast<double>(turn->times.committed_ms - turn->times.received_ms), 6e3, 20);
}

TEST(TurnRunner, what_the_engine_kind_cannot_do_is_refused_before_the_plan) {
  Scene scene;
  scene.engine.refuses = base::invalid("top_k", "no");
  EXPECT_EQ(failed(scene, hello()).field, "top_k");
  EXPECT_EQ(scene.watcher.planned, 0);
  EXPECT_TRUE(scene.engine.asked.empty());
}

TEST(TurnRunner, what_the_plan_refuses_never_reaches_the_engine) {
  Scene scene;
  EXPECT_EQ(failed(scene, Scene::request({user("hello"), assistant("hi")})).field, "messages");
  EXPECT_EQ(scene.watcher.planned, 0);
  EXPECT_TRUE(scene.engine.asked.empty());
}

TEST(TurnRunner, an_engine_that_refuses_leaves_no_trace) {
  Scene scene;
  EngineScript refusing;
  refusing.refusal = base::error(ErrorKind::kEngine, "overloaded");
  scene.engine.scripts.push_back(refusing);
  EXPECT_EQ(failed(scene, hello()).message, "overloaded");
}

TEST(TurnRunner, an_error_within_the_generation_leaves_no_trace) {
  Scene scene;
  scene.engine.scripts.push_back(script(
      {step(encoded("fi")), failing(base::error(ErrorKind::kEngine, "counts do not agree"))}));
  EXPECT_EQ(failed(scene, hello()).message, "counts do not agree");
  EXPECT_FALSE(scene.watcher.events.empty());
}

TEST(TurnRunner, a_generation_that_the_engine_aborts_is_no_turn) {
  Scene scene;
  auto aborted = FakeEngine::says(encoded("fi"));
  aborted.finish = {EngineFinish::Kind::kAbort, "abort", {}, {}};
  scene.engine.scripts.push_back(aborted);
  const auto error = failed(scene, hello());
  EXPECT_EQ(error.kind, ErrorKind::kEngine);
  EXPECT_NE(error.message.find("abort"), std::string::npos);
}

TEST(TurnRunner, a_failed_retry_leaves_the_turn_it_would_have_replaced) {
  Scene scene;
  const auto first = scene.recorded(hello(), "fine<|im_end|>");
  const auto second = scene.recorded(Scene::continued(first, user("two")), "2<|im_end|>");
  scene.engine.scripts.push_back(script({failing(base::error(ErrorKind::kEngine, "status 500"))}));
  (void)failed(scene, Scene::continued(first, user("two")));
  EXPECT_EQ(scene.plan(Scene::continued(second, user("three"))).value().parent, second);
}

TEST(TurnRunner, cancelled_before_the_first_event_the_engine_is_aborted) {
  Scene scene;
  EngineScript silent;
  silent.hang = true;
  scene.engine.scripts.push_back(silent);
  base::Timer later;
  later.arm(scene.world.executor.timers(), scene.world.executor.clock().now() + seconds(2),
            [&] { scene.cancel.fire("client disconnected"); });
  const auto error = failed(scene, hello());
  EXPECT_EQ(error.kind, ErrorKind::kCancelled);
  EXPECT_EQ(scene.engine.aborts, 1);
}

TEST(TurnRunner, cancelled_in_mid_stream_the_engine_is_aborted) {
  Scene scene;
  scene.engine.scripts.push_back(script({step(encoded("fi")), hanging()}));
  scene.watcher.on_next = [&] {
    scene.world.executor.post([&] { scene.cancel.fire("client disconnected"); });
  };
  const auto error = failed(scene, hello());
  EXPECT_EQ(error.kind, ErrorKind::kCancelled);
  EXPECT_EQ(scene.engine.aborts, 1);
}

TEST(TurnRunner, cancelled_between_the_last_chunk_and_the_commit_nothing_is_recorded) {
  Scene scene;
  auto said = script({step(encoded("fine<|im_end|>"))});
  said.at_end = [&] { scene.cancel.fire("client disconnected"); };
  scene.engine.scripts.push_back(said);
  const auto error = failed(scene, hello());
  EXPECT_EQ(error.kind, ErrorKind::kCancelled);
  EXPECT_EQ(scene.store.commits, 0);
}

TEST(TurnRunner, cancelled_after_the_commit_began_the_turn_stands) {
  Scene scene;
  scene.store.commit_takes = seconds(5);
  base::Timer later;
  later.arm(scene.world.executor.timers(), scene.world.executor.clock().now() + seconds(2),
            [&] { scene.cancel.fire("client disconnected"); });
  const auto turn = scene.turn(hello());
  ASSERT_TRUE(turn.ok()) << turn.error().message;
  EXPECT_TRUE(scene.cancel.fired());
  EXPECT_NE(scene.store.dump().find("\"completion_id\":\"chatcmpl-1\""), std::string::npos);
}

TEST(TurnRunner, an_observer_that_fails_aborts_the_engine) {
  Scene scene;
  scene.watcher.fails = base::error(ErrorKind::kCancelled, "the connection is gone");
  scene.engine.scripts.push_back(script({step(encoded("fi")), hanging()}));
  EXPECT_EQ(failed(scene, hello()).message, "the connection is gone");
  EXPECT_EQ(scene.engine.aborts, 1);
}

TEST(TurnRunner, a_store_that_cannot_commit_fails_the_turn) {
  Scene scene;
  scene.store.commit_fails = base::error(ErrorKind::kUnavailable, "the disk is full");
  const auto error = failed(scene, hello());
  EXPECT_EQ(error.kind, ErrorKind::kUnavailable);
  EXPECT_EQ(scene.store.commits, 1);
}

TEST(TurnRunner, a_session_deleted_meanwhile_takes_no_turn) {
  Scene scene;
  scene.watcher.on_next = [&] {
    base::spawn([](store::Store& store) -> Task<void> {
      (void)co_await store.delete_session(Scene::kSession);
    }(scene.store));
  };
  auto turn = scene.turn(hello());
  ASSERT_FALSE(turn.ok());
  EXPECT_EQ(turn.error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(scene.store.dump(), "");
}

class Listener final : public CommitListener {
 public:
  Task<void> committed(base::Executor&, trajectory::TurnPtr turn, store::SessionUse) override {
    turns.push_back(std::move(turn));
    co_return;
  }
  std::vector<trajectory::TurnPtr> turns;
};

TEST(TurnRunner, the_listener_hears_of_committed_turns_only) {
  Scene scene;
  Listener listener;
  TurnRunner runner(scene.world.runtime, *scene.model, scene.engine, scene.store, &listener,
                    Scene::kKey);
  const auto go = [&] {
    scene.run([](Scene& s, TurnRunner& r) -> Task<void> {
      auto request = hello();
      (void)co_await r.run(request, s.watcher, s.cancel);
    }(scene, runner));
  };
  scene.engine.scripts.push_back(script({failing(base::error(ErrorKind::kEngine, "no"))}));
  go();
  EXPECT_TRUE(listener.turns.empty());
  go();
  ASSERT_EQ(listener.turns.size(), 1U);
  EXPECT_EQ(listener.turns[0]->seq, 1U);
  scene.store.commit_fails = base::error(ErrorKind::kUnavailable, "full");
  go();
  EXPECT_EQ(listener.turns.size(), 1U);
}

TEST(TurnRunner, a_stateless_turn_opens_a_session_of_its_own) {
  Scene scene;
  auto request = hello();
  request.session_id = "";
  request.owner = "ann";
  const auto turn = scene.turn(std::move(request)).value();
  EXPECT_EQ(turn->session_id.size(), 32U);
  EXPECT_EQ(scene.engine.asked[0].routing_key, turn->session_id);
  auto next = Scene::continued(turn, user("go on"));
  next.session_id = "";
  next.owner = "ann";
  EXPECT_EQ(scene.turn(std::move(next)).value()->session_id, turn->session_id);
}

TEST(TurnRunner, two_turns_on_one_parent_become_siblings) {
  Scene scene;
  const auto parent = scene.recorded(hello(), "fine<|im_end|>");
  scene.engine.scripts.push_back(script({step(encoded("a<|im_end|>"), seconds(2))}));
  scene.engine.scripts.push_back(script({step(encoded("b<|im_end|>"), seconds(1))}));
  std::vector<trajectory::TurnPtr> turns;
  const auto one = [](Scene& s, trajectory::TurnPtr p, std::string text,
                      std::vector<trajectory::TurnPtr>& out) -> Task<void> {
    testing::Watcher watcher;
    base::CancelSignal cancel;
    auto request = Scene::continued(p, user(std::move(text)));
    auto turn = co_await s.runner.run(request, watcher, cancel);
    EXPECT_TRUE(turn.ok());
    if (turn) out.push_back(turn->front());
  };
  base::spawn(one(scene, parent, "left", turns));
  base::spawn(one(scene, parent, "right", turns));
  scene.world.executor.run_until_idle();
  ASSERT_EQ(turns.size(), 2U);
  EXPECT_EQ(turns[0]->parent, parent);
  EXPECT_EQ(turns[1]->parent, parent);
  EXPECT_EQ(turns[0]->branch, parent->branch) << "the first goes on with the branch";
  EXPECT_EQ(turns[1]->branch, turns[1]->id);
  EXPECT_EQ(turns[0]->seq + 1, turns[1]->seq);
  for (const auto& turn : turns) EXPECT_EQ(turn->row_size, trajectory::row_of(turn).size());
}

}  // namespace
}  // namespace verbatim::gateway
