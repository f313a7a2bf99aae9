#pragma once

#include <map>
#include <optional>
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
  kToolSearch,  // the client looks for more tools
};

// Name of the function that stands for a tool: `name`, with its namespace in front. At most 64
// characters; a longer one is cut and ends in a digest of all of it.
std::string function_name(std::string_view space, std::string_view name);
// The arguments of the function that stands for a custom tool: {"input": `input`}.
std::string custom_arguments(std::string_view input);
inline constexpr std::string_view kLocalShell = "local_shell";
inline constexpr std::string_view kToolSearch = "tool_search";
// Items of `input` that hold tools: they hold like those of `tools`; a search found them, so that
// the model reads of them where they were found.
inline constexpr std::string_view kAdditionalTools = "additional_tools";
inline constexpr std::string_view kToolSearchOutput = "tool_search_output";

// The tools of a request: as the model is told of them, and what a call of one is to the client.
// Format: OpenAI API reference, "Responses", `tools`; namespaces and additional tools as Codex
// sends them.
class ResponsesTools {
 public:
  struct Entry {
    ToolKind kind = ToolKind::kFunction;
    std::string name;
    std::string space;  // empty: none
  };

  // Errors name the tool: kInvalidRequest, kUnsupported (tools that a server would have to run).
  static base::Result<ResponsesTools> read(const json::Value& tools,
                                           const std::string& field = "tools");
  // Those that stand among the items of `input`, too.
  base::Status add_from_items(const json::Value& input);
  // Calls of what `others` declares are known, too; the model is not told of it here.
  void know(ResponsesTools others);

  // As chat declares them, in order.
  [[nodiscard]] const std::vector<message::Tool>& functions() const { return functions_; }
  // What a call of the function is to the client; a function that was not declared is one.
  [[nodiscard]] Entry at(const std::string& function) const;

 private:
  base::Status add_all(const json::Value& tools, const std::string& field);
  base::Status add(const json::Value& tool, const std::string& field);
  base::Status add_function(const json::Value& tool, const std::string& space,
                            const std::string& field);
  base::Status add_custom(const json::Value& tool, const std::string& space,
                          const std::string& field);
  base::Status add_search(const json::Value& tool, const std::string& field);
  base::Status add_space(const json::Value& tool, const std::string& field);
  base::Status declare(Entry entry, std::string function, const std::string& field);

  std::vector<message::Tool> functions_;
  std::map<std::string, Entry, std::less<>> entries_;
};

// The tools of a request and those among its items as one array; nullopt: none among these.
std::optional<std::string> with_item_tools(const json::Value* tools, const json::Value& input);
// The tools that a search found, as chat declares them, in an array: what the model reads of it.
base::Result<std::string> found_tools(const json::Value& item, const std::string& field);

// `tools` as the response object repeats them: as they came, functions with null for what they
// leave out.
void write_tools_echo(json::Writer& w, const json::Value& tools);

}  // namespace verbatim::protocol
