#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/value.h"
#include "json/writer.h"
#include "message/message.h"

namespace verbatim::protocol {

// What a tool of the Responses protocol is to the client that runs it. To the model each is a
// function.
enum class ToolKind {
  kFunction,
  kCustom,      // its input is text of the client's own form
  kLocalShell,  // a command for the client's machine
};

// Name of the function that stands for a tool: `name`, with its namespace in front. At most 64
// characters; a longer one is cut and ends in a digest of all of it.
std::string function_name(std::string_view space, std::string_view name);
// The arguments of the function that stands for a custom tool: {"input": `input`}.
std::string custom_arguments(std::string_view input);
inline constexpr std::string_view kLocalShell = "local_shell";

// The tools of a request: as the model is told of them, and what a call of one is to the client.
// Format: OpenAI API reference, "Responses", `tools`; namespaces as Codex sends them.
class ResponsesTools {
 public:
  struct Entry {
    ToolKind kind = ToolKind::kFunction;
    std::string name;
    std::string space;  // empty: none
  };

  // Errors name the tool: kInvalidRequest, kUnsupported (tools that a server would have to run).
  static base::Result<ResponsesTools> read(const json::Value& tools);

  // As chat declares them, in order.
  [[nodiscard]] const std::vector<message::Tool>& functions() const { return functions_; }
  // What a call of the function is to the client; a function that was not declared is one.
  [[nodiscard]] Entry at(const std::string& function) const;

 private:
  base::Status add(const json::Value& tool, const std::string& field);
  base::Status add_function(const json::Value& tool, const std::string& space,
                            const std::string& field);
  base::Status add_space(const json::Value& tool, const std::string& field);
  base::Status declare(Entry entry, std::string function, const std::string& field);

  std::vector<message::Tool> functions_;
  std::map<std::string, Entry, std::less<>> entries_;
};

// `tools` as the response object repeats them: as they came, functions with null for what they
// leave out.
void write_tools_echo(json::Writer& w, const json::Value& tools);

}  // namespace verbatim::protocol
