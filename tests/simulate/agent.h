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
  struct Result {
    Asked asked;
    Outcome outcome;
  };
  enum class Go { kOn, kStop };

  base::Task<void> hold_conversation();
  base::Task<bool> create_session(std::string& id);
  base::Task<void> delete_session(std::string id);
  base::Task<void> look_at(std::string session);
  // A turn until it is answered, or nothing more can be hoped for.
  base::Task<Go> step(Conversation& conversation);
  base::Task<Go> step_doubled(Conversation& conversation);
  base::Task<Result> turn(const Conversation& conversation);
  base::Task<void> turn_into(const Conversation& conversation, Result& into);
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
