#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/metrics.h"
#include "base/runtime.h"
#include "base/serial.h"
#include "base/timer.h"
#include "engine/background.h"
#include "engine/engine.h"
#include "engine/pool/health.h"
#include "engine/pool/stickiness.h"

namespace verbatim::engine::pool {

struct Options {
  HealthOptions health;
  base::Duration check_pace = std::chrono::seconds(30);  // between two checks of one that serves
  base::Duration check_timeout = std::chrono::seconds(10);
  // For asking the replicas that are out, on behalf of a request that finds no other.
  base::Duration ask_timeout = std::chrono::seconds(5);
  std::size_t max_conversations = 65536;  // whose replica is remembered (about 13 MB)
  // Told when a replica is left out and why, and when it is back: for operators.
  std::function<void(const std::string&)> tell;
  base::Metrics* metrics = nullptr;  // null: nobody counts
};

struct Member {
  std::string url;  // names the replica; equal to the TokenEnd::engine_url of its answers
  std::unique_ptr<Engine> engine;
};

// Several engines that serve one model, as one engine: replicas of one kind and mode.
//
// Choice. A turn goes to the replica that sampled the turn before it
// (last_engine_url of its request: it has the prefix cached), else to the one its conversation
// (routing_key) was given to last, else to the one with the fewest running requests of this pool,
// by turns where these are equal. A busy replica is passed over where another is not.
//
// Threads. A pool belongs to one executor and shares nothing: each thread of a gateway has one,
// with loads, health and conversations of its own. They still agree where it counts, because the
// turn itself names the replica that sampled it, on whatever thread its conversation goes on. Only
// a new root within a session that comes in on another thread may be placed anew. (Hashing the key
// would make threads agree as well, but conversations last long and are few: drawn by hash, 32 of
// them over 4 replicas leave 11 or more on the fullest in 57 % of all draws; placed by load, 8.)
//
// Health. See Health: failures leave a replica out, a check (Engine::ready, then probe) or a turn
// that ends well brings it back. Checks begin with the first agreement. A replica that was out is
// given requests only after it was asked again what it serves, and one that was left out for its
// sampling only after it made a token (Engine::samples).
//
// Sending again. A request whose connection did not come about goes on to the next replica, each at
// most once. One that was refused before its first token (refused_unsampled()) goes to one other
// that is not busy. Nothing else is sent twice: whatever may have been sampled is returned as it
// is.
class Pool final : public Engine {
 public:
  Pool(base::Runtime& runtime, std::vector<Member> members, Options options = {});
  ~Pool() override;

  // Those of a replica that serves, where one does.
  [[nodiscard]] std::string_view kind() const override { return speaker().kind(); }
  [[nodiscard]] std::string_view mode() const override { return speaker().mode(); }
  [[nodiscard]] bool matches_stop_strings() const override {
    return speaker().matches_stop_strings();
  }
  [[nodiscard]] bool reads_chat() const override { return speaker().reads_chat(); }
  [[nodiscard]] Path driven_by() const override { return speaker().driven_by(); }
  // What every replica that serves takes: releases may differ.
  [[nodiscard]] base::Status check(const message::Sampling& sampling) const override;
  [[nodiscard]] base::Status check_messages(const protocol::Conversation& asked) const override;
  // By ids and by messages alike. Errors of its own: kUnavailable, naming each replica and why it
  // takes nothing.
  base::Task<base::Result<std::unique_ptr<TokenStream>>> generate(TokenRequest request) override;
  base::Task<base::Result<std::unique_ptr<TokenStream>>> complete(MessageRequest request) override;
  // Asks all. Those that do not answer are left out, and asked again by and by. Fails when none
  // answers, or (naming two URLs) when they serve different models before any was agreed on; later
  // a replica that differs is kept out.
  base::Task<base::Result<Probe>> probe(base::MonoTime deadline) override;
  // One replica that is ready is enough.
  base::Task<base::Status> ready(base::MonoTime deadline) override;
  base::Task<void> stop() override;

  // A draining replica gets no more turns: its conversations move on with their next one, running
  // streams end. kNotFound: no replica has this URL.
  enum class Draining { kNo, kYes };
  base::Status set_draining(std::string_view url, Draining draining);

  struct View {
    std::string url;
    Health::State state = Health::State::kUnasked;
    std::string why;  // it does not serve
    std::size_t running = 0;
    bool draining = false;
    bool busy = false;
    std::string weight_version;  // as it said last
  };
  [[nodiscard]] std::vector<View> replicas() const;

 private:
  struct Replica;
  struct Asked;
  class Place;
  class Stream;
  enum class Busy { kIfNoOther, kNever };

  [[nodiscard]] Engine& speaker() const;
  [[nodiscard]] base::MonoTime now() const { return runtime_.clock().now(); }

  // choice.cc
  using Tried = std::set<std::size_t>;
  // What a request says of where it belongs, see TokenRequest.
  struct Belongs {
    const std::string& routing_key;
    const std::string& last_engine_url;
  };
  Replica* choose(const Belongs& request, const Tried& tried, Busy busy);
  [[nodiscard]] Replica* sampler_of_last_turn(const Belongs& request) const;
  [[nodiscard]] Replica* holder_of_conversation(const Belongs& request) const;
  Replica* least_loaded(const std::vector<Replica*>& among);

  // engine.cc
  template <class Check>
  [[nodiscard]] base::Status check_each(const Check& check) const;
  template <class Request>
  base::Task<base::Result<std::unique_ptr<TokenStream>>> send(Request request);
  void note_success(Replica& replica);
  void note_failure(Replica& replica, const base::Error& failure, Sign sign);
  [[nodiscard]] base::Error nobody() const;

  // checks.cc
  base::Task<std::vector<Asked>> ask(std::vector<Replica*> whom, base::MonoTime deadline);
  base::Status settle(std::vector<Asked> answers);
  base::Status check_agreement(const std::vector<Asked>& answers);
  void take(Replica& replica, base::Result<Probe> answer);
  [[nodiscard]] std::optional<std::string> contradiction(const Replica& replica,
                                                         const Probe& said) const;
  base::Task<void> ask_absent();
  base::Task<void> check(Replica& replica);
  void arm(Replica& replica);
  void note_change(Replica& replica, Health::State before);

  base::Runtime& runtime_;
  const Options options_;
  std::vector<std::unique_ptr<Replica>> replicas_;
  std::size_t turn_ = 0;  // whose it is among equals
  Stickiness conversations_;
  std::optional<Probe> agreed_;
  const Engine* agreed_by_ = nullptr;  // the first that was admitted: its kind and mode count
  base::Serial asking_;
  base::MonoTime asked_at_{-1};
  Background background_;
  bool stopping_ = false;
};

}  // namespace verbatim::engine::pool
