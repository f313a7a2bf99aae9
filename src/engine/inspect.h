#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/runtime.h"
#include "engine/engine.h"
#include "engine/kinds.h"

namespace verbatim::engine {

// What a server shows of itself over GET, without a token being sampled.
struct Identity {
  std::vector<std::string> kinds;     // every kind that something speaks for; one, as a rule
  std::vector<std::string> evidence;  // "GET /v1/models: owned_by vllm", one line each
  std::string release;                // of the one kind; empty: not said
  std::vector<ModelInfo> models;
  bool lists_models = false;  // GET /v1/models answers as the OpenAI protocol says
};

// Asks the server at `choice.url`. Fails (kUnavailable, kTimeout) when nothing answers there.
base::Task<base::Result<Identity>> identify(base::Runtime& runtime, const Choice& choice,
                                            base::MonoTime deadline);

// Completes a choice whose kind is "auto" (a server for which nothing speaks is driven by messages
// where it lists models) and checks one that says it: kUnsupported where the
// server is of another kind, of several or of none that is known, or where its release is too old
// for the mode; the message says what was found and what to do. Pure.
base::Result<Choice> settle(Choice choice, const Identity& identity);

// Whether the engine, which serves `model`, reads the ids it is sent, shown by one sampled token.
// kUnsupported: it does not, or it lacks the route. Any other error leaves it open.
base::Task<base::Status> honours_ids(Engine& engine, base::Runtime& runtime, std::string model,
                                     base::MonoTime deadline);

// Whether the server has the route of a mode by messages, shown by a request that it must refuse:
// nothing is sampled. kUnsupported: it has not. Any other error leaves it open.
base::Task<base::Status> has_route(base::Runtime& runtime, const Choice& choice,
                                   base::MonoTime deadline);

// What came out of asking a server before the first turn.
struct Inspected {
  Choice choice;         // settled, where it was reached
  base::Status reached;  // why nothing answered
  Identity identity;
  std::unique_ptr<Engine> engine;  // reached, and no relay is meant; to be stop()ped
  std::optional<Probe> probe;      // what that engine found out
  // Whether it can be driven so: reads ids (success where that is plain from what it is), or has
  // the route of a mode by messages. kUnsupported of a relay.
  base::Status fits;
};

// All the steps above: what every command and LateEngine does with a server it does not know.
// Errors (kUnsupported): another engine than was said, an old one, or one of no known kind.
base::Task<base::Result<Inspected>> inspect(base::Runtime& runtime, const Choice& choice,
                                            base::MonoTime deadline);

}  // namespace verbatim::engine
