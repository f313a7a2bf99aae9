#pragma once

#include <string>
#include <vector>

#include "base/runtime.h"
#include "base/task.h"
#include "message/fold.h"

namespace verbatim::cli {

// One message of the demo's conversation, as people read it.
struct Said {
  message::Role role;
  std::string text;
  std::string reasoning;
  std::vector<message::FoldedCall> calls;
};

// What the agent did: all that was said, and the body of each request.
struct AgentLog {
  std::string session_id;
  std::vector<Said> said;
  std::vector<std::string> requests;
};

// A small agent with a weather tool. Like most agents it keeps the history itself, writes arguments
// anew (json.dumps(json.loads(...))) and forgets reasoning. It opens a session at the gateway and
// asks its questions over streaming Chat Completions. Errors: what the gateway said, in words.
base::Task<base::Result<AgentLog>> run_agent(base::Runtime& runtime, const base::Endpoint& gateway);

// The script for the simulated engine that talks with this agent (sim/script.h).
std::string_view agent_script();

}  // namespace verbatim::cli
