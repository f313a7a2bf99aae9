#include "cli/command.h"

#include <cstdio>

namespace verbatim::cli {

Exit fail(const base::Error& error, Exit exit) {
  const std::string field = error.field.empty() ? "" : error.field + ": ";
  std::fprintf(stderr, "verbatim: %s%s\n", field.c_str(), error.message.c_str());
  return exit;
}

Exit usage(const std::string& what) {
  std::fprintf(stderr, "verbatim: %s\n", what.c_str());
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
