#pragma once

#include "base/random.h"
#include "simulate/chat_client.h"
#include "simulate/conversation.h"
#include "simulate/stage.h"

namespace verbatim::simulate {

// A client that holds conversations as agents do, carelessly: loops of calls, histories spelled
// otherwise or edited, retries, two requests at once, requests given up, nonsense.
class Agent {
 public:
  Agent(Stage& stage, unsigned number, std::uint64_t seed);
  base::Task<void> run();

 private:
  // A request, which may be sent more than once.
  struct Attempt {
    Asked asked;
    Post post;
    unsigned count = 0;  // of the sendings before
  };
  struct Result {
    Attempt attempt;
    Outcome outcome;
  };
  enum class Go { kOn, kStop };

  base::Task<void> hold_conversation();
  base::Task<bool> create_session(Conversation& conversation);
  base::Task<void> delete_session(std::string id);
  base::Task<void> look_at(std::string session);
  // A turn until it is answered, or nothing more can be hoped for.
  base::Task<Go> step(Conversation& conversation);
  base::Task<Go> step_doubled(Conversation& conversation);
  Attempt compose(const Conversation& conversation);
  // The same once more: as a repeat, or as a request that says it is the first of its kind.
  Attempt again(const Attempt& earlier, bool repeats);
  // What a client sends that got no answer: the same, or the same history anew.
  Attempt after_failure(const Conversation& conversation, const Attempt& failed);
  base::Task<void> send(Attempt attempt, Result& into);
  base::Task<Result> sent(Attempt attempt);
  base::Task<void> take(Conversation& conversation, Result& result);
  base::Task<void> do_wrong(const Conversation& conversation);
  Leave some_leave();
  std::string new_request_id();
  base::Task<void> rest(std::uint64_t max_ms);

  Stage& stage_;
  unsigned number_;
  base::SeededRandom random_;
  ChatClient client_;
  std::uint64_t conversations_ = 0;
  std::uint64_t requests_ = 0;
};

}  // namespace verbatim::simulate
