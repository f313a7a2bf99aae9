#include "engine/pool/engine.h"

#include <cstdlib>
#include <utility>

#include "engine/pool/replica.h"
#include "engine/upstream.h"

namespace verbatim::engine::pool {

using base::error;
using base::ErrorKind;
using base::MonoTime;
using base::Result;
using base::Status;
using base::Task;

namespace {

using Started = Result<std::unique_ptr<TokenStream>>;

// The two ways to an engine, under one name.
Status demanded(const Engine& engine, const TokenRequest& request) {
  return engine.check(request.sampling);
}
Status demanded(const Engine& engine, const MessageRequest& request) {
  return engine.check_messages(*request.conversation);
}
Task<Started> start(Engine& engine, TokenRequest request) {
  return engine.generate(std::move(request));
}
Task<Started> start(Engine& engine, MessageRequest request) {
  return engine.complete(std::move(request));
}

}  // namespace

// A running request counts as load of its replica while this lives.
class Pool::Place {
 public:
  explicit Place(Replica& replica) : replica_(&replica) {
    ++replica.running;
    if (replica.metrics) counted_.emplace(replica.metrics->engine);
  }
  Place(Place&& other) noexcept
      : replica_(std::exchange(other.replica_, nullptr)), counted_(std::move(other.counted_)) {}
  Place& operator=(Place&&) = delete;
  ~Place() {
    if (replica_ != nullptr) --replica_->running;
  }
  [[nodiscard]] Replica& replica() const { return *replica_; }
  // Null: well.
  void ended(const base::Error* failure) {
    if (counted_) counted_->ended(failure);
  }

 private:
  Replica* replica_;
  std::optional<EngineMetrics::Request> counted_;
};

// A replica's stream that says how it ended.
class Pool::Stream final : public TokenStream {
 public:
  Stream(Pool& pool, Place place, std::unique_ptr<TokenStream> inner, MonoTime deadline)
      : pool_(pool), place_(std::move(place)), inner_(std::move(inner)), deadline_(deadline) {}

  Task<Result<std::optional<TokenChunk>>> next() override {
    auto chunk = co_await inner_->next();
    if (chunk.ok() && chunk->has_value()) co_return std::move(chunk);
    if (std::exchange(over_, true)) co_return std::move(chunk);
    place_.ended(chunk.ok() ? nullptr : &chunk.error());
    if (chunk.ok()) {
      pool_.note_success(place_.replica());
    } else {
      // What still runs at its request's own deadline was only slow.
      if (pool_.now() < deadline_)
        note_failure(chunk.error());
      else
        place_.replica().show();
    }
    co_return std::move(chunk);
  }
  [[nodiscard]] const TokenEnd& end() const override { return inner_->end(); }
  Status cut() override {
    auto status = inner_->cut();
    if (!std::exchange(over_, true)) {
      place_.ended(status.ok() ? nullptr : &status.error());
      if (status.ok())
        pool_.note_success(place_.replica());
      else
        note_failure(status.error());
    }
    return status;
  }
  void abort() override { inner_->abort(); }

 private:
  void note_failure(const base::Error& error) {
    pool_.note_failure(place_.replica(), error, sign_of(error));
  }

