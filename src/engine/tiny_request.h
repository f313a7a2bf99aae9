#pragma once

#include <string>

#include "base/runtime.h"
#include "engine/engine.h"

namespace verbatim::engine {

// Samples one token behind a prompt of a few ids and proves the answer as every answer is proved:
// an engine that does not read ids, or counts others, fails with kEngine; one that lacks the route
// with the answer it gave. Asks for what the smallest vocabulary has. The end tells whether the
// prompt is proved.
// `model` is what the server calls its model; empty: not known.
base::Task<base::Result<TokenEnd>> prove_one(Engine& engine, base::Runtime& runtime,
                                             base::MonoTime deadline, std::string model = "");

// prove_one() without its end.
base::Task<base::Status> sample_one(Engine& engine, base::Runtime& runtime, base::MonoTime deadline,
                                    std::string model = "");

}  // namespace verbatim::engine
