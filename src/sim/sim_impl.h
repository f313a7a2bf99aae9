#pragma once

#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "sim/answer.h"
#include "sim/sim_engine.h"

namespace verbatim::sim {

class Face;

// One request being answered.
struct Running {
  std::string rid;
  base::CancelSignal stop;  // fired when its client hangs up or it is aborted by id
  bool by_id = false;       // which of them it was
  Served* log = nullptr;    // its entry in the log, where one is kept
};

// What a request will get, decided before the first byte of the answer.
struct Plan {
  Completion done;
  std::optional<Fault> fault;
  std::uint64_t fault_at = 0;  // the id at which it strikes, where it strikes within the answer
  std::optional<HttpReply> http;
  base::Duration delay{0};
  base::Duration token_delay{0};
  std::vector<std::size_t> events;
  std::optional<std::string> weight_version;
};

// What all faces share.
class SimEngine::Impl {
 public:
  Impl(base::Runtime& runtime, SimOptions options);
  ~Impl();

  base::Task<void> handle(const net::Request& request, net::Responder& answer,
                          base::CancelSignal& gone);

  // For faces, in this order: what `call` gets; and giving it, as `content` prints it. Both are
  // counted and logged. The arguments live until the task ends.
  Plan plan(const GenerateCall& call);
  base::Task<void> answer(const GenerateCall& call, const Plan& plan, Answer& content,
                          net::Responder& responder, base::CancelSignal& gone);
  // The id that ends each turn, where the model has one.
  [[nodiscard]] std::optional<TokenId> stop_id() const;

  enum class RidMatch { kPrefix, kWhole };
  void abort(std::string_view rid, RidMatch match);
  void fired(Fault fault) { ++stats.faults[static_cast<std::size_t>(fault)]; }
  // Hex digits that follow from the seed and how many were drawn before.
  std::string hex(std::size_t digits);
  // Seconds since 1970.
  [[nodiscard]] std::int64_t unix_time() const;

  base::Runtime& runtime;
  SimOptions options;
  Sampler sampler;
  SimStats stats;
  std::list<Running> running;
  std::deque<Served> served;
  std::unique_ptr<Face> face;
  net::HttpServer server;

 private:
  void plan_reply(const Reply& reply, const GenerateCall& call, base::Random& random, Plan& plan);
  void complete(const TokenIds& planned, const GenerateCall& call, Plan& plan);
  [[nodiscard]] TokenIds sampled(std::string_view text, const GenerateCall& call,
                                 base::Random& random) const;
  // Without one of the model, the request's first.
  [[nodiscard]] std::optional<TokenId> stop_id(const GenerateCall& call) const;
  [[nodiscard]] Served* log(const GenerateCall& call, const Plan& plan);
  base::Task<void> send_stats(net::Responder& answer);
  [[nodiscard]] std::string stats_json() const;

  std::uint64_t drawn_ = 0;
};

// Writes the answer to one request: its events or its whole, on time, with its fault.
class Generation {
 public:
  Generation(SimEngine::Impl& engine, const GenerateCall& call, const Plan& plan, Answer& content,
             Running& running, net::Responder& answer);

  base::Task<void> run();

 private:
  // True after `time`, false as soon as the request is stopped.
  base::Task<bool> pause(base::Duration time);
  base::Task<void> until_stopped();
  base::Task<void> stream();
  // What a fault does in place of the event that would end at `end`; true: nothing more is sent.
  base::Task<bool> struck(std::size_t at, std::size_t end);
  base::Task<void> whole();
  base::Task<bool> answered_otherwise();
  base::Task<base::Status> put(std::string_view bytes);
  base::Task<void> send(const HttpReply& reply);
  base::Task<void> put_whole(HttpReply reply);
  base::Task<void> end_aborted(std::size_t at);
  base::Task<void> end();
  // The next event would bring the id at which the fault strikes.
  [[nodiscard]] bool strikes(Fault fault, std::size_t next_end) const;
  [[nodiscard]] std::size_t event_size(std::size_t left);
  // Ids [from, to) as a part, of the weights that are at work now.
  Part part(std::size_t from, std::size_t to, const Finish* finish);
  [[nodiscard]] bool has(Fault fault) const { return plan_.fault == fault; }
  void fired();
  // `ids` of the completion are being written; `last`: and nothing is left.
  void note_sent(std::size_t ids, bool last);

  SimEngine::Impl& engine_;
  const GenerateCall& call_;
  const Plan& plan_;
  Answer& content_;
  Running& running_;
  net::Responder& answer_;
  base::SeededRandom random_;
  std::vector<WeightSpan> weights_;
  std::size_t events_ = 0;
};

}  // namespace verbatim::sim