  Pool& pool_;
  Place place_;  // outlives the stream that it counts
  const std::unique_ptr<TokenStream> inner_;
  const MonoTime deadline_;
  bool over_ = false;
};

Pool::Pool(base::Runtime& runtime, std::vector<Member> members, Options options)
    : runtime_(runtime),
      options_(std::move(options)),
      conversations_(options_.max_conversations),
      asking_(runtime.executor),
      background_(runtime.executor) {
  if (members.empty()) std::abort();
  for (auto& member : members) {
    replicas_.push_back(
        std::make_unique<Replica>(replicas_.size(), std::move(member), options_, runtime.random));
  }
}

Pool::~Pool() = default;

Engine& Pool::speaker() const {
  for (const auto& replica : replicas_) {
    if (replica->health.serving()) return *replica->engine;
  }
  return *replicas_.front()->engine;
}

template <class Check>
Status Pool::check_each(const Check& check) const {
  bool checked = false;
  for (const auto& replica : replicas_) {
    if (!replica->health.serving()) continue;
    checked = true;
    if (auto status = check(*replica->engine); !status.ok()) return status;
  }
  return checked ? Status() : check(speaker());
}

Status Pool::check(const message::Sampling& sampling) const {
  return check_each([&](const Engine& engine) { return engine.check(sampling); });
}

Status Pool::check_messages(const protocol::Conversation& asked) const {
  return check_each([&](const Engine& engine) { return engine.check_messages(asked); });
}

Task<Started> Pool::generate(TokenRequest request) {
  return send(std::move(request));
}

Task<Started> Pool::complete(MessageRequest request) {
  return send(std::move(request));
}

template <class Request>
Task<Started> Pool::send(Request request) {
  Tried tried;
  std::optional<base::Error> refusal;  // of one that was busy
  std::optional<base::Error> demand;   // of one that can't do what is asked
  bool asked = false;
  for (;;) {
    const Belongs belongs{request.routing_key, request.last_engine_url};
    Replica* replica = choose(belongs, tried, refusal ? Busy::kNever : Busy::kIfNoOther);
    if (replica == nullptr && refusal) co_return *refusal;
    if (replica == nullptr && demand) co_return *demand;
    if (replica == nullptr) {
      if (std::exchange(asked, true)) co_return nobody();
      co_await ask_absent();
      if (request.cancel != nullptr && request.cancel->fired())
        co_return error(ErrorKind::kCancelled, request.cancel->reason());
      continue;
    }
    tried.insert(replica->number);
    // It may have come up, and been asked what it is, since check().
    if (auto status = demanded(*replica->engine, request); !status.ok()) {
      demand = std::move(status).error();
      continue;
    }
    Place place(*replica);
    Request copy = request;
    auto stream = co_await start(*replica->engine, std::move(copy));
    if (stream.ok()) {
      co_return std::unique_ptr<TokenStream>(
          std::make_unique<Stream>(*this, std::move(place), std::move(*stream), request.deadline));
    }
    base::Error failure = std::move(stream).error();
    place.ended(&failure);
    note_failure(*replica, failure, sign_before_first_event(failure));
    if (failure.kind == ErrorKind::kUnavailable && !failure.upstream) continue;
    if (refusal) co_return sign_of(failure) == Sign::kBusy ? *refusal : failure;
    // Of a refusal of the request itself, not of a call that a kind makes behind the sampling.
    const bool refused = failure.upstream && failure.code == "engine_error";
    if (!refused || !refused_unsampled(*failure.upstream)) co_return failure;
    refusal = std::move(failure);
  }
}

void Pool::note_success(Replica& replica) {
  const auto before = replica.health.state();
  replica.health.succeeded();
  note_change(replica, before);
}

void Pool::note_failure(Replica& replica, const base::Error& failure, Sign sign) {
  const auto before = replica.health.state();
  switch (sign) {
    case Sign::kNothing:
      break;
    case Sign::kBusy:
      replica.health.mark_busy(now() + busy_time(failure, options_.health));
      break;
    case Sign::kStrike:
      replica.health.strike(failure.message, now());
      break;
    case Sign::kUnreachable:
      replica.health.unreachable(failure.message, now());
      break;
    case Sign::kSilent:
      replica.health.silent(failure.message, now());
      break;
  }
  note_change(replica, before);
}

base::Error Pool::nobody() const {
  std::string message = "no replica can take the request:";
  for (const auto& replica : replicas_) {
    message += replica->number == 0 ? " " : "; ";
    message += replica->url + ": ";
    message += replica->health.serving() ? (replica->draining ? "is draining" : "was not reached")
                                         : replica->health.why();
  }
  return error(ErrorKind::kUnavailable, std::move(message));
}

Status Pool::set_draining(std::string_view url, Draining draining) {
  for (const auto& replica : replicas_) {
    if (replica->url != url) continue;
    replica->draining = draining == Draining::kYes;
    return {};
  }
  return error(ErrorKind::kNotFound, "no replica " + std::string(url));
}

std::vector<Pool::View> Pool::replicas() const {
  std::vector<View> views;
  for (const auto& replica : replicas_) {
    const auto& health = replica->health;
    views.push_back({replica->url, health.state(), health.why(), replica->running,
                     replica->draining, health.busy(now()), replica->weight_version});
  }
  return views;
}

}  // namespace verbatim::engine::pool
