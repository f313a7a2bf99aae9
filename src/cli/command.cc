#include "cli/command.h"

#include <cstdio>

#include "base/terminal.h"

namespace verbatim::cli {

namespace {

void print(std::FILE* to, std::string_view name, std::string_view line) {
  const std::string text = std::string(name) + base::for_terminal(line) + "\n";
  std::fwrite(text.data(), 1, text.size(), to);
}

}  // namespace

void say(std::string_view what) {
  print(stderr, "verbatim: ", what);
}

void announce(std::string_view what) {
  print(stdout, "verbatim: ", what);
  std::fflush(stdout);
}

void print_line(std::string_view line) {
  print(stdout, "", line);
}

void print_log_line(std::string_view line) {
  const std::string text = std::string(line) + "\n";
  std::fwrite(text.data(), 1, text.size(), stderr);
}

bool print_data(std::string_view bytes) {
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), stdout) == bytes.size();
  return std::fflush(stdout) == 0 && written;
}

Exit fail(const base::Error& error, Exit exit) {
  // Some messages begin with the option themselves: "--host 0.0.0.0: ...".
  const bool named = error.field.empty() || error.message.starts_with(error.field);
  say((named ? "" : error.field + ": ") + error.message);
  return exit;
}

Exit usage(const std::string& what) {
  say(what);
  return Exit::kUsage;
}

base::Error cannot_listen(base::Error error) {
  if (error.field == "host") {
    error.field = "--host";
  } else {
    error.message += "; choose another with --host and --port (0: any free port)";
  }
  return error;
}

base::Status check_port(base::Network& network, const std::string& host, std::uint16_t port) {
  const auto alone = network.listen(host, port, base::Network::PortUse::kExclusive);
  if (!alone) return cannot_listen(alone.error());
  (*alone)->close();
  return {};
}

}  // namespace verbatim::cli
