// `verbatim parse` in small, for tests/cases/run_parse.py while there is nothing else to build.
//   parse_cases --grammar G --output FILE [--tools FILE] [--segments FILE] [--prompt-tail FILE]
//               [--finish stop|length] [--chunks FILE] [--tags token|text]
#include <cstdio>
#include <string>

#include "base/files.h"
#include "chat/parsers/parse_command.h"

namespace {

using verbatim::base::Status;
using verbatim::chat::parsers::ParseRequest;

Status set_option(ParseRequest& request, const std::string& option, const std::string& value) {
  constexpr std::uint64_t kMaxFile = std::uint64_t{64} << 20;
  if (option == "--grammar") {
    request.grammar = value;
    return {};
  }
  if (option == "--finish") {
    request.finish = value;
    return {};
  }
  if (option == "--tags") {
    request.tags_are_text = value == "text";
    return {};
  }
  auto text = verbatim::base::system_files()->read(value, kMaxFile);
  if (!text) return std::move(text).error();
  if (option == "--output") request.output = std::move(*text);
  if (option == "--tools") request.tools = std::move(*text);
  if (option == "--segments") request.segments = std::move(*text);
  if (option == "--prompt-tail") request.prompt_tail = std::move(*text);
  if (option == "--chunks") request.chunks = std::move(*text);
  return {};
}

int fail(const verbatim::base::Error& error) {
  std::fprintf(stderr, "%s: %s\n", error.field.c_str(), error.message.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  ParseRequest request;
  for (int i = 1; i + 1 < argc; i += 2) {
    const auto status = set_option(request, argv[i], argv[i + 1]);
    if (!status) return fail(status.error());
  }
  const auto answer = verbatim::chat::parsers::parse_command(request);
  if (!answer) return fail(answer.error());
  std::printf("%s\n", answer->c_str());
  return 0;
}
