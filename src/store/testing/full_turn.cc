#include "store/testing/full_turn.h"

#include <tuple>

#include "trajectory/turn.h"

namespace verbatim::store::testing {

using base::Random;
using base::TokenIds;
using message::Message;

namespace {

std::string words(Random& random) {
  static constexpr const char* kPieces[] = {"a", "Wetter", " ", "\n", "\"", "\xc3\xa4", "{}", "7"};
  std::string text = base::new_base62_id(random, 4);
  for (auto left = random.below(6); left > 0; --left) text += kPieces[random.below(8)];
  return text + std::string(random.chance(50) ? random.below(3000) : 0, 'x');
}

template <class E>
E any_of(Random& random, E last) {
  return static_cast<E>(random.below(static_cast<std::uint64_t>(last) + 1));
}

template <class V, class F>
void some(Random& random, std::optional<V>& value, F&& make) {
  if (random.chance(700)) value = make();
}

TokenIds ids(Random& random) {
  TokenIds made(1 + random.below(9));
  for (auto& id : made) id = static_cast<base::TokenId>(random.next() >> (32 + random.below(32)));
  return made;
}

// Doubles of all shapes, or such as are floats too.
std::vector<double> numbers(Random& random, std::size_t count) {
  const bool floats = random.chance(500);
  std::vector<double> made(count);
  for (auto& number : made) {
    const double exact = -static_cast<double>(random.next() >> 11) / 9.0e15;
    number = floats ? static_cast<double>(static_cast<float>(exact)) : exact;
  }
  return made;
}

Message some_message(Random& random) {
  Message made;
  made.role = any_of(random, message::Role::kTool);
  made.text = words(random);
  some(random, made.reasoning, [&] { return words(random); });
  for (auto left = random.below(3); left > 0; --left)
    made.tool_calls.push_back({words(random), words(random), words(random), words(random)});
  made.tool_call_id = words(random);
  made.name = words(random);
  for (auto left = random.below(3); left > 0; --left)
    made.unknown.emplace_back(words(random), words(random));
  return made;
}

message::Sampling some_sampling(Random& random) {
  message::Sampling made;
  const auto real = [&] { return static_cast<double>(random.next()) / 1e17; };
  const auto integer = [&] { return static_cast<std::int64_t>(random.next()); };
  for (auto* value : {&made.temperature, &made.top_p, &made.min_p, &made.frequency_penalty,
                      &made.presence_penalty, &made.repetition_penalty})
    some(random, *value, real);
  some(random, made.top_k, integer);
  some(random, made.seed, integer);
  some(random, made.max_tokens, [&] { return random.next(); });
  for (auto left = random.below(3); left > 0; --left) made.stop.push_back(words(random));
  made.stop_token_ids = ids(random);
  made.logprobs = random.chance(500);
  made.top_logprobs = static_cast<unsigned>(random.below(21));
  made.cache_salt = words(random);
  made.priority = integer();
  return made;
}

trajectory::Digest some_digest(Random& random) {
  trajectory::Digest made;
  for (auto& byte : made.bytes) byte = static_cast<std::uint8_t>(random.next());
  return made;
}

void fill_spans(Random& random, Turn& turn) {
  for (const auto id : turn.prompt) {
    message::TokenSpan span;
    span.count = id % 3 + 1;
    span.source = any_of(random, message::SpanSource::kBoundary);
    span.field = any_of(random, message::Field::kOther);
    if (random.chance(700)) span.message = static_cast<std::uint32_t>(random.below(1000));
    turn.spans.push_back(span);
  }
}

void fill_engine(Random& random, Turn& turn) {
  turn.engine_finish = words(random);
  turn.engine_kind = words(random);
  turn.engine_mode = words(random);
  some(random, turn.render_skew,
       [&] { return trajectory::RenderSkew{random.next(), random.next(), random.next()}; });
  turn.engine_version = words(random);
  turn.engine_url = words(random);
  turn.engine_request_id = words(random);
  for (auto left = random.below(3); left > 0; --left)
    turn.weight_versions.push_back({words(random), random.next()});
  some(random, turn.cached_tokens, [&] { return random.next(); });
}

void fill_attach(Random& random, trajectory::Attach& attach) {
  attach.kind = any_of(random, trajectory::Attach::Kind::kChild);
  attach.reason = words(random);
  attach.ambiguous = random.chance(500);
  some(random, attach.difference, [&] {
    return trajectory::Difference{static_cast<std::uint32_t>(random.next()), words(random)};
  });
}

}  // namespace

std::shared_ptr<const trajectory::RootInfo> full_root(Random& random) {
  auto made = std::make_shared<trajectory::RootInfo>();
  made->model = words(random);
  made->tokenizer = words(random);
  made->chat_template = words(random);
  made->encoding_policy = words(random);
  made->family = words(random);
  for (auto left = random.below(4); left > 0; --left)
    made->tools.push_back({words(random), words(random)});
  return made;
}

std::unique_ptr<Turn> full_turn(Random& random, const std::string& session, TurnPtr parent) {
  auto turn = std::make_unique<Turn>();
  turn->id = random.next();
  turn->session_id = session;
  turn->choice = static_cast<std::uint32_t>(random.next());
  turn->root = parent ? parent->root : full_root(random);
  for (auto left = random.below(3); left > 0; --left)
    turn->messages.push_back(some_message(random));
  turn->answer = some_message(random);
  turn->message_count = static_cast<std::uint32_t>(random.next());
  turn->parent_trim = parent ? static_cast<std::uint32_t>(random.below(2)) : 0;
  turn->prompt = ids(random);
  fill_spans(random, *turn);
  turn->completion = ids(random);
  turn->logprobs = numbers(random, turn->completion.size());
  turn->discarded = ids(random);
  turn->discarded_logprobs = numbers(random, turn->discarded.size());
  turn->row_size = random.next();
  turn->finish = any_of(random, message::FinishReason::kToolCalls);
  turn->closed = random.chance(500);
  turn->reasoning_open = random.chance(500);
  turn->root_digest = parent ? parent->root_digest : some_digest(random);
  turn->digest = some_digest(random);
  fill_attach(random, turn->attach);
  turn->token_exact = random.chance(500);
  some(random, turn->usage, [&] {
    message::Usage usage{random.next(), random.next(), {}};
    some(random, usage.cached_tokens, [&] { return random.next(); });
    some(random, usage.reasoning_tokens, [&] { return random.next(); });
    return usage;
  });
  fill_engine(random, *turn);
  turn->sampling = some_sampling(random);
  turn->max_new_tokens = random.next();
  turn->template_kwargs = words(random);
  turn->request_id = words(random);
  turn->completion_id = words(random);
  turn->thread_id = words(random);
  turn->times = {static_cast<std::int64_t>(random.next()), static_cast<std::int64_t>(random.next()),
                 static_cast<std::int64_t>(random.next()),
                 static_cast<std::int64_t>(random.next())};
  turn->parent = std::move(parent);
  return turn;
}

namespace {

// Named one by one: a field that a Turn gets does not compile here before it is compared too.
auto fields_of(const Turn& turn) {
  const auto& [id, seq, branch, choice, session_id, parent, root, messages, answer, message_count,
               parent_trim, prompt, spans, completion, logprobs, discarded, discarded_logprobs,
               row_size, path_prompt, path_letters, finish, engine_finish, closed, reasoning_open,
               root_digest, digest, attach, token_exact, usage, engine_kind, engine_mode,
               render_skew, engine_version, engine_url, engine_request_id, weight_versions,
               cached_tokens, sampling, max_new_tokens, template_kwargs, request_id, completion_id,
               thread_id, times] = turn;
  return std::tie(id, seq, branch, choice, session_id, messages, answer, message_count, parent_trim,
                  prompt, spans, completion, logprobs, discarded, discarded_logprobs, row_size,
                  finish, engine_finish, closed, reasoning_open, root_digest, digest, attach,
                  token_exact, usage, engine_kind, engine_mode, render_skew, engine_version,
                  engine_url, engine_request_id, weight_versions, cached_tokens, sampling,
                  max_new_tokens, template_kwargs, request_id, completion_id, thread_id, times);
}

template <class A, std::size_t... I>
std::string first_difference(const A& a, const A& b, std::index_sequence<I...> /*all*/) {
  std::string found;
  ((found.empty() && std::get<I>(a) != std::get<I>(b) ? found = "field " + std::to_string(I)
                                                      : found),
   ...);
  return found;
}

template <class T>
std::vector<T> flat(const base::SharedSequence<T>& sequence) {
  std::vector<T> all;
  for (const auto& piece : sequence.pieces()) all.insert(all.end(), piece.begin(), piece.end());
  return all;
}

}  // namespace

std::string difference(const Turn& a, const Turn& b) {
  const auto left = fields_of(a);
  const auto right = fields_of(b);
  auto found = first_difference(
      left, right, std::make_index_sequence<std::tuple_size_v<decltype(fields_of(a))>>());
  if (!found.empty()) return found;
  if (*a.root != *b.root) return "root";
  if ((a.parent == nullptr) != (b.parent == nullptr)) return "parent";
  if (a.parent && a.parent->id != b.parent->id) return "parent";
  if (flat(a.path_prompt) != flat(b.path_prompt)) return "path_prompt";
  if (flat(a.path_letters) != flat(b.path_letters)) return "path_letters";
  return "";
}

std::unique_ptr<StoredResponse> full_response(const std::string& id, const Turn& turn) {
  auto response = std::make_unique<StoredResponse>();
  response->id = id;
  response->session_id = turn.session_id;
  response->turn = turn.id;
  response->instructed = turn.id % 2 == 0;
  response->created_ms = 17;
  response->body = R"({"id":")" + id + R"(","output":["é \u0000"]})";
  response->input = R"([{"id":"msg_1","turn":)" + std::to_string(turn.id) + "}]";
  return response;
}

}  // namespace verbatim::store::testing
