#pragma once

#include <list>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "sim/sim_engine.h"

namespace verbatim::sim {

// One POST /generate being answered.
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

class SimEngine::Impl {
 public:
  Impl(base::Runtime& runtime, SimOptions options);

  base::Task<void> handle(const net::Request& request, net::Responder& answer,
                          base::CancelSignal& gone);
  base::Task<void> handle_generate(const net::Request& request, net::Responder& answer,
                                   base::CancelSignal& gone);
  base::Task<void> handle_abort(const net::Request& request, net::Responder& answer);
  base::Task<void> handle_weights(const net::Request& request, net::Responder& answer);
  base::Task<void> handle_get(const net::Request& request, net::Responder& answer);

  [[nodiscard]] std::string why_refused(const GenerateCall& call) const;
  Plan plan(const GenerateCall& call);
  void plan_reply(const Reply& reply, const GenerateCall& call, base::Random& random, Plan& plan);
  void complete(const TokenIds& planned, const GenerateCall& call, Plan& plan);
  [[nodiscard]] TokenIds sampled(std::string_view text, const GenerateCall& call,
                                 base::Random& random) const;
  [[nodiscard]] std::optional<TokenId> stop_id(const GenerateCall& call) const;
  void abort(std::string_view rid_prefix);
  [[nodiscard]] Served* log(const GenerateCall& call, const Plan& plan);
  void fired(Fault fault) { ++stats.faults[static_cast<std::size_t>(fault)]; }
  [[nodiscard]] std::string models_json() const;
  [[nodiscard]] std::string model_info_json() const;
  [[nodiscard]] std::string server_info_json() const;
  [[nodiscard]] std::string stats_json() const;

  base::Runtime& runtime;
  SimOptions options;
  Sampler sampler;
  SimStats stats;
  bool healthy = true;
  std::list<Running> running;
  std::deque<Served> served;
  net::HttpServer server;
};

// Writes the answer to one request: its events or its whole, on time, with its fault.
class Generation {
 public:
  Generation(SimEngine::Impl& engine, const GenerateCall& call, Plan plan, Running& running,
             net::Responder& answer);

  base::Task<void> run();

 private:
  // True after `time`, false as soon as the request is stopped.
  base::Task<bool> pause(base::Duration time);
  base::Task<void> until_stopped();
  base::Task<void> stream();
  base::Task<void> whole();
  base::Task<bool> answered_otherwise();
  base::Task<base::Status> put(std::string_view bytes);
  base::Task<void> put_whole(std::string body);
  base::Task<void> end_aborted(std::size_t at);
  base::Task<void> end();
  // The next event would bring the id at which the fault strikes.
  [[nodiscard]] bool strikes(Fault fault, std::size_t next_end) const;
  [[nodiscard]] std::size_t event_size(std::size_t left);
  [[nodiscard]] std::string_view weights() const;
  [[nodiscard]] bool has(Fault fault) const { return plan_.fault == fault; }
  void fired();
  // `ids` of the completion are being written; `last`: and nothing is left.
  void note_sent(std::size_t ids, bool last);

  SimEngine::Impl& engine_;
  const GenerateCall& call_;
  Plan plan_;
  Running& running_;
  net::Responder& answer_;
  Answer content_;
  base::SeededRandom random_;
  std::size_t events_ = 0;
};

}  // namespace verbatim::sim
